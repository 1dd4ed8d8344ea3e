//! What the controller answers to a kubelet and to a monitoring system.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use lynceus_api::{Application, Kind as _};
use lynceus_cluster::Link;
use lynceus_engine::{Engine, application_kind};
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
            clusters(&mut metrics, engine);
            metrics.gauge("lynceus_queue_length", "How many applications wait to be looked at.");
            metrics.value("lynceus_queue_length", &[], engine.waiting() as u64);
        }
        metrics.into_text()
    }
}

fn clusters(metrics: &mut Metrics, engine: &Engine) {
    let name = "argocd_cluster_connection_status";
    metrics.gauge(name, "The k8s cluster current connection status.");
    for found in engine.fleet().destinations() {
        // What another replica works on is that replica's to tell of.
        let answers = match found.link {
            Link::Idle => continue,
            Link::Up(_) => 1,
            Link::Connecting | Link::Away(_) => 0,
        };
        metrics.value(name, &[("server", found.server.as_str())], answers);
    }
}
