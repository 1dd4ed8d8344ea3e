//! The embedded clock, as the engine wants it.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use lynceus_sim::clock::{Clock as _, ManualClock};

/// The embedded clock, as the engine wants it.
#[derive(Clone, Debug)]
pub struct Hand(ManualClock);

impl Hand {
    /// The same clock for the engine.
    pub fn new(clock: ManualClock) -> Self {
        Hand(clock)
    }
}

impl lynceus_engine::Clock for Hand {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn monotonic(&self) -> Duration {
        Duration::try_from(self.0.now().duration_since(Timestamp::UNIX_EPOCH)).unwrap_or_default()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.0.sleep_until(self.0.now() + time)
    }
}
