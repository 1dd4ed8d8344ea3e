//! Finds the chart that a command line names.

use std::path::Path;
use std::sync::Arc;

use lynceus_files::FilePath;
use lynceus_helm::{Chart, limits, resolve};
use lynceus_source::{DiskTree, Repository, SourceError, redact};

use super::access;
use super::settings::Settings;
use super::supply::{InRegistry, Supply, Unchosen, index_url, told};

// Which chart is meant, and how to get at it.
#[derive(clap::Args, Default)]
#[group(skip)]
pub(super) struct Flags {
    /// The URL of the chart repository that the chart is looked for in.
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    repo: String,
    /// The version of the chart, or a range; if none is given, the newest.
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    version: String,
    /// Take development versions too, as with --version '>0.0.0-0'.
    #[arg(long)]
    devel: bool,
    /// Show the credentials to all hosts that the chart repository names.
    #[arg(long)]
    pass_credentials: bool,
    #[command(flatten)]
    pub(super) access: access::Flags,
    #[command(flatten)]
    provenance: access::Provenance,
}

/// Where a chart was found.
pub(super) enum Found {
    /// On this machine.
    Path(String),
    /// Elsewhere; this is its archive.
    Archive(Arc<[u8]>),
}

impl Found {
    /// Reads the chart.
    pub(super) fn load(&self) -> Result<Arc<Chart>, String> {
        match self {
            Found::Path(path) => load(path),
            Found::Archive(bytes) => unpack(bytes),
        }
    }
}

/// Reads a chart from a directory or an archive on this machine.
pub(super) fn load(path: &str) -> Result<Arc<Chart>, String> {
    let about = std::fs::metadata(path).map_err(|error| not_there("stat", path, &error))?;
    if about.is_dir() {
        // Nearly every chart keeps to its own folder. What does not is told with its whole path.
        let near = DiskTree::open(path).ok().and_then(|tree| Chart::from_tree(&tree, &FilePath::root()).ok());
        if let Some(chart) = near {
            return Ok(Arc::new(chart));
        }
        let (tree, directory) = folder(path)?;
        return Chart::from_tree(&tree, &directory).map(Arc::new).map_err(|error| error.on_disk());
    }
    unpack(&archive(path)?)
}

/// The bytes of an archive on this machine.
pub(super) fn archive(path: &str) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| not_there("open", path, &error);
    let (size, most) = (std::fs::metadata(path).map_err(failed)?.len(), limits::MAX_ARCHIVE_BYTES);
    if size > most {
        return Err(format!("{path} has {size} bytes; at most {most} are read"));
    }
    std::fs::read(path).map_err(failed)
}

fn unpack(bytes: &[u8]) -> Result<Arc<Chart>, String> {
    Chart::from_archive(bytes).map(Arc::new).map_err(|error| error.to_string())
}

/// What Go says of a file that cannot be had.
pub(super) fn not_there(action: &str, path: &str, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("{action} {path}: no such file or directory"),
        std::io::ErrorKind::NotADirectory => format!("{action} {path}: not a directory"),
        std::io::ErrorKind::PermissionDenied => format!("{action} {path}: permission denied"),
        _ => format!("{action} {path}: {error}"),
    }
}

/// A folder in a tree. The whole disk is the tree, for the links of a chart that is one's own may lead anywhere on it.
pub(super) fn folder(reference: &str) -> Result<(DiskTree, FilePath), String> {
    let path = Path::new(reference);
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let tree = DiskTree::open("/").map_err(|error| error.to_string())?;
    let inside = real.to_string_lossy();
    let directory =
        FilePath::new(inside.trim_start_matches('/')).map_err(|error| format!("{reference}: {error}"))?;
    Ok((tree, directory))
}

impl Flags {
    /// Whether a chart lies on this machine.
    pub(super) fn is_at_hand(&self, reference: &str) -> bool {
        self.repo.is_empty() && Path::new(reference.trim()).exists()
    }

    /// Finds a chart: on this machine, in a repository with a name or a URL, at a URL of its own, in a registry.
    pub(super) async fn locate(&self, settings: &Settings, reference: &str) -> Result<Found, String> {
        self.provenance.refuse()?;
        let reference = reference.trim();
        if self.is_at_hand(reference) {
            return Ok(Found::Path(reference.to_owned()));
        }
        if self.repo.is_empty() && (reference.starts_with('/') || reference.starts_with('.')) {
            return Err(format!("path {reference:?} not found"));
        }
        let supply = Supply::open(settings, &self.access)?;
        let archive = if !self.repo.is_empty() {
            self.in_repository_at(&supply, reference).await
        } else if let Some(place) = reference.strip_prefix("oci://") {
            self.in_registry(&supply, place).await
        } else if reference.contains("://") {
            self.at_url(&supply, reference).await
        } else {
            self.in_named_repository(&supply, reference).await
        };
        archive.map(Found::Archive)
    }

    /// The version that is asked for; nothing for the newest.
    fn wanted(&self) -> &str {
        match self.version.trim() {
            "" if self.devel => ">0.0.0-0",
            version => version,
        }
    }

