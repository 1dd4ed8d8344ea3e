//! One embedded cluster, and how the engine finds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use kube::Client;
use lynceus_cluster::{Cluster, ClusterError, Reach, Registration};
use lynceus_engine::RegisteredCluster;
use lynceus_object::{Object, Str, value};
use lynceus_sim::attributes::User;
use lynceus_sim::clock::ManualClock;
use lynceus_sim::stage::Snapshot;
use lynceus_sim::{Sim, Stage};

use super::record::Record;
use super::{Skipped, apply, set_up};
use crate::assumption::{Assumed, Elsewhere};
use crate::error::RehearseError;
use crate::script::Script;

/// Always the same, so that a rehearsal always ends the same way.
pub(crate) const SEED: u64 = 7;

/// The mark of Secrets that say how to reach clusters and repositories.
const SECRET_TYPE: &str = lynceus_api::labels::SECRET_TYPE;

/// One embedded cluster.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) sim: Sim,
}

impl Site {
    /// Starts a cluster. Only the installation's own begins as the snapshot says, but for what cannot be played of it.
    pub(crate) async fn start(
        clock: &ManualClock,
        script: &Script,
        assumed: &Assumed,
        home: Option<&Skipped>,
    ) -> Result<Self, RehearseError> {
        let snapshot = assumed.stage.snapshot.as_deref().zip(home);
        let snapshot = snapshot.map(|(snapshot, skipped)| playable(snapshot, skipped));
        let operators = assumed.operators.iter().chain(&script.operators).cloned().collect();
        let options = lynceus_sim::Options {
            clock: Some(clock.clone()),
            seed: Some(SEED),
            stage: Stage { snapshot: snapshot.map(Arc::new), ..assumed.stage.clone() },
            operators,
            ..lynceus_sim::Options::default()
        };
        let sim = Sim::start(options).await.map_err(|error| RehearseError::Start(Box::new(error)))?;
        sim.settle().await;
        Ok(Site { sim })
    }

    /// A client that may do everything.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.sim.service(User::admin()), "default")
    }
}

/// A snapshot has no values of Secrets: those that lead to clusters and repositories lead nowhere any more. ApplicationSets that
/// nobody can generate are left alone.
fn playable(snapshot: &Snapshot, skipped: &Skipped) -> Snapshot {
    let mut snapshot = snapshot.clone();
    snapshot.objects.retain(|object| object.kind() != "Secret" || object.label(SECRET_TYPE).is_none());
    let sets = snapshot.objects.iter_mut().filter(|object| object.kind() == "ApplicationSet");
    sets.for_each(|set| skipped.mark(set));
    snapshot
}

/// Puts what is assumed into a cluster.
pub(crate) async fn furnish(site: &Site, cluster: &Cluster, objects: &[Object]) -> Result<(), RehearseError> {
    for object in objects {
        apply(cluster, object).await?;
    }
    site.sim.settle().await;
    cluster.rediscover().await.map_err(set_up("what is assumed"))
}

/// The Secrets that tell the engine of clusters: those that Applications go to, and those that a snapshot registers.
pub(crate) fn registrations(assumed: &Assumed, namespace: &str) -> Vec<Object> {
    let mut all: Vec<RegisteredCluster> = assumed.registered.clone();
    for Elsewhere { server, name } in &assumed.clusters {
        if !all.iter().any(|known| known.server == *server) {
            let (server, name) = (server.clone(), name.clone());
            all.push(RegisteredCluster { server, name, ..RegisteredCluster::default() });
        }
    }
    all.iter().map(|one| registration(one, namespace)).collect()
}

fn registration(cluster: &RegisteredCluster, namespace: &str) -> Object {
    let name: String = cluster
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let mut value = value!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {
            "name": format!("cluster-{}", name.trim_matches('-')), "namespace": namespace,
            "labels": {SECRET_TYPE: lynceus_api::labels::SECRET_TYPE_CLUSTER},
        },
        "stringData": {
            "server": cluster.server.as_str(), "name": cluster.name.as_str(), "config": "{}",
        },
    });
    for (field, texts) in [("labels", &cluster.labels), ("annotations", &cluster.annotations)] {
        for (key, text) in texts {
            value.set(&["metadata", field, key.as_str()], text.clone());
        }
    }
    Object::new(value).unwrap_or_default()
}

/// The clusters beside the installation's own, for the engine.
pub(crate) struct Sites(BTreeMap<Str, Client>);

impl Sites {
    pub(crate) fn new(sites: &BTreeMap<Str, Site>, record: &Record) -> Self {
        let client = |(server, site): (&Str, &Site)| (server.clone(), record.client(&site.sim, server));
        Sites(sites.iter().map(client).collect())
    }
}

impl Reach for Sites {
    fn client<'a>(&'a self, registration: &'a Registration) -> BoxFuture<'a, Result<Client, ClusterError>> {
        let found = self.0.get(&registration.server).cloned();
        Box::pin(
            async move { found.ok_or_else(|| ClusterError::Configure("there is no such cluster".into())) },
        )
    }
}
