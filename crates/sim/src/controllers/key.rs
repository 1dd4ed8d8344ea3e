//! What a work queue holds: the name of an object.

use lynceus_object::{Object, Str};

use super::kind::Kind;
use crate::store::Place;

/// The name of an object, wherever it is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    /// Where the object is kept.
    pub(crate) place: Place,
    /// Its namespace; empty for a cluster-scoped one.
    pub(crate) namespace: Str,
    /// Its name.
    pub(crate) name: Str,
}

impl Key {
    /// Names an object.
    pub(crate) fn new(kind: &Kind, namespace: &str, name: &str) -> Self {
        Key { place: kind.place(), namespace: namespace.into(), name: name.into() }
    }

    /// The name of an object in a place; its texts stay shared with the object.
    pub(crate) fn of(place: &Place, object: &Object) -> Self {
        Key { place: place.clone(), namespace: object.meta_text("namespace"), name: object.meta_text("name") }
    }
}
