//! `lynceus server`: the half of Lynceus that people and programs talk to.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lynceus_cluster::Cluster;
use lynceus_engine::{Engine, Options, SystemClock};
use lynceus_server::{Metrics, Server, Vitals};
use lynceus_source::Sources;
use tracing::warn;

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::logs::Logs;
use crate::measured::{self, Measured};
use crate::sim;

/// Start the server: Argo CD's API over REST and gRPC, the login, the page, probes and metrics.
///
/// It keeps no state, so that any number of them can stand behind one Service, and delivers nothing: that is for `lynceus
/// controller`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The cluster of this kubeconfig; without it, the cluster of the pod that this runs in.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The namespace of Applications, projects and settings.
    #[arg(long, default_value = "argocd")]
    namespace: String,
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Serve without TLS, for a proxy that has it.
    #[arg(long)]
    insecure: bool,
    /// Keep what is fetched of repositories here.
    #[arg(long, value_name = "DIR", default_value = crate::place::DATA_DIR)]
    data_dir: PathBuf,
    #[command(flatten)]
    measured: Measured,
    #[command(flatten)]
    pub(crate) logs: Logs,
}

/// How often the cluster is asked whether it is there.
const LOOK: Duration = Duration::from_secs(5);

/// For how long an answer counts.
const STALE: Duration = Duration::from_secs(20);

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let client = lynceus_cluster::client(arguments.kubeconfig.as_deref(), arguments.context.as_deref())
        .await
        .doing("cannot connect to the cluster")?;
    let failed = format!("cannot listen on {}", arguments.listen);
    let listener = lynceus_server::listen(arguments.listen)
        .await
        .doing(failed.as_str())
        .map_err(|failure| failure.hint("choose another with --listen ADDRESS"))?;
    let address = listener.local_addr().doing(failed)?;
    let scheme = if arguments.insecure { "http" } else { "https" };
    println!("server       {scheme}://{address}");
    let measured = arguments.measured.open().await?;
    let engine = engine(&arguments, client.clone()).await?;
    let sight = Arc::new(Sight::default());
    measured::tell(measured, sight.clone());
    let watch = tokio::spawn(keep_looking(client, arguments.namespace, sight.clone()));
    let stop = async {
        if let Err(error) = sim::interrupted().await {
            warn!("cannot wait for a signal: {error}");
        }
    };
    let server = Server::new(engine);
    if let Err(why) = server.prepare().await {
        warn!("nobody can log in yet: {why}");
    }
    let router = lynceus_server::api(server.clone(), sight);
    let served = match arguments.insecure {
        true => lynceus_server::serve(listener, router, stop).await,
        false => {
            let tls = lynceus_server::Tls::of(&server).await;
            let tls = tls.map_err(|why| Failure::new(Code::Other, format!("cannot serve TLS: {why}")))?;
            lynceus_server::serve_tls(listener, router, tls, stop).await
        }
    };
    watch.abort();
    served.doing("cannot serve")
}

/// An engine that is asked and never runs by itself.
async fn engine(arguments: &Arguments, client: kube::Client) -> Outcome<Arc<Engine>> {
    let watched = lynceus_cluster::Options {
        home: arguments.namespace.as_str().into(),
        rate: lynceus_cluster::Rate::read(|name| std::env::var(name).ok()),
        ..lynceus_cluster::Options::default()
    };
    let cluster = Cluster::connect(client, watched).await.doing("cannot read the cluster")?;
    let sources = Sources::new(arguments.data_dir.join("mirrors"), lynceus_source::Settings::default());
    let options =
        Options { namespace: arguments.namespace.as_str().into(), children: true, ..Options::default() };
    Ok(Engine::new(cluster, sources, Arc::new(SystemClock), options))
}

/// What the server last saw of its cluster.
#[derive(Default)]
struct Sight {
    last: Mutex<Option<(Instant, Result<(), String>)>>,
}

impl Vitals for Sight {
    /// It answered: it is alive.
    fn alive(&self) -> Result<(), String> {
        Ok(())
    }

    fn ready(&self) -> Result<(), String> {
        match &*self.last.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Err("the cluster has not been asked yet".to_owned()),
            Some((at, _)) if at.elapsed() > STALE => Err("the cluster does not answer".to_owned()),
            Some((_, seen)) => seen.clone(),
        }
    }

    fn metrics(&self) -> String {
        let mut metrics = Metrics::default();
        metrics.gauge("argocd_info", "Information about the server.");
        metrics.value("argocd_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        metrics.counted();
        metrics.into_text()
    }
}

/// Asks for the Applications again and again, as a request of a user would.
async fn keep_looking(client: kube::Client, namespace: String, sight: Arc<Sight>) {
    let mut cluster: Option<Arc<Cluster>> = None;
    loop {
        let seen = match look(&client, &mut cluster, &namespace).await {
            Ok(()) => Ok(()),
            Err(error) => Err(lynceus_engine::words(&error)),
        };
        *sight.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), seen));
        tokio::time::sleep(LOOK).await;
    }
}

async fn look(
    client: &kube::Client,
    cluster: &mut Option<Arc<Cluster>>,
    namespace: &str,
) -> Result<(), lynceus_cluster::ClusterError> {
    if cluster.is_none() {
        *cluster = Some(Cluster::open(client.clone(), lynceus_cluster::Options::default()).await?);
    }
    match cluster {
        Some(cluster) => {
            let group = format!("{}/{}", lynceus_api::GROUP, lynceus_api::VERSION);
            cluster.raw(&format!("/apis/{group}/namespaces/{namespace}/applications?limit=1")).await.map(drop)
        }
        None => Ok(()),
    }
}
