//! How often an operator looks at an object. Two that undo each other's work would keep it busy for ever, at one point in time.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::controllers::key::Key;
use crate::limits::{OPERATOR_LOOKS, OPERATOR_REST};

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The objects that were looked at, and those that rest.
#[derive(Debug, Default)]
pub(super) struct Pace(BTreeMap<Key, Steps>);

#[derive(Debug, Default)]
struct Steps {
    /// When the second began in which looks are counted.
    since: Timestamp,
    looks: u32,
    /// How often it had to rest lately, and until when.
    rests: u32,
    until: Timestamp,
}

/// Whether an object may be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum May {
    Look,
    /// Not before this time; whether that begins now.
    Rest(Timestamp, bool),
}

impl Pace {
    /// Counts a look at an object.
    pub(super) fn count(&mut self, key: &Key, now: Timestamp) -> May {
        let steps = self.0.entry(key.clone()).or_default();
        if now < steps.until {
            return May::Rest(steps.until, false);
        }
        if now >= later(steps.since, SECOND) {
            (steps.since, steps.looks) = (now, 0);
        }
        if now >= later(steps.until, OPERATOR_REST) {
            steps.rests = 0;
        }
        steps.looks += 1;
        if steps.looks <= OPERATOR_LOOKS {
            return May::Look;
        }
        steps.until = later(now, (SECOND * 2_i32.saturating_pow(steps.rests)).min(OPERATOR_REST));
        steps.rests = (steps.rests + 1).min(16);
        May::Rest(steps.until, true)
    }

    /// Forgets an object.
    pub(super) fn forget(&mut self, key: &Key) {
        self.0.remove(key);
    }
}

fn later(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.saturating_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::POD;

    #[test]
    fn what_never_comes_to_rest_is_made_to_longer_each_time() {
        let (mut pace, key) = (Pace::default(), Key::new(POD, "shop", "web"));
        let at = |seconds: i64| Timestamp::from_second(1_000_000 + seconds).unwrap();
        let mut looks = |now: Timestamp| {
            let mut count = 0;
            loop {
                match pace.count(&key, now) {
                    May::Look => count += 1,
                    May::Rest(until, begins) => return (count, until, begins),
                }
            }
        };
        assert_eq!(looks(at(0)), (OPERATOR_LOOKS, at(1), true));
        assert_eq!(looks(at(0)), (0, at(1), false));
        assert_eq!(looks(at(1)), (OPERATOR_LOOKS, at(3), true));
        assert_eq!(looks(at(3)), (OPERATOR_LOOKS, at(7), true));
        assert_eq!(looks(at(1000)), (OPERATOR_LOOKS, at(1001), true), "one that was calm begins anew");
    }
}
