//! The repository as the engine will see it: a copy that borrows everything, and whose branches can be moved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use lynceus_files::{FilePath, Tree};
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{CommitId, Repository, Revision, SourceError, Sources, WorkTree, identity};

use crate::error::RehearseError;
use crate::script::{Overlay, Script};

/// The branch of the copy that holds the files as they stand.
const OURS: &str = "lynceus-rehearsal";

/// The names that branches go by where nobody says which one is the default.
const USUAL: [&str; 2] = ["main", "master"];

/// A copy of the repository to play on. It goes away when it is dropped.
pub struct Premises {
    folder: PathBuf,
    copy: Composition,
    /// Whether it is a copy of a repository, and not of mere files.
    has_history: bool,
    /// The folder in which Applications are looked for.
    scope: FilePath,
    /// The addresses that mean this repository, as far as they are known.
    urls: BTreeSet<String>,
    /// The branches that stand for what is played.
    branches: Vec<String>,
    /// Whether an Application means this repository.
    is_meant: bool,
    /// What is there before.
    pub(crate) from: Option<Played>,
    /// What is played.
    pub(crate) to: Played,
}

/// A revision that is played.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) commit: CommitId,
    /// What people call it.
    pub(crate) name: String,
}

impl Premises {
    /// Makes the copy that a script wants.
    pub(crate) fn open(script: &Script) -> Result<Self, RehearseError> {
        let tree = match script.alone {
            true => WorkTree::alone(&script.directory),
            false => WorkTree::around(&script.directory),
        };
        Premises::of(script, tree.map_err(opening(script))?)
    }

    /// Whether the directory should be taken by itself: it is only a part of a repository that no Application means, and whose
    /// revisions were not asked for. It may be an example, or a copy of another repository.
    pub(crate) fn stands_alone(&self, script: &Script) -> bool {
        let is_part = self.has_history && !self.scope.is_root();
        !self.is_meant && is_part && script.from.is_none() && script.to.is_none()
    }

    fn of(script: &Script, tree: WorkTree) -> Result<Self, RehearseError> {
        let folder = temporary();
        let place = folder.join("repository");
        let copy = match tree.is_repository() {
            true => Composition::borrow(&place, &tree),
            false => Composition::create(&place, Layout::Bare),
        };
        let copy = copy.map_err(copying)?;
        let named = |revision: &String| named(&tree, revision);
        let from = script.from.as_ref().map(named).transpose()?;
        let to = match &script.to {
            Some(revision) => named(revision)?,
            None => standing(&tree, &copy).map_err(opening(script))?,
        };
        let to = overlaid(&copy, to, &script.overlay)?;
        let premises = Premises {
            has_history: tree.is_repository(),
            scope: scope(&tree, &script.directory),
            urls: urls(&tree, script),
            branches: branches(&tree, script),
            is_meant: false,
            folder,
            copy,
            from,
            to,
        };
        premises.show(premises.from.as_ref().unwrap_or(&premises.to))?;
        Ok(premises)
    }

    /// Has all branches that stand for what is played show a revision.
    pub(crate) fn show(&self, played: &Played) -> Result<(), RehearseError> {
        for branch in &self.branches {
            self.copy.branch(branch, played.commit).map_err(copying)?;
        }
        let head = self.branches.first().map_or(OURS, String::as_str);
        self.copy.set_head(head).map_err(copying)
    }

    /// Has mere files stand for a branch that somebody names: nobody can say that they have no such branch.
    pub(crate) fn admit(&self, revision: &str, played: &Played) -> Result<(), RehearseError> {
        let is_name = !matches!(revision, "" | "HEAD") && !revision.contains(['*', ' ', '~', '^', ':']);
        if self.has_history || !is_name || revision.starts_with("refs/") {
            return Ok(());
        }
        self.copy.branch(revision, played.commit).map_err(copying)
    }

    /// The files of a revision that is played.
    pub(crate) async fn tree(
        &self,
        sources: &Sources,
        played: &Played,
    ) -> Result<Arc<dyn Tree>, RehearseError> {
        let repository = Repository::at(self.path().display().to_string());
        let tree = sources.tree(&repository, &Revision::of_commit(played.commit)).await;
        tree.map_err(|source| RehearseError::Revision {
            revision: played.name.clone(),
            source: Box::new(source),
        })
    }

