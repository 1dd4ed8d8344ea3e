//! A registry as seen with one set of credentials: its tags and manifests as last heard, and the archives
//! that were fetched.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lynceus_files::Tree;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::conversation::{Conversation, Passes};
use super::layer;
use super::manifest::{Blob, Manifest};
use super::place::{Place, is_reference};
use crate::call::{Call, Talk};
use crate::chart::{ChartVersion, Fetched, Store, choose, nearest, sorted};
use crate::digest::is_digest;
use crate::error::{Peer, SourceError, Step};
use crate::flight::Flights;
use crate::limits::{MAX_REGISTRY_ANSWER_BYTES, MAX_REMEMBERED};
use crate::oci::Artifact;
use crate::settings::Settings;
use crate::sources::blocking;
use crate::trace;
use crate::transport::client;
use crate::transport::line::{Line, Visitor};
use crate::version::Version;

/// One place in a registry, shared by all who use it with the same credentials.
pub(crate) struct Registry {
    place: Place,
    settings: Settings,
    pub(crate) store: Arc<Store>,
    /// Bounds the downloads from the same host.
    host: Arc<Semaphore>,
    passes: Passes,
    tags: Heard<String, Arc<[String]>>,
    manifests: Heard<(String, String), Arc<Manifest>>,
    blobs: Flights<(String, String), Fetched>,
    /// Whether it was used since the last sweep.
    pub(crate) used: AtomicBool,
}

/// Answers that hold for a while, and questions that are under way.
struct Heard<K, V: Clone> {
    known: Mutex<HashMap<K, (Instant, V)>>,
    flights: Flights<K, Result<V, SourceError>>,
}

