//! What a controller may look at.

use jiff::Timestamp;
use lynceus_object::{Gvk, Object};

use super::graph::Graph;
use super::key::Key;
use super::kind::Kind;
use crate::local::Local;
use crate::view::View;

/// The cluster as it is now.
pub(crate) struct World<'a> {
    /// The way to what is stored.
    pub(crate) local: &'a Local,
    /// Who owns what.
    pub(crate) graph: &'a Graph,
    /// The time.
    pub(crate) now: Timestamp,
}

impl World<'_> {
    /// Whether a kind is served, by its `apiVersion` and kind.
    pub(crate) fn serves(&self, api_version: &str, kind: &str) -> bool {
        self.local.registry().of_kind(&Gvk::from_manifest(api_version, kind)).is_some()
    }

    /// One object.
    pub(crate) fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Object> {
        self.local.get(kind.group, kind.resource, namespace, name)
    }

    /// The object of a name.
    pub(crate) fn find(&self, key: &Key) -> Option<Object> {
        self.local.get(&key.place.group, &key.place.resource, &key.namespace, &key.name)
    }

    /// The objects of a kind in a namespace.
    pub(crate) fn list(&self, kind: &Kind, namespace: &str) -> Vec<Object> {
        self.local.list(kind.group, kind.resource, Some(namespace))
    }

    /// The objects of a kind in the whole cluster.
    pub(crate) fn list_all(&self, kind: &Kind) -> Vec<Object> {
        self.local.list(kind.group, kind.resource, None)
    }

    /// The pods or ReplicaSets of a namespace that nobody controls.
    pub(crate) fn orphans(&self, kind: &Kind, namespace: &str) -> impl Iterator<Item = Object> {
        self.graph.loose(namespace).filter(move |key| kind.is(&key.place)).filter_map(|key| self.find(key))
    }

    /// The objects of a kind that an object manages, ordered by name.
    pub(crate) fn managed(&self, owner: &Object, kind: &Kind) -> Vec<Object> {
        self.graph
            .dependents(owner.uid())
            .filter(|key| kind.is(&key.place))
            .filter_map(|key| self.find(key))
            .filter(|object| {
                object.controller_entry().and_then(|by| by.str_at(&["uid"])) == Some(owner.uid())
            })
            .collect()
    }
}
