//! Telling people: triggers are asked for every Application that has changed, and messages sent for those that hold.
//!
//! Of several replicas the one tells that holds the Lease of the application's cluster, as it is the one that syncs it. What
//! has been told stands in an annotation, as in Argo CD. Argo CD sends first and writes then, so that whoever dies in between
//! has it told twice, and two at work tell everything twice. Here it is first written that something is about to be told,
//! with the version that was looked at: of two only one succeeds. Then it is sent, and then the mark is taken off. A mark
//! that stays was left by somebody who died; after a while it is told again. So a message is sent once while nobody dies, and
//! at most once more for each death in the middle of sending; it is never lost.

mod causes;
mod errand;
mod facts;
mod office;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use lynceus_api::IN_CLUSTER_SERVER;
use lynceus_cluster::{Change, on_behalf_of};
use lynceus_object::{ObjectKey, Str};
use lynceus_post::Post;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tracing::warn;

use crate::engine::Engine;
use crate::key::{AppKey, application_kind, project_kind};
use crate::limits;
use crate::queue::{Freshness, Queue};
use causes::Causes;
use office::{CONFIG_MAP, Office, SECRET};

/// What a replica knows about telling.
pub(crate) struct Notices {
    post: Post,
    queue: Queue,
    office: RwLock<Arc<Office>>,
    causes: Causes,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Messages that were not taken: how often, and when they are tried again on the monotonic clock.
    pauses: HashMap<(AppKey, String), (u32, Duration)>,
    /// Faults that were told.
    told: HashSet<String>,
    /// What the users of namespaces have configured, as far as it was asked for.
    offices: HashMap<Str, Arc<Office>>,
}

/// Starts to follow the home cluster, and gives those who carry the messages.
pub(crate) fn start(engine: &Arc<Engine>, tasks: &mut JoinSet<()>) -> JoinSet<()> {
    let mut messengers = JoinSet::new();
    if let Some(notices) = engine.notices() {
        let changes = engine.home().cache().changes();
        notices.reread(engine);
        notices.all(engine);
        tasks.spawn(follow(engine.clone(), notices.clone(), changes));
        tasks.spawn(causes::look(engine.clone(), notices.clone()));
        for _ in 0..limits::MESSENGERS {
            messengers.spawn(work(engine.clone(), notices.clone()));
        }
    }
    messengers
}

async fn follow(engine: Arc<Engine>, notices: Arc<Notices>, mut changes: Receiver<Change>) {
    let mut next = engine.clock().monotonic() + limits::NOTICES_RESYNC;
    loop {
        let pause = next.saturating_sub(engine.clock().monotonic());
        tokio::select! {
            change = changes.recv() => match change {
                Ok(change) => notices.take(&engine, &change.key),
                Err(RecvError::Lagged(_)) => {
                    notices.reread(&engine);
                    notices.all(&engine);
                }
                Err(RecvError::Closed) => return,
            },
            // Some conditions ask for the time.
            () = engine.clock().sleep(pause) => {
                next = engine.clock().monotonic() + limits::NOTICES_RESYNC;
                notices.all(&engine);
            }
        }
    }
}

async fn work(engine: Arc<Engine>, notices: Arc<Notices>) {
    while let Some((key, _)) = notices.queue.next(&**engine.clock()).await {
        let server = engine.home().cache().get(&key.object_key()).map(|object| engine.server_of(&object));
        if let Some(turn) = engine.shards.enter(server.as_deref().unwrap_or(IN_CLUSTER_SERVER)) {
            let errand = Box::pin(notices.tell_of(&engine, &key));
            turn.guard(on_behalf_of(key.to_string().into(), errand)).await;
        }
        notices.queue.done(&key, engine.clock().monotonic());
    }
}

impl Notices {
    pub(crate) fn new(options: lynceus_post::Options) -> Self {
        Notices {
            post: Post::new(options),
            queue: Queue::default(),
            office: RwLock::default(),
            causes: Causes::default(),
            state: Mutex::default(),
        }
    }

    /// Takes up nothing new.
    pub(crate) fn close(&self) {
        self.queue.close();
    }

    pub(crate) fn is_busy(&self, now: Duration) -> bool {
        self.queue.is_busy(now)
    }

    pub(crate) async fn progress(&self) {
        self.queue.progress().await;
    }

