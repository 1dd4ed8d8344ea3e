//! Repositories on this machine, read where they are.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use gix::ObjectId;
use gix::objs::Kind;

use crate::error::{RevisionKind, SourceError};
use crate::limits::MAX_OPEN_REPOSITORIES;
use crate::listing::{Listing, candidates};
use crate::objects::Objects;
use crate::revision::CommitId;

/// Repositories that stay open: many applications ask one of them at the same moment, and to open it takes longer than to
/// answer. References and packs that are new are seen all the same.
#[derive(Default)]
pub(crate) struct Opened(Mutex<HashMap<PathBuf, (Stamp, Local)>>);

/// A repository that is open, with its objects, for any thread.
#[derive(Clone)]
pub(crate) struct Local {
    repository: gix::ThreadSafeRepository,
    pub(crate) objects: Arc<Objects>,
}

/// What a repository's configuration looks like from outside: another one means that it may have been made anew.
#[derive(Clone, PartialEq, Eq)]
struct Stamp {
    file: PathBuf,
    changed: SystemTime,
    length: u64,
}

impl Opened {
    /// The repository at a path, opened if it is not yet, or no longer the same.
    pub(crate) fn at(&self, path: &Path, url: &str) -> Result<Local, SourceError> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some((stamp, local)) = known
            && Stamp::of(&stamp.file).as_ref() == Some(&stamp)
        {
            return Ok(local);
        }
        let repository = open(path, url)?;
        let stamp = Stamp::of(&repository.common_dir().join("config"));
        let repository = repository.into_sync();
        let objects = Arc::new(Objects::new(repository.objects.clone(), None));
        let local = Local { repository, objects };
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stamp {
            Some(stamp) if opened.len() < MAX_OPEN_REPOSITORIES => {
                opened.insert(path.to_path_buf(), (stamp, local.clone()));
            }
            _ => opened.clear(),
        }
        Ok(local)
    }
}

impl Local {
    pub(crate) fn repository(&self) -> gix::Repository {
        self.repository.to_thread_local()
    }
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        Some(Stamp { file: file.to_path_buf(), changed: metadata.modified().ok()?, length: metadata.len() })
    }
}

/// Opens a repository, bare or with a work tree, without looking at any configuration but its own.
pub(crate) fn open(path: &Path, url: &str) -> Result<gix::Repository, SourceError> {
    let options = gix::open::Options::isolated().strict_config(false);
    match options.open(path) {
        Ok(repository) => Ok(repository.to_thread_local()),
        Err(_) if !looks_like_repository(path) => {
            Err(SourceError::RepositoryNotFound { url: url.to_owned() })
        }
        Err(error) => Err(SourceError::Corrupt { url: url.to_owned(), reason: error.to_string() }),
    }
}

fn looks_like_repository(path: &Path) -> bool {
    path.join("HEAD").exists() || path.join(".git").exists()
}

/// HEAD, and the references that a short or full name may stand for.
pub(crate) fn list_named(repository: &gix::Repository, name: &str) -> Listing {
    let mut listing = head(repository);
    for full in candidates(name).iter().filter(|full| full.starts_with("refs/")) {
        if let Ok(Some(reference)) = repository.try_find_reference(full.as_str())
            && let Some(commit) = commit_of(reference)
        {
            listing.insert(full, commit);
        }
    }
    listing
}

/// HEAD, the branches and the tags, with tags followed to their commits.
pub(crate) fn list(repository: &gix::Repository, url: &str) -> Result<Listing, SourceError> {
    let corrupt = |error: gix::Error| SourceError::Corrupt { url: url.to_owned(), reason: error.to_string() };
    let mut listing = head(repository);
    let references = repository.references().map_err(corrupt)?;
    for prefix in ["refs/heads/", "refs/tags/"] {
        for reference in references.prefixed(prefix).map_err(corrupt)?.flatten() {
            let name = reference.name().as_bstr().to_string();
            match commit_of(reference) {
                Some(commit) => listing.insert(name, commit),
                None => tracing::debug!(url, name, "reference does not lead to a commit"),
            }
        }
    }
    Ok(listing)
}

fn head(repository: &gix::Repository) -> Listing {
    let mut listing = Listing::default();
    if let Ok(head) = repository.head() {
        if let Some(branch) = head.referent_name() {
            listing.set_head(branch.as_bstr().to_string());
        }
        if let Some(id) = head.id() {
            listing.insert("HEAD", id.detach());
        }
    }
    listing
}

/// The commit that a reference leads to. A branch can only be one; of others the objects are asked, but
/// not read as long as there is no tag to follow.
fn commit_of(mut reference: gix::Reference<'_>) -> Option<ObjectId> {
    let direct = reference.try_id();
    if reference.name().as_bstr().starts_with(b"refs/heads/") && direct.is_some() {
        return direct.map(gix::Id::detach);
    }
    match direct.and_then(|id| Some((id, id.header().ok()?.kind()))) {
        Some((id, Kind::Commit)) => Some(id.detach()),
        Some((_, Kind::Tree | Kind::Blob)) => None,
        Some((_, Kind::Tag)) | None => reference.peel_to_commit().ok().map(|commit| commit.id),
    }
}

/// The object of a tag, by its short name; none for one that is only a name.
pub(crate) fn tag_object(repository: &gix::Repository, name: &str) -> Option<ObjectId> {
    let reference = repository.try_find_reference(&format!("refs/tags/{name}")).ok()??;
    let id = reference.try_id()?;
    (id.header().ok()?.kind() == Kind::Tag).then(|| id.detach())
}

/// The one commit whose id starts with `prefix`.
pub(crate) fn find_prefix(
    repository: &gix::Repository,
    prefix: &str,
) -> Result<Option<CommitId>, RevisionKind> {
    let Ok(wanted) = gix::hash::Prefix::from_hex(prefix) else { return Ok(None) };
    let mut candidates = HashSet::new();
    if repository.objects.lookup_prefix(wanted, Some(&mut candidates)).is_err() {
        return Ok(None);
    }
    let is_commit =
        |id: &ObjectId| repository.find_header(*id).is_ok_and(|header| header.kind() == Kind::Commit);
    let mut commits = candidates.into_iter().filter(is_commit);
    match (commits.next(), commits.next()) {
        (Some(_), Some(_)) => Err(RevisionKind::Ambiguous),
        (first, _) => Ok(first.map(CommitId)),
    }
}
