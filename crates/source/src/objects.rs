//! The object database of one repository, for reading from any thread.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::objs::{Find as _, FindHeader as _, Kind};
use gix::odb::pack::cache::lru::StaticLinkedList;
use gix::odb::{HandleArc, Store};

/// An object database. Handles with their caches are kept for reuse, because a new one starts cold.
pub(crate) struct Objects {
    store: Arc<Store>,
    idle: Mutex<Vec<Reader>>,
    /// What has to live as long as the objects are read, such as the mirror's directory.
    _keep: Option<Arc<dyn Any + Send + Sync>>,
}

/// A handle with a buffer, for one thread at a time.
struct Reader {
    handle: HandleArc,
    buffer: Vec<u8>,
}

/// The most idle handles that are kept.
const MAX_IDLE: usize = 16;
/// A buffer that has grown larger than this is not kept.
const MAX_KEPT_BUFFER: usize = 1 << 20;

/// Why an object could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ObjectError {
    #[error("object {0} is missing")]
    Missing(ObjectId),
    #[error("object {0} is a {1}, not a {2}")]
    Kind(ObjectId, Kind, Kind),
    #[error("object {0} cannot be read: {1}")]
    Unreadable(ObjectId, String),
}

impl Objects {
    pub(crate) fn new(store: Arc<Store>, keep: Option<Arc<dyn Any + Send + Sync>>) -> Self {
        Objects { store, idle: Mutex::default(), _keep: keep }
    }

    /// Reads an object of a known kind.
    pub(crate) fn read<T>(
        &self,
        id: ObjectId,
        kind: Kind,
        then: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, ObjectError> {
        self.with(|reader| {
            let Reader { handle, buffer } = reader;
            let data = handle
                .try_find(&id, buffer)
                .map_err(|error| ObjectError::Unreadable(id, error.to_string()))?
                .ok_or(ObjectError::Missing(id))?;
            if data.kind != kind {
                return Err(ObjectError::Kind(id, data.kind, kind));
            }
            Ok(then(data.data))
        })
    }

    /// The kind and size of an object.
    pub(crate) fn header(&self, id: ObjectId) -> Result<(Kind, u64), ObjectError> {
        self.with(|reader| {
            let header = reader
                .handle
                .try_header(&id)
                .map_err(|error| ObjectError::Unreadable(id, error.to_string()))?
                .ok_or(ObjectError::Missing(id))?;
            Ok((header.kind, header.size))
        })
    }

    fn with<T>(&self, then: impl FnOnce(&mut Reader) -> T) -> T {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = idle.unwrap_or_else(|| Reader { handle: self.handle(), buffer: Vec::new() });
        let result = then(&mut reader);
        if reader.buffer.capacity() > MAX_KEPT_BUFFER {
            reader.buffer = Vec::new();
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(reader);
        }
        result
    }

    /// With a small cache of delta bases, but none of whole objects: files are read once, and a large
    /// object cache was measured to make that slower.
    fn handle(&self) -> HandleArc {
        let mut handle = self.store.to_cache_arc();
        handle.set_pack_cache(|| Box::<StaticLinkedList<64>>::default());
        handle
    }
}
