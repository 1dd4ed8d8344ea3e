//! What has to be in a cluster before applications can be: definitions, a namespace, a project.

use lynceus_cluster::{Cluster, ClusterError};
use lynceus_object::{GroupKind, Gvk, Object, ObjectKey, value};
use tracing::{info, warn};

/// Makes sure that a cluster has what the engine needs. What is there already is left as it is.
pub async fn bootstrap(cluster: &Cluster, namespace: &str) -> Result<(), ClusterError> {
    let mut defined = false;
    for definition in lynceus_api::crds() {
        defined |= ensure(cluster, definition).await?;
    }
    if defined {
        established(cluster).await?;
    }
    ensure(cluster, Object::named(&Gvk::new("", "v1", "Namespace"), "", namespace)).await?;
    ensure(cluster, default_project(namespace)).await?;
    Ok(())
}

/// Makes sure that there is the project that applications are in where they name none. Not to be allowed to is no reason
/// to stop: the applications that need it will say so.
pub async fn ensure_default_project(cluster: &Cluster, namespace: &str) {
    if let Err(error) = ensure(cluster, default_project(namespace)).await {
        warn!(error = crate::words(&error), "the default project cannot be made");
    }
}

/// Creates an object unless it is there. Gives whether it was created.
async fn ensure(cluster: &Cluster, object: Object) -> Result<bool, ClusterError> {
    if cluster.get(&object.gvk(), object.namespace(), object.name()).await?.is_some() {
        return Ok(false);
    }
    match cluster.create_record(&object).await {
        Ok(_) => {
            info!(object = %object.key(), "created");
            Ok(true)
        }
        // Another replica was faster.
        Err(error) if error.refusal().is_some_and(|refusal| refusal.reason == "AlreadyExists") => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until the definitions are served.
async fn established(cluster: &Cluster) -> Result<(), ClusterError> {
    for _ in 0..crate::limits::ESTABLISHED.as_secs() * 20 {
        cluster.rediscover().await?;
        let kinds = cluster.kinds();
        let served = ["Application", "AppProject", "ApplicationSet"]
            .iter()
            .all(|kind| kinds.preferred(&GroupKind::new(lynceus_api::GROUP, *kind)).is_some());
        if served {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    Ok(())
}

/// The project that everything is permitted in, as Argo CD creates it.
fn default_project(namespace: &str) -> Object {
    let key = ObjectKey::new(lynceus_api::GROUP, "AppProject", namespace, "default");
    let mut object =
        Object::named(&Gvk::new(key.group, lynceus_api::VERSION, key.kind), &key.namespace, &key.name);
    object.set(
        &["spec"],
        value!({
            "sourceRepos": ["*"],
            "destinations": [{"namespace": "*", "server": "*"}],
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
        }),
    );
    object
}
