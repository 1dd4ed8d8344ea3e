//! The engine: a queue of applications, workers that reconcile them, and what makes them look again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use lynceus_api::{
    AppProject, Application, ApplicationDestination, IN_CLUSTER_SERVER, Kind as _, RefreshType, Word as _,
    annotations,
};
use lynceus_cluster::lease::Leases;
use lynceus_cluster::{Clock, Cluster, ClusterError, Fleet, Link, on_behalf_of};
use lynceus_files::Diagnostic;
use lynceus_object::{Object, Str};
use lynceus_source::Sources;
use lynceus_sync::Run;
use tokio::task::JoinSet;
use tracing::{Instrument as _, info, info_span, warn};

use crate::assess::Checks;
use crate::claims::Claims;
use crate::condition::Condition;
use crate::flips::Flips;
use crate::gate::Gate;
use crate::grace::Grace;
use crate::key::{AppKey, application_kind};
use crate::limits;
use crate::look::{Aim, Look, Looker};
use crate::notices::{self, Notices};
use crate::observe::Observations;
use crate::operate::Next;
use crate::options::Options;
use crate::predictions::Predictions;
use crate::queue::{Freshness, Queue};
use crate::quiet::Quiet;
use crate::reason;
use crate::registry;
use crate::rendering::Renderer;
use crate::renewal::Renewals;
use crate::sets::Sets;
use crate::settings::Settings;
use crate::shards::{self, Shards};
use crate::trace;
use crate::vigil::Vigil;

/// Why an application could not be worked on now.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Its status could not be stored.
    #[error("cannot store the status of application {application}")]
    Store {
        /// The application.
        application: AppKey,
        /// What the cluster said.
        #[source]
        source: ClusterError,
    },
    /// Others have written it again and again.
    #[error("application {application} is being written by others all the time")]
    Overtaken {
        /// The application.
        application: AppKey,
    },
    /// Its cluster went away in the middle of a sync, which goes on when it is back.
    #[error("the cluster of application {application} does not answer any more")]
    Unreachable {
        /// The application.
        application: AppKey,
        /// What the cluster said.
        #[source]
        source: ClusterError,
    },
}

/// Delivers applications to clusters.
pub struct Engine {
    fleet: Arc<Fleet>,
    renderer: Renderer,
    clock: Arc<dyn Clock>,
    options: Options,
    settings: RwLock<Arc<Settings>>,
    pub(crate) queue: Queue,
    pub(crate) sets: Sets,
    pub(crate) shards: Shards,
    pub(crate) observations: Observations,
    pub(crate) quiet: Quiet,
    pub(crate) vigil: Vigil,
    renewals: Renewals,
    pub(crate) grace: Grace,
    /// The way to all clusters for the requests of syncs.
    pub(crate) writing: Gate,
    /// What servers said that applies would do.
    predictions: Predictions,
    /// Which applications want which objects.
    claims: Claims,
    /// Which fields differed before.
    flips: Flips,
    /// Who is told what, if anybody is.
    notices: Option<Arc<Notices>>,
    stopping: AtomicBool,
    /// Syncs that wait, so that a wait keeps its beginning. A lost one is made anew from the Application.
    runs: Mutex<HashMap<AppKey, (Timestamp, Run)>>,
}

impl Engine {
    /// An engine whose home is a cluster, reading Git through `sources`.
    pub fn new(home: Arc<Cluster>, sources: Sources, clock: Arc<dyn Clock>, options: Options) -> Arc<Self> {
        let settings = Settings::read(home.cache(), &options.namespace);
        let shards = match &options.replica {
            Some(replica) if !options.observe => {
                let leases = Leases::new(home.clone(), &options.namespace, replica, shards::LABEL);
                Shards::among(leases, clock.clone())
            }
            _ => Shards::alone(),
        };
        let fleet = Fleet::new(home, options.reach.clone(), clock.clone());
        let notices = match &options.notifications {
            Some(post) if !options.observe => Some(Arc::new(Notices::new(post.clone()))),
            _ => None,
        };
        let sets = Sets::new(&sources);
        let engine = Arc::new(Engine {
            fleet,
            sets,
            renderer: Renderer::new(sources),
            clock,
            options,
            settings: RwLock::new(Arc::new(settings)),
            queue: Queue::default(),
            shards,
            observations: Observations::default(),
            quiet: Quiet::default(),
            vigil: Vigil::default(),
            renewals: Renewals::default(),
            grace: Grace::default(),
            writing: Gate::default(),
            predictions: Predictions::default(),
            claims: Claims::default(),
            flips: Flips::default(),
            notices,
            stopping: AtomicBool::new(false),
            runs: Mutex::default(),
        });
        engine.register(&[]);
        engine
    }

