//! Who owns what, kept up to date from changes, so that nobody has to search the store.

use std::collections::{BTreeSet, HashMap};

use lynceus_object::{Object, Str};

use super::key::Key;
use crate::store::{Event, EventKind};

/// The owner references of all objects, both ways.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: HashMap<Key, Node>,
    by_uid: HashMap<Str, Key>,
    dependents: HashMap<Str, BTreeSet<Key>>,
    by_namespace: HashMap<Str, BTreeSet<Key>>,
}

#[derive(Debug)]
struct Node {
    uid: Str,
    owners: Vec<Str>,
}

impl Graph {
    /// Takes a change in.
    pub(crate) fn observe(&mut self, event: &Event) {
        let key = Key::of(&event.place, &event.object);
        match event.kind {
            EventKind::Deleted => self.remove(&key),
            EventKind::Added | EventKind::Modified => self.insert(key, &event.object),
        }
    }

    /// The objects that name `uid` as an owner, ordered.
    pub(crate) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Key> + '_ {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// The object that has `uid`.
    pub(crate) fn find(&self, uid: &str) -> Option<&Key> {
        self.by_uid.get(uid)
    }

    /// Everything in a namespace, ordered.
    pub(crate) fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Key> + '_ {
        self.by_namespace.get(namespace).into_iter().flatten()
    }

    fn insert(&mut self, key: Key, object: &Object) {
        let owners: Vec<Str> = object.owners().map(|owner| owner.uid).collect();
        if let Some(node) = self.nodes.get(&key) {
            if node.uid == object.uid() && node.owners == owners {
                return;
            }
            self.remove(&key);
        }
        for owner in &owners {
            self.dependents.entry(owner.clone()).or_default().insert(key.clone());
        }
        if !key.namespace.is_empty() {
            self.by_namespace.entry(key.namespace.clone()).or_default().insert(key.clone());
        }
        let uid = Str::from(object.uid());
        self.by_uid.insert(uid.clone(), key.clone());
        self.nodes.insert(key, Node { uid, owners });
    }

    fn remove(&mut self, key: &Key) {
        let Some(node) = self.nodes.remove(key) else { return };
        if self.by_uid.get(&node.uid) == Some(key) {
            self.by_uid.remove(&node.uid);
        }
        if let Some(content) = self.by_namespace.get_mut(&key.namespace) {
            content.remove(key);
            if content.is_empty() {
                self.by_namespace.remove(&key.namespace);
            }
        }
        for owner in node.owners {
            if let Some(dependents) = self.dependents.get_mut(&owner) {
                dependents.remove(key);
                if dependents.is_empty() {
                    self.dependents.remove(&owner);
                }
            }
        }
    }
}
