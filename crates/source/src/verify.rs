//! Signatures of a revision: which objects carry them, and getting those.

use std::collections::HashMap;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::Kind;
use jiff::{SignedDuration, Timestamp};

use crate::error::SourceError;
use crate::local;
use crate::objects::{ObjectError, Objects};
use crate::remote;
use crate::repository::Repository;
use crate::revision::{CommitId, Origin, Revision};
use crate::signature::{self, HistoryError, Keyring, Signature};
use crate::sources::{Door, Sources, blocking};

/// How many tags may point at each other.
const TAGS: usize = 5;

/// How long the check of a whole history counts.
const CHECKED: SignedDuration = SignedDuration::from_mins(5);

impl Sources {
    /// The signatures of a revision, checked: of the tag if it is one with a signature of its own, else of the commit. A
    /// deep check is of the tag and of every commit that it leads to.
    ///
    /// What a check came to is the caller's to judge.
    pub async fn signatures(
        &self,
        repository: &Repository,
        revision: &Revision,
        deep: bool,
        keyring: &Arc<Keyring>,
        now: Timestamp,
    ) -> Result<Vec<Signature>, SourceError> {
        let mut found = Vec::new();
        if let Origin::Tag(name) | Origin::Range(name) = &revision.origin
            && let Some(tag) = self.tag_object(repository, name).await?
        {
            found.push(self.tag_signature(repository, (tag, name), revision.commit, keyring, now).await?);
            if !deep {
                return Ok(found);
            }
        }
        let key = (remote::key(&repository.place()?.0), revision.commit, keyring.digest());
        if let Some(known) = self.checked().get(&key, now).filter(|_| deep) {
            found.extend(known);
            return Ok(found);
        }
        let mut commits = self.commit_signatures(repository, revision.commit, deep, keyring, now).await;
        if let (true, Err(HistoryError::Object(ObjectError::Missing(_)))) = (deep, &commits)
            && let Door::Remote(remote, access) = self.door(repository)?
        {
            remote.deepen(&access).await?;
            commits = self.commit_signatures(repository, revision.commit, deep, keyring, now).await;
        }
        let commits = commits.map_err(|error| unverifiable(repository, error))?;
        if deep {
            self.checked().insert(key, commits.clone(), now);
        }
        found.extend(commits);
        Ok(found)
    }

    async fn commit_signatures(
        &self,
        repository: &Repository,
        commit: CommitId,
        deep: bool,
        keyring: &Arc<Keyring>,
        now: Timestamp,
    ) -> Result<Vec<Signature>, HistoryError> {
        let objects = self.objects(repository, commit).await.map_err(HistoryError::Source)?;
        let keyring = keyring.clone();
        blocking(move || Ok(signature::commits(&objects, commit.0, deep, &keyring, now)))
            .await
            .map_err(HistoryError::Source)?
    }

    async fn tag_object(&self, repository: &Repository, name: &str) -> Result<Option<ObjectId>, SourceError> {
        let shown = repository.shown();
        match self.door(repository)? {
            Door::Local(path) => {
                let name = name.to_owned();
                blocking(move || Ok(local::tag_object(&local::open(&path, &shown)?, &name))).await
            }
            Door::Remote(remote, access) => Ok(remote.listing(&access).await?.tag_object(name)),
        }
    }

    /// The signature of a tag, which has to lead to the commit that was resolved.
    async fn tag_signature(
        &self,
        repository: &Repository,
        (tag, name): (ObjectId, &str),
        commit: CommitId,
        keyring: &Arc<Keyring>,
        now: Timestamp,
    ) -> Result<Signature, SourceError> {
        let (shown, name, keyring) = (repository.shown(), name.to_owned(), keyring.clone());
        let objects = self.objects(repository, CommitId(tag)).await?;
        blocking(move || {
            let corrupt = |reason: String| SourceError::Corrupt { url: shown.clone(), reason };
            let found = signature::tag(&objects, (tag, &name), &keyring, now)
                .map_err(|error| corrupt(error.to_string()))?;
            match leads_to(&objects, found.target, found.target_kind) {
                Some(target) if target == commit.0 => Ok(found.signature),
                _ => Err(corrupt(format!("the tag {name} leads to another commit by now"))),
            }
        })
        .await
    }
}

/// What checks of whole histories came to, for as long as no key is likely to have expired since: an application is looked
/// at much more often than its history changes.
#[derive(Default)]
pub(crate) struct Checked(HashMap<CheckKey, (Timestamp, Vec<Signature>)>);

/// The repository, the commit and the keys.
type CheckKey = (String, CommitId, [u8; 32]);

impl Checked {
    fn get(&self, key: &CheckKey, now: Timestamp) -> Option<Vec<Signature>> {
        let (at, signatures) = self.0.get(key)?;
        is_fresh(*at, now).then(|| signatures.clone())
    }

    fn insert(&mut self, key: CheckKey, signatures: Vec<Signature>, now: Timestamp) {
        self.0.retain(|_, (at, _)| is_fresh(*at, now));
        self.0.insert(key, (now, signatures));
    }
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    (SignedDuration::ZERO..CHECKED).contains(&now.duration_since(at))
}

/// The commit at the end of a chain of tags.
fn leads_to(objects: &Objects, mut id: ObjectId, mut kind: Kind) -> Option<ObjectId> {
    for _ in 0..TAGS {
        match kind {
            Kind::Commit => return Some(id),
            Kind::Tag => {
                let (target, target_kind) = objects
                    .read(id, Kind::Tag, |data| {
                        gix::objs::TagRef::from_bytes(data, id.kind())
                            .ok()
                            .map(|tag| (tag.target(), tag.target_kind))
                    })
                    .ok()??;
                (id, kind) = (target, target_kind);
            }
            Kind::Tree | Kind::Blob => return None,
        }
    }
    None
}

fn unverifiable(repository: &Repository, error: HistoryError) -> SourceError {
    let corrupt = |reason: String| SourceError::Corrupt { url: repository.shown(), reason };
    match error {
        HistoryError::Source(error) => error,
        HistoryError::Object(ObjectError::Missing(id)) => corrupt(format!(
            "its history is not whole: commit {id} is missing, so its signatures cannot be checked"
        )),
        HistoryError::Object(error) => corrupt(error.to_string()),
        HistoryError::Long => corrupt(format!(
            "more than {} commits would have to be checked; one with the trailer Argocd-gpg-seal vouches for those before it",
            crate::limits::MAX_SIGNED_HISTORY
        )),
    }
}