impl<K: Clone + Eq + Hash, V: Clone + Send + Sync + 'static> Heard<K, V> {
    fn new() -> Self {
        Heard { known: Mutex::default(), flights: Flights::default() }
    }

    fn get(&self, key: &K, max_age: Duration) -> Option<V> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|(at, _)| at.elapsed() < max_age).map(|(_, value)| value.clone())
    }

    fn keep(&self, key: K, at: Instant, value: V) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key, (at, value));
    }

    fn forget(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Registry {
    pub(crate) fn new(place: Place, settings: Settings, store: Store, host: Arc<Semaphore>) -> Self {
        Registry {
            place,
            settings,
            store: Arc::new(store),
            host,
            passes: Passes::default(),
            tags: Heard::new(),
            manifests: Heard::new(),
            blobs: Flights::default(),
            used: AtomicBool::new(true),
        }
    }

    /// Makes the next question go to the server.
    pub(crate) fn forget(&self) {
        self.tags.forget();
        self.manifests.forget();
    }

    /// The versions of a chart, newest first. A registry says no more of them than their names.
    pub(crate) async fn versions(
        self: &Arc<Self>,
        visitor: Visitor,
        chart: &str,
    ) -> Result<Vec<ChartVersion>, SourceError> {
        let name = self.place.chart(chart)?;
        let tags = self.tags(visitor, name.clone()).await.map_err(|error| self.no_chart(error, chart))?;
        let versions: Vec<String> = tags
            .iter()
            .map(|tag| tag.replace('_', "+"))
            .filter(|text| Version::parse(text).is_some())
            .collect();
        let versions = sorted(versions, String::as_str).into_iter();
        Ok(versions
            .map(|version| ChartVersion { name: chart.to_owned(), version, ..ChartVersion::default() })
            .collect())
    }

    /// The version of a chart that is meant. A plain version is asked for by its tag, without a list of all
    /// tags, and stands for no other, as in Helm.
    pub(crate) async fn version(
        self: &Arc<Self>,
        visitor: Visitor,
        chart: &str,
        wanted: &str,
    ) -> Result<ChartVersion, SourceError> {
        let name = self.place.chart(chart)?;
        let tag = wanted.replace('+', "_");
        let plain = Version::parse(wanted).is_some();
        if is_digest(wanted) || (plain && is_reference(&tag)) {
            match self.described(visitor.clone(), chart, &name, wanted, &tag).await {
                Err(SourceError::RepositoryNotFound { .. }) if plain => {}
                Err(error) if error.is_transient() => {
                    return self.remembered(chart, wanted).await?.ok_or(error);
                }
                other => return other.map_err(|error| self.no_chart(error, chart)),
            }
        }
        let versions = match self.versions(visitor.clone(), chart).await {
            // The list was for what is near; that the version is not there is known without it.
            Err(error) if plain && !matches!(error, SourceError::ChartNotFound { .. }) => Vec::new(),
            versions => versions?,
        };
        let Some(chosen) = choose(&versions, wanted, |version| &version.version).filter(|_| !plain) else {
            let texts = versions.iter().map(|version| version.version.as_str());
            return Err(self.no_version(chart, wanted, nearest(texts, wanted)));
        };
        let tag = chosen.version.replace('+', "_");
        self.described(visitor, chart, &name, &chosen.version, &tag)
            .await
            .map_err(|error| self.no_chart(error, chart))
    }

    /// A version with what its manifest says of it.
    async fn described(
        self: &Arc<Self>,
        visitor: Visitor,
        chart: &str,
        name: &str,
        version: &str,
        reference: &str,
    ) -> Result<ChartVersion, SourceError> {
        let manifest = self.resolved(visitor, name, reference, Manifest::is_chart).await?;
        let layer = manifest.chart().map_err(|reason| self.protocol(reason))?;
        let annotation =
            |key: &str| manifest.annotation(&format!("org.opencontainers.image.{key}")).to_owned();
        // Asked for by digest, the version is only known from what the chart says of itself.
        let own = annotation("version");
        let by_digest = is_digest(version) && Version::parse(&own).is_some();
        Ok(ChartVersion {
            name: chart.to_owned(),
            version: if by_digest { own } else { version.to_owned() },
            description: annotation("description"),
            created: annotation("created"),
            digest: Some(layer.digest.clone()),
            urls: vec![format!("{}/{chart}@{}", self.place.shown(), manifest.digest)],
            ..ChartVersion::default()
        })
    }

    /// The archive of a version.
    pub(crate) async fn archive(
        self: &Arc<Self>,
        visitor: Visitor,
        version: &ChartVersion,
    ) -> Result<Arc<[u8]>, SourceError> {
        let name = self.place.chart(&version.name)?;
        let digest = match version.digest.clone() {
            Some(digest) if is_digest(&digest) => digest,
            Some(digest) => return Err(self.protocol(format!("{digest:?} is not a digest"))),
            None => {
                let found = self.version(visitor.clone(), &version.name, &version.version).await?;
                found.digest.unwrap_or_default()
            }
        };
        let bytes = self.blob(visitor, &name, Blob { digest: digest.clone(), ..Blob::default() }).await?;
        let (store, version) = (self.store.clone(), version.clone());
        blocking(move || store.keep_version(&version, &digest)).await?;
        Ok(bytes)
    }

    /// The archive of the chart at this place itself, which a chart repository has named.
    pub(crate) async fn own_archive(self: &Arc<Self>, visitor: Visitor) -> Result<Arc<[u8]>, SourceError> {
        let reference = self.place.reference.clone();
        let manifest =
            self.resolved(visitor.clone(), &self.place.name, &reference, Manifest::is_chart).await?;
        let layer = manifest.chart().map_err(|reason| self.protocol(reason))?.clone();
        self.blob(visitor, &self.place.name.clone(), layer).await
    }

    /// The artifact that a tag, digest or range stands for.
    pub(crate) async fn artifact(
        self: &Arc<Self>,
        visitor: Visitor,
        wanted: &str,
    ) -> Result<Artifact, SourceError> {
        let name = self.place.name.clone();
        let asked = if wanted.is_empty() { self.place.reference.as_str() } else { wanted };
        let asked = if asked.is_empty() { "latest" } else { asked };
        let tag = asked.replace('+', "_");
        if is_reference(&tag) {
            match self.resolved(visitor.clone(), &name, &tag, |_| true).await {
                Ok(manifest) => return Ok(Artifact::new(asked, &tag, &manifest)),
                Err(SourceError::RepositoryNotFound { .. }) if !is_digest(asked) => {}
                Err(error) => return Err(error),
            }
        }
        let tags = self.tags(visitor.clone(), name.clone()).await?;
        let versions: Vec<String> = tags.iter().map(|tag| tag.replace('_', "+")).collect();
        let plain = Version::parse(asked).is_some();
        let Some(chosen) = choose(&versions, asked, |text| text).filter(|_| !plain) else {
            return Err(self.no_version(&name, asked, nearest(versions.iter().map(String::as_str), asked)));
        };
        let tag = chosen.replace('+', "_");
        let manifest = self.resolved(visitor, &name, &tag, |_| true).await?;
        Ok(Artifact::new(asked, &tag, &manifest))
    }

    /// The files of an artifact.
    pub(crate) async fn tree(
        self: &Arc<Self>,
        visitor: Visitor,
        artifact: &Artifact,
    ) -> Result<Arc<dyn Tree>, SourceError> {
        let name = self.place.name.clone();
        let manifest = self.manifest(visitor.clone(), &name, &artifact.digest).await?;
        let layer = layer::content(&manifest).map_err(|reason| self.protocol(reason))?.clone();
        let bytes = self.blob(visitor, &name, layer.clone()).await?;
        let url = self.place.shown();
        blocking(move || {
            let tree = layer::unpack(&layer, &bytes);
            Ok(Arc::new(tree.map_err(|reason| SourceError::Corrupt { url, reason })?) as Arc<dyn Tree>)
        })
        .await
    }

    /// The tags of the place itself, newest version first, with `+` where the registry has `_`.
    pub(crate) async fn own_tags(self: &Arc<Self>, visitor: Visitor) -> Result<Vec<String>, SourceError> {
        let tags = self.tags(visitor, self.place.name.clone()).await?;
        Ok(sorted(tags.iter().map(|tag| tag.replace('_', "+")).collect(), String::as_str))
    }

    /// Whether the registry is there and lets us in.
    pub(crate) async fn greet(self: &Arc<Self>, visitor: Visitor) -> Result<(), SourceError> {
        let (name, limit) = (self.place.name.clone(), MAX_REGISTRY_ANSWER_BYTES);
        self.clone().talk(visitor, Step::Greeting, limit, name, |talk| talk.greet()).await
    }

    async fn tags(self: &Arc<Self>, visitor: Visitor, name: String) -> Result<Arc<[String]>, SourceError> {
        if let Some(tags) = self.tags.get(&name, self.settings.max_age) {
            return Ok(tags);
        }
        let (registry, own) = (self.clone(), name.clone());
        let start = || async move {
            let (at, limit) = (Instant::now(), MAX_REGISTRY_ANSWER_BYTES);
            let talk = registry.clone().talk(visitor, Step::Tags, limit, own.clone(), |talk| talk.tags());
            let tags: Arc<[String]> = Arc::from(talk.await?);
            registry.tags.keep(own, at, tags.clone());
            Ok(tags)
        };
        self.tags.flights.join(name, start).await
    }

    /// A manifest; if it is an index of several, the first of them that will do.
    async fn resolved(
        self: &Arc<Self>,
        visitor: Visitor,
        name: &str,
        reference: &str,
        wanted: impl Fn(&Manifest) -> bool,
    ) -> Result<Arc<Manifest>, SourceError> {
        let manifest = self.manifest(visitor.clone(), name, reference).await?;
        if manifest.offered.is_empty() {
            return Ok(manifest);
        }
        for offered in &manifest.offered {
            let inner = self.manifest(visitor.clone(), name, &offered.digest).await?;
            if inner.offered.is_empty() && wanted(&inner) {
                return Ok(inner);
            }
        }
        Err(self.protocol("its index offers nothing that can be used".to_owned()))
    }

    async fn manifest(
        self: &Arc<Self>,
        visitor: Visitor,
        name: &str,
        reference: &str,
    ) -> Result<Arc<Manifest>, SourceError> {
        let key = (name.to_owned(), reference.to_owned());
        // What a digest stands for does not change.
        let age = if is_digest(reference) { Duration::MAX } else { self.settings.max_age };
        if let Some(manifest) = self.manifests.get(&key, age) {
            return Ok(manifest);
        }
        let (registry, own) = (self.clone(), key.clone());
        let start = || async move {
            let at = Instant::now();
            let (name, reference) = own.clone();
            let work = move |talk: &Conversation<'_>| talk.manifest(&reference);
            let talk = registry.clone().talk(visitor, Step::Manifest, MAX_REGISTRY_ANSWER_BYTES, name, work);
            let manifest = Arc::new(talk.await?);
            registry.manifests.keep(own, at, manifest.clone());
            Ok(manifest)
        };
        self.manifests.flights.join(key, start).await
    }

    async fn blob(
        self: &Arc<Self>,
        visitor: Visitor,
        name: &str,
        blob: Blob,
    ) -> Result<Arc<[u8]>, SourceError> {
        let (registry, name) = (self.clone(), name.to_owned());
        let key = (name.clone(), blob.digest.clone());
        let start = || async move {
            let (store, digest) = (registry.store.clone(), blob.digest.clone());
            if let Some(bytes) = blocking(move || Ok(store.archive(&digest))).await? {
                return Ok(Arc::from(bytes));
            }
            let store = registry.store.clone();
            let limit = registry.settings.max_chart_bytes;
            let work = move |talk: &Conversation<'_>| {
                let bytes = talk.blob(&blob)?;
                store.keep_archive(&blob.digest, &bytes)?;
                Ok(Arc::from(bytes))
            };
            registry.talk(visitor, Step::Download, limit, name, work).await
        };
        self.blobs.join(key, start).await
    }

    /// Has a conversation about a name on a thread that may block.
    async fn talk<T: Send + 'static>(
        self: Arc<Self>,
        visitor: Visitor,
        step: Step,
        limit: u64,
        name: String,
        work: impl FnOnce(&Conversation<'_>) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let what = match step {
            Step::Download => "extract",
            Step::Tags => "get_tags",
            _ => "resolve_revision",
        };
        let span = trace::oci(&self.place.shown(), what);
        trace::within(span, self.talk_now(visitor, step, limit, name, work)).await
    }

    async fn talk_now<T: Send + 'static>(
        self: Arc<Self>,
        visitor: Visitor,
        step: Step,
        limit: u64,
        name: String,
        work: impl FnOnce(&Conversation<'_>) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let (url, host) = (self.place.shown(), client::host_of(&self.place.home));
        let timeout = match step {
            Step::Download => self.settings.fetch_timeout,
            _ => self.settings.list_timeout,
        };
        let talk = Talk { url, host, peer: Peer::Registry, step };
        let call = Arc::new(Call::new(talk, timeout, limit));
        let turns = self.host.clone();
        let _turn = call.bounded(turns.acquire()).await?;
        let line = call.clone();
        call.hold(move |_| {
            let line = Line::open(&line, &self.place.home, visitor, &self.settings)?;
            work(&Conversation { line, place: &self.place, name: &name, passes: &self.passes })
        })
        .await
    }

    async fn remembered(&self, chart: &str, wanted: &str) -> Result<Option<ChartVersion>, SourceError> {
        let (store, chart, wanted) = (self.store.clone(), chart.to_owned(), wanted.to_owned());
        blocking(move || Ok(store.version(&chart, &wanted))).await
    }

    fn no_version(&self, chart: &str, wanted: &str, nearest: Vec<String>) -> SourceError {
        let (chart, version) = (chart.to_owned(), wanted.chars().take(200).collect());
        SourceError::VersionNotFound { url: self.place.shown(), chart, version, nearest }
    }

    /// A name that is not there is a missing chart, not a missing registry.
    fn no_chart(&self, error: SourceError, chart: &str) -> SourceError {
        match error {
            SourceError::RepositoryNotFound { url } => {
                SourceError::ChartNotFound { url, chart: chart.to_owned(), similar: Vec::new() }
            }
            error => error,
        }
    }

    fn protocol(&self, reason: String) -> SourceError {
        SourceError::Protocol { url: self.place.shown(), peer: Peer::Registry, reason }
    }
}
