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
use crate::watch::Watches;

/// Kinds that are never watched: they change all the time, and nobody delivers them from Git.
const EXCLUDED: [(&str, &str); 4] = [
    ("", "Endpoints"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("coordination.k8s.io", "Lease"),
    ("", "Event"),
];

/// A connection to a cluster with a live picture of it.
pub struct Cluster {
    pub(crate) door: Door,
    cache: Arc<Cache>,
    kinds: Mutex<Arc<Kinds>>,
    watches: Mutex<Watches>,
}

impl Cluster {
    /// Connects, learns what the cluster serves, and reads all of it once. A kind that cannot be read is an
    /// entry in [`Cache::errors`], not a failure.
    pub async fn connect(client: Client, tracking: Tracking) -> Result<Arc<Self>, ClusterError> {
        let cluster = Arc::new(Cluster {
            door: Door::new(client),
            cache: Arc::new(Cache::new(tracking)),
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

    /// Asks again what the cluster serves; starts and stops watches accordingly and waits until every new kind has
    /// been tried once.
    pub async fn rediscover(&self) -> Result<(), ClusterError> {
        let kinds = Arc::new(discover(&self.door).await?);
        let firsts = {
            let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
            *self.kinds.lock().unwrap_or_else(PoisonError::into_inner) = kinds.clone();
            watches.follow(&kinds, is_excluded, &self.door, &self.cache)
        };
        for first in firsts {
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

fn is_excluded(kind: &GroupKind) -> bool {
    EXCLUDED.contains(&(kind.group.as_str(), kind.kind.as_str()))
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
