//! A cluster that is being watched.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use kube::Client;
use lynceus_api::Tracking;
use lynceus_object::{GroupKind, Gvk, Object, ObjectKey, Value};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::cache::{Cache, Change, Place};
use crate::discovery::discover;
use crate::door::Door;
use crate::error::ClusterError;
use crate::guise::in_our_name;
use crate::kind::{Kind, Kinds};
use crate::limits;
use crate::options::{Options, RespectRbac};
use crate::pause::Backoff;
use crate::scope::Scope;
use crate::watch::{First, Shared, Watches};
use crate::weather::{Outage, Weather};

/// A connection to a cluster with a live picture of it.
pub struct Cluster {
    pub(crate) door: Door,
    shared: Shared,
    options: Mutex<Arc<Options>>,
    kinds: Mutex<Arc<Kinds>>,
    watches: Mutex<Watches>,
    /// When the discovery that is known began; held while there is one.
    discovered: tokio::sync::Mutex<Option<Instant>>,
}

impl Cluster {
    /// Connects, learns what the cluster serves, and reads all of it once. A kind that cannot be read is an
    /// entry in [`Cache::errors`], not a failure.
    pub async fn connect(client: Client, options: Options) -> Result<Arc<Self>, ClusterError> {
        let cluster = Cluster::new(client, options);
        // Listening from before the first list on: a definition may come while others are still being read.
        let changes = cluster.cache().changes();
        cluster.rediscover().await?;
        info!(
            kinds = cluster.kinds().iter().count(),
            objects = cluster.cache().len(),
            "the cluster has been read"
        );
        tokio::spawn(follow_definitions(Arc::downgrade(&cluster), changes));
        tokio::spawn(feed(Arc::downgrade(&cluster)));
        tokio::spawn(Weather::observe(Arc::downgrade(&cluster.shared.weather), cluster.door.clone()));
        Ok(cluster)
    }

    /// Connects and learns what the cluster serves, but reads no objects: enough to read and change a few by name.
    pub async fn open(client: Client, options: Options) -> Result<Arc<Self>, ClusterError> {
        let cluster = Cluster::new(client, options);
        let kinds = discover(&cluster.door, &Kinds::default()).await?;
        *cluster.kinds.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(kinds);
        Ok(cluster)
    }

    fn new(client: Client, options: Options) -> Arc<Self> {
        let door = Door::new(client, options.rate, options.read_only).of(options.server.clone());
        let cache = Arc::new(Cache::new(options.tracking.clone(), options.home.clone()));
        Arc::new(Cluster {
            shared: Shared::new(door.clone(), cache),
            door,
            options: Mutex::new(Arc::new(options)),
            kinds: Mutex::default(),
            watches: Mutex::default(),
            discovered: tokio::sync::Mutex::default(),
        })
    }

