//! What a commit says about itself.

use gix::ObjectId;
use gix::objs::{CommitRef, Kind};

use crate::error::SourceError;
use crate::objects::{ObjectError, Objects};
use crate::revision::CommitId;

/// Who made a commit, when and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// `Name <address>`.
    pub author: String,
    /// When the author made it.
    pub date: jiff::Timestamp,
    /// The message, without space round it.
    pub message: String,
    /// The tags at the commit, in order.
    pub tags: Vec<String>,
    /// Whether the commit carries a signature; nothing is said about whose.
    pub signed: bool,
}

/// The tree of a commit.
pub(crate) fn tree_of(objects: &Objects, commit: CommitId, url: &str) -> Result<ObjectId, SourceError> {
    with(objects, commit, url, |commit| commit.tree())
}

/// What a commit says about itself; the tags are for the caller to add.
pub(crate) fn metadata(objects: &Objects, commit: CommitId, url: &str) -> Result<Metadata, SourceError> {
    with(objects, commit, url, |commit| {
        let author = commit.author().map(|author| author.trim()).unwrap_or_default();
        let seconds = author.seconds();
        Metadata {
            author: format!("{} <{}>", author.name, author.email),
            date: jiff::Timestamp::from_second(seconds).unwrap_or_default(),
            message: String::from_utf8_lossy(commit.message).trim().to_owned(),
            tags: Vec::new(),
            signed: commit.extra_headers().pgp_signature().is_some(),
        }
    })
}

fn with<T>(
    objects: &Objects,
    commit: CommitId,
    url: &str,
    then: impl FnOnce(CommitRef<'_>) -> T,
) -> Result<T, SourceError> {
    let corrupt = |reason: String| SourceError::Corrupt { url: url.to_owned(), reason };
    let read = objects.read(commit.0, Kind::Commit, |data| {
        CommitRef::from_bytes(data, commit.0.kind()).map(then).map_err(|error| error.to_string())
    });
    match read {
        Ok(decoded) => decoded.map_err(corrupt),
        Err(ObjectError::Missing(_) | ObjectError::Kind(..)) => Err(SourceError::no_commit(url, commit)),
        Err(error) => Err(corrupt(error.to_string())),
    }
}
