//! A work queue: each name at most once, in the order it came; and timers.

use std::collections::{BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};

use super::key::Key;
use crate::hash::{QuickMap, QuickSet};

/// The first wait after a failure; it doubles with each further one.
const FIRST_RETRY: SignedDuration = SignedDuration::from_secs(1);
/// The longest wait after a failure.
const LONGEST_RETRY: SignedDuration = SignedDuration::from_secs(300);

/// What a controller has to look at, now and later.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    ready: VecDeque<Key>,
    waiting: QuickSet<Key>,
    timers: BTreeSet<(Timestamp, Key)>,
    at: QuickMap<Key, Timestamp>,
    failures: QuickMap<Key, u32>,
}

impl Queue {
    /// Asks for a look now.
    pub(crate) fn push(&mut self, key: Key) {
        if self.waiting.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    /// Asks for a look at a time; the earliest one asked for counts.
    pub(crate) fn push_at(&mut self, key: Key, at: Timestamp) {
        match self.at.get(&key) {
            Some(earlier) if *earlier <= at => return,
            Some(later) => {
                self.timers.remove(&(*later, key.clone()));
            }
            None => {}
        }
        self.at.insert(key.clone(), at);
        self.timers.insert((at, key));
    }

    /// Asks for another look after a failure, later each time.
    pub(crate) fn retry(&mut self, key: Key, now: Timestamp) {
        let failures = self.failures.entry(key.clone()).or_default();
        let wait = (FIRST_RETRY * 2_i32.saturating_pow(*failures).min(512)).min(LONGEST_RETRY);
        *failures += 1;
        self.push_at(key, now.saturating_add(wait).unwrap_or(now));
    }

    /// Forgets earlier failures.
    pub(crate) fn succeeded(&mut self, key: &Key) {
        self.failures.remove(key);
    }

    /// Everything that is to be looked at now, timers that are due included.
    pub(crate) fn take(&mut self, now: Timestamp) -> Vec<Key> {
        while let Some((at, _)) = self.timers.first() {
            if *at > now {
                break;
            }
            if let Some((_, key)) = self.timers.pop_first() {
                self.at.remove(&key);
                self.push(key);
            }
        }
        self.waiting.clear();
        std::mem::take(&mut self.ready).into()
    }

    /// Whether there is nothing to look at, now or later.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.timers.is_empty()
    }

    /// When the next timer is due.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::POD;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn a_name_is_held_once() {
        let mut queue = Queue::default();
        let key = Key::new(POD, "shop", "web");
        queue.push(key.clone());
        queue.push(key.clone());
        assert_eq!(queue.take(at(0)), [key]);
        assert_eq!(queue.take(at(0)), []);
    }

    #[test]
    fn the_earliest_timer_counts() {
        let mut queue = Queue::default();
        let key = Key::new(POD, "shop", "web");
        queue.push_at(key.clone(), at(9));
        queue.push_at(key.clone(), at(5));
        queue.push_at(key.clone(), at(7));
        assert_eq!(queue.next(), Some(at(5)));
        assert_eq!(queue.take(at(6)), [key]);
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn failures_wait_longer_each_time() {
        let mut queue = Queue::default();
        let key = Key::new(POD, "shop", "web");
        for seconds in [1, 2, 4] {
            queue.retry(key.clone(), at(0));
            assert_eq!(queue.next(), Some(at(seconds)));
            queue.take(at(seconds));
        }
    }
}
