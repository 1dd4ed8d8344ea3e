//! One conversation with a server: how long it may take, how much it may bring, and what went wrong in it.

use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::error::{Peer, SourceError, Step};

/// A conversation, shared between the thread that has it and whoever waits for it.
///
/// Git's protocol code passes errors on as text, so the first thing that goes wrong on the wire is written
/// down here, where it keeps its type.
pub(crate) struct Call {
    pub(crate) url: String,
    pub(crate) host: String,
    peer: Peer,
    step: Step,
    after: Duration,
    deadline: Instant,
    limit: u64,
    taken: AtomicU64,
    trouble: Mutex<Option<SourceError>>,
    /// Set when nobody waits any more, so that work on the processor stops too.
    pub(crate) cancelled: AtomicBool,
    runtime: Handle,
}

/// Who is talked to, and what for.
pub(crate) struct Talk {
    /// The repository, without a password.
    pub(crate) url: String,
    /// `host:port`.
    pub(crate) host: String,
    pub(crate) peer: Peer,
    pub(crate) step: Step,
}

impl Call {
    /// Starts the clock. Has to be called within a runtime.
    pub(crate) fn new(talk: Talk, after: Duration, limit: u64) -> Self {
        Call {
            url: talk.url,
            host: talk.host,
            peer: talk.peer,
            step: talk.step,
            after,
            deadline: Instant::now() + after,
            limit,
            taken: AtomicU64::new(0),
            trouble: Mutex::new(None),
            cancelled: AtomicBool::new(false),
            runtime: Handle::current(),
        }
    }

    /// Waits on this thread for one step on the wire, but not beyond the deadline.
    pub(crate) fn wait<T>(&self, step: impl Future<Output = Result<T, SourceError>>) -> io::Result<T> {
        self.step(step).map_err(|error| self.fail(error))
    }

    /// The same for a step that may fail without the conversation being over.
    pub(crate) fn step<T>(
        &self,
        step: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        self.check()?;
        let _guard = self.runtime.enter();
        let bounded = tokio::time::timeout_at(self.deadline, step);
        self.runtime.block_on(bounded).unwrap_or_else(|_| Err(self.timeout()))
    }

    /// Counts bytes that have arrived.
    pub(crate) fn take(&self, bytes: usize) -> io::Result<()> {
        let taken = self.taken.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if taken > self.limit { Err(self.fail(self.too_large())) } else { Ok(()) }
    }

    /// The most bytes that it may bring.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// What went wrong on the wire, or else what the reader of the answer says of it.
    pub(crate) fn told(&self, error: &io::Error) -> SourceError {
        self.trouble().unwrap_or_else(|| self.protocol(format!("its answer cannot be read: {error}")))
    }

    /// The error for more than was expected.
    pub(crate) fn too_large(&self) -> SourceError {
        SourceError::TooLarge { url: self.url.clone(), limit: self.limit }
    }

    /// The error for an answer that a server of this kind does not give.
    pub(crate) fn protocol(&self, reason: impl Into<String>) -> SourceError {
        SourceError::Protocol { url: self.url.clone(), peer: self.peer, reason: reason.into() }
    }

    /// Writes down what went wrong; the first word stands.
    pub(crate) fn fail(&self, error: SourceError) -> io::Error {
        let text = error.to_string();
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        io::Error::other(text)
    }

    /// What went wrong on the wire, if anything did.
    pub(crate) fn trouble(&self) -> Option<SourceError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn timeout(&self) -> SourceError {
        SourceError::Timeout { url: self.url.clone(), step: self.step, after: self.after }
    }

    /// Whether the time is up, for work that cannot be waited for with a deadline.
    pub(crate) fn check(&self) -> Result<(), SourceError> {
        if self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
            return Err(self.timeout());
        }
        Ok(())
    }

    /// Waits for a turn, but not beyond the deadline.
    pub(crate) async fn bounded<T>(&self, turn: impl Future<Output = T>) -> Result<T, SourceError> {
        tokio::time::timeout_at(self.deadline, turn).await.map_err(|_| self.timeout())
    }

    /// Has the conversation on a thread that may block, and comes back at the deadline at the latest.
    pub(crate) async fn hold<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Call) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        /// Tells the thread to stop when the one who waits goes away.
        struct Hangup<'a>(Option<&'a Call>);
        impl Drop for Hangup<'_> {
            fn drop(&mut self) {
                if let Some(call) = self.0 {
                    call.cancelled.store(true, Ordering::Relaxed);
                }
            }
        }
        let mut hangup = Hangup(Some(&self));
        let call = self.clone();
        let work = crate::sources::blocking(move || work(&call));
        // A moment more than the deadline: the thread notices it itself and says more about it.
        let late = self.deadline + Duration::from_millis(200);
        let finished = tokio::time::timeout_at(late, work).await.map_err(|_| self.timeout())?;
        hangup.0 = None;
        finished
    }
}
