//! What the controller answers to a kubelet and to a monitoring system.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use lynceus_api::{Application, ApplicationSet, Kind as _};
use lynceus_cluster::{Cluster, Destination, Link};
use lynceus_engine::{AppKey, Engine, application_kind, set_kind};
use lynceus_server::{Metrics, Vitals};
use tracing::warn;

use crate::exit::{Doing as _, Outcome};
use crate::exposed::Exposed;

/// How the engine is, from before there is one: a home cluster that does not answer is no reason to be started anew.
#[derive(Default)]
pub(crate) struct Health {
    engine: OnceLock<Arc<Engine>>,
    exposed: Exposed,
}

impl Health {
    /// With what metrics tell beyond the usual.
    pub(crate) fn new(exposed: &Exposed) -> Arc<Self> {
        Arc::new(Health { engine: OnceLock::new(), exposed: exposed.clone() })
    }

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
        let _ = self.engine.set(engine);
    }
}

impl Vitals for Health {
    fn alive(&self) -> Result<(), String> {
        self.engine.get().map_or(Ok(()), |engine| engine.alive().map_err(|ailment| ailment.to_string()))
    }

    fn ready(&self) -> Result<(), String> {
        let engine = self.engine.get().ok_or("the home cluster has not been read yet")?;
        engine.ready().map_err(|ailment| ailment.to_string())
    }

    fn metrics(&self) -> String {
        let mut metrics = Metrics::default();
        if let Some(engine) = self.engine.get() {
            let objects = engine.home().cache().of_kind(&application_kind());
            let applications: Vec<Application> =
                objects.iter().filter_map(|object| Application::from_object(object).ok()).collect();
            let exposed = self.exposed.or(&engine.settings().metrics);
            metrics.applications(&applications);
            metrics.conditions(&applications, &exposed.metrics_application_conditions);
            exposed.of_applications(&mut metrics, &applications);
            orphans(&mut metrics, engine, &applications);
            let objects = engine.home().cache().of_kind(&set_kind());
            let mut sets: Vec<ApplicationSet> =
                objects.iter().filter_map(|object| ApplicationSet::from_object(object).ok()).collect();
            sets.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
            metrics.sets(&sets);
            exposed.of_sets(&mut metrics, &sets);
            clusters(&mut metrics, engine);
            exposed.of_clusters(&mut metrics, engine);
            metrics.gauge("lynceus_queue_length", "How many applications wait to be looked at.");
            metrics.value("lynceus_queue_length", &[], engine.waiting() as u64);
        }
        metrics.counted();
        metrics.into_text()
    }
}

/// How many objects that belong to nobody are beside those of each application that was looked at here.
fn orphans(metrics: &mut Metrics, engine: &Engine, applications: &[Application]) {
    let name = "argocd_app_orphaned_resources_count";
    metrics.gauge(name, "Number of orphaned resources per application");
    for application in applications {
        let Some(count) = engine.orphans(&AppKey::of(application)) else { continue };
        let project = &application.spec.project;
        let labels = [
            ("namespace", application.metadata.namespace.as_str()),
            ("name", application.metadata.name.as_str()),
            ("project", if project.is_empty() { "default" } else { project.as_str() }),
        ];
        metrics.value(name, &labels, count as u64);
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
    let now = engine.clock().now();
    count(metrics, &found, "argocd_cluster_cache_age_seconds", "Cluster cache age in seconds.", |cluster| {
        let age = now.duration_since(cluster.cache().begun()).as_secs();
        usize::try_from(age).unwrap_or_default()
    });
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