    /// Works until it is told to [`stop`](Engine::stop), or the returned future is dropped.
    pub async fn run(self: Arc<Self>) {
        // Heard from before the first look, so that nothing that happens in between is missed.
        let (changes, news) = (self.home().cache().changes(), self.fleet.news());
        self.reread_settings();
        let mut tasks = JoinSet::new();
        tasks.spawn(crate::trigger::follow_home(self.clone(), changes));
        tasks.spawn(crate::trigger::follow_fleet(self.clone(), news));
        tasks.spawn(crate::trigger::poll_local_repositories(self.clone()));
        let mut messengers = notices::start(&self, &mut tasks);
        if self.shards.are_shared() {
            tasks.spawn(crate::trigger::keep_leases(self.clone()));
        } else {
            self.fleet.want_all();
        }
        for object in self.home().cache().of_kind(&application_kind()) {
            self.refresh(AppKey::new(object.namespace(), object.name()), Freshness::Latest);
        }
        self.refresh_sets(Freshness::Latest);
        let mut workers = JoinSet::new();
        let for_sets = if self.options.observe { 0 } else { self.settings().sets.workers };
        for _ in 0..for_sets {
            workers.spawn(crate::sets::work(self.clone()));
        }
        for _ in 0..self.options.workers.unwrap_or(self.settings().workers) {
            workers.spawn(work(self.clone()));
        }
        // One that panics is a bug that must not take the others along. Nobody knows which of the two it was; one of each
        // takes its place.
        while let Some(ended) = workers.join_next().await {
            if let Err(error) = ended {
                warn!(%error, "a worker has died; another takes its place");
                workers.spawn(work(self.clone()));
                if for_sets > 0 {
                    workers.spawn(crate::sets::work(self.clone()));
                }
            }
        }
        // What is being sent is sent to its end, if that comes soon.
        tokio::select! {
            () = async { while messengers.join_next().await.is_some() {} } => {}
            () = self.clock.sleep(limits::STOP) => messengers.abort_all(),
        }
        // The Leases were renewed until the last one had ended; now nobody writes any more.
        tasks.abort_all();
        while tasks.join_next().await.is_some() {}
        self.shards.leave().await;
    }

    /// Takes nothing new from the queue, and ends [`run`](Engine::run) once every reconcile that is under way has come
    /// to the end of its current write and stored its state.
    pub fn stop(&self) {
        info!("stopping");
        self.stopping.store(true, Ordering::Relaxed);
        if let Some(notices) = &self.notices {
            notices.close();
        }
        self.queue.close();
        self.sets.queue.close();
    }

    /// Whether the end is near.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Asks for an application to be looked at soon.
    pub fn refresh(&self, key: AppKey, freshness: Freshness) {
        self.queue.add(key, self.clock.monotonic() + limits::SETTLE, freshness);
    }

    /// Asks for an application to be looked at, not before a time.
    pub(crate) fn refresh_at(&self, key: AppKey, at: Timestamp, freshness: Freshness) {
        let wait = Duration::try_from(at.duration_since(self.clock.now())).unwrap_or_default();
        self.queue.add(key, self.clock.monotonic() + wait, freshness);
    }

    /// How many applications wait to be looked at.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether an application is worked on now or is about to be: a clock that is moved by hand should wait for it.
    pub fn is_busy(&self) -> bool {
        let now = self.clock.monotonic();
        self.queue.is_busy(now)
            || (!self.options.observe && self.sets.queue.is_busy(now))
            || self.notices.as_ref().is_some_and(|notices| notices.is_busy(now))
    }

