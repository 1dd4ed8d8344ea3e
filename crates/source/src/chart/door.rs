//! The door to charts and artifacts: from a repository to whatever serves it.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_files::Tree;
use reqwest::Url;
use tokio::sync::Semaphore;

use super::shelf::Shelf;
use super::store::{self, Store};
use super::{ChartVersion, check_name};
use crate::digest::hex;
use crate::error::SourceError;
use crate::limits::MAX_FETCHES_PER_HOST;
use crate::oci::{Artifact, Place, Registry, is_registry};
use crate::remote::directory;
use crate::repository::{Access, Repository, RepositoryKind};
use crate::settings::Settings;
use crate::sources::Sources;
use crate::transport::client;
use crate::transport::line::Visitor;
use crate::url::{RepoUrl, redact};

/// Every chart repository and registry that was asked for.
pub(crate) struct Shelves {
    cache: PathBuf,
    settings: Settings,
    known: Mutex<HashMap<(String, [u8; 32]), Served>>,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// What serves charts.
#[derive(Clone)]
enum Served {
    Http(Arc<Shelf>),
    Oci(Arc<Registry>),
}

impl Served {
    fn store(&self) -> &Arc<Store> {
        match self {
            Served::Http(shelf) => &shelf.store,
            Served::Oci(registry) => &registry.store,
        }
    }

    fn used(&self) -> &AtomicBool {
        match self {
            Served::Http(shelf) => &shelf.used,
            Served::Oci(registry) => &registry.used,
        }
    }
}

impl Shelves {
    pub(crate) fn new(cache: PathBuf, settings: Settings) -> Self {
        Shelves { cache, settings, known: Mutex::default(), hosts: Mutex::default() }
    }

    /// What serves a repository, and how to ask it.
    fn at(&self, repository: &Repository) -> Result<(Served, Visitor), SourceError> {
        let mut access = repository.access.clone();
        let in_registry = match repository.kind {
            RepositoryKind::Helm => repository.oci || is_registry(&repository.url),
            RepositoryKind::Oci => true,
            RepositoryKind::Git => {
                let what = "a chart from a Git server".to_owned();
                return Err(SourceError::Unsupported { url: repository.shown(), what });
            }
        };
        let (key, home, place) = if in_registry {
            let place = Place::parse(&repository.url, &mut access)?;
            (format!("{} {} {}", place.home, place.name, place.reference), place.home.clone(), Some(place))
        } else {
            let home = web(&repository.url, &mut access)?;
            (home.to_string(), home, None)
        };
        let fingerprint = access.fingerprint();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let served = known.entry((key.clone(), fingerprint)).or_insert_with(|| {
            let (settings, host) = (self.settings.clone(), self.host(&client::host_of(&home)));
            let store = Store::new(self.directory(&repository.shown(), &key, &access));
            match place {
                Some(place) => Served::Oci(Arc::new(Registry::new(place, settings, store, host))),
                None => Served::Http(Arc::new(Shelf::new(home, repository.shown(), settings, store, host))),
            }
        });
        served.used().store(true, Ordering::Relaxed);
        Ok((served.clone(), Visitor { access, book: repository.book.clone() }))
    }

    /// Where a repository's files are kept. Each set of credentials has its own; the name on the disk says
    /// nothing of them, not even to one who guesses.
    fn directory(&self, shown: &str, key: &str, access: &Access) -> PathBuf {
        let mut tenant = [0; 32];
        if access.has_credentials() {
            let rounds = NonZeroU32::new(20_000).unwrap_or(NonZeroU32::MIN);
            let algorithm = ring::pbkdf2::PBKDF2_HMAC_SHA256;
            ring::pbkdf2::derive(algorithm, rounds, key.as_bytes(), &access.fingerprint(), &mut tenant);
        }
        directory(&self.cache, "charts", shown, &format!("{key} {}", hex(&tenant)))
    }

    fn host(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.entry(host.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(MAX_FETCHES_PER_HOST))).clone()
    }

    pub(crate) fn forget(&self, repository: &Repository) {
        match self.at(repository) {
            Ok((Served::Http(shelf), _)) => shelf.forget(),
            Ok((Served::Oci(registry), _)) => registry.forget(),
            Err(_) => {}
        }
    }