    fn office(&self) -> Arc<Office> {
        self.office.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The configurations that count for an application and have anything to tell: the operator's, and that of its own
    /// namespace where the operator lets users have one.
    async fn offices_for(&self, engine: &Engine, key: &AppKey) -> Vec<Arc<Office>> {
        let mut offices = vec![self.office()];
        if engine.settings().self_service && key.namespace != engine.options().namespace {
            offices.push(self.office_of(engine, &key.namespace).await);
        }
        offices.retain(|office| !office.is_closed());
        offices
    }

    async fn office_of(&self, engine: &Engine, namespace: &Str) -> Arc<Office> {
        if let Some(known) = self.state().offices.get(namespace) {
            return known.clone();
        }
        let office = Arc::new(Office::of_namespace(engine.home(), namespace).await);
        for fault in &office.faults {
            self.fault(&format!("namespace {namespace}: {fault}"));
        }
        let mut state = self.state();
        if state.offices.len() >= limits::OFFICES {
            state.offices.clear();
        }
        state.offices.insert(namespace.clone(), office.clone());
        office
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, engine: &Engine, key: &ObjectKey) {
        let home = &engine.options().namespace;
        let kind = key.group_kind();
        if kind == application_kind() {
            self.ask_for(engine, AppKey::new(key.namespace.clone(), key.name.clone()));
        } else if kind == project_kind() {
            self.all(engine);
        } else if key.group.is_empty()
            && matches!(
                (key.kind.as_str(), key.name.as_str()),
                ("ConfigMap", CONFIG_MAP) | ("Secret", SECRET)
            )
        {
            if key.namespace == *home {
                self.reread(engine);
            } else {
                let mut state = self.state();
                state.offices.remove(&key.namespace);
                state.pauses.retain(|(application, _), _| application.namespace != key.namespace);
            }
            self.all(engine);
        }
    }

    fn ask_for(&self, engine: &Engine, key: AppKey) {
        self.queue.add(key, engine.clock().monotonic() + limits::SETTLE, Freshness::Recent);
    }

    /// Looks at everybody, if there is anything to tell.
    fn all(&self, engine: &Engine) {
        if self.office().is_closed() && !engine.settings().self_service {
            return;
        }
        for object in engine.home().cache().of_kind(&application_kind()) {
            self.ask_for(engine, AppKey::new(object.namespace(), object.name()));
        }
    }

    /// Reads the configuration. What was not taken before may be taken now.
    fn reread(&self, engine: &Engine) {
        let office = Office::of_operator(engine.home().cache(), &engine.options().namespace);
        for fault in &office.faults {
            self.fault(fault);
        }
        self.state().pauses.clear();
        *self.office.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(office);
    }

    /// Tells of a fault, once. False if it was told before.
    fn fault(&self, fault: &str) -> bool {
        let mut state = self.state();
        if state.told.len() >= limits::NOTICE_FAULTS {
            state.told.clear();
        }
        let is_new = state.told.insert(fault.to_owned());
        if is_new {
            warn!("notifications: {fault}");
        }
        is_new
    }

    /// How long a message has to wait that was not taken before.
    fn pause(&self, application: &AppKey, key: &str) -> Option<Duration> {
        self.state().pauses.get(&(application.clone(), key.to_owned())).map(|(_, until)| *until)
    }

    fn was_taken(&self, application: &AppKey, key: &str) {
        self.state().pauses.remove(&(application.clone(), key.to_owned()));
    }

    /// Notes that a message was not taken, and has it tried again later.
    fn was_refused(&self, engine: &Engine, application: &AppKey, key: &str, is_lasting: bool) {
        let now = engine.clock().monotonic();
        let mut state = self.state();
        let entry = state.pauses.entry((application.clone(), key.to_owned())).or_insert((0, now));
        let doubled = limits::NOTICE_RETRY_MIN.saturating_mul(2_u32.saturating_pow(entry.0.min(16)));
        let pause = if is_lasting { limits::NOTICE_RETRY_MAX } else { doubled.min(limits::NOTICE_RETRY_MAX) };
        *entry = (entry.0.saturating_add(1), now + pause);
        drop(state);
        self.queue.add(application.clone(), now + pause, Freshness::Recent);
    }

    /// Looks at an application again, not before a while.
    fn later(&self, engine: &Engine, application: &AppKey, pause: Duration) {
        self.queue.add(application.clone(), engine.clock().monotonic() + pause, Freshness::Recent);
    }
}
