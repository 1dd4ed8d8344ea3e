//! The one door to sources: a reference to a revision to a tree.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures::StreamExt as _;
use lynceus_files::{FilePath, Tree, TreeError};

use crate::chart::Shelves;
use crate::commit::{self, Metadata};
use crate::error::{RevisionKind, SourceError};
use crate::limits::{MAX_IDLE_TREES, MAX_SUBMODULE_DEPTH, MAX_SUBMODULES};
use crate::listing::{Answer, Listing, References};
use crate::local::{self, Opened};
use crate::objects::Objects;
use crate::range::Range;
use crate::remote::{self, Remote, Remotes};
use crate::repository::{Access, Repository, RepositoryKind};
use crate::revision::{CommitId, Revision, Target, full_commit};
use crate::settings::Settings;
use crate::submodule::{self, Declared};
use crate::tree::{GitTree, Place, Submodule};
use crate::url::{self, RepoUrl};
use crate::verify::Checked;
use crate::wishes::{Wished, Wishes};

/// Resolves revisions and opens their trees. Cloning it is cheap, and clones share everything.
#[derive(Clone)]
pub struct Sources {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    wished: Wished,
    remotes: Remotes,
    shelves: Shelves,
    opened: Arc<Opened>,
    trees: Mutex<Trees>,
    checked: Mutex<Checked>,
    /// Repositories on this machine that stand in for others, by what tells those from others.
    stand_ins: Mutex<HashMap<String, PathBuf>>,
}

/// Trees, so that applications of one repository share what is decoded.
#[derive(Default)]
struct Trees {
    /// Those that someone has open.
    open: HashMap<TreeKey, Weak<GitTree>>,
    /// The last ones, for those who come one after the other.
    last: VecDeque<Arc<GitTree>>,
}

/// The place, the credentials, the commit, and whether its submodules are in it.
type TreeKey = (String, [u8; 32], CommitId, bool);

/// Where a repository is, and how to get at it.
pub(crate) enum Door {
    Local(PathBuf),
    Remote(Arc<Remote>, Box<Access>),
}

/// The most submodules that are fetched at the same time.
const SUBMODULES_AT_ONCE: usize = 4;

impl Sources {
    /// Keeps its mirrors of remote repositories, and charts, in `cache`, which is made when it is needed.
    pub fn new(cache: impl Into<PathBuf>, settings: Settings) -> Self {
        let cache = cache.into();
        let wished = Wished::default();
        let remotes = Remotes::new(cache.clone(), settings.clone(), wished.clone());
        let shelves = Shelves::new(cache, settings.clone());
        Sources {
            inner: Arc::new(Inner {
                settings,
                wished,
                remotes,
                shelves,
                opened: Arc::default(),
                trees: Mutex::default(),
                checked: Mutex::default(),
                stand_ins: Mutex::default(),
            }),
        }
    }

    /// Has everything that is read from now on read as it is wished. Says whether a commit may have other files now.
    pub fn follow(&self, wishes: Wishes) -> bool {
        let had_submodules = self.inner.wished.submodules(&self.inner.settings);
        self.inner.wished.replace(wishes);
        had_submodules != self.inner.wished.submodules(&self.inner.settings)
    }

    /// Has a repository on this machine read wherever another one is meant, however that one is reached.
    pub fn stand_in(&self, url: &str, path: impl Into<PathBuf>) {
        self.stand_ins().insert(url::identity(url), path.into());
    }

