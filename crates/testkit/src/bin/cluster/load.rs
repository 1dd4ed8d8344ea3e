//! Fills a cluster.

use std::path::Path;
use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _};
use lynceus_cluster::{Cluster, Deletion, Options, Rate};
use lynceus_object::{Gvk, Object};

use crate::Outcome;

/// How many requests are under way at the same time.
const PARALLEL: usize = 16;

/// A connection that reads nothing by itself and is not held back.
pub(crate) async fn open(kubeconfig: &Path) -> Outcome<Arc<Cluster>> {
    let client = lynceus_cluster::client(Some(kubeconfig), None).await?;
    Ok(Cluster::open(client, Options { rate: Rate::UNBOUNDED, ..Options::default() }).await?)
}

/// Creates objects, several at a time; those that are there already are left alone.
pub(crate) async fn create(cluster: &Cluster, objects: impl Iterator<Item = Object>) -> Outcome {
    futures::stream::iter(objects.map(Ok))
        .try_for_each_concurrent(PARALLEL, |object| async move {
            match cluster.create_record(&object).await {
                Err(error) if error.refusal().is_none_or(|refusal| refusal.code != 409) => Err(error.into()),
                _ => Ok(()),
            }
        })
        .await
}

/// Deletes objects, several at a time.
pub(crate) async fn delete(cluster: &Cluster, keys: Vec<(Gvk, String, String)>) {
    let deletion = Deletion::default();
    futures::stream::iter(keys)
        .for_each_concurrent(PARALLEL, |(gvk, namespace, name)| {
            let deletion = &deletion;
            async move {
                // What stays behind is told by the next run's numbers, and nothing depends on it.
                let _ = cluster.delete(&gvk, &namespace, &name, deletion).await;
            }
        })
        .await;
}

/// A ConfigMap of about two kilobytes.
pub(crate) fn config(namespace: &str, name: &str, mark: Option<&str>) -> Object {
    let mut object = Object::named(&Gvk::new("", "v1", "ConfigMap"), namespace, name);
    object.set(&["metadata", "labels", "app.kubernetes.io/part-of"], "bench");
    for number in 0..20 {
        let text =
            format!("{name}-{number}-").repeat(100 / (name.len() + 4)).chars().take(90).collect::<String>();
        object.set(&["data", &format!("setting-{number:02}")], text);
    }
    if let Some(application) = mark {
        let id = format!("{application}:/ConfigMap:{namespace}/{name}");
        object.set(&["metadata", "annotations", "argocd.argoproj.io/tracking-id"], id);
    }
    object
}

pub(crate) fn namespace(name: &str) -> Object {
    Object::named(&Gvk::new("", "v1", "Namespace"), "", name)
}