    /// The live objects.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.shared.cache
    }

    /// The time during which the cluster cannot be reached, if that is now and more than a restart.
    pub fn outage(&self) -> Option<Outage> {
        self.shared.weather.outage()
    }

    /// What the cluster serves, as of the last discovery.
    pub fn kinds(&self) -> Arc<Kinds> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the cluster is watched and used now.
    pub fn options(&self) -> Arc<Options> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes how objects are marked.
    pub fn set_tracking(&self, tracking: Tracking) {
        self.cache().set_tracking(tracking.clone());
        self.change_options(|options| options.tracking = tracking);
    }

    /// Changes which kinds are watched. What is new is read in the background.
    pub fn set_scope(&self, scope: Scope, respect_rbac: RespectRbac) {
        let before = self.options();
        if before.scope == scope && before.respect_rbac == respect_rbac {
            return;
        }
        self.change_options(|options| {
            options.scope = scope;
            options.respect_rbac = respect_rbac;
        });
        if before.respect_rbac != respect_rbac {
            self.watches().restart();
        }
        drop(self.follow());
    }

    fn change_options(&self, change: impl FnOnce(&mut Options)) {
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut options));
    }

    /// Starts and stops watches as the kinds and the options say.
    fn follow(&self) -> Vec<First> {
        self.watches().follow(&self.kinds(), &self.options(), &self.shared)
    }

    fn watches(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks again what the cluster serves; starts and stops watches accordingly and waits until every new kind has
    /// been tried once. One that keeps us waiting too long is an entry in the errors until it comes.
    pub async fn rediscover(&self) -> Result<(), ClusterError> {
        self.learn().await?;
        let firsts = self.follow();
        let mut waiting: BTreeSet<Place> = firsts.iter().map(|(place, _)| place.clone()).collect();
        let mut firsts: FuturesUnordered<_> = firsts
            .into_iter()
            .map(|(place, first)| async {
                // A watch that was stopped meanwhile has nothing more to tell.
                let _ = first.await;
                place
            })
            .collect();
        let home = self.options().home.clone();
        loop {
            // Deciding anything without the settings and the applications would be worse than to wait.
            let needed = !home.is_empty() && waiting.iter().any(|place| is_essential(&place.0));
            let patience = if needed { limits::FILL_HOME } else { limits::FILL };
            let Ok(Some(place)) = tokio::time::timeout(patience, firsts.next()).await else { break };
            waiting.remove(&place);
        }
        for place in waiting {
            warn!(kind = %place.0, "a kind takes long to be read; going on without it");
            self.cache().set_error(&place, "it has not been read yet".to_owned(), false);
        }
        Ok(())
    }

    /// Asks what the cluster serves, unless somebody else has asked since this was called.
    async fn learn(&self) -> Result<(), ClusterError> {
        let called = Instant::now();
        let mut discovered = self.discovered.lock().await;
        if discovered.is_some_and(|began| began > called) {
            return Ok(());
        }
        let began = Instant::now();
        let kinds = in_our_name(discover(&self.door, &self.kinds())).await?;
        *self.kinds.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(kinds);
        *discovered = Some(began);
        Ok(())
    }

    /// How a kind is addressed in this version. A kind that is not known is looked up once more, because its
    /// definition may just have been created.
    pub async fn kind(&self, gvk: &Gvk) -> Result<Kind, ClusterError> {
        if let Some(kind) = self.kinds().get(gvk) {
            return Ok(kind.clone());
        }
        self.rediscover().await?;
        self.kinds().get(gvk).cloned().ok_or_else(|| ClusterError::UnknownKind {
            api_version: gvk.api_version().to_string(),
            kind: gvk.kind.to_string(),
        })
    }

    /// Reads one object from the server itself, in the version that is asked for.
    pub async fn get(&self, gvk: &Gvk, namespace: &str, name: &str) -> Result<Option<Object>, ClusterError> {
        let kind = self.kind(gvk).await?;
        match self.door.get(&kind.object_path(namespace, name)).await {
            Ok(value) => Ok(Object::new(value).ok()),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lists objects from the server itself, over all namespaces or in one.
    pub async fn list(&self, gvk: &Gvk, namespace: &str) -> Result<Vec<Object>, ClusterError> {
        let kind = self.kind(gvk).await?;
        let list = self.door.get_list(&kind.collection_path(namespace)).await?;
        Ok(list
            .items_at(&["items"])
            .iter()
            .filter_map(|item| Object::new(item.clone()).ok())
            .map(|mut object| {
                object.set(&["apiVersion"], gvk.api_version());
                object.set(&["kind"], gvk.kind.clone());
                object
            })
            .collect())
    }

    /// The version of Kubernetes that the server says it is: `v1.36.1`.
    pub async fn version(&self) -> Result<String, ClusterError> {
        let version = self.door.get("/version").await?;
        Ok(version.str_at(&["gitVersion"]).unwrap_or_default().to_owned())
    }

    /// The object behind a key, whole: as the cache has it, or as the server has it where the cache has not all of it or
    /// does not watch the kind. From then on the cache keeps all of it.
    pub async fn live(&self, key: &ObjectKey, gvk: &Gvk) -> Result<Option<Object>, ClusterError> {
        let cached = self.cache().get(key);
        let gvk = match &cached {
            Some(object) if self.cache().is_whole(key) => return Ok(cached),
            Some(thin) => thin.gvk(),
            None if self.cache().knows(&key.group_kind(), &key.namespace) => return Ok(None),
            None => gvk.clone(),
        };
        let live = self.get(&gvk, &key.namespace, &key.name).await?;
        Ok(live.map(|object| match cached {
            Some(_) => {
                self.cache().want(key);
                self.cache().learn(object)
            }
            None => object,
        }))
    }

    /// A raw question to the server, for what has no typed way.
    pub async fn raw(&self, path: &str) -> Result<Value, ClusterError> {
        self.door.get(path).await
    }
}

/// Whether a kind is one that applications, projects and settings are of.
pub(crate) fn is_essential(kind: &GroupKind) -> bool {
    kind.group == lynceus_api::GROUP
        || (kind.group.is_empty() && matches!(kind.kind.as_str(), "ConfigMap" | "Secret"))
}

/// Rediscovers when a definition or an aggregated API comes or goes, so that custom resources are seen at once.
async fn follow_definitions(cluster: Weak<Cluster>, mut changes: Receiver<Change>) {
    // What a server serves follows its definitions with a delay, so there is another look a little later.
    let mut again = false;
    let mut free = Instant::now();
    loop {
        let found = match again {
            true => tokio::time::timeout(limits::DEFINED, next_definition(&mut changes)).await,
            false => Ok(next_definition(&mut changes).await),
        };
        again = match found {
            Ok(true) => true,
            Ok(false) => return,
            Err(_) => false,
        };
        // Definitions come in bursts; one look serves all that have arrived by then.
        tokio::time::sleep_until(free).await;
        changes = changes.resubscribe();
        look_again(&cluster).await;
        free = Instant::now() + limits::BURST;
    }
}

/// Waits for a change of what the cluster may serve; `false` once there are no more changes.
async fn next_definition(changes: &mut Receiver<Change>) -> bool {
    loop {
        match changes.recv().await {
            Ok(change) if !matches!(change.key.kind.as_str(), "CustomResourceDefinition" | "APIService") => {}
            // It may be among those that were missed.
            Ok(_) | Err(RecvError::Lagged(_)) => return true,
            Err(RecvError::Closed) => return false,
        }
    }
}

/// Asks what the cluster serves until it answers, or is used no more.
async fn look_again(cluster: &Weak<Cluster>) {
    let mut backoff = Backoff::new(limits::RETRY_MAX);
    while let Some(cluster) = cluster.upgrade() {
        let Err(error) = cluster.rediscover().await else { return };
        warn!(%error, "cannot ask the cluster what it serves");
        drop(cluster);
        tokio::time::sleep(backoff.next(None)).await;
    }
}

/// Fetches objects of which less is kept than should be: their owner became managed after they were seen.
async fn feed(cluster: Weak<Cluster>) {
    loop {
        let Some(cache) = cluster.upgrade().map(|cluster| cluster.cache().clone()) else { return };
        // Looking now and then whether the cluster is still used ends this task with it.
        let _ = tokio::time::timeout(limits::RETRY_MAX, cache.hunger.notified()).await;
        let Some(cluster) = cluster.upgrade() else { return };
        let fetches = cache.take_hungry().into_iter().map(|thin| {
            let cluster = &cluster;
            async move {
                match cluster.get(&thin.gvk(), thin.namespace(), thin.name()).await {
                    Ok(Some(object)) => cluster.cache().upsert(object),
                    // Its end comes by the watch.
                    Ok(None) => {}
                    Err(error) => {
                        debug!(object = %thin.key(), %error, "cannot be fetched; its next change brings it")
                    }
                }
            }
        });
        futures::stream::iter(fetches).buffer_unordered(limits::PARALLEL_FETCHES).collect::<Vec<()>>().await;
    }
}
