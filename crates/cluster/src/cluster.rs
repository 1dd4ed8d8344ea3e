//! A cluster that is being watched.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use lynceus_api::Tracking;
use lynceus_object::{GroupKind, Gvk, Object, ObjectKey, Value};
use tracing::{info, warn};

use crate::cache::Cache;
use crate::discovery::discover;
use crate::door::Door;
use crate::error::ClusterError;
use crate::kind::{Kind, Kinds};
use crate::options::{Options, RespectRbac};
use crate::scope::Scope;
use crate::watch::Watches;

/// A connection to a cluster with a live picture of it.
pub struct Cluster {
    pub(crate) door: Door,
    cache: Arc<Cache>,
    options: Mutex<Arc<Options>>,
    kinds: Mutex<Arc<Kinds>>,
    watches: Mutex<Watches>,
}

impl Cluster {
    /// Connects, learns what the cluster serves, and reads all of it once. A kind that cannot be read is an
    /// entry in [`Cache::errors`], not a failure.
    pub async fn connect(client: Client, options: Options) -> Result<Arc<Self>, ClusterError> {
        let cluster = Arc::new(Cluster {
            door: Door::new(client),
            cache: Arc::new(Cache::new(options.tracking.clone())),
            options: Mutex::new(Arc::new(options)),
            kinds: Mutex::default(),
            watches: Mutex::default(),
        });
        cluster.rediscover().await?;
        info!(
            kinds = cluster.kinds().iter().count(),
            objects = cluster.cache.len(),
            "the cluster has been read"
        );
        tokio::spawn(follow_definitions(Arc::downgrade(&cluster)));
        Ok(cluster)
    }

    /// Connects and learns what the cluster serves, but reads no objects: enough to read and change a few by name.
    pub async fn open(client: Client) -> Result<Arc<Self>, ClusterError> {
        let door = Door::new(client);
        let kinds = discover(&door).await?;
        Ok(Arc::new(Cluster {
            door,
            cache: Arc::new(Cache::new(Tracking::default())),
            options: Mutex::default(),
            kinds: Mutex::new(Arc::new(kinds)),
            watches: Mutex::default(),
        }))
    }

    /// The live objects.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
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
        self.cache.set_tracking(tracking.clone());
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
        drop(self.follow());
    }

    fn change_options(&self, change: impl FnOnce(&mut Options)) {
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut options));
    }

    /// Starts and stops watches as the kinds and the options say.
    fn follow(&self) -> Vec<tokio::sync::oneshot::Receiver<()>> {
        let options = self.options();
        let excluded = |kind: &GroupKind| options.scope.excludes(kind, &options.server);
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.follow(&self.kinds(), excluded, &self.door, &self.cache)
    }

    /// Asks again what the cluster serves; starts and stops watches accordingly and waits until every new kind has
    /// been tried once.
    pub async fn rediscover(&self) -> Result<(), ClusterError> {
        let kinds = Arc::new(discover(&self.door).await?);
        *self.kinds.lock().unwrap_or_else(PoisonError::into_inner) = kinds;
        for first in self.follow() {
            // A watch that was stopped meanwhile has nothing more to tell.
            let _ = first.await;
        }
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
        let list = self.door.get(&kind.collection_path(namespace)).await?;
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

    /// The object behind a key as the cache has it, or as the server has it if the cache does not.
    pub async fn live(&self, key: &ObjectKey, gvk: &Gvk) -> Result<Option<Object>, ClusterError> {
        match self.cache.get(key) {
            Some(object) => Ok(Some(object)),
            None => self.get(gvk, &key.namespace, &key.name).await,
        }
    }

    /// A raw question to the server, for what has no typed way.
    pub async fn raw(&self, path: &str) -> Result<Value, ClusterError> {
        self.door.get(path).await
    }
}

/// Rediscovers when a definition or an aggregated API comes or goes, so that custom resources are seen at once.
async fn follow_definitions(cluster: std::sync::Weak<Cluster>) {
    let Some(mut changes) = cluster.upgrade().map(|cluster| cluster.cache.changes()) else { return };
    loop {
        let due = match changes.recv().await {
            Ok(change) => matches!(change.key.kind.as_str(), "CustomResourceDefinition" | "APIService"),
            Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => true,
            Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
        };
        if !due {
            continue;
        }
        // Definitions come in bursts; one look serves all that have arrived by then.
        changes = changes.resubscribe();
        let Some(cluster) = cluster.upgrade() else { return };
        if let Err(error) = cluster.rediscover().await {
            warn!(%error, "cannot ask the cluster what it serves");
        }
    }
}
