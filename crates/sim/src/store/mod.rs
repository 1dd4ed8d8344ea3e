//! Objects in memory, the log on disk, the history that watches read.
//!
//! Every write gets the next revision. Under one short lock it is checked against what its writer
//! expected, appended to the log (so that it survives the process), put into memory and into the
//! history. [`Store::durable`] then waits until the log is on the disk; many writers share one flush.

mod event;
mod flusher;
mod log;
mod medium;
mod place;
mod record;
mod recovery;
mod shelf;
mod snapshot;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lynceus_object::{Object, Str};
use tokio::sync::{mpsc, watch};

pub use event::{Event, EventKind};
use flusher::Flusher;
use log::Log;
use place::Named;
pub use place::Place;
use record::{Change, Record};
pub use recovery::Recovery;
use shelf::Shelf;

use crate::hash::QuickMap;
use crate::view::View;

/// What a writer believes to be true of the object it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// There is no such object.
    Absent,
    /// The object was last written at this revision.
    Revision(u64),
}

/// One change to make.
#[derive(Clone, Debug)]
pub struct Write {
    /// Where.
    pub place: Place,
    /// The object after the change, or as it was last if `delete`.
    pub object: Object,
    /// What is believed of the object before.
    pub expect: Expect,
    /// Whether the object goes.
    pub delete: bool,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Someone else made the object first.
    #[error("the object exists already")]
    Exists,
    /// Someone else changed the object first.
    #[error("the object was changed by someone else")]
    Changed,
    /// Someone else removed the object first.
    #[error("the object is gone")]
    Gone,
    /// The log could not be written; nothing was changed.
    #[error("the change cannot be written to the data directory")]
    Log(#[source] std::io::Error),
    /// An earlier flush failed: what is on the disk is no longer known, so nothing more is written.
    #[error("the data directory failed earlier and takes no more writes: {0}")]
    Failed(Str),
}

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file could not be read or made.
    #[error("cannot use {path}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// Another process has the directory.
    #[error("{path} is in use by another process")]
    Locked {
        /// The lock file.
        path: String,
    },
    /// A file that is not the newest is damaged: changes after the damage would be lost.
    #[error(
        "{path} is damaged at byte {offset}; restore it from a copy, or move it away with all later files"
    )]
    Damaged {
        /// The file.
        path: String,
        /// Where the damage starts.
        offset: u64,
    },
    /// A log is missing between two others.
    #[error("the changes {from} to {to} are missing from {path}")]
    Missing {
        /// The directory.
        path: String,
        /// The first missing revision.
        from: u64,
        /// The last missing revision.
        to: u64,
    },
}

/// Why the history cannot be read from a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryError {
    /// The history no longer goes back that far; it starts after `oldest`.
    TooOld {
        /// The oldest revision that can still be read from.
        oldest: u64,
    },
    /// That revision has not been reached yet.
    Future {
        /// The revision now.
        current: u64,
    },
}

/// All objects of a cluster.
#[derive(Debug)]
pub struct Store {
    inner: Arc<RwLock<Inner>>,
    revision: watch::Sender<u64>,
    flusher: Option<Flusher>,
}

#[derive(Debug)]
struct Inner {
    revision: u64,
    /// History before this revision is not known (it was not kept over the restart).
    floor: u64,
    shelves: QuickMap<Place, Shelf>,
    log: Option<Log>,
    failed: Option<Str>,
    subscribers: Vec<mpsc::UnboundedSender<Arc<Event>>>,
}

impl Inner {
    fn new(revision: u64) -> Self {
        Inner {
            revision,
            floor: revision,
            shelves: QuickMap::default(),
            log: None,
            failed: None,
            subscribers: Vec::new(),
        }
    }

    fn shelf(&mut self, place: &Place) -> &mut Shelf {
        let floor = self.floor;
        self.shelves.entry(place.clone()).or_insert_with(|| Shelf::new(floor))
    }

    fn find(&self, group: &str, resource: &str) -> Option<&Shelf> {
        self.shelves.get(&(group, resource) as &dyn Named)
    }
}

impl Store {
    /// A store that forgets everything when it is dropped.
    pub fn ephemeral() -> Self {
        Store::with(Inner::new(1), None)
    }

    /// Opens the store in a directory, making it if it is not there, and says what had to be repaired.
    pub fn open(directory: &Path) -> Result<(Self, Recovery), OpenError> {
        let (mut inner, log, recovery) = recovery::open(directory)?;
        let flusher_file = log
            .handle()
            .map_err(|source| OpenError::File { path: directory.display().to_string(), source })?;
        inner.log = Some(log);
        let revision = inner.revision;
        Ok((Store::with(inner, Some((directory.to_owned(), flusher_file, revision))), recovery))
    }

    fn with(inner: Inner, disk: Option<(std::path::PathBuf, log::Handle, u64)>) -> Self {
        let revision = watch::Sender::new(inner.revision);
        let inner = Arc::new(RwLock::new(inner));
        let flusher = disk
            .map(|(directory, handle, synced)| Flusher::start(Arc::clone(&inner), directory, handle, synced));
        Store { inner, revision, flusher }
    }

