//! Clusters, the engine and a clock that is moved.

mod call;
mod clock;
mod record;
mod site;
mod tend;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use lynceus_api::annotations::SKIP_RECONCILE;
use lynceus_api::{Application, Kind as _};
use lynceus_cluster::{ApplyOptions, Cluster, Kinds, Link, Options as ClusterOptions, Rate};
use lynceus_engine::{AppKey, Engine, Freshness, Options, Rhythm, application_kind, bootstrap};
use lynceus_object::{Object, Str};
use lynceus_sim::Stage;
use lynceus_sim::clock::{Clock as _, ManualClock};
use lynceus_sim::view::View as _;
use lynceus_source::Sources;
use tokio::task::JoinHandle;

use crate::assumption::Assumed;
use crate::error::RehearseError;
use crate::limits;
use crate::script::Script;

pub use call::Call;
pub use clock::Hand;
pub(crate) use record::{Effect, Record, Written};
pub(crate) use site::Site;
use site::Sites;
use tend::Tended;

/// Clusters, the engine and a clock that is moved. It can be looked at when everything is at rest.
pub struct World {
    clock: ManualClock,
    home: Site,
    /// The clusters beside it, by their addresses.
    sites: BTreeMap<Str, Site>,
    hand: Arc<Cluster>,
    engine: Arc<Engine>,
    work: JoinHandle<()>,
    record: Record,
    tended: Tended,
    namespace: Str,
    /// When nobody waits any longer for what is under way, on the machine's clock.
    deadline: Instant,
}

/// What a world is made of.
pub(crate) struct Plan<'a> {
    pub(crate) script: &'a Script,
    pub(crate) assumed: &'a Assumed,
    pub(crate) sources: Sources,
    /// The namespace of the installation.
    pub(crate) home: Str,
    /// What cannot be played and is taken to be fine.
    pub(crate) skipped: Skipped,
    /// When nobody waits any longer, on the machine's clock.
    pub(crate) deadline: Instant,
}

/// What cannot be played and is taken to be fine.
#[derive(Clone, Default)]
pub(crate) struct Skipped {
    pub(crate) applications: BTreeSet<AppKey>,
    pub(crate) sets: BTreeSet<AppKey>,
}

impl Skipped {
    /// Keeps everybody from looking at an object that cannot be played.
    pub(crate) fn mark(&self, object: &mut Object) {
        let keys = match object.kind() {
            "Application" => &self.applications,
            "ApplicationSet" => &self.sets,
            _ => return,
        };
        if keys.contains(&AppKey::new(object.namespace(), object.name())) {
            object.set_annotation(SKIP_RECONCILE, "true");
        }
    }

    fn is_empty(&self) -> bool {
        self.applications.is_empty() && self.sets.is_empty()
    }
}

/// What a cluster serves before anything is brought to it.
pub(crate) async fn kinds(stage: &Stage, begin: Timestamp) -> Result<Arc<Kinds>, RehearseError> {
    let clock = ManualClock::new(begin);
    let options = lynceus_sim::Options {
        clock: Some(clock),
        seed: Some(site::SEED),
        stage: Stage { snapshot: stage.snapshot.clone(), ..Stage::default() },
        ..lynceus_sim::Options::default()
    };
    let sim =
        lynceus_sim::Sim::start(options).await.map_err(|error| RehearseError::Start(Box::new(error)))?;
    sim.settle().await;
    let client = kube::Client::new(sim.service(lynceus_sim::attributes::User::admin()), "default");
    let cluster = Cluster::open(client, unhurried()).await.map_err(set_up("its kinds"))?;
    Ok(cluster.kinds())
}

