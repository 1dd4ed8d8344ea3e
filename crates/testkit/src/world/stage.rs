//! Where a scenario is played: the embedded Kubernetes, on a clock that the world moves, or a real cluster.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use kube::Client;
use lynceus_cluster::Cache;
use lynceus_engine::{Clock, Engine, SystemClock};
use lynceus_rehearse::Hand;
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_sim::clock::{Clock as _, ManualClock};

use super::turn::Turn;

/// The variable that names the kubeconfig of a real cluster to play on.
pub const RIG: &str = "LYNCEUS_RIG";

/// How far the embedded clock moves at a time while a condition does not hold.
const STEP: SignedDuration = SignedDuration::from_millis(500);

/// How often in a row nothing has to happen before everybody is idle.
const QUIET: usize = 2;

/// The longest that the embedded clock waits for an engine that is busy: it may be waiting for the network itself.
const STALL: Duration = Duration::from_millis(100);

/// The longest that a real cluster is watched for something that should not happen.
const LULL: SignedDuration = SignedDuration::from_secs(3);

/// A cluster to play on.
pub(crate) enum Stage {
    /// Time passes when the world says so.
    Embedded { sim: Sim, clock: ManualClock },
    /// Time passes by itself. The turn is this scenario's alone.
    Real { client: Client, _turn: Turn },
}

impl Stage {
    /// The stage that the environment asks for; an embedded one if the scenario says what it is like.
    #[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
    pub(crate) async fn open(like: Option<lynceus_sim::Stage>) -> Self {
        let kubeconfig = std::env::var_os(RIG).filter(|_| like.is_none()).map(PathBuf::from);
        let Some(kubeconfig) = kubeconfig else { return embedded(like.unwrap_or_default()).await };
        let turn = Turn::take(&kubeconfig).expect("the rig can be taken");
        let client =
            lynceus_cluster::client(Some(&kubeconfig), None).await.expect("the rig has a kubeconfig");
        Stage::Real { client, _turn: turn }
    }

    pub(crate) fn is_real(&self) -> bool {
        matches!(self, Stage::Real { .. })
    }

    /// A client that may do everything.
    pub(crate) fn client(&self) -> Client {
        match self {
            Stage::Embedded { sim, .. } => Client::new(sim.service(User::admin()), "default"),
            Stage::Real { client, .. } => client.clone(),
        }
    }

    /// The clock, as the engine wants it.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        match self {
            Stage::Embedded { clock, .. } => Arc::new(Hand::new(clock.clone())),
            Stage::Real { .. } => Arc::new(SystemClock),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        match self {
            Stage::Embedded { clock, .. } => clock.now(),
            Stage::Real { .. } => Timestamp::now(),
        }
    }

    /// How long a condition may take on the stage's own clock.
    pub(crate) fn patience(&self) -> SignedDuration {
        match self {
            Stage::Embedded { .. } => SignedDuration::from_mins(30),
            Stage::Real { .. } => SignedDuration::from_mins(10),
        }
    }

    /// How often the engine looks at the repository: a real commit should not keep a test waiting.
    pub(crate) fn local_poll(&self) -> Duration {
        match self {
            Stage::Embedded { .. } => lynceus_engine::limits::LOCAL_POLL,
            Stage::Real { .. } => Duration::from_millis(300),
        }
    }

    /// Lets something happen: the embedded clock moves a step, a real cluster is given a moment.
    pub(crate) async fn wait(&self, cache: &Cache) {
        match self {
            Stage::Embedded { sim, .. } => {
                // A kind that could not be read is tried again after a pause by the machine's own clock.
                if !cache.errors().is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                sim.advance(STEP).await;
            }
            Stage::Real { .. } => {
                let _ = tokio::time::timeout(Duration::from_millis(50), cache.changes().recv()).await;
            }
        }
    }

    /// Lets time pass; on a real cluster no more than a few seconds of it.
    pub(crate) async fn pass(&self, time: SignedDuration, crew: &Crew<'_>) {
        match self {
            Stage::Embedded { sim, clock } => {
                let end = clock.now() + time;
                while clock.now() < end {
                    self.settle(crew).await;
                    sim.advance(STEP).await;
                }
                self.settle(crew).await;
            }
            Stage::Real { .. } => {
                let time = Duration::try_from(time.min(LULL)).unwrap_or_default();
                tokio::time::sleep(time).await;
            }
        }
    }

    /// Lets everybody do what they can do at this time. The embedded clock stands still meanwhile, or it would run ahead
    /// of an engine that reads Git on another thread.
    pub(crate) async fn settle(&self, crew: &Crew<'_>) {
        let Stage::Embedded { sim, .. } = self else { return };
        let mut changes = crew.cache.changes();
        let begun = Instant::now();
        let mut quiet = 0;
        while quiet < QUIET && begun.elapsed() < STALL {
            sim.settle().await;
            // Watches, the cache and the engine are tasks of this thread.
            for _ in 0..40 {
                tokio::task::yield_now().await;
            }
            let busy = crew.engine.is_some_and(Engine::is_busy);
            let changed = !changes.is_empty();
            changes = changes.resubscribe();
            quiet = if busy || changed { 0 } else { quiet + 1 };
            if busy {
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
        }
    }
}

/// Those whom the embedded clock waits for.
pub(crate) struct Crew<'a> {
    /// What the engine knows of the cluster.
    pub(crate) cache: &'a Cache,
    /// The engine, if one runs.
    pub(crate) engine: Option<&'a Engine>,
}

#[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
async fn embedded(stage: lynceus_sim::Stage) -> Stage {
    let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().expect("a time"));
    let options = lynceus_sim::Options {
        clock: Some(clock.clone()),
        seed: Some(7),
        stage,
        ..lynceus_sim::Options::default()
    };
    let sim = Sim::start(options).await.expect("the embedded cluster starts");
    Stage::Embedded { sim, clock }
}
