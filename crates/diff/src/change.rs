//! What a comparison found, as data.

use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};

use crate::ignore::RuleReport;
use crate::pair::Pair;

/// Everything that a comparison of an application found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSet {
    /// One entry per pair, in the pairs' order.
    pub changes: Vec<Change>,
    /// The hooks, which are run and not compared.
    pub hooks: Vec<Object>,
    /// What each rule for ignoring differences did, in the rules' order.
    pub rules: Vec<RuleReport>,
}

/// One pair and the verdict on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The objects as they came.
    pub pair: Pair,
    /// What has to happen for the cluster to be as the source wants it.
    pub verdict: Verdict,
}

/// What has to happen to one object.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is desired and does not exist.
    Create,
    /// It exists and differs.
    Update(Update),
    /// It exists as desired.
    Same,
    /// It exists and is no longer desired.
    Prune,
    /// It differs or is extra, and was asked to be left out of the account.
    Ignored(Why),
    /// It could not be compared.
    Failed(crate::DiffError),
}

/// How a live object differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The live object without differences that mean nothing; secret data is masked.
    pub live: Object,
    /// What an apply would make of it, likewise.
    pub predicted: Object,
    /// The differing fields in path order.
    pub fields: Vec<FieldChange>,
}

/// Why something was left out of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// An extra object says `IgnoreExtraneous`.
    Extraneous,
    /// An extra object is a hook of an earlier sync.
    Hook,
    /// The desired object says that it is to be skipped.
    Skipped,
    /// The object carries the tracking mark of another one, which a controller copied onto it.
    Copied,
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The field. Items of a list that has keys are named by them.
    pub path: FieldPath,
    /// The value that an apply would give; `None` if it would remove the field.
    pub desired: Option<Value>,
    /// The value in the cluster; `None` if there is none.
    pub live: Option<Value>,
    /// Who wrote the live value, as the object's managed fields tell.
    pub writer: Option<Writer>,
    /// How the difference seems to have come about.
    pub origin: Origin,
}

/// How a difference seems to have come about. A guess from what the object itself tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nothing tells.
    #[default]
    Unknown,
    /// The source has changed since it was last applied.
    Source,
    /// The server fills the field in where nobody says anything.
    Default,
    /// We wrote the field, and something on the way into the cluster changed it.
    Admission,
    /// Another writer has changed it.
    Writer,
    /// Another writer changes it again after each sync.
    Loop,
}

impl Origin {
    /// The word that stands for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Unknown => "unknown",
            Origin::Source => "source",
            Origin::Default => "server-default",
            Origin::Admission => "admission",
            Origin::Writer => "writer",
            Origin::Loop => "loop",
        }
    }
}

/// A writer of a field, from `metadata.managedFields`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// The field manager.
    pub manager: Str,
    /// `Apply` or `Update`.
    pub operation: Str,
    /// The subresource that was written through, if one was.
    pub subresource: Str,
    /// When, as RFC 3339 text.
    pub time: Str,
}

impl Change {
    /// The object that the change is about.
    pub fn key(&self) -> ObjectKey {
        self.pair.key()
    }

    /// Whether an apply would change the cluster; `None` where that is not known.
    pub fn modified(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Create | Verdict::Update(_) | Verdict::Prune => Some(true),
            Verdict::Same => Some(false),
            Verdict::Ignored(_) => Some(true),
            Verdict::Failed(_) => None,
        }
    }
}

impl ChangeSet {
    /// Whether the cluster is as the source wants it.
    pub fn in_sync(&self) -> bool {
        self.changes.iter().all(|change| matches!(change.verdict, Verdict::Same | Verdict::Ignored(_)))
    }
}
