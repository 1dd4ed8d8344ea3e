//! The thread that flushes the log to the disk and replaces old logs by snapshots.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::thread::JoinHandle;

use lynceus_object::Str;
use tokio::sync::watch;

use super::log::{Handle, Log};
use super::snapshot::{self, Contents};
use super::{Inner, WriteError};
use crate::limits;

/// Wakes the thread, waits for it, ends it.
#[derive(Debug)]
pub(super) struct Flusher {
    wake: Option<SyncSender<()>>,
    synced: watch::Receiver<Result<u64, Str>>,
    thread: Option<JoinHandle<()>>,
}

struct Worker {
    inner: Arc<RwLock<Inner>>,
    directory: PathBuf,
    file: Handle,
    synced: watch::Sender<Result<u64, Str>>,
    snapshot_size: u64,
}

impl Flusher {
    pub(super) fn start(inner: Arc<RwLock<Inner>>, directory: PathBuf, file: Handle, synced: u64) -> Self {
        // One waiting wake-up is enough: the thread flushes all that is there when it gets to it.
        let (wake, woken) = sync_channel(1);
        let synced = watch::Sender::new(Ok(synced));
        let receiver = synced.subscribe();
        let mut worker = Worker { inner, directory, file, synced, snapshot_size: 0 };
        let thread =
            std::thread::Builder::new().name("sim-log".into()).spawn(move || worker.run(&woken)).ok();
        Flusher { wake: Some(wake), synced: receiver, thread }
    }

    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake
            && let Err(TrySendError::Disconnected(())) = wake.try_send(())
        {
            tracing::error!("the log's thread has ended");
        }
    }

    pub(super) async fn synced(&self, revision: u64) -> Result<(), WriteError> {
        let mut synced = self.synced.clone();
        let reached = synced
            .wait_for(|synced| match synced {
                Ok(reached) => *reached >= revision,
                Err(_) => true,
            })
            .await;
        match reached.as_deref() {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(why)) => Err(WriteError::Failed(why.clone())),
            Err(_) => Err(WriteError::Failed("the log's thread has ended".into())),
        }
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        // Without a sender the thread flushes once more and ends.
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Worker {
    fn run(&mut self, woken: &Receiver<()>) {
        loop {
            let last = woken.recv().is_err();
            self.flush();
            if last {
                return;
            }
            self.compact();
        }
    }

    fn flush(&mut self) {
        let revision = self.lock().revision;
        match self.file.sync_data() {
            Ok(()) => {
                let _ = self.synced.send_replace(Ok(revision));
            }
            Err(error) => {
                let why: Str = error.to_string().into();
                tracing::error!(%error, "the log cannot be flushed; no more writes are taken");
                self.lock().failed = Some(why.clone());
                let _ = self.synced.send_replace(Err(why));
            }
        }
    }

    /// Starts a new log and writes a snapshot when the log has grown well beyond what it describes.
    fn compact(&mut self) {
        let Some((revision, contents)) = self.rotate() else { return };
        let written = snapshot::write(&self.directory, revision, &contents);
        match written.and_then(|size| {
            self.snapshot_size = size;
            snapshot::remove_older(&self.directory, revision)
        }) {
            Ok(()) => {}
            // The old logs are still there: nothing is lost, it is tried again after the next growth.
            Err(error) => tracing::warn!(%error, "a snapshot of the store could not be written"),
        }
    }

    fn rotate(&mut self) -> Option<(u64, Contents)> {
        let directory = self.directory.clone();
        let threshold = limits::LOG_BYTES.max(self.snapshot_size.saturating_mul(2));
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if inner.failed.is_some() || inner.log.as_ref().is_none_or(|log| log.length() < threshold) {
            return None;
        }
        // The old log must be whole on the disk before a newer one exists.
        let started =
            self.file.sync_data().and_then(|()| Log::create(&directory, inner.revision)).and_then(|log| {
                let handle = log.handle()?;
                Ok((log, handle))
            });
        match started {
            Ok((log, handle)) => {
                inner.log = Some(log);
                self.file = handle;
            }
            Err(error) => {
                tracing::warn!(%error, "a new log could not be started");
                return None;
            }
        }
        let contents = inner
            .shelves
            .iter()
            .map(|(place, shelf)| {
                let objects = shelf.objects();
                (place.clone(), objects.map(|(key, stored)| (key, stored.clone())).collect())
            })
            .collect();
        Some((inner.revision, contents))
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}
