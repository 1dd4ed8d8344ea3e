//! Who owns what, kept up to date from changes, so that nobody has to search the store.

use std::collections::BTreeSet;

use lynceus_object::{Object, Str};

use super::key::Key;
use super::kind::{Kind, POD, REPLICA_SET};
use crate::hash::QuickMap;
use crate::store::{Event, EventKind};

/// The kinds that are taken over by whoever selects them.
const ADOPTED: [&Kind; 2] = [POD, REPLICA_SET];

/// The owner references of all objects, both ways.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: QuickMap<Key, Node>,
    by_uid: QuickMap<Str, Key>,
    dependents: QuickMap<Str, BTreeSet<Key>>,
    by_namespace: QuickMap<Str, BTreeSet<Key>>,
    /// What of the kinds in [`ADOPTED`] nobody controls, by namespace.
    loose: QuickMap<Str, BTreeSet<Key>>,
}

#[derive(Debug)]
struct Node {
    uid: Str,
    owners: Vec<Str>,
    /// Whether somebody may adopt it.
    loose: bool,
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

    /// The pods and ReplicaSets of a namespace that nobody controls, ordered: few, where there may be thousands.
    pub(crate) fn loose(&self, namespace: &str) -> impl Iterator<Item = &Key> + '_ {
        self.loose.get(namespace).into_iter().flatten()
    }

    fn insert(&mut self, key: Key, object: &Object) {
        let owners = || {
            let entries = object.value().items_at(&["metadata", "ownerReferences"]).iter();
            entries.map(|owner| owner.str_at(&["uid"]).unwrap_or_default())
        };
        let loose = ADOPTED.iter().any(|kind| kind.is(&key.place)) && object.controller_entry().is_none();
        if let Some(node) = self.nodes.get(&key) {
            if node.uid == object.uid() && node.owners.iter().eq(owners()) && node.loose == loose {
                return;
            }
            self.remove(&key);
        }
        let owners: Vec<Str> = owners().map(Str::from).collect();
        for owner in &owners {
            self.dependents.entry(owner.clone()).or_default().insert(key.clone());
        }
        if !key.namespace.is_empty() {
            self.by_namespace.entry(key.namespace.clone()).or_default().insert(key.clone());
        }
        if loose {
            self.loose.entry(key.namespace.clone()).or_default().insert(key.clone());
        }
        let uid = Str::from(object.uid());
        self.by_uid.insert(uid.clone(), key.clone());
        self.nodes.insert(key, Node { uid, owners, loose });
    }

    fn remove(&mut self, key: &Key) {
        let Some(node) = self.nodes.remove(key) else { return };
        if self.by_uid.get(&node.uid) == Some(key) {
            self.by_uid.remove(&node.uid);
        }
        take(&mut self.by_namespace, &key.namespace, key);
        if node.loose {
            take(&mut self.loose, &key.namespace, key);
        }
        for owner in node.owners {
            take(&mut self.dependents, &owner, key);
        }
    }
}

/// Takes a key out of a set, and the set out if it was the last.
fn take(sets: &mut QuickMap<Str, BTreeSet<Key>>, of: &Str, key: &Key) {
    if let Some(set) = sets.get_mut(of) {
        set.remove(key);
        if set.is_empty() {
            sets.remove(of);
        }
    }
}
