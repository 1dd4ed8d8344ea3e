//! What a controller wants done: values, which somebody else carries out.

use jiff::Timestamp;
use lynceus_object::{Object, Str};

use super::kind::Kind;
use lynceus_object::Propagation;

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Make an object.
    Create {
        /// Its kind.
        kind: &'static Kind,
        /// The object.
        object: Object,
        /// What is told to the world when it worked: about whom, and in which words.
        announce: Option<Announcement>,
    },
    /// Change an object as a whole; lost if it has changed since it was read.
    Update {
        /// Its kind.
        kind: &'static Kind,
        /// The object.
        object: Object,
    },
    /// Change an object's status; lost if it has changed since it was read.
    Status {
        /// Its kind.
        kind: &'static Kind,
        /// The object.
        object: Object,
    },
    /// Have fields of an object of any kind be so, by server-side apply; the object is made if it is not there.
    Apply {
        /// The object.
        key: super::key::Key,
        /// The part of it that is written, such as `status`; empty for the object itself.
        subresource: &'static str,
        /// The fields.
        object: Object,
    },
    /// Change fields of an object of any kind, by merging: for the status of kinds that have no subresource for it, which
    /// whoever applies the object would take for fields of theirs.
    Merge {
        /// The object.
        key: super::key::Key,
        /// The fields.
        fields: lynceus_object::Value,
    },
    /// Delete an object.
    Delete {
        /// Where it is kept; any kind, for the garbage collector.
        key: super::key::Key,
        /// Its uid, so that a new object of the same name is safe.
        uid: Str,
        /// How.
        how: Deletion,
    },
    /// Take finalizers off an object of any kind.
    Unfinalize {
        /// The object, as it was read.
        key: super::key::Key,
        /// The finalizer.
        finalizer: &'static str,
    },
    /// Take an owner off an object of any kind.
    Disown {
        /// The object.
        key: super::key::Key,
        /// The owners' uids.
        owners: Vec<Str>,
    },
    /// Put a pod on a node.
    Bind {
        /// The pod.
        pod: Object,
        /// The node's name.
        node: Str,
    },
    /// Give a workload of any kind another size, through its `scale`.
    Scale {
        /// The workload.
        key: super::key::Key,
        /// How many replicas it is to have.
        replicas: i64,
    },
    /// Let a namespace go.
    Finalize {
        /// The namespace, without the finalizer.
        namespace: Object,
    },
    /// Tell the world.
    Announce(Announcement),
}

/// How an object is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deletion {
    /// The grace period in seconds; the kind's own if none.
    pub(crate) grace: Option<i64>,
    /// What happens to dependents; the kind's own way if none.
    pub(crate) propagation: Option<Propagation>,
}

/// An Event to write: who says what about whom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Announcement {
    /// The object that it is about.
    pub(crate) about: Object,
    /// Whether it is a warning.
    pub(crate) warning: bool,
    /// One word.
    pub(crate) reason: &'static str,
    /// A sentence. `{name}` stands for the name of the object that was just made.
    pub(crate) message: String,
    /// The host that says it, for kubelets.
    pub(crate) host: Str,
    /// The part of the object that it is about, such as `spec.containers{web}`.
    pub(crate) field: String,
}

impl Announcement {
    /// Good news about an object.
    pub(crate) fn normal(about: &Object, reason: &'static str, message: impl Into<String>) -> Self {
        Announcement {
            about: about.clone(),
            warning: false,
            reason,
            message: message.into(),
            host: Str::new(),
            field: String::new(),
        }
    }

    /// Bad news about an object.
    pub(crate) fn warning(about: &Object, reason: &'static str, message: impl Into<String>) -> Self {
        Announcement { warning: true, ..Announcement::normal(about, reason, message) }
    }
}

/// The steps that a look at an object led to, and when to look again.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// The steps, in order.
    pub(crate) steps: Vec<Step>,
    /// When to look again although nothing has changed.
    pub(crate) again: Option<Timestamp>,
}

impl Steps {
    pub(crate) fn create(&mut self, kind: &'static Kind, object: Object) {
        self.steps.push(Step::Create { kind, object, announce: None });
    }

    pub(crate) fn create_and_tell(&mut self, kind: &'static Kind, object: Object, announce: Announcement) {
        self.steps.push(Step::Create { kind, object, announce: Some(announce) });
    }

    pub(crate) fn update(&mut self, kind: &'static Kind, object: Object) {
        self.steps.push(Step::Update { kind, object });
    }

    pub(crate) fn status(&mut self, kind: &'static Kind, object: Object) {
        self.steps.push(Step::Status { kind, object });
    }

    /// Writes the status if it is not what it was.
    pub(crate) fn status_if_changed(&mut self, kind: &'static Kind, old: &Object, new: Object) {
        if old.value() != new.value() {
            self.status(kind, new);
        }
    }

    pub(crate) fn delete(&mut self, kind: &Kind, object: &Object) {
        self.delete_how(kind, object, Deletion::default());
    }

    pub(crate) fn delete_how(&mut self, kind: &Kind, object: &Object, how: Deletion) {
        let key = super::key::Key::of(&kind.place(), object);
        self.steps.push(Step::Delete { key, uid: object.uid().into(), how });
    }

    pub(crate) fn announce(&mut self, announcement: Announcement) {
        self.steps.push(Step::Announce(announcement));
    }

    pub(crate) fn again_at(&mut self, at: Timestamp) {
        self.again = Some(self.again.map_or(at, |earlier| earlier.min(at)));
    }

    pub(crate) fn again_after(&mut self, now: Timestamp, seconds: i64) {
        self.again_at(super::time::after(now, seconds));
    }
}
