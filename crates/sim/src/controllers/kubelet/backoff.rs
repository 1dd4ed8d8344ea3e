//! Waiting longer each time, as kubelets wait for images and between restarts.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use lynceus_object::Str;

/// The first wait; it doubles with each further one.
const FIRST: SignedDuration = SignedDuration::from_secs(10);
/// The longest wait.
const LONGEST: SignedDuration = SignedDuration::from_secs(300);
/// After this much quiet it starts over with the first wait.
const FORGET_AFTER: SignedDuration = SignedDuration::from_secs(600);

/// How long to wait, and since when that is so. Lost when the process ends, as a kubelet's is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BackOff(Option<(SignedDuration, Timestamp)>);

impl BackOff {
    /// Until when to wait after something that happened at a time; none if not at all.
    pub(super) fn until(&self, happened: Timestamp) -> Option<Timestamp> {
        let (wait, since) = self.0?;
        (happened.duration_since(since) <= FORGET_AFTER).then(|| add(happened, wait))
    }

    /// Until when to wait after the last try.
    pub(super) fn until_since_try(&self) -> Option<Timestamp> {
        self.0.map(|(wait, since)| add(since, wait))
    }

    /// How long the wait is.
    pub(super) fn wait(&self) -> SignedDuration {
        self.0.map_or(SignedDuration::ZERO, |(wait, _)| wait)
    }

    /// Something is tried because of what happened at a time: the next wait is longer.
    pub(super) fn next(&mut self, happened: Timestamp, now: Timestamp) {
        let known = self.0.filter(|(_, since)| happened.duration_since(*since) <= FORGET_AFTER);
        let wait = known.map_or(FIRST, |(wait, _)| (wait * 2).min(LONGEST));
        self.0 = Some((wait, now));
    }
}

/// What a kubelet remembers of a pod.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// How long each container waits before it is started again.
    pub(super) restarts: BTreeMap<Str, BackOff>,
    /// What came of the pulls of each image that could not be had.
    pub(super) pulls: BTreeMap<Str, FailedPull>,
    /// The run of each container whose failing probe was told of.
    pub(super) unhealthy: BTreeMap<Str, i64>,
    /// The Services that its containers need: namespace and name.
    pub(super) needs: Vec<(Str, Str)>,
    /// Whether the environment of one of its containers lacks something.
    pub(super) lacks: bool,
}

/// An image that could not be had.
#[derive(Debug, Default)]
pub(super) struct FailedPull {
    /// When it is tried again.
    pub(super) backoff: BackOff,
    /// What was wrong.
    pub(super) error: String,
}

pub(super) fn add(at: Timestamp, time: SignedDuration) -> Timestamp {
    at.saturating_add(time).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at: i64) -> Timestamp {
        Timestamp::from_second(at).unwrap()
    }

    #[test]
    fn the_first_restart_comes_at_once_and_each_further_one_later() {
        let mut backoff = BackOff::default();
        let mut waits = Vec::new();
        let mut now = second(0);
        for _ in 0..8 {
            let again = backoff.until(now).unwrap_or(now);
            waits.push(again.duration_since(now).as_secs());
            backoff.next(now, again);
            now = again;
        }
        assert_eq!(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn a_long_run_is_a_new_beginning() {
        let mut backoff = BackOff::default();
        backoff.next(second(0), second(0));
        backoff.next(second(1), second(1));
        assert_eq!(backoff.until(second(2)), Some(second(22)));
        assert_eq!(backoff.until(second(700)), None);
        backoff.next(second(700), second(700));
        assert_eq!(backoff.wait(), FIRST);
    }
}
