//! Clusters as they stand: whether they answer, what they run and how much is known of them.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt as _;
use lynceus_api::{Application, IN_CLUSTER_SERVER, Kind as _, Time};
use lynceus_cluster::{Cluster, Link};
use lynceus_engine::application_kind;
use lynceus_object::{Str, Value, value};

use super::{Entry, record};
use crate::limits;
use crate::server::Server;

/// Clusters with how they stand, in their order.
pub(super) async fn of(server: &Arc<Server>, entries: &[Entry]) -> Vec<Value> {
    let counts = counts(server);
    let links: HashMap<Str, Link> =
        server.engine.fleet().destinations().into_iter().map(|found| (found.server, found.link)).collect();
    let pictures: Vec<_> = entries
        .iter()
        .map(|entry| {
            let link = match links.get(entry.server.as_str()) {
                // We are in it, whether anybody has asked for it or not.
                Some(Link::Idle) | None if is_home(entry) => Link::Up(server.engine.home().clone()),
                Some(link) => link.clone(),
                None => Link::Idle,
            };
            let count = counts.get(entry.server.as_str()).copied().unwrap_or_default();
            picture(server.clone(), entry.clone(), link, count)
        })
        .collect();
    futures::stream::iter(pictures).buffered(limits::CLUSTERS_AT_ONCE).collect().await
}

fn is_home(entry: &Entry) -> bool {
    entry.server == IN_CLUSTER_SERVER && entry.secret.is_none()
}

async fn picture(server: Arc<Server>, entry: Entry, link: Link, applications: i64) -> Value {
    let mut info = value!({"applicationsCount": applications, "cacheInfo": {}});
    let (status, message) = match &link {
        Link::Up(cluster) => match version(cluster).await {
            Ok(version) => {
                info.set(&["serverVersion"], version);
                known(&mut info, cluster);
                ("Successful", String::new())
            }
            Err(why) => ("Failed", why),
        },
        Link::Away(away) => ("Failed", away.why.clone()),
        Link::Connecting => ("Unknown", "It is being read for the first time.".to_owned()),
        Link::Idle => ("Unknown", "Cluster has no applications and is not being monitored.".to_owned()),
    };
    let now = Time::from(server.engine.clock().now()).to_string();
    let state = value!({"status": status, "message": message, "attemptedAt": now});
    info.set(&["connectionState"], state.clone());
    let mut cluster = record::shown(&entry);
    // Both stand outside of the information as well, where older clients look for them.
    cluster.set(&["connectionState"], state);
    if let Some(version) = info.get("serverVersion").cloned() {
        cluster.set(&["serverVersion"], version);
    }
    cluster.set(&["info"], info);
    cluster
}

/// How much is known of a cluster.
fn known(info: &mut Value, cluster: &Cluster) {
    let kinds = cluster.kinds();
    info.set(
        &["cacheInfo"],
        value!({
            "resourcesCount": cluster.cache().len(),
            "apisCount": kinds.watchable().count(),
        }),
    );
    let versions: Value = kinds.api_versions().iter().cloned().collect();
    info.set(&["apiVersions"], versions);
}

/// The version that a cluster says it has, as `1.36`.
async fn version(cluster: &Cluster) -> Result<String, String> {
    match tokio::time::timeout(limits::TRIAL, cluster.version()).await {
        Ok(Ok(version)) => Ok(short(&version)),
        Ok(Err(error)) => Err(lynceus_engine::words(&error)),
        Err(_) => Err(format!("it did not answer within {} s", limits::TRIAL.as_secs())),
    }
}

/// Major and minor version, which is what charts and people ask for.
pub(super) fn short(version: &str) -> String {
    let mut parts = version.trim_start_matches('v').split('.');
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) => {
            let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
            format!("{major}.{minor}")
        }
        _ => version.to_owned(),
    }
}

/// How many applications each cluster has, by its address.
fn counts(server: &Server) -> HashMap<Str, i64> {
    let mut counts = HashMap::new();
    for object in server.engine.home().cache().of_kind(&application_kind()) {
        let Ok(application) = Application::from_object(&object) else { continue };
        if let Ok(found) = server.engine.fleet().find(&application.spec.destination) {
            *counts.entry(found.server).or_default() += 1;
        }
    }
    counts
}
