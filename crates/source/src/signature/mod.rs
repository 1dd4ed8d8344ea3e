//! Signatures of commits and tags, checked here and with no program beside.

mod history;
mod keyring;
mod object;
mod public_key;

use std::fmt;

pub use keyring::Keyring;
pub use public_key::PublicKey;

pub(crate) use history::{HistoryError, commits};
pub(crate) use object::tag;

/// What is known of the signature of a commit or tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The id of the commit, or the name of the tag.
    pub revision: String,
    /// Whether it is a tag.
    pub is_tag: bool,
    /// Who says that they made it: `Name <address>`, of a tag `Name "<address>"`.
    pub author: String,
    /// What the check came to.
    pub verdict: Verdict,
    /// The id of the key that it was made with, sixteen digits; empty if that is not known.
    pub key: String,
    /// The id of the key that this one is a subkey of; its own id if it is none.
    pub primary: String,
}

/// What the check of a signature came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is right, and its key is in the keyring.
    Good,
    /// It is not of what it stands at, or cannot be read.
    Bad,
    /// It was made to end, and has.
    Expired,
    /// Its key has expired.
    ExpiredKey,
    /// Its key was revoked.
    RevokedKey,
    /// Its key is not in the keyring.
    MissingKey,
    /// There is one, but of another sort than OpenPGP.
    Foreign,
    /// There is none.
    Unsigned,
}

/// In Argo CD's words.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Good => "signed",
            Verdict::Bad => "bad signature",
            Verdict::Expired => "expired signature",
            Verdict::ExpiredKey => "signed with expired key",
            Verdict::RevokedKey => "signed with revoked key",
            Verdict::MissingKey => "signed with key not in keyring",
            Verdict::Foreign => "signed, but not with GnuPG",
            Verdict::Unsigned => "unsigned",
        })
    }
}

/// The check of one signature: what it came to, and the ids of the key and of its primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) verdict: Verdict,
    pub(crate) key: String,
    pub(crate) primary: String,
}

impl Check {
    fn without_key(verdict: Verdict) -> Self {
        Check { verdict, key: String::new(), primary: String::new() }
    }
}
