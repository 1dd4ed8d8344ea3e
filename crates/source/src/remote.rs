//! Remote repositories: their references as last heard, and their mirrors.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::call::{Call, Talk};
use crate::error::{Peer, RevisionKind, SourceError, Step};
use crate::flight::Flights;
use crate::limits::{MAX_FETCHES_PER_HOST, MAX_LISTING_BYTES};
use crate::listing::{Listing, candidates};
use crate::mirror::{self, Mirror};
use crate::objects::Objects;
use crate::protocol::{self, Depth, FetchError};
use crate::repository::Access;
use crate::revision::CommitId;
use crate::settings::Settings;
use crate::sources::blocking;
use crate::trace;
use crate::transport;
use crate::url::RepoUrl;
use crate::wishes::Wished;

/// What identifies a set of credentials without giving it away.
type Fingerprint = [u8; 32];

/// Every remote repository that was asked for.
pub(crate) struct Remotes {
    cache: PathBuf,
    settings: Settings,
    wished: Wished,
    known: Mutex<HashMap<String, Arc<Remote>>>,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// One remote repository, shared by all who use it, whatever their credentials.
pub(crate) struct Remote {
    place: RepoUrl,
    shown: String,
    settings: Settings,
    wished: Wished,
    mirror: Arc<Mirror>,
    /// One fetch at a time into the mirror.
    writing: tokio::sync::Mutex<()>,
    /// Bounds the fetches from the same host.
    host: Arc<Semaphore>,
    /// What was heard with which credentials. To be in here also proves that they let one in: the mirror
    /// is shared, and must not show a private repository to whoever knows a commit's id.
    heard: Mutex<HashMap<Fingerprint, Heard>>,
    listings: Flights<(Fingerprint, Option<String>), Result<Arc<Listing>, SourceError>>,
    fetches: Flights<(Fingerprint, Wanted), Result<(), SourceError>>,
}

#[derive(Clone)]
struct Heard {
    at: Instant,
    listing: Arc<Listing>,
    /// Whether it may be used again.
    fresh: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Wanted {
    Commit(CommitId),
    Everything,
}

impl Remotes {
    pub(crate) fn new(cache: PathBuf, settings: Settings, wished: Wished) -> Self {
        Remotes { cache, settings, wished, known: Mutex::default(), hosts: Mutex::default() }
    }

    /// The remote repository at a place. Two ways to write the same URL may give two; that costs a mirror
    /// and nothing else.
    pub(crate) fn at(&self, place: &RepoUrl, shown: &str) -> Arc<Remote> {
        let key = key(place);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(key.clone())
            .or_insert_with(|| {
                Arc::new(Remote {
                    place: place.clone(),
                    shown: shown.to_owned(),
                    settings: self.settings.clone(),
                    wished: self.wished.clone(),
                    mirror: Arc::new(Mirror::new(directory(&self.cache, "git", &key, &key))),
                    writing: tokio::sync::Mutex::default(),
                    host: self.host(&place.host()),
                    heard: Mutex::default(),
                    listings: Flights::default(),
                    fetches: Flights::default(),
                })
            })
            .clone()
    }

    /// Removes the mirrors of repositories that are not among `used`, unless someone still reads from them.
    pub(crate) fn sweep(&self, used: &[RepoUrl]) {
        let used: HashSet<String> = used.iter().map(key).collect();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| used.contains(key));
        let kept: HashSet<PathBuf> = used.iter().map(|key| directory(&self.cache, "git", key, key)).collect();
        for entry in std::fs::read_dir(self.cache.join("git")).into_iter().flatten().flatten() {
            if !kept.contains(&entry.path()) {
                mirror::remove(&entry.path());
            }
        }
    }

    fn host(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.entry(host.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(MAX_FETCHES_PER_HOST))).clone()
    }
}

