//! A chart repository behind HTTP, as seen with one set of credentials.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::read::MultiGzDecoder;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use reqwest::{StatusCode, Url};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::index::{self, Index, Uncut};
use super::store::{Draft, Label, Store};
use super::{ChartVersion, Fetched, choose, nearest, sorted};
use crate::call::{Call, Talk};
use crate::digest::{digest_like, is_digest, sha256};
use crate::error::{Peer, SourceError, Step};
use crate::flight::Flights;
use crate::limits::MAX_FOREIGN_INDEX_BYTES;
use crate::listing::similar;
use crate::settings::Settings;
use crate::sources::blocking;
use crate::transport::client;
use crate::transport::line::{Answer, Line, Visitor};
use crate::url::redact;

/// One chart repository: its index as last heard, and the archives that were fetched.
pub(crate) struct Shelf {
    home: Url,
    shown: String,
    settings: Settings,
    pub(super) store: Arc<Store>,
    /// Bounds the downloads from the same host.
    host: Arc<Semaphore>,
    heard: Mutex<Option<Heard>>,
    indexes: Flights<(), Result<Arc<Index>, SourceError>>,
    downloads: Flights<(String, String), Fetched>,
    /// Whether it was used since the last sweep.
    pub(super) used: AtomicBool,
}

#[derive(Clone)]
struct Heard {
    at: Instant,
    index: Arc<Index>,
    /// By what the server tells whether it has changed.
    label: Label,
    /// Whether it may be used again.
    fresh: bool,
}

impl Shelf {
    pub(super) fn new(
        home: Url,
        shown: String,
        settings: Settings,
        store: Store,
        host: Arc<Semaphore>,
    ) -> Self {
        Shelf {
            home,
            shown,
            settings,
            store: Arc::new(store),
            host,
            heard: Mutex::default(),
            indexes: Flights::default(),
            downloads: Flights::default(),
            used: AtomicBool::new(true),
        }
    }

