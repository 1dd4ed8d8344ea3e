//! Time as an argument.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use lynceus_object::Str;
use tokio::sync::oneshot;

/// What time it is, and waiting for it to be later.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Completes once [`now`](Clock::now) has reached `deadline`.
    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()>;
}

/// A time as it stands in an object: `2026-01-31T12:00:00Z`.
pub fn text(time: Timestamp) -> Str {
    lynceus_object::schema::print_time(time)
}

/// A time in microseconds, as Leases and Events have it: `2026-01-31T12:00:00.000000Z`.
pub fn micro_text(time: Timestamp) -> Str {
    ecow::eco_format!("{}", time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ"))
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let wait = deadline.duration_since(Timestamp::now());
        let wait = std::time::Duration::try_from(wait).unwrap_or_default();
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A clock that stands still until it is told to move.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Manual>>);

#[derive(Debug)]
struct Manual {
    now: Timestamp,
    sleepers: BTreeMap<(Timestamp, u64), oneshot::Sender<()>>,
    tickets: u64,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        ManualClock(Arc::new(Mutex::new(Manual { now, sleepers: BTreeMap::new(), tickets: 0 })))
    }

    /// A clock that shows the first moment of the year 2026.
    pub fn from_2026() -> Self {
        ManualClock::new(Timestamp::constant(1_767_225_600, 0))
    }

    /// Moves the clock on and wakes whoever slept until then.
    pub fn advance(&self, by: SignedDuration) {
        let to = self.lock().now.saturating_add(by).unwrap_or(Timestamp::MAX);
        self.set(to);
    }

    /// Sets the clock to `to` and wakes whoever slept until then. A clock never goes back.
    pub fn set(&self, to: Timestamp) {
        let mut manual = self.lock();
        let now = manual.now.max(to);
        manual.now = now;
        let later = manual.sleepers.split_off(&(now, u64::MAX));
        for (_, sleeper) in std::mem::replace(&mut manual.sleepers, later) {
            // A sleeper that went away has nothing to be told.
            let _ = sleeper.send(());
        }
    }

    /// When the next sleeper wants to wake.
    pub fn next_sleeper(&self) -> Option<Timestamp> {
        let mut manual = self.lock();
        manual.sleepers.retain(|_, sleeper| !sleeper.is_closed());
        manual.sleepers.keys().next().map(|(at, _)| *at)
    }

    fn lock(&self) -> MutexGuard<'_, Manual> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let (wake, woken) = oneshot::channel();
        let mut manual = self.lock();
        if deadline <= manual.now {
            return Box::pin(std::future::ready(()));
        }
        manual.tickets += 1;
        let ticket = manual.tickets;
        manual.sleepers.insert((deadline, ticket), wake);
        Box::pin(async move {
            // The clock is gone: nobody will ever wake us.
            if woken.await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_its_time_has_come_and_not_before() {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let mut sleep = clock.sleep_until(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(10));
        clock.advance(SignedDuration::from_secs(9));
        assert!(futures::poll!(&mut sleep).is_pending());
        clock.advance(SignedDuration::from_secs(1));
        assert!(futures::poll!(&mut sleep).is_ready());
    }
}
