//! The engine: a queue of applications, workers that reconcile them, and what makes them look again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use lynceus_api::{
    Application, Kind as _, OperationPhase, OperationState, RefreshType, SyncStatusCode, Wait, Word as _,
    annotations,
};
use lynceus_cluster::{Cluster, ClusterError, EventType};
use lynceus_object::{Object, Str, Value, patch};
use lynceus_source::Sources;
use lynceus_sync::Run;
use tokio::task::JoinSet;
use tracing::{debug, warn};

use crate::clock::Clock;
use crate::key::{AppKey, application_gvk, application_kind};
use crate::limits;
use crate::look::{Aim, Look, Looker};
use crate::operate::Next;
use crate::queue::{Freshness, Queue};
use crate::rendering::Renderer;
use crate::report::report;
use crate::settings::Settings;
use crate::wait_mark::mark;

/// What an engine is told at its start.
#[derive(Clone, Debug)]
pub struct Options {
    /// The namespace of the installation, where Applications, projects and settings are.
    pub namespace: Str,
    /// Whether a child Application counts with its own health, so that waves of an app-of-apps wait for each other. Off
    /// beside an Argo CD, which does not.
    pub children: bool,
    /// How often repositories on this machine are looked at.
    pub local_poll: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options { namespace: "argocd".into(), children: false, local_poll: limits::LOCAL_POLL }
    }
}

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
    /// Its objects could not be deleted.
    #[error("cannot delete the objects of application {application}")]
    Delete {
        /// The application.
        application: AppKey,
        /// What the cluster said.
        #[source]
        source: ClusterError,
    },
}

/// Delivers applications to a cluster.
pub struct Engine {
    cluster: Arc<Cluster>,
    renderer: Renderer,
    clock: Arc<dyn Clock>,
    options: Options,
    settings: RwLock<Arc<Settings>>,
    pub(crate) queue: Queue,
    /// Syncs that wait, so that a wait keeps its beginning. A lost one is made anew from the Application.
    runs: Mutex<HashMap<AppKey, (Timestamp, Run)>>,
}

