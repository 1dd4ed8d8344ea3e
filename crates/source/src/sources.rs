//! The one door to Git: a reference to a revision to a tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lynceus_files::{FilePath, Tree, TreeError};

use crate::commit::{self, Metadata};
use crate::error::SourceError;
use crate::listing::{Answer, Listing};
use crate::local;
use crate::objects::Objects;
use crate::repository::Repository;
use crate::revision::{CommitId, Revision, Target};
use crate::settings::Settings;
use crate::tree::GitTree;
use crate::url::RepoUrl;

/// Resolves revisions and opens their trees. Cloning it is cheap, and clones share everything.
#[derive(Clone)]
pub struct Sources {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
}

impl Sources {
    /// Keeps its mirrors of remote repositories in `cache`, which is made when it is needed.
    pub fn new(_cache: impl Into<PathBuf>, settings: Settings) -> Self {
        Sources { inner: Arc::new(Inner { settings }) }
    }

    /// Finds the commit that a branch, tag, range, reference or shortened commit id stands for now.
    pub async fn resolve(
        &self,
        repository: &Repository,
        target: impl Into<Target<'_>>,
    ) -> Result<Revision, SourceError> {
        let target = target.into();
        let shown = repository.shown();
        match self.place(repository)? {
            RepoUrl::Local(path) => {
                let (revision, prefix) = (target.revision.to_owned(), target.tag_prefix.to_owned());
                blocking(move || {
                    resolve_local(&path, &shown, Target { revision: &revision, tag_prefix: &prefix })
                })
                .await
            }
            _ => Err(unsupported(shown)),
        }
    }

    /// The files of a commit.
    pub async fn tree(
        &self,
        repository: &Repository,
        revision: &Revision,
    ) -> Result<Arc<dyn Tree>, SourceError> {
        let (shown, commit) = (repository.shown(), revision.commit);
        let objects = self.objects(repository, commit).await?;
        let tree =
            blocking(move || commit::tree_of(&objects, commit, &shown).map(|tree| (objects, tree))).await;
        let (objects, tree) = tree?;
        Ok(Arc::new(GitTree::new(objects, tree)))
    }

    /// Who made a commit, when and why.
    pub async fn metadata(
        &self,
        repository: &Repository,
        revision: &Revision,
    ) -> Result<Metadata, SourceError> {
        let (shown, commit) = (repository.shown(), revision.commit);
        let objects = self.objects(repository, commit).await?;
        let listing = self.listing(repository).await.unwrap_or_default();
        let mut metadata = blocking(move || commit::metadata(&objects, commit, &shown)).await?;
        metadata.tags = listing.tags_at(commit.0);
        Ok(metadata)
    }

    /// Says whether a revision has a directory, and if it has not, whether the default branch has it.
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
        let tree = self.tree(repository, &Revision::of_commit(commit)).await.ok()?;
        tree.entry(path).is_ok().then_some(branch)
    }

    fn place(&self, repository: &Repository) -> Result<RepoUrl, SourceError> {
        let (place, _) = repository.place()?;
        if matches!(place, RepoUrl::Local(_)) && !self.inner.settings.local {
            return Err(SourceError::Unsupported {
                url: repository.shown(),
                what: "access to repositories on this machine".to_owned(),
            });
        }
        Ok(place)
    }

    async fn listing(&self, repository: &Repository) -> Result<Listing, SourceError> {
        let shown = repository.shown();
        match self.place(repository)? {
            RepoUrl::Local(path) => blocking(move || local::list(&local::open(&path, &shown)?, &shown)).await,
            _ => Err(unsupported(shown)),
        }
    }

    async fn objects(&self, repository: &Repository, _commit: CommitId) -> Result<Arc<Objects>, SourceError> {
        let shown = repository.shown();
        match self.place(repository)? {
            RepoUrl::Local(path) => blocking(move || local::open(&path, &shown).map(local::objects)).await,
            _ => Err(unsupported(shown)),
        }
    }
}

fn unsupported(url: String) -> SourceError {
    SourceError::Unsupported { url, what: "a network transport".to_owned() }
}

fn resolve_local(path: &Path, shown: &str, target: Target<'_>) -> Result<Revision, SourceError> {
    let repository = local::open(path, shown)?;
    let listing = local::list(&repository, shown)?;
    match listing.resolve(target) {
        Answer::Found(revision) => Ok(revision),
        Answer::Missing(kind) => Err(listing.missing(shown, target.revision, kind)),
        Answer::Prefix(prefix) => match local::find_prefix(&repository, &prefix) {
            Ok(Some(commit)) => {
                Ok(Revision { asked: target.revision.to_owned(), ..Revision::of_commit(commit) })
            }
            Ok(None) => Err(listing.missing(shown, target.revision, crate::error::RevisionKind::Commit)),
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
