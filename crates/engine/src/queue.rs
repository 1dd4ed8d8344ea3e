//! Which application is looked at next, and when.
//!
//! A key is in the queue once, at the earliest time that anybody asked for; a key that is being worked on and asked for
//! again comes back when the work is done. So no application is worked on twice at the same time, and none is forgotten.
//! Times are of the monotonic clock: a clock on the wall that jumps moves nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lynceus_cluster::Clock;
use tokio::sync::Notify;

use crate::key::AppKey;

/// How much is to be found out anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// The cluster has changed; Git is as last seen.
    #[default]
    Recent,
    /// Git is asked again.
    Latest,
    /// Git is asked again, and nothing that was rendered before is used.
    Anew,
}

/// The queue.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    /// Tells whoever waits for it that something was done.
    progress: Notify,
}

#[derive(Default)]
struct State {
    /// Waiting keys by time; the key second, so that equal times are served in the order of names.
    due: BTreeSet<(Duration, AppKey)>,
    entries: HashMap<AppKey, (Duration, Freshness)>,
    working: BTreeSet<AppKey>,
    /// How often in a row a key has failed.
    failures: BTreeMap<AppKey, u32>,
    /// When something was last done.
    last_done: Duration,
    closed: bool,
}

impl Queue {
    /// Asks for an application to be looked at, not before `at`.
    pub(crate) fn add(&self, key: AppKey, at: Duration, freshness: Freshness) {
        let mut state = self.state();
        let (at, freshness) = match state.entries.get(&key) {
            Some((earlier, wanted)) => (at.min(*earlier), freshness.max(*wanted)),
            None => (at, freshness),
        };
        if let Some((before, _)) = state.entries.insert(key.clone(), (at, freshness)) {
            state.due.remove(&(before, key.clone()));
        }
        state.due.insert((at, key));
        drop(state);
        self.changed.notify_one();
    }

    /// The next application whose time has come and that nobody works on. Waits for one; none once the queue is closed.
    pub(crate) async fn next(&self, clock: &dyn Clock) -> Option<(AppKey, Freshness)> {
        loop {
            let changed = self.changed.notified();
            let now = clock.monotonic();
            let (taken, wake) = {
                let mut state = self.state();
                if state.closed {
                    // The others wait as well.
                    self.changed.notify_one();
                    return None;
                }
                state.take(now)
            };
            if let Some(taken) = taken {
                // There may be more for the other workers.
                self.changed.notify_one();
                return Some(taken);
            }
            match wake {
                Some(at) => {
                    tokio::select! {
                        () = changed => {}
                        () = clock.sleep(at.saturating_sub(now)) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// Says that an application has been worked on.
    pub(crate) fn done(&self, key: &AppKey, now: Duration) {
        let mut state = self.state();
        state.working.remove(key);
        state.last_done = now;
        drop(state);
        self.changed.notify_one();
        self.progress.notify_waiters();
    }

    /// Waits until an application has been worked on.
    pub(crate) async fn progress(&self) {
        self.progress.notified().await;
    }

    /// Gives out nothing more.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    /// Forgets an application that is gone.
    pub(crate) fn forget(&self, key: &AppKey) {
        let mut state = self.state();
        state.failures.remove(key);
        if let Some((at, _)) = state.entries.remove(key) {
            state.due.remove(&(at, key.clone()));
        }
    }

    /// Counts a failure and gives how many there have been in a row; a success forgets them.
    pub(crate) fn count(&self, key: &AppKey, failed: bool) -> u32 {
        let mut state = self.state();
        if !failed {
            state.failures.remove(key);
            return 0;
        }
        let failures = state.failures.entry(key.clone()).or_default();
        *failures += 1;
        *failures
    }

    /// How many applications wait, those included whose time has not come.
    pub(crate) fn len(&self) -> usize {
        self.state().entries.len()
    }

    /// Whether an application is worked on, or could be at this time.
    pub(crate) fn is_busy(&self, now: Duration) -> bool {
        let state = self.state();
        !state.working.is_empty() || state.due.first().is_some_and(|(at, _)| *at <= now)
    }

    /// For how long something that nobody works on has been due while nothing was done.
    pub(crate) fn standstill(&self, now: Duration) -> Duration {
        let state = self.state();
        match state.due.iter().find(|(_, key)| !state.working.contains(key)) {
            Some((at, _)) => now.saturating_sub(state.last_done.max(*at)),
            None => Duration::ZERO,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes what is due, or says when something will be.
    fn take(&mut self, now: Duration) -> (Option<(AppKey, Freshness)>, Option<Duration>) {
        let free = self.due.iter().find(|(_, key)| !self.working.contains(key)).cloned();
        match free {
            Some((at, key)) if at <= now => {
                self.due.remove(&(at, key.clone()));
                let freshness =
                    self.entries.remove(&key).map_or(Freshness::Recent, |(_, freshness)| freshness);
                self.working.insert(key.clone());
                (Some((key, freshness)), None)
            }
            Some((at, _)) => (None, Some(at)),
            None => (None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    fn key(name: &str) -> AppKey {
        AppKey::new("argocd", name)
    }

    #[test]
    fn a_key_is_in_the_queue_once_at_its_earliest_time_with_its_greatest_need() {
        let queue = Queue::default();
        queue.add(key("a"), at(9), Freshness::Latest);
        queue.add(key("a"), at(5), Freshness::Recent);
        assert_eq!(queue.state().take(at(4)), (None, Some(at(5))));
        assert_eq!(queue.state().take(at(5)), (Some((key("a"), Freshness::Latest)), None));
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_key_that_is_worked_on_waits_until_the_work_is_done() {
        let queue = Queue::default();
        queue.add(key("a"), at(1), Freshness::Recent);
        queue.add(key("b"), at(1), Freshness::Recent);
        let taken = |queue: &Queue| queue.state().take(at(2)).0.map(|(key, _)| key.name);
        assert_eq!(taken(&queue).as_deref(), Some("a"));
        queue.add(key("a"), at(1), Freshness::Recent);
        assert_eq!(taken(&queue).as_deref(), Some("b"));
        assert_eq!(taken(&queue), None);
        queue.done(&key("a"), at(2));
        assert_eq!(taken(&queue).as_deref(), Some("a"));
    }

    #[test]
    fn failures_in_a_row_are_counted_until_a_success() {
        let queue = Queue::default();
        assert_eq!((queue.count(&key("a"), true), queue.count(&key("a"), true)), (1, 2));
        queue.count(&key("a"), false);
        assert_eq!(queue.count(&key("a"), true), 1);
    }

    #[test]
    fn a_standstill_is_work_that_is_due_while_nothing_is_done() {
        let queue = Queue::default();
        assert_eq!(queue.standstill(at(100)), Duration::ZERO);
        queue.add(key("a"), at(10), Freshness::Recent);
        assert_eq!(queue.standstill(at(30)), at(20));
        queue.done(&key("b"), at(25));
        assert_eq!(queue.standstill(at(30)), at(5));
    }
}
