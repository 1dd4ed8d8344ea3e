//! The time, as an argument.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;

/// Tells the time and waits for it. A rehearsal hands in one that it moves itself.
pub trait Clock: Send + Sync + 'static {
    /// The time on the wall, for people and for what is written down. It may jump.
    fn now(&self) -> Timestamp;

    /// The time since some beginning. It only goes forward, also while the machine sleeps: what must not happen too
    /// early or too late is counted on it.
    fn monotonic(&self) -> Duration;

    /// Waits.
    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()>;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn monotonic(&self) -> Duration {
        since_boot()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// Linux's usual monotonic clock stands still while the machine is suspended, and a Lease does not.
#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    BEGINNING.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_machines_clock_goes_forward() {
        let before = SystemClock.monotonic();
        SystemClock.sleep(Duration::from_millis(2)).await;
        assert!(SystemClock.monotonic() >= before + Duration::from_millis(2));
    }
}
