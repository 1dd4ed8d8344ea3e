//! Commits and tags as they are signed.

use gix::ObjectId;
use gix::objs::{CommitRefIter, Kind, TagRef};
use jiff::Timestamp;

use super::{Check, Keyring, Signature, Verdict};
use crate::objects::{ObjectError, Objects};

/// Words at whose line the signature of a tag begins.
const BEGINNINGS: [&[u8]; 4] = [
    b"-----BEGIN PGP SIGNATURE-----",
    b"-----BEGIN PGP MESSAGE-----",
    b"-----BEGIN SSH SIGNATURE-----",
    b"-----BEGIN SIGNED MESSAGE-----",
];

/// The trailer of a commit that vouches for all that is before it.
const SEAL: &str = "argocd-gpg-seal:";

/// A commit, as far as signatures go.
pub(super) struct Commit {
    pub(super) parents: Vec<ObjectId>,
    pub(super) time: i64,
    pub(super) seals: bool,
}

/// A tag and what it points at.
pub(crate) struct Tag {
    pub(crate) target: ObjectId,
    pub(crate) target_kind: Kind,
    pub(crate) signature: Signature,
}

/// What a commit says of itself.
pub(super) fn commit(objects: &Objects, id: ObjectId) -> Result<Commit, ObjectError> {
    objects.read(id, Kind::Commit, |data| {
        let commit = gix::objs::CommitRef::from_bytes(data, id.kind())
            .map_err(|error| ObjectError::Unreadable(id, error.to_string()))?;
        let message = String::from_utf8_lossy(commit.message).to_lowercase();
        Ok(Commit {
            parents: commit.parents().collect(),
            time: commit.committer().map(|by| by.seconds()).unwrap_or_default(),
            seals: message.contains(SEAL),
        })
    })?
}

/// Checks the signature of a commit.
pub(super) fn signature(
    objects: &Objects,
    id: ObjectId,
    keyring: &Keyring,
    now: Timestamp,
) -> Result<Signature, ObjectError> {
    objects.read(id, Kind::Commit, |data| {
        let unreadable = |error: gix::Error| ObjectError::Unreadable(id, error.to_string());
        let commit = gix::objs::CommitRef::from_bytes(data, id.kind()).map_err(unreadable)?;
        let author = commit.author().map(|author| author.trim()).unwrap_or_default();
        let check = match CommitRefIter::signature(data, id.kind()).map_err(unreadable)? {
            Some((signature, signed)) => keyring.check(&signature, &signed.to_bstring(), now),
            None => Check::without_key(Verdict::Unsigned),
        };
        let author = format!("{} <{}>", author.name, author.email);
        Ok(of(id.to_string(), false, author, check))
    })?
}

/// Checks the signature of a tag.
pub(crate) fn tag(
    objects: &Objects,
    (id, name): (ObjectId, &str),
    keyring: &Keyring,
    now: Timestamp,
) -> Result<Tag, ObjectError> {
    objects.read(id, Kind::Tag, |data| {
        let tag = TagRef::from_bytes(data, id.kind())
            .map_err(|error| ObjectError::Unreadable(id, error.to_string()))?;
        let check = match split(data) {
            Some((signed, signature)) => keyring.check(signature, signed, now),
            None => Check::without_key(Verdict::Unsigned),
        };
        let tagger = tag.tagger().ok().flatten().map(|tagger| tagger.trim()).unwrap_or_default();
        let author = format!("{} \"<{}>\"", tagger.name, tagger.email);
        let signature = of(name.to_owned(), true, author, check);
        Ok(Tag { target: tag.target(), target_kind: tag.target_kind, signature })
    })?
}

fn of(revision: String, is_tag: bool, author: String, check: Check) -> Signature {
    let Check { verdict, key, primary } = check;
    Signature { revision, is_tag, author, verdict, key, primary }
}

/// What is signed of a tag, and the signature behind it: it begins at the last line that looks like the beginning of one,
/// as for git.
fn split(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut found = None;
    let mut start = 0;
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        if BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) {
            found = Some(start);
        }
        start += line.len();
    }
    found.map(|at| data.split_at(at))
}
