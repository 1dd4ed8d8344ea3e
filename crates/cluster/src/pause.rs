//! How long to wait before something is tried again.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use crate::limits;

/// A pause that doubles with every failure in a row. It is stretched at random, so that what failed together is not tried
/// again together.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(crate) fn new(max: Duration) -> Self {
        Backoff { next: limits::RETRY_MIN, max }
    }

    /// The pause after one more failure, at least as long as the server asked for.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(self.max);
        (pause + up_to(pause)).max(asked.unwrap_or_default().min(limits::RETRY_AFTER_MAX))
    }

    /// It went well: the next failure is the first again.
    pub(crate) fn reset(&mut self) {
        self.next = limits::RETRY_MIN;
    }
}

/// A random part of a duration. It only spreads load, so the hasher's random keys are good enough.
pub(crate) fn up_to(duration: Duration) -> Duration {
    let share = RandomState::new().build_hasher().finish() >> 40;
    // 24 bits are exact.
    #[expect(clippy::cast_precision_loss)]
    duration.mul_f64(share as f64 / f64::from(1_u32 << 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_bound_and_are_never_the_same_for_all() {
        let mut backoff = Backoff::new(Duration::from_secs(1));
        let bounds = [(250, 500), (500, 1000), (1000, 2000), (1000, 2000)];
        for (least, most) in bounds {
            let pause = backoff.next(None).as_millis();
            assert!((least..=most).contains(&pause), "{pause} is not within {least} and {most}");
        }
        backoff.reset();
        assert!(backoff.next(None) <= Duration::from_millis(500));
    }

    #[test]
    fn what_the_server_asks_for_is_obeyed_within_reason() {
        let mut backoff = Backoff::new(Duration::from_secs(1));
        assert_eq!(backoff.next(Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(backoff.next(Some(Duration::from_secs(86_400))), limits::RETRY_AFTER_MAX);
    }
}
