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
    objects: BTreeMap<Key, Stored>,
    history: VecDeque<Arc<Event>>,
    /// Everything after this revision is in the history.
    floor: u64,
    changed: watch::Sender<u64>,
}

/// The key of an object.
pub(super) fn key(object: &Object) -> Key {
    (object.namespace().into(), object.name().into())
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

    pub(super) fn get(&self, key: &Key) -> Option<&Stored> {
        self.objects.get(key)
    }

    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// All objects with their keys, for a snapshot.
    pub(super) fn objects(&self) -> &BTreeMap<Key, Stored> {
        &self.objects
    }

    /// Puts an object back that was read from disk: no event.
    pub(super) fn restore(&mut self, key: Key, stored: Option<Stored>) {
        match stored {
            Some(stored) => self.objects.insert(key, stored),
            None => self.objects.remove(&key),
        };
    }

    /// Says that nothing before `floor` is known, after everything was restored.
    pub(super) fn start_at(&mut self, floor: u64) {
        self.floor = floor;
    }

    pub(super) fn apply(&mut self, key: Key, event: &Arc<Event>) {
        match event.kind {
            EventKind::Deleted => self.objects.remove(&key),
            EventKind::Added | EventKind::Modified => {
                self.objects.insert(key, Stored { object: event.object.clone(), revision: event.revision })
            }
        };
        if self.history.len() >= limits::HISTORY_EVENTS
            && let Some(oldest) = self.history.pop_front()
        {
            self.floor = oldest.revision;
        }
        self.history.push_back(Arc::clone(event));
        self.changed.send_replace(event.revision);
    }

    /// The objects in order.
    pub(super) fn list(&self, namespace: Option<&str>) -> Vec<Object> {
        match namespace {
            None => self.objects.values().map(|stored| stored.object.clone()).collect(),
            Some(namespace) => self
                .objects
                .range((Str::from(namespace), Str::new())..)
                .take_while(|((found, _), _)| found == namespace)
                .map(|(_, stored)| stored.object.clone())
                .collect(),
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
