//! The time, as an argument.

use futures::future::BoxFuture;
use jiff::Timestamp;

/// Tells the time and waits for it. A rehearsal hands in one that it moves itself.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Waits until a time has come; at once if it has.
    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'_, ()>;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        let wait = std::time::Duration::try_from(at.duration_since(self.now())).unwrap_or_default();
        Box::pin(tokio::time::sleep(wait))
    }
}
