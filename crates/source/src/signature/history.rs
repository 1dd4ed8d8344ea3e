//! Which commits have to be signed, and their signatures.

use std::collections::{BinaryHeap, HashMap, HashSet};

use gix::ObjectId;
use jiff::Timestamp;

use super::object::{Commit, commit, signature};
use super::{Keyring, Signature, Verdict};
use crate::error::SourceError;
use crate::limits::MAX_SIGNED_HISTORY;
use crate::objects::{ObjectError, Objects};

/// Why there are no signatures.
pub(crate) enum HistoryError {
    /// An object could not be had.
    Object(ObjectError),
    /// There are too many commits.
    Long,
    /// The repository could not be read.
    Source(SourceError),
}

impl From<ObjectError> for HistoryError {
    fn from(error: ObjectError) -> Self {
        HistoryError::Object(error)
    }
}

/// The signatures of a commit alone, or of all that it is built on, the latest first. A signed commit that seals vouches
/// for everything before it, which is then left out.
pub(crate) fn commits(
    objects: &Objects,
    head: ObjectId,
    deep: bool,
    keyring: &Keyring,
    now: Timestamp,
) -> Result<Vec<Signature>, HistoryError> {
    let check = |id: ObjectId| signature(objects, id, keyring, now).map_err(HistoryError::from);
    if !deep {
        return Ok(vec![check(head)?]);
    }
    let history = walk(objects, head)?;
    let mut seals = Vec::new();
    for (id, _) in history.iter().filter(|(_, commit)| commit.seals) {
        if check(*id)?.verdict == Verdict::Good {
            seals.push(*id);
        }
    }
    if seals.contains(&head) {
        return Ok(vec![check(head)?]);
    }
    let vouched = before(&seals, &history);
    history.iter().filter(|(id, _)| !vouched.contains(id)).map(|(id, _)| check(*id)).collect()
}

/// A commit and all that it is built on, the latest first.
fn walk(objects: &Objects, head: ObjectId) -> Result<Vec<(ObjectId, Commit)>, HistoryError> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([head]);
    let first = commit(objects, head)?;
    let mut next = BinaryHeap::from([(first.time, head)]);
    let mut read = HashMap::from([(head, first)]);
    while let Some((_, id)) = next.pop() {
        let Some(one) = read.remove(&id) else { continue };
        for parent in &one.parents {
            if seen.insert(*parent) {
                let commit = commit(objects, *parent)?;
                next.push((commit.time, *parent));
                read.insert(*parent, commit);
            }
        }
        found.push((id, one));
        if seen.len() > MAX_SIGNED_HISTORY {
            return Err(HistoryError::Long);
        }
    }
    Ok(found)
}

/// Everything that some commits are built on, without themselves.
fn before(seals: &[ObjectId], history: &[(ObjectId, Commit)]) -> HashSet<ObjectId> {
    let parents: HashMap<ObjectId, &[ObjectId]> =
        history.iter().map(|(id, commit)| (*id, commit.parents.as_slice())).collect();
    let of = |id: &ObjectId| parents.get(id).copied().unwrap_or_default().to_vec();
    let mut found = HashSet::new();
    let mut next: Vec<ObjectId> = seals.iter().flat_map(of).collect();
    while let Some(id) = next.pop() {
        if found.insert(id) {
            next.extend(of(&id));
        }
    }
    found
}
