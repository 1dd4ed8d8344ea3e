//! What the controller answers to a kubelet and to a monitoring system.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use lynceus_api::{Application, ApplicationSet, Kind as _};
use lynceus_cluster::{Cluster, Destination, Link};
use lynceus_engine::{Engine, application_kind, set_kind};
use lynceus_server::{Metrics, Vitals};
use tracing::warn;

use crate::exit::{Doing as _, Outcome};

/// How the engine is, from before there is one: a home cluster that does not answer is no reason to be started anew.
#[derive(Default)]
pub(crate) struct Health(OnceLock<Arc<Engine>>);

impl Health {
    /// Answers on a port from now on, until the process ends.
    pub(crate) async fn serve(self: &Arc<Self>, port: u16) -> Outcome {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
        let listener =
            lynceus_server::listen(address).await.doing(format!("cannot listen on port {port}"))?;
        let router = lynceus_server::probes(self.clone());
        tokio::spawn(async move {
            if let Err(error) = lynceus_server::serve(listener, router, std::future::pending()).await {
                warn!(%error, "the probes are not answered any more");
            }
        });
        Ok(())
    }

    /// Answers for an engine from now on.
    pub(crate) fn is_of(&self, engine: Arc<Engine>) {
        // There is one engine in a process.
        let _ = self.0.set(engine);
    }
}

impl Vitals for Health {
    fn alive(&self) -> Result<(), String> {
        self.0.get().map_or(Ok(()), |engine| engine.alive().map_err(|ailment| ailment.to_string()))
    }

    fn ready(&self) -> Result<(), String> {
        let engine = self.0.get().ok_or("the home cluster has not been read yet")?;
        engine.ready().map_err(|ailment| ailment.to_string())
    }

    fn metrics(&self) -> String {
        let mut metrics = Metrics::default();
        if let Some(engine) = self.0.get() {
            let objects = engine.home().cache().of_kind(&application_kind());
            let applications: Vec<Application> =
                objects.iter().filter_map(|object| Application::from_object(object).ok()).collect();
            metrics.applications(&applications);
            metrics.conditions(&applications);
            let objects = engine.home().cache().of_kind(&set_kind());
            let mut sets: Vec<ApplicationSet> =
                objects.iter().filter_map(|object| ApplicationSet::from_object(object).ok()).collect();
            sets.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
            metrics.sets(&sets);
            clusters(&mut metrics, engine);
            metrics.gauge("lynceus_queue_length", "How many applications wait to be looked at.");
            metrics.value("lynceus_queue_length", &[], engine.waiting() as u64);
        }
        metrics.counted();
        metrics.into_text()
    }
}

/// What there is to say of each cluster that this replica works on. What another one works on is that one's to tell of.
fn clusters(metrics: &mut Metrics, engine: &Engine) {
    let found: Vec<Destination> = engine.fleet().destinations();
    let found: Vec<(&Destination, Option<&Arc<Cluster>>)> = found
        .iter()
        .filter_map(|known| match &known.link {
            Link::Idle => None,
            Link::Up(cluster) => Some((known, Some(cluster))),
            Link::Connecting | Link::Away(_) => Some((known, None)),
        })
        .collect();
    let version = |cluster: Option<&Arc<Cluster>>| {
        cluster.map(|cluster| cluster.kinds().version.to_string()).unwrap_or_default()
    };
    let name = "argocd_cluster_info";
    metrics.gauge(name, "Information about cluster.");
    for (known, cluster) in &found {
        let version = version(*cluster);
        let labels =
            [("server", known.server.as_str()), ("k8s_version", &version), ("name", known.name.as_str())];
        metrics.value(name, &labels, 1);
    }
    let name = "argocd_cluster_connection_status";
    metrics.gauge(name, "The k8s cluster current connection status.");
    for (known, cluster) in &found {
        let labels = [("server", known.server.as_str()), ("k8s_version", &version(*cluster))];
        metrics.value(name, &labels, u64::from(cluster.is_some()));
    }
    count(
        metrics,
        &found,
        "argocd_cluster_api_resource_objects",
        "Number of k8s resource objects in the cache.",
        |cluster| cluster.cache().len(),
    );
    count(
        metrics,
        &found,
        "argocd_cluster_api_resources",
        "Number of monitored kubernetes API resources.",
        |cluster| cluster.kinds().watchable().count(),
    );
}

/// A gauge of every cluster that answers.
fn count(
    metrics: &mut Metrics,
    found: &[(&Destination, Option<&Arc<Cluster>>)],
    name: &str,
    help: &str,
    of: impl Fn(&Cluster) -> usize,
) {
    metrics.gauge(name, help);
    for (known, cluster) in found {
        if let Some(cluster) = cluster {
            metrics.value(name, &[("server", known.server.as_str())], of(cluster) as u64);
        }
    }
}