    /// Makes one change, or none. Gives the object as it is stored and the event that watchers see.
    pub fn write(&self, write: Write) -> Result<Arc<Event>, WriteError> {
        let mut guard = self.write_lock();
        let inner = &mut *guard;
        if let Some(why) = &inner.failed {
            return Err(WriteError::Failed(why.clone()));
        }
        let key = shelf::key(&write.object);
        let previous = inner.shelves.get(&write.place).and_then(|shelf| shelf.get(&key.0, &key.1)).cloned();
        match (write.expect, &previous) {
            (Expect::Absent, Some(_)) => return Err(WriteError::Exists),
            (Expect::Revision(_), None) => return Err(WriteError::Gone),
            (Expect::Revision(expected), Some(stored)) if stored.revision != expected => {
                return Err(WriteError::Changed);
            }
            _ => {}
        }
        let revision = inner.revision + 1;
        let mut object = write.object;
        object.set(&["metadata", "resourceVersion"], ecow::eco_format!("{revision}"));
        let kind = match (&previous, write.delete) {
            (_, true) => EventKind::Deleted,
            (None, false) => EventKind::Added,
            (Some(_), false) => EventKind::Modified,
        };
        let event =
            Arc::new(Event::new(kind, revision, write.place, object, previous.map(|stored| stored.object)));
        if let Some(log) = &mut inner.log {
            let change = if write.delete { Change::Delete } else { Change::Put(&event.object) };
            let record = Record { revision, place: &event.place, key: &key, change };
            log.append(&record).map_err(WriteError::Log)?;
        }
        inner.revision = revision;
        inner.shelf(&event.place).apply(key, &event);
        inner.subscribers.retain(|subscriber| subscriber.send(Arc::clone(&event)).is_ok());
        drop(guard);
        // Nobody may follow; who begins to follow looks at what there is first.
        if !self.revision.is_closed() {
            self.revision.send_replace(revision);
        }
        if let Some(flusher) = &self.flusher {
            flusher.wake();
        }
        Ok(event)
    }

    /// Waits until the log is on the disk up to a revision. At once for an ephemeral store.
    pub async fn durable(&self, revision: u64) -> Result<(), WriteError> {
        match &self.flusher {
            Some(flusher) => flusher.synced(revision).await,
            None => Ok(()),
        }
    }

    /// The revision of the last write.
    pub fn revision(&self) -> u64 {
        self.read_lock().revision
    }

    /// Whether the disk is believed to be in order.
    pub fn is_writable(&self) -> bool {
        self.read_lock().failed.is_none()
    }

    /// Follows [`revision`](Store::revision), for whoever waits for something to happen.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// One object and the revision it was last written at.
    pub fn read(&self, place: &Place, namespace: &str, name: &str) -> Option<(Object, u64)> {
        let inner = self.read_lock();
        let stored = inner.shelves.get(place)?.get(namespace, name)?;
        Some((stored.object.clone(), stored.revision))
    }

    /// The objects of a place, of one namespace or all, ordered, and the revision they are as of.
    pub fn read_all(&self, place: &Place, namespace: Option<&str>) -> (Vec<Object>, u64) {
        let inner = self.read_lock();
        let objects = inner.shelves.get(place).map(|shelf| shelf.list(namespace)).unwrap_or_default();
        (objects, inner.revision)
    }

    /// The objects of a place as they were at an earlier revision.
    pub fn read_all_at(
        &self,
        place: &Place,
        namespace: Option<&str>,
        revision: u64,
    ) -> Result<Vec<Object>, HistoryError> {
        let inner = self.read_lock();
        if revision > inner.revision {
            return Err(HistoryError::Future { current: inner.revision });
        }
        match inner.shelves.get(place) {
            Some(shelf) => shelf.list_at(namespace, revision),
            None => Ok(Vec::new()),
        }
    }

    /// What happened to a place after `revision`, oldest first, at most `limit` events; and the
    /// revision up to which the answer is complete.
    pub fn events_since(
        &self,
        place: &Place,
        revision: u64,
        limit: usize,
    ) -> Result<(Vec<Arc<Event>>, u64), HistoryError> {
        let inner = self.read_lock();
        if revision > inner.revision {
            return Err(HistoryError::Future { current: inner.revision });
        }
        let events = match inner.shelves.get(place) {
            Some(shelf) => shelf.since(revision, limit)?,
            None if revision < inner.floor => return Err(HistoryError::TooOld { oldest: inner.floor }),
            None => Vec::new(),
        };
        let complete = match events.last() {
            Some(last) if events.len() == limit => last.revision,
            _ => inner.revision,
        };
        Ok((events, complete))
    }

    /// Follows the revisions at which one place changed.
    pub fn follow_place(&self, place: &Place) -> watch::Receiver<u64> {
        if let Some(shelf) = self.read_lock().shelves.get(place) {
            return shelf.follow();
        }
        self.write_lock().shelf(place).follow()
    }

    /// Every event from now on, of every place, in order. For parts of this process that always
    /// keep up; a network client reads [`events_since`](Store::events_since) instead.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<Arc<Event>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.write_lock().subscribers.push(sender);
        receiver
    }

    /// The places that hold objects, ordered.
    pub fn places(&self) -> Vec<Place> {
        let inner = self.read_lock();
        let mut places: Vec<Place> = inner
            .shelves
            .iter()
            .filter(|(_, shelf)| !shelf.is_empty())
            .map(|(place, _)| place.clone())
            .collect();
        places.sort();
        places
    }

    fn read_lock(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl View for Store {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Object> {
        let inner = self.read_lock();
        let stored = inner.find(group, resource)?.get(namespace, name)?;
        Some(stored.object.clone())
    }

    fn list(&self, group: &str, resource: &str, namespace: Option<&str>) -> Vec<Object> {
        self.read_lock().find(group, resource).map(|shelf| shelf.list(namespace)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