impl Engine {
    /// An engine for a cluster, reading Git through `sources`.
    pub fn new(
        cluster: Arc<Cluster>,
        sources: Sources,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Arc<Self> {
        let settings = Settings::read(cluster.cache(), &options.namespace);
        settings.impose_on(&cluster);
        Arc::new(Engine {
            cluster,
            renderer: Renderer::new(sources),
            clock,
            options,
            settings: RwLock::new(Arc::new(settings)),
            queue: Queue::default(),
            runs: Mutex::default(),
        })
    }

    /// Works until the returned future is dropped.
    pub async fn run(self: Arc<Self>) {
        let mut tasks = JoinSet::new();
        tasks.spawn(crate::trigger::follow_cluster(self.clone()));
        tasks.spawn(crate::trigger::poll_local_repositories(self.clone()));
        for object in self.cluster.cache().of_kind(&application_kind()) {
            self.refresh(AppKey::new(object.namespace(), object.name()), Freshness::Latest);
        }
        for _ in 0..limits::WORKERS {
            tasks.spawn(work(self.clone()));
        }
        // None of them ends by itself; one that panics is a bug that must not take the others along.
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                warn!(%error, "a worker has died; another takes its place");
                tasks.spawn(work(self.clone()));
            }
        }
    }

    /// Asks for an application to be looked at soon.
    pub fn refresh(&self, key: AppKey, freshness: Freshness) {
        self.queue.add(key, self.clock.now() + limits::SETTLE, freshness);
    }

    /// How many applications wait to be looked at.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether an application is worked on now or is about to be: a clock that is moved by hand should wait for it.
    pub fn is_busy(&self) -> bool {
        self.queue.is_busy(self.clock.now())
    }

    /// The cluster.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
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

    /// What the operator has set.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the settings again.
    pub(crate) fn reread_settings(&self) {
        let settings = Settings::read(self.cluster.cache(), &self.options.namespace);
        for diagnostic in &settings.diagnostics {
            warn!("{}", diagnostic.to_text());
        }
        settings.impose_on(&self.cluster);
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// Looks at an application without changing anything.
    pub async fn look(&self, application: &Application, aim: &Aim) -> Look {
        let settings = self.settings();
        let looker = Looker {
            cluster: &self.cluster,
            renderer: &self.renderer,
            settings: &settings,
            home: &self.options.namespace,
            children: self.options.children,
        };
        looker.look(application, aim, self.clock.now()).await
    }

    /// Works on one application: its deletion, its operation, its status, and whether it should sync by itself.
    pub async fn reconcile(&self, key: &AppKey, freshness: Freshness) -> Result<(), EngineError> {
        let Some(object) = self.cluster.cache().get(&key.object_key()) else {
            self.queue.forget(key);
            self.forget_run(key);
            return Ok(());
        };
        let mut application = match Application::from_object(&object) {
            Ok(application) => application,
            Err(error) => return self.refuse(&object, &crate::words(&error)).await,
        };
        if application
            .metadata
            .annotations
            .get(annotations::SKIP_RECONCILE)
            .is_some_and(|value| value == "true")
        {
            return Ok(());
        }
        if object.is_deleting() {
            return self.finalize(&mut application).await;
        }
        let asked = requested(&application);
        if asked.is_some() {
            self.ask_servers_again(&application);
        }
        let freshness = freshness.max(asked.unwrap_or_default());
        let next = self.operate(&mut application).await?;
        let look = self.look(&application, &Aim { freshness, ..Aim::default() }).await;
        self.store_look(&mut application, &look).await?;
        if next == Next::Idle {
            self.sync_by_itself(&mut application, &look).await?;
        }
        self.schedule(key, &next);
        Ok(())
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
    fn schedule(&self, key: &AppKey, next: &Next) {
        let now = self.clock.now();
        if let Next::Waiting(at) = next {
            // What a sync waits for need not carry the application's mark: its namespace, a hook's end.
            let at = at.unwrap_or(now + limits::OPERATION_POLL);
            self.queue.add(key.clone(), at, Freshness::Recent);
        }
        let settings = self.settings();
        if let Some(period) = settings.resync {
            let schedule = lynceus_source::Schedule { interval: period, jitter: settings.resync_jitter };
            let round = u64::try_from(now.as_second()).unwrap_or_default() / period.as_secs().max(1);
            self.queue.add(key.clone(), now + schedule.pause(&key.to_string(), round), Freshness::Latest);
        }
    }

    /// Stores what a look found, and takes off the annotation that asked for it.
    async fn store_look(&self, application: &mut Application, look: &Look) -> Result<(), EngineError> {
        let before = application.clone();
        let now = self.clock.now();
        application.status = report(application, look, &self.options.namespace, now);
        application.metadata.annotations.remove(annotations::REFRESH);
        application.metadata.annotations.remove(annotations::REFRESH_TIMESTAMP);
        self.store(&before, application).await?;
        self.tell_transitions(&before, application).await;
        Ok(())
    }

    /// Stores the state of an operation, with what it waits for.
    pub(crate) async fn store_operation(
        &self,
        application: &mut Application,
        state: OperationState,
        wait: Option<&Wait>,
    ) -> Result<(), EngineError> {
        // What the cluster has may differ from ours in `operation` alone, which `finish` has already taken off.
        let before = self.stored(application);
        application.status.operation_state = Some(state);
        mark(application, wait);
        self.store(&before, application).await
    }

    /// The application as the cluster has it, as far as we know.
    fn stored(&self, application: &Application) -> Application {
        self.cluster
            .cache()
            .get(&AppKey::of(application).object_key())
            .and_then(|object| Application::from_object(&object).ok())
            .unwrap_or_else(|| application.clone())
    }

    /// Writes the difference between two states of an application, if there is one.
    pub(crate) async fn store(&self, before: &Application, after: &Application) -> Result<(), EngineError> {
        let change = ours(before, after);
        if change.is_empty() {
            return Ok(());
        }
        let key = AppKey::of(after);
        debug!(application = %key, "storing what changed");
        match self.cluster.patch_record(&application_gvk(), &key.namespace, &key.name, &change).await {
            Ok(_) => Ok(()),
            // It was deleted meanwhile; there is nothing left to say.
            Err(error) if error.is_not_found() => Ok(()),
            Err(source) => Err(EngineError::Store { application: key, source }),
        }
    }

    /// An Application that cannot be read gets a condition and nothing else is touched.
    async fn refuse(&self, object: &Object, why: &str) -> Result<(), EngineError> {
        let key = AppKey::new(object.namespace(), object.name());
        let message = format!("the Application cannot be read: {why}");
        let known = object.value().items_at(&["status", "conditions"]);
        if known.iter().any(|condition| condition.str_at(&["message"]) == Some(message.as_str())) {
            return Ok(());
        }
        let time = lynceus_api::Time::from(self.clock.now()).to_string();
        let change = lynceus_object::value!({"status": {
            "conditions": [{"type": "InvalidSpecError", "message": message, "lastTransitionTime": time}],
            "sync": {"status": SyncStatusCode::Unknown.as_str()},
            "health": {"status": "Unknown"},
        }});
        match self.cluster.patch_record(&application_gvk(), &key.namespace, &key.name, &change).await {
            Ok(_) => Ok(()),
            Err(source) => Err(EngineError::Store { application: key, source }),
        }
    }

    async fn tell_transitions(&self, before: &Application, after: &Application) {
        let pairs = [
            ("sync", before.status.sync.status.as_str(), after.status.sync.status.as_str()),
            ("health", before.status.health.status.as_str(), after.status.health.status.as_str()),
        ];
        for (what, old, new) in pairs {
            if old != new {
                self.tell(
                    after,
                    EventType::Normal,
                    "ResourceUpdated",
                    &format!("Updated {what} status: {old} -> {new}"),
                )
                .await;
            }
        }
    }

    /// Tells of an operation that begins.
    pub(crate) async fn started(&self, application: &Application, state: &OperationState) {
        let who = match (&state.operation.initiated_by.username, state.operation.initiated_by.automated) {
            (_, true) => "automated sync".to_owned(),
            (name, false) if name.is_empty() => "unknown user".to_owned(),
            (name, false) => name.to_string(),
        };
        self.tell(application, EventType::Normal, "OperationStarted", &format!("{who} initiated sync")).await;
    }

    /// Tells of an operation that has ended.
    pub(crate) async fn completed(&self, application: &Application, state: &OperationState) {
        let (kind, message) = match state.phase.known() {
            Some(OperationPhase::Succeeded) => {
                let revision =
                    state.sync_result.as_ref().map(|result| result.revision.to_string()).unwrap_or_default();
                (EventType::Normal, format!("Sync operation to {revision} succeeded"))
            }
            _ => (EventType::Warning, format!("Sync operation failed: {}", state.message)),
        };
        self.tell(application, kind, "OperationCompleted", &message).await;
    }

    pub(crate) async fn tell(&self, application: &Application, kind: EventType, reason: &str, message: &str) {
        let about = application.to_object();
        if let Err(error) = self.cluster.record_event(&about, kind, reason, message, self.clock.now()).await {
            debug!(%error, "an event could not be recorded");
        }
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

    fn runs(&self) -> std::sync::MutexGuard<'_, HashMap<AppKey, (Timestamp, Run)>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parts of the difference that are ours to write: status, operation, annotations and finalizers.
fn ours(before: &Application, after: &Application) -> Value {
    let (before, after) = (before.to_object(), after.to_object());
    let mut change = patch::create::merge_two_way(before.value(), after.value()).unwrap_or_default();
    if let Some(metadata) = change.at_mut(&["metadata"]).and_then(Value::as_map_mut) {
        metadata.retain(|field, _| matches!(field, "annotations" | "finalizers"));
    }
    if let Some(map) = change.as_map_mut() {
        map.retain(|field, value| match field {
            "metadata" => !value.is_empty(),
            "status" | "operation" => true,
            _ => false,
        });
    }
    change
}

/// What the refresh annotation asks for.
fn requested(application: &Application) -> Option<Freshness> {
    let asked = application.metadata.annotations.get(annotations::REFRESH)?;
    Some(match RefreshType::parse(asked) {
        Some(RefreshType::Hard) => Freshness::Anew,
        _ => Freshness::Latest,
    })
}

/// One worker: takes what is due, reconciles it, and sees to it that a failure is tried again.
async fn work(engine: Arc<Engine>) {
    loop {
        let (key, freshness) = engine.queue.next(&*engine.clock).await;
        let result = engine.reconcile(&key, freshness).await;
        let failures = engine.queue.count(&key, result.is_err());
        if let Err(error) = &result {
            warn!(application = %key, error = crate::words(error), failures, "reconcile failed; trying again");
            let pause = limits::RETRY_MIN
                .saturating_mul(2_u32.saturating_pow(failures.min(16)))
                .min(limits::RETRY_MAX);
            engine.queue.add(key.clone(), engine.clock.now() + pause, freshness);
        }
        engine.queue.done(&key);
    }
}
