//! `lynceus snapshot`: what a real cluster is like, in one file that the embedded one begins as.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lynceus_cluster::{Cluster, ClusterError, Kind, Rate};
use lynceus_object::{Gvk, Object, Str, json};
use lynceus_sim::limits::SNAPSHOT_BYTES;
use lynceus_sim::stage::Snapshot;

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::place;

/// Write down what a cluster is like: its version, nodes, classes, definitions, quotas, policies, rights and objects.
///
/// `lynceus sim --stage FILE` and `lynceus up --stage FILE` begin as that cluster was. The values of Secrets are never written.
/// What may not be read is told, and the rest goes on.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file: YAML, or JSON if its name says so; packed if it ends in .gz.
    file: PathBuf,
    /// The kubeconfig of the cluster.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    kube_context: Option<String>,
    /// Leave out these resources: configmaps,things.example.com.
    #[arg(long, value_name = "RESOURCES", value_delimiter = ',')]
    without: Vec<String>,
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

pub(crate) async fn run(arguments: &Arguments) -> Outcome {
    let kubeconfig = place::kubeconfig(arguments.kubeconfig.as_deref());
    let failed = "cannot connect to the cluster";
    let client = lynceus_cluster::client(kubeconfig.as_deref(), arguments.kube_context.as_deref());
    let options = lynceus_cluster::Options {
        rate: Rate::UNBOUNDED,
        read_only: true,
        ..lynceus_cluster::Options::default()
    };
    let cluster = Cluster::open(client.await.doing(failed)?, options).await.doing(failed)?;
    let snapshot = take(&cluster, &arguments.without).await?;
    let file = arguments.file.display().to_string();
    let bytes = snapshot.to_bytes(&file).doing(format!("cannot pack {file}"))?;
    // There is more in a cluster than Secrets that is nobody's business.
    lynceus_sim::write_private(&arguments.file, &bytes).doing(format!("cannot write {file}"))?;
    tell(&snapshot, &file);
    Ok(())
}

/// Reads the cluster.
pub(crate) async fn take(cluster: &Arc<Cluster>, without: &[String]) -> Outcome<Snapshot> {
    let kinds = cluster.kinds();
    let version = cluster.raw("/version").await.doing("cannot ask the cluster for its version")?;
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
                return Err(Failure::because(format!("cannot read {}", resource(&kind)), &error));
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
                let message =
                    format!("the cluster has more than {SNAPSHOT_BYTES} bytes, up to {}", resource(&kind));
                let hint = "leave out what there is most of:\nlynceus snapshot --without RESOURCES FILE";
                return Err(Failure::new(Code::Other, message).hint(hint));
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

fn tell(snapshot: &Snapshot, file: &str) {
    let nodes = snapshot.objects.iter().filter(|object| object.kind() == "Node").count();
    let version = snapshot.version.str_at(&["gitVersion"]).unwrap_or("of an unknown version");
    println!("snapshot     {file}: Kubernetes {version}, {nodes} nodes, {} objects", snapshot.objects.len());
    for what in &snapshot.left_out {
        eprintln!("left out     {what}");
    }
    for webhook in snapshot.deaf_webhooks() {
        eprintln!("note: {webhook}, which will run no program: it will be passed over");
    }
    println!("try          lynceus sim --ephemeral --stage {file}");
}
