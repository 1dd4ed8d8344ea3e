//! How often the engine looks at what nothing tells it of.

use std::time::Duration;

use crate::limits;

/// How often the engine looks at what nothing tells it of. A clock that is moved through hours should not stop at every second
/// of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    /// How often a sync that waits is looked at, at first.
    pub waiting: Duration,
    /// How often at last: the pauses grow with the time that it has waited.
    pub waiting_long: Duration,
    /// How often an application is looked at although nothing seems to have changed, instead of what is set.
    pub resync: Option<Duration>,
}

/// The part of the time that a sync has waited which is waited once more.
const SHARE: u32 = 4;

impl Default for Rhythm {
    fn default() -> Self {
        Rhythm { waiting: limits::OPERATION_POLL, waiting_long: limits::OPERATION_POLL, resync: None }
    }
}

impl Rhythm {
    /// The pause before the next look at a sync that has waited for some time.
    pub(crate) fn pause(&self, waited: Duration) -> Duration {
        (waited / SHARE).clamp(self.waiting, self.waiting_long.max(self.waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_the_wait_where_they_may() {
        let seconds = |rhythm: Rhythm, waited| rhythm.pause(Duration::from_secs(waited)).as_secs();
        let steady = Rhythm::default();
        assert_eq!((seconds(steady, 0), seconds(steady, 9_000)), (1, 1));
        let calm = Rhythm { waiting_long: Duration::from_secs(60), ..steady };
        assert_eq!([0, 40, 9_000].map(|waited| seconds(calm, waited)), [1, 10, 60]);
    }
}