    /// Makes the next question go to the server.
    pub(super) fn forget(&self) {
        if let Some(heard) = self.heard.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            heard.fresh = false;
        }
    }

    /// The names of all charts.
    pub(super) async fn charts(self: &Arc<Self>, visitor: Visitor) -> Result<Vec<String>, SourceError> {
        Ok(self.index(visitor).await?.charts().into_iter().map(str::to_owned).collect())
    }

    /// The versions of a chart, newest first.
    pub(super) async fn versions(
        self: &Arc<Self>,
        visitor: Visitor,
        chart: &str,
    ) -> Result<Vec<ChartVersion>, SourceError> {
        let index = self.index(visitor).await?;
        let (shelf, chart) = (self.clone(), chart.to_owned());
        blocking(move || {
            let versions = index.versions(&chart).ok_or_else(|| shelf.no_chart(&index, &chart))?;
            let versions = versions.map_err(|reason| SourceError::Corrupt {
                url: shelf.shown.clone(),
                reason: format!("the entries of chart {chart:?} cannot be read: {reason}"),
            })?;
            Ok(sorted(versions, |version| &version.version))
        })
        .await
    }

    /// The version of a chart that is meant. If the server cannot be reached, a version that is named exactly
    /// and whose archive is here is as good.
    pub(super) async fn version(
        self: &Arc<Self>,
        visitor: Visitor,
        chart: &str,
        wanted: &str,
    ) -> Result<ChartVersion, SourceError> {
        match self.versions(visitor, chart).await {
            Ok(versions) => choose(&versions, wanted, |version| &version.version).cloned().ok_or_else(|| {
                let texts = versions.iter().map(|version| version.version.as_str());
                SourceError::VersionNotFound {
                    url: self.shown.clone(),
                    chart: chart.to_owned(),
                    version: wanted.chars().take(200).collect(),
                    nearest: nearest(texts, wanted),
                }
            }),
            Err(error) if error.is_transient() => self.remembered(chart, wanted).await?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    async fn remembered(&self, chart: &str, wanted: &str) -> Result<Option<ChartVersion>, SourceError> {
        let (store, chart, wanted) = (self.store.clone(), chart.to_owned(), wanted.to_owned());
        blocking(move || Ok(store.version(&chart, &wanted))).await
    }

    /// The archive of a version: from the disk, or from the first place that has it.
    pub(super) async fn archive(
        self: &Arc<Self>,
        visitor: Visitor,
        version: &ChartVersion,
    ) -> Result<Arc<[u8]>, SourceError> {
        let (shelf, version) = (self.clone(), version.clone());
        let key = (version.name.clone(), version.digest.clone().unwrap_or_else(|| version.version.clone()));
        let start = || async move {
            if let Some(bytes) = shelf.kept(&version).await? {
                return Ok(bytes);
            }
            let call = shelf.call(Step::Download, shelf.settings.max_chart_bytes);
            let _turn = call.bounded(shelf.host.acquire()).await?;
            let (line, loader) = (call.clone(), shelf.clone());
            call.hold(move |_| loader.download(&line, visitor, &version)).await
        };
        self.downloads.join(key, start).await
    }

    /// The archive of a version, if it is on the disk.
    pub(super) async fn kept(&self, version: &ChartVersion) -> Result<Option<Arc<[u8]>>, SourceError> {
        let (store, version) = (self.store.clone(), version.clone());
        blocking(move || Ok(kept(&store, &version))).await
    }

    /// Takes an archive that came from elsewhere.
    pub(super) async fn adopt(
        self: &Arc<Self>,
        version: &ChartVersion,
        bytes: Arc<[u8]>,
    ) -> Result<Arc<[u8]>, SourceError> {
        let (shelf, version) = (self.clone(), version.clone());
        blocking(move || shelf.accept(&version, bytes)).await
    }

    fn download(
        &self,
        call: &Arc<Call>,
        visitor: Visitor,
        version: &ChartVersion,
    ) -> Result<Arc<[u8]>, SourceError> {
        let line = Line::open(call, &self.home, visitor, &self.settings)?;
        let credential = client::authorization(&self.shown, line.access())?;
        let mut trouble = self.damaged(format!("chart {} {} has no URL", version.name, version.version));
        for url in &version.urls {
            let fetched = self
                .resolve(url)
                .and_then(|url| line.get(&url, &HeaderMap::new(), credential.as_ref()))
                .and_then(|answer| answer.success(credential.is_none()))
                .and_then(Answer::bytes);
            match fetched {
                Ok(bytes) => return self.accept(version, Arc::from(bytes)),
                // Another place may have it; but what is wrong with us is wrong everywhere.
                Err(error @ (SourceError::Timeout { .. } | SourceError::TooLarge { .. })) => {
                    return Err(error);
                }
                Err(error) => trouble = self.at_chart(error, version),
            }
        }
        Err(trouble)
    }

    /// Checks what has arrived, and keeps it.
    fn accept(&self, version: &ChartVersion, bytes: Arc<[u8]>) -> Result<Arc<[u8]>, SourceError> {
        let digest = self.check(version, &bytes)?;
        self.store.keep_archive(&digest, &bytes)?;
        self.store.keep_version(version, &digest)?;
        Ok(bytes)
    }

    /// Checks that an archive is the one that the index announces, and gives its digest.
    fn check(&self, version: &ChartVersion, bytes: &[u8]) -> Result<String, SourceError> {
        let what = || format!("chart {} {}", version.name, version.version);
        let digest = match &version.digest {
            Some(expected) => {
                if !is_digest(expected) {
                    return Err(
                        self.damaged(format!("{} has the digest {expected:?}, which is none", what()))
                    );
                }
                let found = digest_like(expected, bytes);
                if found != *expected {
                    let (url, expected) = (self.shown.clone(), expected.clone());
                    return Err(SourceError::Digest { url, what: what(), expected, found });
                }
                found
            }
            None => sha256(bytes),
        };
        if !bytes.starts_with(&GZIP) {
            return Err(self.damaged(format!("{} is not an archive", what())));
        }
        Ok(digest)
    }

    /// A chart that is in the index and not on the server is no missing repository.
    fn at_chart(&self, error: SourceError, version: &ChartVersion) -> SourceError {
        match error {
            SourceError::RepositoryNotFound { .. } => self.damaged(format!(
                "it does not have the archive of chart {} {}",
                version.name, version.version
            )),
            error => error,
        }
    }

    fn damaged(&self, reason: String) -> SourceError {
        SourceError::Corrupt { url: self.shown.clone(), reason }
    }

    /// A URL of the index as Helm reads it: relative to the repository, whose query it takes over.
    fn resolve(&self, text: &str) -> Result<Url, SourceError> {
        let wrong = |reason: String| SourceError::Url { url: redact(text), reason };
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
            Ok(url) => Err(wrong(format!("charts are not fetched over {}", url.scheme()))),
            Err(_) => {
                let mut base = self.home.clone();
                base.set_path(&format!("{}/", base.path().trim_end_matches('/')));
                let mut url = base.join(text).map_err(|error| wrong(error.to_string()))?;
                url.set_query(self.home.query());
                Ok(url)
            }
        }
    }

    /// The index, as old as the settings allow.
    async fn index(self: &Arc<Self>, visitor: Visitor) -> Result<Arc<Index>, SourceError> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(heard) = heard.filter(|heard| heard.fresh && heard.at.elapsed() < self.settings.max_age) {
            return Ok(heard.index);
        }
        let shelf = self.clone();
        let start = || async move {
            let at = Instant::now();
            let call = shelf.call(Step::Index, shelf.settings.max_index_bytes);
            let _turn = call.bounded(shelf.host.acquire()).await?;
            let (line, asker) = (call.clone(), shelf.clone());
            let (index, label) = call.hold(move |_| asker.ask(&line, visitor)).await?;
            let heard = Heard { at, index: index.clone(), label, fresh: true };
            *shelf.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(heard);
            Ok(index)
        };
        self.indexes.join((), start).await
    }

    /// Asks for the index, with the mark of the one that is known, so that the server need not send it again.
    fn ask(&self, call: &Arc<Call>, visitor: Visitor) -> Result<(Arc<Index>, Label), SourceError> {
        let line = Line::open(call, &self.home, visitor, &self.settings)?;
        let credential = client::authorization(&self.shown, line.access())?;
        let known = self.known();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        if let Some((_, label)) = &known {
            for (name, value) in [(IF_NONE_MATCH, &label.etag), (IF_MODIFIED_SINCE, &label.modified)] {
                if let Some(value) = HeaderValue::from_str(value).ok().filter(|value| !value.is_empty()) {
                    headers.insert(name, value);
                }
            }
        }
        let answer = line.get(&self.resolve("index.yaml")?, &headers, credential.as_ref())?;
        if let (StatusCode::NOT_MODIFIED, Some(known)) = (answer.status(), known) {
            return Ok(known);
        }
        self.take(call, answer.success(credential.is_none())?)
    }

    /// The index that was read last, by this process or another.
    fn known(&self) -> Option<(Arc<Index>, Label)> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(heard) = heard {
            return Some((heard.index, heard.label));
        }
        let (label, path) = self.store.index()?;
        Some((Arc::new(Index::open(&path).ok()?), label))
    }

    /// Takes an index that is new.
    fn take(&self, call: &Call, answer: Answer) -> Result<(Arc<Index>, Label), SourceError> {
        let text = |name| answer.header(name).unwrap_or_default().to_owned();
        let label = Label { etag: text("etag"), modified: text("last-modified"), ..Label::default() };
        let gzip = matches!(text("content-encoding").as_str(), "gzip" | "x-gzip");
        let mut draft = self.store.draft()?;
        if gzip {
            self.copy(call, MultiGzDecoder::new(answer), &mut draft)?;
        } else {
            self.copy(call, answer, &mut draft)?;
        }
        let (index, draft) = self.cut(draft)?;
        self.store.keep_index(draft, label.clone())?;
        Ok((Arc::new(index), label))
    }

    /// Writes an answer to the disk piece by piece; one that is packed is counted again as it unfolds.
    fn copy(&self, call: &Call, mut from: impl Read, draft: &mut Draft) -> Result<(), SourceError> {
        let mut buffer = vec![0; 1 << 16];
        let mut total: u64 = 0;
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(call.told(&error)),
            };
            total += count as u64;
            if total > call.limit() {
                return Err(call.too_large());
            }
            call.check()?;
            let piece = buffer.get(..count).unwrap_or_default();
            draft.write_all(piece).map_err(|error| SourceError::storage("write", draft.path(), &error))?;
        }
    }

    /// Finds the charts in a text, which is written down in another form first if that is needed.
    fn cut(&self, draft: Draft) -> Result<(Index, Draft), SourceError> {
        let failed = |error: &io::Error| SourceError::storage("read", self.store.root(), error);
        let cut = |draft: &Draft| match Index::open(draft.path()) {
            Ok(index) => Ok(Some(index)),
            Err(Uncut::Foreign) => Ok(None),
            Err(Uncut::Excess(reason)) => Err(self.protocol(reason)),
            Err(Uncut::Io(error)) => Err(failed(&error)),
        };
        if let Some(index) = cut(&draft)? {
            return Ok((index, draft));
        }
        let size = std::fs::metadata(draft.path()).map_err(|error| failed(&error))?.len();
        if size > MAX_FOREIGN_INDEX_BYTES {
            let limit = MAX_FOREIGN_INDEX_BYTES;
            return Err(
                self.protocol(format!("its index is in an unusual form and has more than {limit} bytes"))
            );
        }
        let text = std::fs::read(draft.path()).map_err(|error| failed(&error))?;
        let mut rewritten = self.store.draft()?;
        index::rewrite(&text, &mut rewritten).map_err(|reason| self.protocol(reason))?;
        match cut(&rewritten)? {
            Some(index) => Ok((index, rewritten)),
            None => Err(self.protocol("the names of its charts cannot be read".to_owned())),
        }
    }

    fn protocol(&self, reason: String) -> SourceError {
        SourceError::Protocol { url: self.shown.clone(), peer: Peer::Charts, reason }
    }

    fn no_chart(&self, index: &Index, chart: &str) -> SourceError {
        let similar = similar(chart, index.charts());
        SourceError::ChartNotFound { url: self.shown.clone(), chart: chart.to_owned(), similar }
    }

    fn call(&self, step: Step, limit: u64) -> Arc<Call> {
        let (url, host) = (self.shown.clone(), client::host_of(&self.home));
        let talk = Talk { url, host, peer: Peer::Charts, step };
        Arc::new(Call::new(talk, self.settings.fetch_timeout, limit))
    }
}

/// How a compressed archive begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The archive of a version, if it is on the disk: by its digest, or if the index gives none, as it was found
/// at the same place before.
fn kept(store: &Store, version: &ChartVersion) -> Option<Arc<[u8]>> {
    let digest = match &version.digest {
        Some(digest) => digest.clone(),
        None => {
            let before = store.version(&version.name, &version.version)?;
            (before.urls == version.urls).then_some(before.digest)??
        }
    };
    store.archive(&digest).map(Arc::from)
}
