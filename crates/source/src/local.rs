//! Repositories on this machine, read where they are.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::Kind;

use crate::error::{RevisionKind, SourceError};
use crate::listing::Listing;
use crate::objects::Objects;
use crate::revision::CommitId;

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

/// The references, with tags followed to their commits. One that leads nowhere is left out.
pub(crate) fn list(repository: &gix::Repository, url: &str) -> Result<Listing, SourceError> {
    let corrupt = |reason: String| SourceError::Corrupt { url: url.to_owned(), reason };
    let mut listing = Listing::default();
    let references = repository.references().map_err(|error| corrupt(error.to_string()))?;
    for reference in references.all().map_err(|error| corrupt(error.to_string()))? {
        let Ok(mut reference) = reference else { continue };
        let name = reference.name().as_bstr().to_string();
        match reference.peel_to_commit() {
            Ok(commit) => listing.insert(name, commit.id),
            Err(error) => tracing::debug!(url, name, %error, "reference does not lead to a commit"),
        }
    }
    if let Ok(head) = repository.head() {
        if let Some(branch) = head.referent_name() {
            listing.set_head(branch.as_bstr().to_string());
        }
        if let Some(id) = head.id() {
            listing.insert("HEAD", id.detach());
        }
    }
    Ok(listing)
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

/// The objects of a repository, for any thread.
pub(crate) fn objects(repository: gix::Repository) -> Arc<Objects> {
    Arc::new(Objects::new(repository.into_sync().objects, None))
}