    /// `--repo URL NAME`
    async fn in_repository_at(&self, supply: &Supply, name: &str) -> Result<Arc<[u8]>, String> {
        let access =
            lynceus_source::Access { pass_credentials: self.pass_credentials, ..supply.access().clone() };
        let repository = Repository::charts(&self.repo).with_access(access);
        let shown = redact(&self.repo);
        let wanted = self.wanted();
        let what = match wanted {
            "" => format!("chart {name:?}"),
            version => format!("chart {name:?} version {version:?}"),
        };
        let version = supply.choose(&repository, name, wanted).await.map_err(|why| match why {
            Unchosen::Failed(error @ SourceError::ChartName { .. }) => error.to_string(),
            Unchosen::Failed(error) => unreachable_repository(&self.repo, &error),
            _ => format!("{what} not found in {shown} repository"),
        })?;
        supply.fetch(&repository, &version).await
    }

    /// `NAME/CHART`
    async fn in_named_repository(&self, supply: &Supply, reference: &str) -> Result<Arc<[u8]>, String> {
        let Some((repository, chart)) = reference.split_once('/') else {
            return Err(format!(
                "non-absolute URLs should be in form of repo_name/path_to_chart, got: {reference}"
            ));
        };
        let entry =
            supply.repositories.named(repository).ok_or_else(|| format!("repo {repository} not found"))?;
        if entry.url.is_empty() {
            return Err(format!("no URL found for repository {repository}"));
        }
        let place = entry.repository()?;
        let wanted = self.wanted();
        let version = supply.choose(&place, chart, wanted).await.map_err(|why| {
            let why = match why {
                Unchosen::NoChart => "no chart name found".to_owned(),
                Unchosen::NoVersion => format!("no chart version found for {chart}-{wanted}"),
                Unchosen::BadRange(reason) => reason,
                Unchosen::Failed(error) => return unreachable_repository(&entry.url, &error),
            };
            format!("chart {chart:?} matching {wanted} not found in {repository} index. (try 'helm repo update'): {why}")
        })?;
        supply.fetch(&place, &version).await
    }

    /// `https://…/chart-1.0.0.tgz`. Who has a name for the repository above it need not give the credentials again.
    async fn at_url(&self, supply: &Supply, url: &str) -> Result<Arc<[u8]>, String> {
        let own = supply.access();
        let above = supply.repositories.above(url).filter(|_| !own.has_credentials());
        let access = above.map_or_else(|| Ok(own.clone()), super::repositories::Entry::access)?;
        supply.sources.archive(url, access).await.map_err(|error| told(&error, url))
    }

    /// `oci://registry/name`, with a tag, a digest, both or none.
    async fn in_registry(&self, supply: &Supply, place: &str) -> Result<Arc<[u8]>, String> {
        let (rest, digest) =
            place.split_once('@').map_or((place, None), |(rest, digest)| (rest, Some(digest)));
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') && name.contains('/') => (name, tag),
            _ => (rest, ""),
        };
        let chart = supply.in_registry(&format!("oci://{name}"))?;
        let wanted = self.wanted();
        if !wanted.is_empty() && !tag.is_empty() && tag != wanted {
            return Err(format!("chart reference and version mismatch: {wanted} is not {tag}"));
        }
        let wanted = if wanted.is_empty() { tag } else { wanted };
        if let Some(digest) = digest {
            check_digest(supply, &chart, wanted, digest).await?;
            return supply.pull(&chart, digest).await;
        }
        let version = chosen_tag(supply, &chart, wanted).await?;
        supply.pull(&chart, &version).await
    }
}

/// The tag of a registry that is meant. A plain version need not be looked for among them.
pub(super) async fn chosen_tag(supply: &Supply, chart: &InRegistry, wanted: &str) -> Result<String, String> {
    if resolve::is_version(wanted) {
        return Ok(wanted.to_owned());
    }
    match supply.choose(&chart.repository, &chart.name, wanted).await {
        Ok(version) => Ok(version.version),
        Err(Unchosen::BadRange(reason)) => Err(reason),
        Err(Unchosen::NoVersion) => {
            Err(format!("could not locate a version matching provided version string {wanted}"))
        }
        Err(Unchosen::NoChart) => {
            Err(format!("{}: repository name not known to registry", redact(&chart.shown)))
        }
        Err(Unchosen::Failed(error)) => Err(error.to_string()),
    }
}

/// Checks that a version, where one is named beside a digest, is the one with that digest. It need not be there.
async fn check_digest(supply: &Supply, chart: &InRegistry, wanted: &str, digest: &str) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let Ok(version) = supply.sources.chart_version(&chart.repository, &chart.name, wanted).await else {
        return Ok(());
    };
    match version.urls.first().and_then(|url| url.rsplit_once('@')) {
        Some((_, found)) if found != digest => {
            Err(format!("chart reference digest mismatch: {found} is not {digest}"))
        }
        _ => Ok(()),
    }
}

/// What Helm says of a repository whose index cannot be had.
pub(super) fn unreachable_repository(url: &str, error: &SourceError) -> String {
    let (shown, why) = (redact(url), told(error, &index_url(url)));
    format!("looks like {shown:?} is not a valid chart repository or cannot be reached: {why}")
}