    /// Removes what is kept of repositories that are neither among `used` nor were asked since the last time,
    /// as the dependencies of a chart are, and the oldest archives if there are too many.
    pub(crate) fn sweep(&self, used: &[Repository]) {
        let mut kept: HashSet<PathBuf> = HashSet::new();
        for repository in used {
            if let Ok((served, _)) = self.at(repository) {
                kept.insert(served.store().root().to_owned());
            }
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, served| {
            let root = served.store().root();
            let asked = served.used().swap(false, Ordering::Relaxed);
            asked && kept.insert(root.to_owned()) || kept.contains(root)
        });
        let root = self.cache.join("charts");
        for entry in std::fs::read_dir(&root).into_iter().flatten().flatten() {
            if !kept.contains(&entry.path()) {
                remove(&entry.path());
            }
        }
        store::trim(&root, self.settings.max_chart_cache_bytes);
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_dir_all(path) {
        tracing::warn!(path = %path.display(), %error, "a directory of the cache cannot be removed");
    }
}

/// The URL of a chart repository without its user, who is moved to the credentials. A query stays, as it may
/// be what lets one in.
fn web(text: &str, access: &mut Access) -> Result<Url, SourceError> {
    // Checks length, scheme and characters.
    let RepoUrl::Http(place) = RepoUrl::parse(text)? else {
        let reason = "a chart repository is reached over https, http or oci".to_owned();
        return Err(SourceError::Url { url: redact(text), reason });
    };
    if access.username.is_empty() && access.password.is_empty() {
        access.username = place.username;
        access.password = place.password;
    }
    let wrong = |reason: String| SourceError::Url { url: redact(text), reason };
    let mut url = Url::parse(text.trim()).map_err(|error| wrong(error.to_string()))?;
    // Cannot fail: a URL with a host takes both.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    Ok(url)
}

impl Sources {
    /// The names of all charts of a repository. A registry has no such list.
    pub async fn charts(&self, repository: &Repository) -> Result<Vec<String>, SourceError> {
        match self.shelves().at(repository)? {
            (Served::Http(shelf), visitor) => shelf.charts(visitor).await,
            (Served::Oci(_), _) => {
                let what = "a list of all charts of a registry".to_owned();
                Err(SourceError::Unsupported { url: repository.shown(), what })
            }
        }
    }

    /// The versions of a chart, newest first. Entries of an index that cannot be read are left out.
    pub async fn chart_versions(
        &self,
        repository: &Repository,
        chart: &str,
    ) -> Result<Vec<ChartVersion>, SourceError> {
        match self.shelves().at(repository)? {
            (Served::Http(shelf), visitor) => {
                check_name(chart)?;
                shelf.versions(visitor, chart).await
            }
            (Served::Oci(registry), visitor) => registry.versions(visitor, chart).await,
        }
    }

    /// The version of a chart that a text means: one that is written exactly so, else the highest in a range.
    ///
    /// The server is asked unless it was asked a moment ago. If it cannot be reached, a version that is named
    /// exactly and whose archive is kept is still found.
    pub async fn chart_version(
        &self,
        repository: &Repository,
        chart: &str,
        wanted: &str,
    ) -> Result<ChartVersion, SourceError> {
        let wanted = wanted.trim();
        match self.shelves().at(repository)? {
            (Served::Http(shelf), visitor) => {
                check_name(chart)?;
                shelf.version(visitor, chart, wanted).await
            }
            (Served::Oci(registry), visitor) => registry.version(visitor, chart, wanted).await,
        }
    }

    /// The archive of a version, as it was published; its digest has been checked if one was announced.
    pub async fn chart_archive(
        &self,
        repository: &Repository,
        version: &ChartVersion,
    ) -> Result<Arc<[u8]>, SourceError> {
        match self.shelves().at(repository)? {
            (Served::Oci(registry), visitor) => registry.archive(visitor, version).await,
            (Served::Http(shelf), visitor) => {
                match version.urls.first().filter(|url| url.starts_with("oci://")) {
                    None => shelf.archive(visitor, version).await,
                    Some(url) => self.archive_elsewhere(repository, &shelf, version, url).await,
                }
            }
        }
    }

    /// The archive of a version that a chart repository keeps in a registry. The credentials of the
    /// repository are not those of the registry.
    async fn archive_elsewhere(
        &self,
        repository: &Repository,
        shelf: &Arc<Shelf>,
        version: &ChartVersion,
        url: &str,
    ) -> Result<Arc<[u8]>, SourceError> {
        if let Some(bytes) = shelf.kept(version).await? {
            return Ok(bytes);
        }
        let (registry, visitor) = self.registry(&repository.chart_repository(url))?;
        let bytes = registry.own_archive(visitor).await?;
        shelf.adopt(version, bytes).await
    }

    /// The artifact that a tag, digest or range of a registry stands for; nothing at all means `latest`.
    pub async fn artifact(&self, repository: &Repository, wanted: &str) -> Result<Artifact, SourceError> {
        let (registry, visitor) = self.registry(repository)?;
        registry.artifact(visitor, wanted.trim()).await
    }

    /// The files of an artifact, in memory. Those of a chart stand at the root.
    pub async fn artifact_tree(
        &self,
        repository: &Repository,
        artifact: &Artifact,
    ) -> Result<Arc<dyn Tree>, SourceError> {
        let (registry, visitor) = self.registry(repository)?;
        registry.tree(visitor, artifact).await
    }

    /// The tags that a user may choose from, newest version first.
    pub async fn artifact_tags(&self, repository: &Repository) -> Result<Vec<String>, SourceError> {
        let (registry, visitor) = self.registry(repository)?;
        registry.own_tags(visitor).await
    }

    /// Whether a registry is there and lets in whoever shows these credentials. It cannot be asked for all of its charts.
    pub async fn greet(&self, repository: &Repository) -> Result<(), SourceError> {
        let (registry, visitor) = self.registry(repository)?;
        registry.greet(visitor).await
    }

    fn registry(&self, repository: &Repository) -> Result<(Arc<Registry>, Visitor), SourceError> {
        match self.shelves().at(repository)? {
            (Served::Oci(registry), visitor) => Ok((registry, visitor)),
            (Served::Http(_), _) => {
                let what = "an artifact from a chart repository".to_owned();
                Err(SourceError::Unsupported { url: repository.shown(), what })
            }
        }
    }
}