impl World {
    pub(crate) async fn start(plan: Plan<'_>) -> Result<Self, RehearseError> {
        let Plan { script, assumed, sources, home: namespace, skipped, deadline } = plan;
        let clock = ManualClock::new(script.begin);
        let hand: Arc<dyn lynceus_engine::Clock> = Arc::new(Hand::new(clock.clone()));
        let record = Record::new(clock.clone(), skipped.clone());
        let home = Site::start(&clock, script, assumed, Some(&skipped)).await?;
        let mut sites = BTreeMap::new();
        for cluster in &assumed.clusters {
            sites.insert(cluster.server.clone(), Site::start(&clock, script, assumed, None).await?);
        }
        // Not by the hand below, which would begin to watch what it has just learned of.
        let first = Cluster::open(home.client(), unhurried()).await.map_err(set_up("its client"))?;
        bootstrap(&first, &namespace).await.map_err(set_up("Argo CD's kinds"))?;
        drop(first);
        let by_hand = Cluster::open(home.client(), unhurried()).await.map_err(set_up("its client"))?;
        site::furnish(&home, &by_hand, &assumed.objects).await?;
        for site in sites.values() {
            let cluster = Cluster::open(site.client(), unhurried()).await.map_err(set_up("its client"))?;
            site::furnish(site, &cluster, &assumed.objects).await?;
        }
        for object in
            site::registrations(assumed, &namespace).into_iter().chain(assumed.projects.iter().cloned())
        {
            apply(&by_hand, &object).await?;
        }
        let options = ClusterOptions { home: namespace.clone(), ..unhurried() };
        let cluster = Cluster::connect(record.client(&home.sim, lynceus_api::IN_CLUSTER_SERVER), options);
        let cluster = cluster.await.map_err(set_up("its client"))?;
        let options = Options {
            namespace: namespace.clone(),
            children: true,
            // The copy of the repository stands in for a remote one, and is announced when it moves.
            local_poll: limits::RESYNC,
            reach: Arc::new(Sites::new(&sites, &record)),
            rhythm: Rhythm {
                waiting_long: limits::WAITING_LONG,
                resync: Some(limits::RESYNC),
                ..Rhythm::default()
            },
            // What two applications take from each other goes to whoever comes first, which has to be the same one each time.
            workers: Some(1),
            ..Options::default()
        };
        let engine = Engine::new(cluster, sources, hand, options);
        let work = tokio::spawn(engine.clone().run());
        let tended = Tended::new(skipped, script.unattended);
        Ok(World { clock, home, sites, hand: by_hand, engine, work, record, tended, namespace, deadline })
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The clock that everything is on.
    pub fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// Whether an application cannot be played and is taken to be fine.
    pub(crate) fn is_skipped(&self, key: &AppKey) -> bool {
        self.tended.is_skipped(key)
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The installation's own cluster, as the engine sees it.
    pub fn cluster(&self) -> &Arc<Cluster> {
        self.engine.home()
    }

    /// The installation's own cluster, as users have it: what they do is not the engine's doing.
    pub fn hand(&self) -> &Arc<Cluster> {
        &self.hand
    }

    /// The embedded clusters with their addresses, the installation's own first.
    pub fn sims(&self) -> impl Iterator<Item = (&str, &lynceus_sim::Sim)> {
        let home = (lynceus_api::IN_CLUSTER_SERVER, &self.home.sim);
        std::iter::once(home).chain(self.sites.iter().map(|(server, site)| (server.as_str(), &site.sim)))
    }

    /// The namespace of the installation.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Every Application as it is now, in order.
    pub fn applications(&self) -> Vec<Application> {
        let objects = self.cluster().cache().of_kind(&application_kind());
        objects.iter().filter_map(|object| Application::from_object(object).ok()).collect()
    }

    /// Every Application as it is stored, which is cheaper to ask for than to read.
    pub(crate) fn stored_applications(&self) -> Vec<Object> {
        self.home.sim.local().list(lynceus_api::GROUP, "applications", None)
    }

    /// Every ApplicationSet as it is stored.
    pub(crate) fn stored_sets(&self) -> Vec<Object> {
        self.home.sim.local().list(lynceus_api::GROUP, "applicationsets", None)
    }

    /// Everything that was written so far.
    pub(crate) fn written(&self) -> Vec<Written> {
        self.record.written()
    }

    /// Applies an object as a user would.
    pub(crate) async fn apply(&self, object: &Object) -> Result<(), RehearseError> {
        let mut object = object.clone();
        self.tended.skipped.mark(&mut object);
        apply(&self.hand, &object).await
    }

    /// Has every application and ApplicationSet looked at with the newest commit.
    pub(crate) fn announce(&self) {
        self.engine.refresh_sets(Freshness::Latest);
        for object in self.cluster().cache().of_kind(&application_kind()) {
            self.engine.refresh(AppKey::new(object.namespace(), object.name()), Freshness::Latest);
        }
    }

    /// Lets everybody do what they can do at this time, and gives the time at which somebody wants to do more.
    pub(crate) async fn settle(&mut self) -> Option<Timestamp> {
        let mut quiet = 0;
        let mut due = None;
        let mut changes: Vec<_> = self.caches().iter().map(|cluster| cluster.cache().changes()).collect();
        while quiet < limits::QUIET && Instant::now() < self.deadline {
            due = None;
            for (_, sim) in self.sims() {
                due = earliest(due, sim.settle().await);
            }
            for _ in 0..limits::TURNS {
                tokio::task::yield_now().await;
            }
            let clusters = self.caches();
            let changed = changes.len() != clusters.len() || changes.iter().any(|one| !one.is_empty());
            changes = clusters.iter().map(|cluster| cluster.cache().changes()).collect();
            let busy = self.engine.is_busy() || self.is_connecting();
            quiet = if busy || changed { 0 } else { quiet + 1 };
            if busy && !changed {
                // Rendering is another thread's.
                let pause = std::time::Duration::from_millis(1);
                let _ = tokio::time::timeout(pause, self.engine.progress()).await;
            }
            if quiet == limits::QUIET && self.tend().await {
                quiet = 0;
            }
        }
        earliest(due, self.clock.next_sleeper())
    }

    /// Moves the clock to when something happens next. Says whether anything ever will.
    pub(crate) fn move_on(&self, due: Option<Timestamp>) -> bool {
        let now = self.clock.now();
        let Some(due) = due else { return false };
        let due = due.clamp(now + limits::STEP, now + limits::STRIDE);
        self.clock.set(due);
        true
    }

    fn caches(&self) -> Vec<Arc<Cluster>> {
        let up = self.engine.fleet().destinations().into_iter().filter_map(|found| match found.link {
            Link::Up(cluster) => Some(cluster),
            _ => None,
        });
        std::iter::once(self.cluster().clone()).chain(up).collect()
    }

    fn is_connecting(&self) -> bool {
        self.engine.fleet().destinations().iter().any(|found| matches!(found.link, Link::Connecting))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.work.abort();
    }
}

fn earliest(left: Option<Timestamp>, right: Option<Timestamp>) -> Option<Timestamp> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}

async fn apply(cluster: &Cluster, object: &Object) -> Result<(), RehearseError> {
    let what = format!("{} {}", object.kind(), object.name());
    cluster.apply(object, ApplyOptions::default()).await.map(drop).map_err(set_up(&what))
}

/// A client without a limit: there is no server that has to be spared.
fn unhurried() -> ClusterOptions {
    ClusterOptions { rate: Rate::UNBOUNDED, ..ClusterOptions::default() }
}

fn set_up(what: &str) -> impl Fn(lynceus_cluster::ClusterError) -> RehearseError {
    let what = what.to_owned();
    move |source| RehearseError::SetUp { what: what.clone(), source: Box::new(source) }
}