    /// Where the copy is.
    pub fn path(&self) -> &Path {
        self.copy.path()
    }

    /// A folder for whatever goes away with the copy.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder in which Applications are looked for.
    pub(crate) fn scope(&self) -> &FilePath {
        &self.scope
    }

    /// The addresses that mean this repository, as far as they are known.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.urls.iter().map(String::as_str)
    }

    /// Whether an address means this repository.
    pub(crate) fn is_meant_by(&self, url: &str) -> bool {
        let wanted = identity(url);
        self.urls.iter().any(|known| identity(known) == wanted)
    }

    /// Takes an address for this repository, if it is not known yet.
    pub(crate) fn answer_to(&mut self, url: &str) {
        self.is_meant = true;
        self.urls.insert(url.to_owned());
    }
}

impl Drop for Premises {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn opening(script: &Script) -> impl FnOnce(SourceError) -> RehearseError {
    let path = script.directory.clone();
    move |source| RehearseError::Open { path, source: Box::new(source) }
}

fn copying(source: SourceError) -> RehearseError {
    RehearseError::Copy(Box::new(source))
}

fn temporary() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("lynceus-rehearsal-{}-{number}", std::process::id()))
}

fn named(tree: &WorkTree, revision: &str) -> Result<Played, RehearseError> {
    let wrong = |source| RehearseError::Revision { revision: revision.to_owned(), source: Box::new(source) };
    Ok(Played { commit: tree.commit(revision).map_err(wrong)?, name: revision.to_owned() })
}

/// The files as they stand: the commit that is checked out, and one more if they differ from it.
fn standing(tree: &WorkTree, copy: &Composition) -> Result<Played, SourceError> {
    let changes = tree.changes()?;
    let name = "the files as they stand".to_owned();
    match tree.head() {
        Some(commit) if changes.is_empty() => Ok(Played { commit, name }),
        head => {
            if let Some(commit) = head {
                copy.branch(OURS, commit)?;
            }
            Ok(Played { commit: copy.commit(OURS, &message("The files as they stand\n"), changes)?, name })
        }
    }
}

fn overlaid(copy: &Composition, played: Played, overlay: &Overlay) -> Result<Played, RehearseError> {
    let Some(path) = overlay.keys().next() else { return Ok(played) };
    let failed = |source| RehearseError::Replace { path: path.to_string(), source: Box::new(source) };
    copy.branch(OURS, played.commit).map_err(failed)?;
    let changes = overlay
        .iter()
        .map(|(path, content)| (path.clone(), content.clone().map_or(Change::Remove, Change::Write)));
    let commit = copy.commit(OURS, &message("Files that were replaced\n"), changes).map_err(failed)?;
    Ok(Played { commit, name: format!("{}, with {} replaced", played.name, overlay.len()) })
}

fn message(text: &str) -> Message<'_> {
    Message { name: "Lynceus", email: "", when: Timestamp::UNIX_EPOCH, text }
}

fn scope(tree: &WorkTree, directory: &Path) -> FilePath {
    let inside = directory.canonicalize().ok();
    let inside = inside.as_deref().and_then(|path| path.strip_prefix(tree.root()).ok());
    inside.and_then(Path::to_str).and_then(|path| FilePath::new(path).ok()).unwrap_or_else(FilePath::root)
}

fn urls(tree: &WorkTree, script: &Script) -> BTreeSet<String> {
    let own = tree.root().display().to_string();
    tree.urls().into_iter().chain(script.urls.iter().cloned()).chain([own]).collect()
}

/// The branches that what is played stands for: a change is rehearsed as if it were on the branch that it will be merged into.
fn branches(tree: &WorkTree, script: &Script) -> Vec<String> {
    let default = tree.default_branch();
    let usual = || USUAL.iter().find(|name| tree.commit(name).is_ok()).map(|name| (*name).to_owned());
    let default = default.or_else(usual).unwrap_or_else(|| USUAL[0].to_owned());
    let named = script.branches.iter().cloned();
    let mut branches: Vec<String> = named.chain([default]).chain(tree.branch()).collect();
    branches.dedup();
    branches
}
