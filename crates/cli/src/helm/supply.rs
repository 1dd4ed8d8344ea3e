//! Where charts come from: chart repositories and registries, with what Helm's files say of them.

use std::sync::Arc;

use lynceus_helm::resolve;
use lynceus_source::{
    Access, ChartVersion, Repository, Settings as SourceSettings, SourceError, Sources, redact,
};

use super::access;
use super::login::Logins;
use super::repositories::Repositories;
use super::settings::Settings;

/// Everything that is needed to fetch a chart.
pub(super) struct Supply {
    pub(super) sources: Sources,
    pub(super) repositories: Repositories,
    logins: Logins,
    /// What the flags say of the server.
    access: Access,
}

/// Why no version of a chart was chosen.
pub(super) enum Unchosen {
    /// The repository does not have the chart.
    NoChart,
    /// It has the chart in no version that will do.
    NoVersion,
    /// The range cannot be read.
    BadRange(String),
    /// It cannot be asked.
    Failed(SourceError),
}

/// A chart in a registry.
pub(super) struct InRegistry {
    pub(super) repository: Repository,
    /// The chart's own name.
    pub(super) name: String,
    /// The registry and the whole name in it, as people write it.
    pub(super) shown: String,
}

impl Supply {
    /// Reads what Helm's files say.
    pub(super) fn open(settings: &Settings, flags: &access::Flags) -> Result<Self, String> {
        Ok(Supply {
            sources: Sources::new(settings.cache(), SourceSettings::default()),
            repositories: Repositories::read(&settings.repository_config())?,
            logins: Logins::read(&settings.registry_config())?,
            access: flags.access()?,
        })
    }

    /// What the flags say of the server.
    pub(super) fn access(&self) -> &Access {
        &self.access
    }

    /// The chart repository at a URL: with the user's credentials if it has a name, else as anyone sees it.
    pub(super) fn at(&self, url: &str) -> Result<Repository, String> {
        match self.repositories.at(url) {
            Some(entry) => Ok(Repository::charts(url).with_access(entry.access()?)),
            None => Ok(Repository::charts(url)),
        }
    }

    /// The version of a chart that is meant: one that is written exactly so, else the newest in a range.
    pub(super) async fn choose(
        &self,
        repository: &Repository,
        chart: &str,
        wanted: &str,
    ) -> Result<ChartVersion, Unchosen> {
        let versions = self.sources.chart_versions(repository, chart).await.map_err(|error| match error {
            SourceError::ChartNotFound { .. } => Unchosen::NoChart,
            error => Unchosen::Failed(error),
        })?;
        if let Some(exact) = versions.iter().find(|version| version.version == wanted) {
            return Ok(exact.clone());
        }
        let texts = versions.iter().map(|version| version.version.as_str());
        let chosen = resolve::choose(chart, if wanted.is_empty() { "*" } else { wanted }, texts);
        let chosen = chosen.map_err(|error| match error {
            resolve::ResolveError::BadRange { reason, .. } => Unchosen::BadRange(reason),
            other => Unchosen::BadRange(other.to_string()),
        })?;
        let found = versions.iter().find(|version| Some(version.version.as_str()) == chosen);
        found.cloned().ok_or(Unchosen::NoVersion)
    }

    /// The archive of a version.
    pub(super) async fn fetch(
        &self,
        repository: &Repository,
        version: &ChartVersion,
    ) -> Result<Arc<[u8]>, String> {
        let fetched = self.sources.chart_archive(repository, version).await;
        fetched.map_err(|error| told(&error, version.urls.first().unwrap_or(&repository.url)))
    }

    /// A chart in a registry by its URL, which has neither tag nor digest.
    pub(super) fn in_registry(&self, url: &str) -> Result<InRegistry, String> {
        let shown = url.trim_start_matches("oci://").to_owned();
        let (parent, name) = url.rsplit_once('/').unwrap_or_default();
        let host = shown.split('/').next().unwrap_or_default();
        if name.is_empty() || !parent.starts_with("oci://") || parent.len() <= "oci://".len() {
            return Err(format!("invalid reference: missing registry or repository: {}", redact(&shown)));
        }
        // A slash too many is not read over: the registry's own name may not end with one.
        if let Some((_, repository)) =
            shown.split_once('/').filter(|(_, path)| path.split('/').any(str::is_empty))
        {
            return Err(format!("invalid reference: invalid repository {repository:?}"));
        }
        let mut access = self.access.clone();
        if access.username.is_empty() && access.password.is_empty() {
            self.logins.fill(host, &mut access)?;
        }
        let repository = Repository::charts(parent).with_access(access);
        Ok(InRegistry { repository, name: name.to_owned(), shown })
    }

    /// Fetches a chart from a registry by its version or digest, and tells what it was, as Helm does.
    pub(super) async fn pull(&self, chart: &InRegistry, wanted: &str) -> Result<Arc<[u8]>, String> {
        let tag = wanted.replace('+', "_");
        let mark = if wanted.contains(':') { '@' } else { ':' };
        let shown = format!("{}{mark}{tag}", redact(&chart.shown));
        let absent = || format!("failed to perform \"FetchReference\" on source: {shown}: not found");
        let found = self.sources.chart_version(&chart.repository, &chart.name, wanted).await;
        let version = found.map_err(|error| match error {
            SourceError::VersionNotFound { .. } | SourceError::ChartNotFound { .. } => absent(),
            error => told(&error, &shown),
        })?;
        let bytes = self.fetch(&chart.repository, &version).await?;
        let digest = version.urls.first().and_then(|url| url.rsplit_once('@')).map(|(_, digest)| digest);
        println!("Pulled: {shown}\nDigest: {}", digest.unwrap_or_default());
        if shown.contains('_') {
            println!("{shown} contains an underscore.\n{UNDERSCORE}");
        }
        Ok(bytes)
    }
}

/// What Helm says when a tag stands for a version that it cannot name.
const UNDERSCORE: &str = "
OCI artifact references (e.g. tags) do not support the plus sign (+). To support
storing semantic versions, Helm adopts the convention of changing plus (+) to
an underscore (_) in chart version tags when pushing to a registry and back to
a plus (+) when pulling from a registry.";

/// The words for a download that has failed.
pub(super) fn told(error: &SourceError, url: &str) -> String {
    match error {
        SourceError::FileNotFound { .. } | SourceError::RepositoryNotFound { .. } => {
            format!("failed to fetch {} : 404 Not Found", redact(url))
        }
        error => error.to_string(),
    }
}

/// The URL of a repository's index.
pub(super) fn index_url(url: &str) -> String {
    format!("{}/index.yaml", url.trim_end_matches('/'))
}
