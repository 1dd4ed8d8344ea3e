//! The objects of one place and the recent changes to them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use lynceus_object::{Object, Str};
use tokio::sync::watch;

use super::HistoryError;
use super::event::{Event, EventKind};
use crate::limits;

/// Namespace and name.
pub(super) type Key = (Str, Str);

/// An object and the revision it was last written at.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) object: Object,
    pub(super) revision: u64,
}

#[derive(Debug)]
pub(super) struct Shelf {
    /// By namespace and name, so that a search needs no key of its own and compares names only.
    objects: BTreeMap<Str, BTreeMap<Str, Stored>>,
    history: VecDeque<Arc<Event>>,
    /// Everything after this revision is in the history.
    floor: u64,
    changed: watch::Sender<u64>,
}

/// The key of an object; its texts stay shared with the object.
pub(super) fn key(object: &Object) -> Key {
    (object.meta_text("namespace"), object.meta_text("name"))
}

impl Shelf {
    pub(super) fn new(floor: u64) -> Self {
        Shelf {
            objects: BTreeMap::new(),
            history: VecDeque::new(),
            floor,
            changed: watch::Sender::new(floor),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Stored> {
        self.objects.get(namespace)?.get(name)
    }

    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// All objects with their keys in order, for a snapshot.
    pub(super) fn objects(&self) -> impl Iterator<Item = (Key, &Stored)> {
        self.objects.iter().flat_map(|(namespace, objects)| {
            objects.iter().map(|(name, stored)| ((namespace.clone(), name.clone()), stored))
        })
    }

    /// Puts an object back that was read from disk: no event.
    pub(super) fn restore(&mut self, key: Key, stored: Option<Stored>) {
        match stored {
            Some(stored) => self.put(key, stored),
            None => self.take(&key),
        }
    }

    fn put(&mut self, (namespace, name): Key, stored: Stored) {
        match self.objects.get_mut(&namespace) {
            Some(objects) => drop(objects.insert(name, stored)),
            None => drop(self.objects.insert(namespace, BTreeMap::from([(name, stored)]))),
        }
    }

    fn take(&mut self, (namespace, name): &Key) {
        let Some(objects) = self.objects.get_mut(namespace) else { return };
        objects.remove(name);
        if objects.is_empty() {
            self.objects.remove(namespace);
        }
    }

    /// Says that nothing before `floor` is known, after everything was restored.
    pub(super) fn start_at(&mut self, floor: u64) {
        self.floor = floor;
    }

    pub(super) fn apply(&mut self, key: Key, event: &Arc<Event>) {
        match event.kind {
            EventKind::Deleted => self.take(&key),
            EventKind::Added | EventKind::Modified => {
                self.put(key, Stored { object: event.object.clone(), revision: event.revision });
            }
        }
        if self.history.len() >= limits::HISTORY_EVENTS
            && let Some(oldest) = self.history.pop_front()
        {
            self.floor = oldest.revision;
        }
        self.history.push_back(Arc::clone(event));
        // Nobody may watch the place; who begins to watch reads what there is first.
        if !self.changed.is_closed() {
            self.changed.send_replace(event.revision);
        }
    }

    /// The objects in order.
    pub(super) fn list(&self, namespace: Option<&str>) -> Vec<Object> {
        let copies = |objects: &BTreeMap<Str, Stored>| -> Vec<Object> {
            objects.values().map(|stored| stored.object.clone()).collect()
        };
        match namespace {
            None => self.objects.values().flat_map(copies).collect(),
            Some(namespace) => self.objects.get(namespace).map(copies).unwrap_or_default(),
        }
    }

    /// The objects as they were, found by undoing what happened since.
    pub(super) fn list_at(
        &self,
        namespace: Option<&str>,
        revision: u64,
    ) -> Result<Vec<Object>, HistoryError> {
        let since = self.since(revision, usize::MAX)?;
        let mut objects: BTreeMap<Key, Object> =
            self.list(namespace).into_iter().map(|object| (key(&object), object)).collect();
        for event in since.iter().rev() {
            if namespace.is_some_and(|namespace| event.object.namespace() != namespace) {
                continue;
            }
            match &event.previous {
                Some(previous) => objects.insert(key(previous), previous.clone()),
                None => objects.remove(&key(&event.object)),
            };
        }
        Ok(objects.into_values().collect())
    }

    /// What happened after a revision.
    pub(super) fn since(&self, revision: u64, limit: usize) -> Result<Vec<Arc<Event>>, HistoryError> {
        if revision < self.floor {
            return Err(HistoryError::TooOld { oldest: self.floor });
        }
        let start = self.history.partition_point(|event| event.revision <= revision);
        Ok(self.history.iter().skip(start).take(limit).cloned().collect())
    }
}