impl Remote {
    /// The branches and tags, as old as the settings allow.
    pub(crate) async fn listing(self: &Arc<Self>, access: &Access) -> Result<Arc<Listing>, SourceError> {
        let fingerprint = access.fingerprint();
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).get(&fingerprint).cloned();
        if let Some(heard) = heard.filter(|heard| heard.fresh && heard.at.elapsed() < self.settings.max_age) {
            return Ok(heard.listing);
        }
        let (remote, access) = (self.clone(), access.clone());
        let start = || async move {
            let prefixes = ["HEAD", "refs/heads/", "refs/tags/"].map(str::to_owned).to_vec();
            let at = Instant::now();
            let listing = Arc::new(remote.ask(&access, prefixes).await?);
            let heard = Heard { at, listing: listing.clone(), fresh: true };
            remote.heard.lock().unwrap_or_else(PoisonError::into_inner).insert(fingerprint, heard);
            Ok(listing)
        };
        self.listings.join((fingerprint, None), start).await
    }

    /// A listing that also has the reference of this name, if there is one, wherever it stands.
    pub(crate) async fn listing_with(
        self: &Arc<Self>,
        access: &Access,
        name: &str,
    ) -> Result<Arc<Listing>, SourceError> {
        let known = self.listing(access).await?;
        let (remote, access, name) = (self.clone(), access.clone(), name.to_owned());
        let key = (access.fingerprint(), Some(name.clone()));
        let start = || async move {
            let more = remote.ask(&access, candidates(&name)).await?;
            let mut all = Listing::clone(&known);
            all.merge(more);
            Ok(Arc::new(all))
        };
        self.listings.join(key, start).await
    }

    /// Makes the next listing come from the server.
    pub(crate) fn forget(&self) {
        for heard in self.heard.lock().unwrap_or_else(PoisonError::into_inner).values_mut() {
            heard.fresh = false;
        }
    }

    async fn ask(&self, access: &Access, prefixes: Vec<String>) -> Result<Listing, SourceError> {
        let span = trace::git(&self.shown, "ls-remote", "");
        trace::within(span, self.ask_now(access, prefixes)).await
    }

    async fn ask_now(&self, access: &Access, prefixes: Vec<String>) -> Result<Listing, SourceError> {
        let call = self.call(Step::List, self.wished.git_list_timeout(&self.settings), MAX_LISTING_BYTES);
        let (place, access, settings) = (self.place.clone(), access.clone(), self.settings.clone());
        let line = call.clone();
        call.hold(move |call| {
            let mut transport = transport::connect(&line, &place, &access, &settings)?;
            protocol::list(call, transport.as_mut(), &prefixes)
        })
        .await
    }

    /// The objects of a commit, fetched if they are not here.
    pub(crate) async fn objects(
        self: &Arc<Self>,
        access: &Access,
        commit: CommitId,
    ) -> Result<Arc<Objects>, SourceError> {
        self.prove(access).await?;
        if let Some(objects) = self.find(commit).await? {
            return Ok(objects);
        }
        self.fetch(access, Wanted::Commit(commit)).await?;
        match self.find(commit).await? {
            Some(objects) => Ok(objects),
            None => Err(SourceError::no_commit(&self.shown, commit)),
        }
    }

    /// All history, where a fetch brought the commits alone.
    pub(crate) async fn deepen(self: &Arc<Self>, access: &Access) -> Result<(), SourceError> {
        self.fetch(access, Wanted::Everything).await
    }

    /// The commit whose id starts with `prefix`. If it is neither here nor at the tip of a reference, all
    /// history has to be fetched: servers find commits by their full id only.
    pub(crate) async fn find_prefix(
        self: &Arc<Self>,
        access: &Access,
        prefix: &str,
    ) -> Result<CommitId, SourceError> {
        let listing = self.listing(access).await?;
        let tip = listing.tips().into_iter().find(|tip| tip.to_string().starts_with(prefix));
        if let Some(tip) = tip {
            return Ok(CommitId(tip));
        }
        for everything in [false, true] {
            if everything {
                self.fetch(access, Wanted::Everything).await?;
            }
            let (mirror, text) = (self.mirror.clone(), prefix.to_owned());
            match blocking(move || Ok(mirror.find_prefix(&text))).await? {
                Ok(Some(commit)) => return Ok(commit),
                Ok(None) => {}
                Err(kind) => return Err(listing.missing(&self.shown, prefix, kind)),
            }
        }
        Err(listing.missing(&self.shown, prefix, RevisionKind::Commit))
    }

    /// Makes sure that these credentials have let someone in.
    pub(crate) async fn prove(self: &Arc<Self>, access: &Access) -> Result<(), SourceError> {
        let fingerprint = access.fingerprint();
        if self.heard.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&fingerprint) {
            return Ok(());
        }
        self.listing(access).await.map(|_| ())
    }

    async fn find(&self, commit: CommitId) -> Result<Option<Arc<Objects>>, SourceError> {
        let mirror = self.mirror.clone();
        blocking(move || mirror.find(commit)).await
    }

    async fn fetch(self: &Arc<Self>, access: &Access, wanted: Wanted) -> Result<(), SourceError> {
        let (remote, access) = (self.clone(), access.clone());
        let key = (access.fingerprint(), wanted);
        let start = || async move {
            let revision = match wanted {
                Wanted::Commit(commit) => commit.to_string(),
                Wanted::Everything => String::new(),
            };
            let span = trace::git(&remote.shown, "fetch", &revision);
            trace::within(span, remote.fetch_now(&access, wanted)).await
        };
        self.fetches.join(key, start).await
    }

    async fn fetch_now(self: &Arc<Self>, access: &Access, wanted: Wanted) -> Result<(), SourceError> {
        let call = self.call(Step::Fetch, self.settings.fetch_timeout, self.settings.max_pack_bytes);
        let turns = async { (self.host.acquire().await, self.writing.lock().await) };
        let _turn = call.bounded(turns).await?;
        if let Wanted::Commit(commit) = wanted {
            match self.fetch_into(&call, access, vec![commit.0], Depth::One).await {
                Err(FetchError::NotOurs) => {}
                other => return other.map_err(|error| self.source(error)),
            }
        }
        // A server that gives out only what it advertises, or a commit that is not there.
        let tips = self.listing(access).await?.tips();
        self.fetch_into(&call, access, tips, Depth::Full).await.map_err(|error| self.source(error))?;
        let Wanted::Commit(commit) = wanted else { return Ok(()) };
        let mirror = self.mirror.clone();
        blocking(move || mirror.adopt(commit)).await
    }

    async fn fetch_into(
        &self,
        call: &Arc<Call>,
        access: &Access,
        wants: Vec<gix::ObjectId>,
        depth: Depth,
    ) -> Result<(), FetchError> {
        let (place, access, settings) = (self.place.clone(), access.clone(), self.settings.clone());
        let (mirror, line) = (self.mirror.clone(), call.clone());
        let held = call.clone().hold(move |call| {
            // The outer result is for the deadline, the inner one for the fetch.
            Ok(mirror.fetch(call, &wants, depth, |repository, wish| {
                let transport = transport::connect(&line, &place, &access, &settings);
                let mut transport = transport.map_err(FetchError::Source)?;
                protocol::fetch(call, transport.as_mut(), repository, wish)
            }))
        });
        held.await.map_err(FetchError::Source)?
    }

    fn source(&self, error: FetchError) -> SourceError {
        let url = self.shown.clone();
        match error {
            FetchError::Source(error) => error,
            FetchError::Unusable(reason) => SourceError::Corrupt { url, reason },
            FetchError::NotOurs => {
                let reason = "it does not give out what it lists".to_owned();
                SourceError::Protocol { url, peer: Peer::Git, reason }
            }
        }
    }

    fn call(&self, step: Step, after: Duration, limit: u64) -> Arc<Call> {
        let peer = Peer::Git;
        Arc::new(Call::new(
            Talk { url: self.shown.clone(), host: self.place.host(), peer, step },
            after,
            limit,
        ))
    }
}

/// What tells a remote repository from the others. Case and ending count: some servers tell them apart.
pub(crate) fn key(place: &RepoUrl) -> String {
    match place {
        RepoUrl::Local(path) => path.display().to_string(),
        RepoUrl::Http(http) => http.url.clone(),
        RepoUrl::Ssh(ssh) => format!("ssh://{}@{}/{}", ssh.user, ssh.authority(), ssh.path),
    }
}

/// A directory of the cache with a name that a person recognises, made unique by the hash of a key.
pub(crate) fn directory(cache: &Path, kind: &str, shown: &str, key: &str) -> PathBuf {
    let hash: [u8; 32] = Sha256::digest(key).into();
    let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let words: Vec<&str> =
        shown.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(80).collect();
    cache.join(kind).join(format!("{name}-{hash}"))
}
