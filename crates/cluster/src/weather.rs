//! Whether a cluster can be reached at all, known once for all who ask.
//!
//! When an API server goes away, every watch of its cluster fails at the same moment. One of them then asks again and
//! again with growing pauses, the others wait for it, and one line in the log tells of it.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{info, warn};

use crate::door::Door;
use crate::error::{ClusterError, chain};
use crate::limits;
use crate::pause::{Backoff, up_to};

/// A time during which a cluster cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Since when.
    pub since: Timestamp,
    /// What the first failure said.
    pub reason: String,
}

/// What is known of a cluster's reachability, shared by all that use it.
#[derive(Default)]
pub(crate) struct Weather {
    state: Mutex<State>,
    /// How often the server came back with an older state than it had.
    epoch: watch::Sender<u64>,
    /// Held by the one who asks while the others wait.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    outage: Option<(Outage, Instant)>,
    /// How many outages have ended.
    cleared: u64,
    /// The highest version that the server itself has told.
    version: u64,
    asked_at: Option<Instant>,
    /// Whether it answered then.
    answers: bool,
}

impl Weather {
    /// The outage, once it has lasted long enough to be more than a restart.
    pub(crate) fn outage(&self) -> Option<Outage> {
        let state = self.state();
        let (outage, since) = state.outage.as_ref()?;
        (since.elapsed() >= limits::OUTAGE).then(|| outage.clone())
    }

    /// Which history of the cluster we are in: it changes when the cluster is set back to an older state.
    pub(crate) fn epoch(&self) -> watch::Receiver<u64> {
        self.epoch.subscribe()
    }

    /// Waits out a failure to reach the server: comes back when it has answered somebody. `false` if it answers all the
    /// time, so that the failure was not about reaching it.
    pub(crate) async fn wait_out(&self, door: &Door, error: &ClusterError) -> bool {
        let before = self.state().cleared;
        let _asking = self.asking.lock().await;
        if self.state().cleared != before {
            return true;
        }
        if self.just_answered() || self.ask(door).await {
            // The one who waited before us may have been stopped in the middle of an outage that has just ended.
            return self.state().cleared != before;
        }
        warn!(error = chain(error), "the cluster cannot be reached; asking again until it can");
        let outage = Outage { since: Timestamp::now(), reason: chain(error) };
        self.state().outage.get_or_insert((outage, Instant::now()));
        let mut backoff = Backoff::new(limits::OUTAGE_RETRY_MAX);
        loop {
            tokio::time::sleep(backoff.next(None)).await;
            if self.ask(door).await {
                return true;
            }
        }
    }

    /// Looks now and then whether the server is there and still the same, for as long as it is used.
    pub(crate) async fn observe(weather: Weak<Weather>, door: Door) {
        loop {
            tokio::time::sleep(limits::HEARTBEAT + up_to(limits::HEARTBEAT)).await;
            let Some(weather) = weather.upgrade() else { return };
            weather.check(&door).await;
        }
    }

    /// Looks whether the server has been set back to an older state, if nobody has looked just now.
    pub(crate) async fn check(&self, door: &Door) {
        let _asking = self.asking.lock().await;
        let recent = self.state().asked_at.is_some_and(|at| at.elapsed() < limits::VERSION_CHECK);
        if !recent {
            self.ask(door).await;
        }
    }

    fn just_answered(&self) -> bool {
        let state = self.state();
        state.answers && state.asked_at.is_some_and(|at| at.elapsed() < limits::RETRY_MIN)
    }

    /// Asks for the smallest list there is, and notes its version. Gives whether the server answered; a refusal is an
    /// answer.
    async fn ask(&self, door: &Door) -> bool {
        let answer = tokio::time::timeout(limits::LOOK, door.try_get("/api/v1/namespaces?limit=1")).await;
        let mut state = self.state();
        state.asked_at = Some(Instant::now());
        state.answers = match answer {
            Ok(Ok(list)) => {
                let version = list.str_at(&["metadata", "resourceVersion"]).unwrap_or_default();
                let version = version.parse().unwrap_or(state.version);
                self.compare(&mut state, version);
                true
            }
            Ok(Err(error)) => !error.is_unreachable(),
            Err(_) => false,
        };
        if state.answers
            && let Some((_, since)) = state.outage.take()
        {
            info!(seconds = since.elapsed().as_secs(), "the cluster can be reached again");
            state.cleared += 1;
        }
        state.answers
    }

    /// Takes the version that the server is at.
    fn compare(&self, state: &mut State, version: u64) {
        if version < state.version {
            warn!(version, before = state.version, "the cluster has been set back to an older state");
            self.epoch.send_modify(|epoch| *epoch += 1);
        }
        state.version = version;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