    /// Waits until some application has been worked on. Whoever moves the clock by hand has nothing else to do meanwhile.
    pub async fn progress(&self) {
        let told = async {
            match &self.notices {
                Some(notices) => notices.progress().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.queue.progress() => {}
            () = self.sets.queue.progress() => {}
            () = told => {}
        }
    }

    /// The cluster of Applications, projects, settings and events.
    pub fn home(&self) -> &Arc<Cluster> {
        self.fleet.home()
    }

    /// All clusters.
    pub fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// Git.
    pub fn renderer(&self) -> &Renderer {
        &self.renderer
    }

    /// The time.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// What the engine was told at its start.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Who is told what, if anybody is.
    pub(crate) fn notices(&self) -> Option<&Arc<Notices>> {
        self.notices.as_ref()
    }

    /// What the operator has set.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The addresses of the clusters whose Leases this replica holds, in order.
    pub fn held(&self) -> Vec<Str> {
        self.shards.held()
    }

    /// What healths are judged by now.
    pub fn checks(&self) -> Checks {
        let custom = self.settings().health.clone();
        Checks { custom, children: self.waits_for_applications(), now: self.clock.now() }
    }

    /// Whether a child Application counts with its own health.
    fn waits_for_applications(&self) -> bool {
        self.settings().wait_for_applications.unwrap_or(self.options.children)
    }

    /// Reads the settings again.
    pub(crate) fn reread_settings(&self) {
        let settings = Arc::new(Settings::read(self.home().cache(), &self.options.namespace));
        let before =
            std::mem::replace(&mut *self.settings.write().unwrap_or_else(PoisonError::into_inner), settings);
        self.register(&before.diagnostics);
    }

    /// Has the fleet and the sources follow the settings, and tells what is wrong with them and was not told before.
    fn register(&self, told: &[Diagnostic]) {
        let settings = self.settings();
        self.renderer.follow(settings.source_wishes, settings.pace);
        let broken =
            registry::register(&self.fleet, &settings, &self.options.namespace, self.options.observe);
        for diagnostic in settings.diagnostics.iter().filter(|one| !told.contains(one)).chain(&broken) {
            warn!("{}", diagnostic.to_text());
        }
    }

    /// The address of the cluster whose Lease is needed to work on an application. One that leads nowhere is the affair
    /// of whoever has the home cluster.
    pub(crate) fn server_of(&self, application: &Object) -> Str {
        let part = |field| {
            Str::from(application.value().str_at(&["spec", "destination", field]).unwrap_or_default())
        };
        let wanted =
            ApplicationDestination { server: part("server"), name: part("name"), ..Default::default() };
        self.fleet.find(&wanted).map_or_else(|_| IN_CLUSTER_SERVER.into(), |found| found.server)
    }

    /// Looks at an application without changing anything, be it in the memory of this engine.
    pub async fn look(&self, application: &Application, aim: &Aim) -> Look {
        self.looker(&self.settings()).look(application, aim, self.clock.now()).await
    }

    /// What is wrong with an application before anything of its sources is read.
    pub async fn objections(&self, application: &Application) -> Vec<Condition> {
        self.looker(&self.settings()).objections(application).await
    }

    /// Looks at an application that is worked on: what it wants counts for the others from now on.
    pub(crate) async fn look_and_note(&self, application: &Application, aim: &Aim) -> Look {
        let settings = self.settings();
        Looker { notes: true, ..self.looker(&settings) }.look(application, aim, self.clock.now()).await
    }

    /// The project of an application, with the rules of those that hold for it too, or what is wrong with it.
    pub fn project(&self, application: &Application) -> Result<Arc<AppProject>, Condition> {
        self.looker(&self.settings()).project(application)
    }

    /// A project with all that counts for it: what is registered for it alone, and the rules of global projects.
    pub fn whole_project(&self, name: &str) -> Result<AppProject, Condition> {
        self.looker(&self.settings()).whole_project(name)
    }

    pub(crate) fn looker<'a>(&'a self, settings: &'a Settings) -> Looker<'a> {
        Looker {
            fleet: &self.fleet,
            renderer: &self.renderer,
            settings,
            home: &self.options.namespace,
            children: settings.wait_for_applications.unwrap_or(self.options.children),
            predictions: &self.predictions,
            claims: &self.claims,
            flips: &self.flips,
            notes: false,
        }
    }

    /// Works on one application: its deletion, its operation, its status, and whether it should sync by itself.
    pub async fn reconcile(&self, key: &AppKey, freshness: Freshness) -> Result<(), EngineError> {
        let found = self.home().cache().get(&key.object_key());
        let Some(object) = found.filter(|_| self.takes(key)) else {
            self.queue.forget(key);
            self.forget_run(key);
            self.observations.forget(key);
            self.renewals.forget(key);
            self.grace.forget(key);
            self.vigil.forget(key);
            self.tell_claimants(&self.claims.forget(&key.tracked_as(&self.options.namespace)));
            return Ok(());
        };
        let mut application = match Application::from_object(&object) {
            Ok(application) => application,
            Err(error) if self.options.observe => {
                warn!(application = %key, error = crate::words(&error), "the Application cannot be read");
                return Ok(());
            }
            Err(error) => return self.refuse(&object, &crate::words(&error)).await,
        };
        if application
            .metadata
            .annotations
            .get(annotations::SKIP_RECONCILE)
            .is_some_and(|value| value == "true")
        {
            return self.skip(&mut application).await;
        }
        let found = self.fleet.find(&application.spec.destination);
        if found.as_ref().is_ok_and(|found| matches!(found.link, Link::Idle | Link::Connecting)) {
            // It is being read for the first time. Nothing is known, so nothing is said; its arrival brings us back.
            return Ok(());
        }
        if self.options.observe {
            return self.observe(&application, freshness).await;
        }
        if object.is_deleting() {
            return self.finalize(&mut application, found).await;
        }
        let asked = requested(&application);
        if asked.is_some() {
            self.ask_servers_again(&application);
        }
        let freshness = freshness.max(asked.unwrap_or_default());
        let period = self.settings().hard_resync;
        let freshness = self.renewals.freshness(key, freshness, period, self.clock.monotonic());
        let sync = info_span!(target: "lynceus::span", "sync step");
        let next = self.operate(&mut application).instrument(sync).await?;
        if self.is_stopping() {
            return Ok(());
        }
        let look = self.look_and_note(&application, &Aim { freshness, ..Aim::default() }).await;
        if next == Next::Idle && self.passes_over(&application, &look, asked.is_some()) {
            self.schedule(key, &next);
            return Ok(());
        }
        self.vigil.note(key, &application.spec.destination.namespace, &look);
        self.hold(&mut application, &look).await?;
        self.store_look(&mut application, &look).await?;
        self.tell_claimants(&look.concerned);
        if next == Next::Idle {
            self.sync_by_itself(&mut application, &look).await?;
        }
        self.schedule(key, &next);
        Ok(())
    }

    /// Says of an application that it is not looked at, and touches nothing else.
    async fn skip(&self, application: &mut Application) -> Result<(), EngineError> {
        if self.options.observe {
            return Ok(());
        }
        let before = application.clone();
        reason::write(application, &reason::skipped());
        self.store(&before, application).await
    }

    /// Whether an application is in a namespace that is ours to look at.
    pub(crate) fn takes(&self, key: &AppKey) -> bool {
        self.settings().takes_applications_from(&key.namespace, &self.options.namespace)
    }

    /// Somebody waits for the newest commit: what a server said a moment ago for all applications will not do.
    fn ask_servers_again(&self, application: &Application) {
        let settings = self.settings();
        for source in application.spec.all_sources() {
            let repository = settings.book.find(&source.repo_url, &application.spec.project);
            self.renderer.sources().forget(&repository);
        }
    }

    /// When to look again although nothing seems to have changed.
    pub(crate) fn schedule(&self, key: &AppKey, next: &Next) {
        let now = self.clock.now();
        if let Next::Waiting(at) = next {
            // What a sync waits for need not carry the application's mark: its namespace, a hook's end.
            let begun = self.runs().get(key).map(|(begun, _)| *begun);
            let at = at.unwrap_or(now + self.pause_since(begun));
            self.refresh_at(key.clone(), at, Freshness::Recent);
        }
        let settings = self.settings();
        if let Some(period) = self.options.rhythm.resync.or(settings.resync) {
            let schedule = lynceus_source::Schedule { interval: period, jitter: settings.resync_jitter };
            let round = u64::try_from(now.as_second()).unwrap_or_default() / period.as_secs().max(1);
            let pause = schedule.pause(&key.to_string(), round);
            self.queue.add(key.clone(), self.clock.monotonic() + pause, Freshness::Latest);
        }
        if let Some(due) = settings.hard_resync.and_then(|period| self.renewals.due(key, period)) {
            self.queue.add(key.clone(), due, Freshness::Recent);
        }
    }

    /// How long a sync that began at a time, and waits, is left alone.
    pub(crate) fn pause_since(&self, begun: Option<Timestamp>) -> Duration {
        let waited = begun.map(|begun| self.clock.now().duration_since(begun));
        self.options.rhythm.pause(waited.and_then(|time| Duration::try_from(time).ok()).unwrap_or_default())
    }

    pub(crate) fn take_run(&self, key: &AppKey, started_at: Timestamp) -> Option<Run> {
        let (begun, run) = self.runs().remove(key)?;
        (begun == started_at).then_some(run)
    }

    pub(crate) fn keep_run(&self, key: &AppKey, started_at: Timestamp, run: Run) {
        self.runs().insert(key.clone(), (started_at, run));
    }

    pub(crate) fn forget_run(&self, key: &AppKey) {
        self.runs().remove(key);
    }

    /// Another replica may take these syncs further; what is remembered of them here must not come back.
    pub(crate) fn forget_runs(&self) {
        self.runs().clear();
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, HashMap<AppKey, (Timestamp, Run)>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the refresh annotation asks for.
fn requested(application: &Application) -> Option<Freshness> {
    let asked = application.metadata.annotations.get(annotations::REFRESH)?;
    Some(match RefreshType::parse(asked) {
        Some(RefreshType::Hard) => Freshness::Anew,
        _ => Freshness::Latest,
    })
}

/// One worker: takes what is due, reconciles it if its cluster is ours, and sees to it that a failure is tried again.
async fn work(engine: Arc<Engine>) {
    while let Some((key, freshness)) = engine.queue.next(&*engine.clock).await {
        let server = engine.home().cache().get(&key.object_key()).map(|object| engine.server_of(&object));
        // A cluster that is not ours is another's to look at; if it becomes ours, so do all its applications.
        if let Some(turn) = engine.shards.enter(server.as_deref().unwrap_or(IN_CLUSTER_SERVER)) {
            // Boxed, because what is wrapped is moved, and it is large.
            let span = trace::reconcile(engine.home().cache(), &key);
            let reconcile = on_behalf_of(
                key.to_string().into(),
                Box::pin(engine.reconcile(&key, freshness).instrument(span)),
            );
            let result = turn.guard(Box::pin(reconcile)).await;
            settle(&engine, &key, freshness, result);
        }
        engine.queue.done(&key, engine.clock.monotonic());
    }
}

fn settle(engine: &Engine, key: &AppKey, freshness: Freshness, result: Result<(), EngineError>) {
    let failures = engine.queue.count(key, result.is_err());
    if let Err(error) = result {
        warn!(application = %key, error = crate::words(&error), failures, "reconcile failed; trying again");
        let pause =
            limits::RETRY_MIN.saturating_mul(2_u32.saturating_pow(failures.min(16))).min(limits::RETRY_MAX);
        engine.queue.add(key.clone(), engine.clock.monotonic() + pause, freshness);
    }
}