    fn stand_ins(&self) -> MutexGuard<'_, HashMap<String, PathBuf>> {
        self.inner.stand_ins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks hosts of repositories for what they have, by the same proxies.
    pub fn scm(&self, aws: crate::Aws) -> crate::Scm {
        crate::Scm::new(self.inner.settings.clone(), aws)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    pub(crate) fn checked(&self) -> MutexGuard<'_, Checked> {
        self.inner.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn shelves(&self) -> &Shelves {
        &self.inner.shelves
    }

    /// Finds the commit that a branch, tag, range, reference or shortened commit id stands for.
    ///
    /// A remote repository is asked unless it was asked a moment ago; see [`Sources::forget`].
    pub async fn resolve(
        &self,
        repository: &Repository,
        target: impl Into<Target<'_>>,
    ) -> Result<Revision, SourceError> {
        let target = target.into();
        let shown = repository.shown();
        match self.door(repository)? {
            Door::Local(path) => {
                let (revision, prefix) = (target.revision.to_owned(), target.tag_prefix.to_owned());
                let opened = self.inner.opened.clone();
                let resolve = move || {
                    let repository = opened.at(&path, &shown)?.repository();
                    resolve_local(&repository, &shown, Target { revision: &revision, tag_prefix: &prefix })
                };
                blocking(resolve).await
            }
            Door::Remote(remote, access) => resolve_remote(&remote, &access, &shown, target).await,
        }
    }

    /// The files of a commit, with its submodules.
    ///
    /// A submodule that cannot be had costs only itself: reading its files is an error that says why.
    pub async fn tree(
        &self,
        repository: &Repository,
        revision: &Revision,
    ) -> Result<Arc<dyn Tree>, SourceError> {
        let (place, access) = repository.place()?;
        let submodules = self.inner.wished.submodules(&self.inner.settings);
        let key = (remote::key(&place), access.fingerprint(), revision.commit, submodules);
        // A tree that another has opened is for those alone whom the repository lets in.
        if let Door::Remote(remote, access) = self.door(repository)? {
            remote.prove(&access).await?;
        }
        let open = self.trees().open.get(&key).and_then(Weak::upgrade);
        if let Some(tree) = open {
            return Ok(tree);
        }
        let mut tree = GitTree::new(self.files(repository, revision.commit).await?);
        let whole = !submodules || self.mount_all(&mut tree, repository).await;
        let tree = Arc::new(tree);
        if whole {
            self.trees().keep(key, &tree);
        }
        Ok(tree)
    }

    /// The branches and tags that a user may choose from.
    pub async fn references(&self, repository: &Repository) -> Result<References, SourceError> {
        Ok(self.listing(repository).await?.references())
    }

    /// Who made a commit, when and why.
    pub async fn metadata(
        &self,
        repository: &Repository,
        revision: &Revision,
    ) -> Result<Metadata, SourceError> {
        let (shown, commit) = (repository.shown(), revision.commit);
        let objects = self.objects(repository, commit).await?;
        let mut metadata = blocking(move || commit::metadata(&objects, commit, &shown)).await?;
        let listing = self.listing(repository).await.unwrap_or_default();
        metadata.tags = listing.tags_at(commit.0);
        Ok(metadata)
    }

    /// Says whether a revision has a path, and if it has not, whether the default branch has it.
    pub async fn check_path(
        &self,
        repository: &Repository,
        revision: &Revision,
        tree: &dyn Tree,
        path: &FilePath,
    ) -> Result<(), SourceError> {
        match tree.entry(path) {
            Ok(_) => Ok(()),
            Err(TreeError::NotFound(_)) => Err(SourceError::PathNotFound {
                revision: revision.asked.clone(),
                path: path.clone(),
                found_on: self.branch_with(repository, revision, path).await,
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the next question about a repository go to its server: for a webhook, or a user who wants to
    /// know now.
    pub fn forget(&self, repository: &Repository) {
        match self.door(repository) {
            Ok(Door::Remote(remote, _)) => remote.forget(),
            Ok(Door::Local(_)) => {}
            Err(_) => self.inner.shelves.forget(repository),
        }
    }

    /// Removes what is kept of all repositories but these, so that the cache does not only grow. A mirror
    /// that is being read stays until the next time.
    pub async fn sweep(&self, used: &[Repository]) -> Result<(), SourceError> {
        let (git, charts): (Vec<&Repository>, Vec<&Repository>) =
            used.iter().partition(|used| used.kind == RepositoryKind::Git);
        let git: Vec<RepoUrl> = git.into_iter().filter_map(|used| Some(used.place().ok()?.0)).collect();
        let charts: Vec<Repository> = charts.into_iter().cloned().collect();
        let sources = self.clone();
        self.trees().last.clear();
        blocking(move || {
            sources.inner.remotes.sweep(&git);
            sources.inner.shelves.sweep(&charts);
            Ok(())
        })
        .await
    }

    async fn branch_with(
        &self,
        repository: &Repository,
        revision: &Revision,
        path: &FilePath,
    ) -> Option<String> {
        let (branch, commit) = self.listing(repository).await.ok()?.default_branch()?;
        if commit == revision.commit {
            return None;
        }
        let tree = GitTree::new(self.files(repository, commit).await.ok()?);
        tree.entry(path).is_ok().then_some(branch)
    }

    pub(crate) fn door(&self, repository: &Repository) -> Result<Door, SourceError> {
        let shown = repository.shown();
        if repository.kind != RepositoryKind::Git {
            let what = format!("a source of kind {:?}", repository.kind);
            return Err(SourceError::Unsupported { url: shown, what });
        }
        let stand_in = self.stand_ins().get(&url::identity(&repository.url)).cloned();
        if let Some(path) = stand_in {
            return Ok(Door::Local(path));
        }
        let (place, access) = repository.place()?;
        match place {
            RepoUrl::Local(path) if self.inner.settings.local => Ok(Door::Local(path)),
            RepoUrl::Local(_) => Err(SourceError::Unsupported {
                url: shown,
                what: "access to repositories on this machine".to_owned(),
            }),
            place => Ok(Door::Remote(self.inner.remotes.at(&place, &shown), Box::new(access))),
        }
    }

    async fn listing(&self, repository: &Repository) -> Result<Arc<Listing>, SourceError> {
        let shown = repository.shown();
        match self.door(repository)? {
            Door::Local(path) => {
                let opened = self.inner.opened.clone();
                blocking(move || local::list(&opened.at(&path, &shown)?.repository(), &shown).map(Arc::new))
                    .await
            }
            Door::Remote(remote, access) => remote.listing(&access).await,
        }
    }

    pub(crate) async fn objects(
        &self,
        repository: &Repository,
        commit: CommitId,
    ) -> Result<Arc<Objects>, SourceError> {
        let shown = repository.shown();
        match self.door(repository)? {
            Door::Local(path) => {
                let opened = self.inner.opened.clone();
                blocking(move || Ok(opened.at(&path, &shown)?.objects)).await
            }
            Door::Remote(remote, access) => remote.objects(&access, commit).await,
        }
    }

    /// Where the files of a commit are.
    async fn files(&self, repository: &Repository, commit: CommitId) -> Result<Place, SourceError> {
        let shown = repository.shown();
        let objects = self.objects(repository, commit).await?;
        blocking(move || commit::tree_of(&objects, commit, &shown).map(|tree| Place { objects, tree })).await
    }

    fn trees(&self) -> MutexGuard<'_, Trees> {
        self.inner.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the submodules in their place, level by level. Says whether all could be had.
    async fn mount_all(&self, tree: &mut GitTree, repository: &Repository) -> bool {
        let mut level = vec![(FilePath::root(), repository.clone())];
        let mut whole = true;
        let mut mounted = 0;
        for _ in 0..MAX_SUBMODULE_DEPTH {
            let mut found: Vec<(Declared, Repository)> = Vec::new();
            for (root, parent) in std::mem::take(&mut level) {
                let declared = submodule::declared(tree, &root).unwrap_or_else(|error| {
                    tracing::warn!(url = %parent.shown(), %error, "submodules cannot be listed");
                    whole = false;
                    Vec::new()
                });
                found.extend(declared.into_iter().map(|declared| (declared, parent.clone())));
            }
            mounted += found.len();
            if found.is_empty() || mounted > MAX_SUBMODULES {
                break;
            }
            let work = found.into_iter().map(|(declared, parent)| self.submodule(declared, parent));
            let results: Vec<_> = futures::stream::iter(work).buffered(SUBMODULES_AT_ONCE).collect().await;
            for (path, child, submodule) in results {
                match &submodule {
                    Submodule::Mounted(_) => level.push((path.clone(), child)),
                    Submodule::Failed(_) => whole = false,
                }
                tree.mount(path, submodule);
            }
        }
        whole
    }

    async fn submodule(&self, declared: Declared, parent: Repository) -> (FilePath, Repository, Submodule) {
        let Declared { path, commit, url } = declared;
        let Some(url) = submodule::resolve(&parent.url, &url) else {
            let reason = format!("the submodule's URL {:?} may not be followed", crate::url::redact(&url));
            return (path, parent, Submodule::Failed(reason));
        };
        let child = parent.submodule(url);
        let submodule = match Box::pin(self.files(&child, commit)).await {
            Ok(place) => Submodule::Mounted(place),
            Err(error) => Submodule::Failed(format!("the submodule cannot be fetched: {error}")),
        };
        (path, child, submodule)
    }
}

impl Trees {
    fn keep(&mut self, key: TreeKey, tree: &Arc<GitTree>) {
        self.last.truncate(MAX_IDLE_TREES - 1);
        self.last.push_front(tree.clone());
        self.open.retain(|_, tree| tree.strong_count() > 0);
        self.open.insert(key, Arc::downgrade(tree));
    }
}

async fn resolve_remote(
    remote: &Arc<Remote>,
    access: &Access,
    shown: &str,
    target: Target<'_>,
) -> Result<Revision, SourceError> {
    // A full commit id needs no answer from the server; whether it is there will show when it is fetched.
    if let Some(commit) = full_commit(target.revision) {
        return Ok(Revision::of_commit(commit));
    }
    let mut listing = remote.listing(access).await?;
    let mut answer = listing.resolve(target);
    if let Answer::Missing(RevisionKind::Name | RevisionKind::Reference) = answer {
        // Branches and tags were listed; it may be another kind of reference.
        listing = remote.listing_with(access, target.revision).await?;
        answer = listing.resolve(target);
    }
    match answer {
        Answer::Found(revision) => Ok(revision),
        Answer::Missing(kind) => Err(listing.missing(shown, target.revision, kind)),
        Answer::Prefix(prefix) => {
            let commit = remote.find_prefix(access, &prefix).await?;
            Ok(Revision { asked: target.revision.to_owned(), ..Revision::of_commit(commit) })
        }
    }
}

pub(crate) fn resolve_local(
    repository: &gix::Repository,
    shown: &str,
    target: Target<'_>,
) -> Result<Revision, SourceError> {
    // A name can be looked up; only a range, or a suggestion for a name that is not there, needs them all.
    let mut listing = local::list_named(repository, &format!("{}{}", target.tag_prefix, target.revision));
    let mut answer = listing.resolve(target);
    if Range::parse(target.revision).is_some() || matches!(answer, Answer::Missing(_)) {
        listing.merge(local::list(repository, shown)?);
        answer = listing.resolve(target);
    }
    match answer {
        Answer::Found(revision) => Ok(revision),
        Answer::Missing(kind) => Err(listing.missing(shown, target.revision, kind)),
        Answer::Prefix(prefix) => match local::find_prefix(repository, &prefix) {
            Ok(Some(commit)) => {
                Ok(Revision { asked: target.revision.to_owned(), ..Revision::of_commit(commit) })
            }
            Ok(None) => Err(listing.missing(shown, target.revision, RevisionKind::Commit)),
            Err(kind) => Err(listing.missing(shown, target.revision, kind)),
        },
    }
}

/// Runs work that waits for the disk where it may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        // The work has panicked or the runtime is going away; the caller sees an error either way.
        Err(error) => Err(SourceError::Storage {
            action: "finish work on",
            path: "a repository".to_owned(),
            reason: error.to_string(),
        }),
    }
}
