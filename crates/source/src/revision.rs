//! Which commit, and how it was named.

use std::fmt;
use std::str::FromStr;

use crate::error::SourceError;

/// The id of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub(crate) gix::ObjectId);

impl CommitId {
    /// The first seven digits, as people write them.
    pub fn short(&self) -> String {
        self.0.to_hex_with_len(7).to_string()
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.to_hex())
    }
}

impl FromStr for CommitId {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        full_commit(text).ok_or_else(|| SourceError::RevisionNotFound {
            url: String::new(),
            revision: text.to_owned(),
            kind: crate::error::RevisionKind::Commit,
            similar: Vec::new(),
        })
    }
}

/// The commit that a text of forty hexadecimal digits names; such a text is never a branch.
pub(crate) fn full_commit(text: &str) -> Option<CommitId> {
    (text.len() == 40).then(|| gix::ObjectId::from_hex(text.as_bytes()).ok().map(CommitId)).flatten()
}

/// Whether a text may be the start of a commit id.
pub(crate) fn is_short_commit(text: &str) -> bool {
    (7..40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What a user asks for: a branch, tag, commit, reference or range, with the prefix that tags must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target<'a> {
    /// `targetRevision`; empty means the default branch.
    pub revision: &'a str,
    /// `tagPrefix`: only tags that start with it count, and it is no part of their version.
    pub tag_prefix: &'a str,
}

impl<'a> From<&'a str> for Target<'a> {
    fn from(revision: &'a str) -> Self {
        Target { revision, tag_prefix: "" }
    }
}

impl<'a> From<&'a String> for Target<'a> {
    fn from(revision: &'a String) -> Self {
        Target::from(revision.as_str())
    }
}

/// A commit and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The commit.
    pub commit: CommitId,
    /// The text that it was resolved from.
    pub asked: String,
    /// What the text turned out to name.
    pub origin: Origin,
}

impl Revision {
    /// A revision that is a commit and nothing else.
    pub fn of_commit(commit: CommitId) -> Self {
        Revision { commit, asked: commit.to_string(), origin: Origin::Commit }
    }
}

/// What a revision's text named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The commit itself, in full or shortened.
    Commit,
    /// The default branch, by its name where the server tells it.
    Head(Option<String>),
    /// A branch.
    Branch(String),
    /// A tag.
    Tag(String),
    /// The highest tag in a range of versions.
    Range(String),
    /// Any other reference, by its full name.
    Reference(String),
}
