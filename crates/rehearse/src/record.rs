//! What a real cluster is like, written down, so that the embedded one can begin as it.

use std::collections::BTreeMap;

use lynceus_cluster::{Cluster, ClusterError, Kind};
use lynceus_object::{Gvk, Object, Str, json};
use lynceus_sim::limits::SNAPSHOT_BYTES;
use lynceus_sim::stage::Snapshot;

/// Why a cluster could not be written down.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It does not say what it is.
    #[error("cannot ask the cluster for its version")]
    Version(#[source] ClusterError),
    /// There is no way to it.
    #[error("cannot read {resource}")]
    Read {
        /// What was to be read.
        resource: String,
        /// What went wrong.
        #[source]
        source: ClusterError,
    },
    /// There is too much in it.
    #[error("the cluster has more than {limit} bytes, up to {resource}")]
    TooLarge {
        /// How much is written down at the most.
        limit: usize,
        /// What was read last.
        resource: String,
    },
}

/// Kinds that say nothing about what the cluster is like: who leads, how much is used, our own faults, and what lets users in. Events
/// are told of once, by the core group: the doctor reads them.
const PASSING: [(&str, &str); 9] = [
    ("events.k8s.io", "Event"),
    ("coordination.k8s.io", "Lease"),
    ("metrics.k8s.io", "NodeMetrics"),
    ("metrics.k8s.io", "PodMetrics"),
    ("sim.lynceus.dev", "Fault"),
    ("oauth.openshift.io", "OAuthAccessToken"),
    ("oauth.openshift.io", "OAuthAuthorizeToken"),
    ("oauth.openshift.io", "UserOAuthAccessToken"),
    ("management.cattle.io", "Token"),
];

/// Reads a cluster, without the resources that are named.
pub async fn record(cluster: &Cluster, without: &[String]) -> Result<Snapshot, RecordError> {
    let kinds = cluster.kinds();
    let version = cluster.raw("/version").await.map_err(RecordError::Version)?;
    let mut snapshot = Snapshot { version, ..Snapshot::default() };
    for (group, why) in &kinds.broken_groups {
        snapshot.left_out.push(format!("kinds of {group}: {why}").into());
    }
    // Where a group could not be asked for, nobody knows what it serves, and nothing is hidden.
    if kinds.broken_groups.is_empty() {
        let served = |kind: &Kind| (kind.gvk.group.clone(), kind.gvk.version.clone(), kind.plural.clone());
        snapshot.serves = kinds.iter().map(served).collect();
    }
    let definition = Gvk::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let mut stored: BTreeMap<(Str, Str), Str> = BTreeMap::new();
    let mut size = 0;
    let mut wanted: Vec<Kind> = kinds.watchable().cloned().collect();
    // Definitions first: they say in which version objects are stored.
    wanted.sort_by_key(|kind| kind.gvk != definition);
    for kind in wanted {
        let Gvk { group, kind: name, .. } = &kind.gvk;
        if PASSING.contains(&(group, name)) || is_unwanted(&kind, without) {
            continue;
        }
        let version = stored.get(&(group.clone(), name.clone())).unwrap_or(&kind.gvk.version).clone();
        let gvk = Gvk::new(group.clone(), version, name.clone());
        let gvk = if kinds.get(&gvk).is_some() { gvk } else { kind.gvk.clone() };
        let objects = match cluster.list(&gvk, "").await {
            Ok(objects) => objects,
            // Without a way to the cluster nothing else can be read either.
            Err(error @ (ClusterError::Send { .. } | ClusterError::Configure(_))) => {
                return Err(RecordError::Read { resource: resource(&kind), source: error });
            }
            Err(error) => {
                snapshot.left_out.push(format!("{}: {error}", resource(&kind)).into());
                continue;
            }
        };
        for object in objects {
            if gvk == definition {
                stored.extend(storage(&object));
            }
            snapshot.add(object);
            size += snapshot.objects.last().map_or(0, |object| json::to_vec(object.value()).len());
            if size > SNAPSHOT_BYTES {
                return Err(RecordError::TooLarge { limit: SNAPSHOT_BYTES, resource: resource(&kind) });
            }
        }
    }
    Ok(snapshot)
}

/// The kind that a definition defines, and the version that its objects are stored in.
fn storage(definition: &Object) -> Option<((Str, Str), Str)> {
    let text = |path: &[&str]| definition.value().str_at(path).map(Str::from);
    let versions = definition.value().items_at(&["spec", "versions"]);
    let stored = versions.iter().find(|version| version.bool_at(&["storage"]) == Some(true))?;
    let kind = (text(&["spec", "group"])?, text(&["spec", "names", "kind"])?);
    Some((kind, stored.str_at(&["name"])?.into()))
}

/// `pods` or `deployments.apps`.
fn resource(kind: &Kind) -> String {
    match kind.gvk.group.as_str() {
        "" => kind.plural.to_string(),
        group => format!("{}.{group}", kind.plural),
    }
}

fn is_unwanted(kind: &Kind, without: &[String]) -> bool {
    without.iter().any(|name| *name == resource(kind) || *name == kind.plural)
}
