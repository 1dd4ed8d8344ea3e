//! One change, as watchers see it.

use std::sync::OnceLock;

use bytes::Bytes;
use lynceus_object::Object;

use super::Place;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It is new.
    Added,
    /// It changed.
    Modified,
    /// It is gone.
    Deleted,
}

impl EventKind {
    /// The word in a watch.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One change of one object.
#[derive(Debug)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The revision it happened at.
    pub revision: u64,
    /// Where.
    pub place: Place,
    /// The object after the change, or as it was last, with the revision of the change.
    pub object: Object,
    /// The object before the change.
    pub previous: Option<Object>,
    json: OnceLock<Bytes>,
}

impl Event {
    pub(super) fn new(
        kind: EventKind,
        revision: u64,
        place: Place,
        object: Object,
        previous: Option<Object>,
    ) -> Self {
        Event { kind, revision, place, object, previous, json: OnceLock::new() }
    }

    /// An object that was there before anybody watched, told as if it were new.
    pub(crate) fn existing(place: Place, object: Object) -> Self {
        let revision = object.resource_version().parse().unwrap_or_default();
        Event::new(EventKind::Added, revision, place, object, None)
    }

    /// The object as JSON, encoded once for all watchers that want it as it is stored.
    pub fn json(&self) -> Bytes {
        self.json.get_or_init(|| serde_json::to_vec(self.object.value()).unwrap_or_default().into()).clone()
    }
}
