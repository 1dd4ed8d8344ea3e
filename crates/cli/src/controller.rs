//! `lynceus controller`: the engine alone, for a cluster that is somebody's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lynceus_cluster::{BySecret, Cluster, ClusterError};
use lynceus_engine::{Engine, Options, PostOptions, SystemClock};
use lynceus_object::ObjectKey;
use lynceus_source::{Settings, Sources};

use crate::exit::{Doing as _, Failure, Outcome};
use crate::exposed::Exposed;
use crate::health::Health;
use crate::logs::Logs;
use crate::{place, running};

/// Run the engine that delivers the Applications of a cluster.
///
/// In a pod it uses the pod's account; elsewhere a kubeconfig. Several replicas share the clusters out between them by
/// Leases in the namespace of the Applications.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    home: Home,
    /// Read everything, write nothing, and print where the Applications say something else.
    #[arg(long)]
    observe: bool,
    /// Answer `/healthz`, `/readyz` and `/metrics` on this port.
    #[arg(long, value_name = "N")]
    health_port: Option<u16>,
    /// Keep the mirrors of repositories here.
    #[arg(long, value_name = "DIR", default_value = place::DATA_DIR)]
    data_dir: PathBuf,
    #[command(flatten)]
    pub(crate) exposed: Exposed,
    #[command(flatten)]
    pub(crate) logs: Logs,
}

// The config-management plugins beside this program.
#[derive(clap::Args, Clone)]
pub(crate) struct Plugins {
    /// Ask the config-management plugins whose sockets are in this directory. Without it there are none.
    #[arg(long, value_name = "DIR", env = "LYNCEUS_PLUGIN_SOCKETS")]
    pub(crate) plugin_sockets: Option<PathBuf>,
    /// Offer credentials to plugins that want them on sockets in this directory, which they have to have under the same
    /// path. By default it is that of their own sockets.
    #[arg(long, value_name = "DIR", env = "LYNCEUS_PLUGIN_ASKPASS", requires = "plugin_sockets")]
    pub(crate) plugin_askpass: Option<PathBuf>,
}

impl Plugins {
    /// The settings of sources with these plugins.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            plugin_sockets: self.plugin_sockets.clone(),
            plugin_askpass: self.plugin_askpass.clone(),
            ..Settings::default()
        }
    }
}

// The cluster that the Applications are in, and how this replica stands to others.
#[derive(clap::Args, Clone)]
pub(crate) struct Home {
    /// The kubeconfig of the cluster with the Applications; the pod's account if there is none.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The namespace of Applications, projects and settings.
    #[arg(long, default_value = "argocd")]
    pub(crate) namespace: String,
    #[command(flatten)]
    pub(crate) sharing: Sharing,
    #[command(flatten)]
    pub(crate) plugins: Plugins,
}

// How a replica stands to others, and what cluster Secrets may ask of it.
#[derive(clap::Args, Clone)]
pub(crate) struct Sharing {
    /// The name of this replica of several on a real cluster, which no other may have; by default the host's.
    #[arg(long, value_name = "NAME")]
    pub(crate) replica_id: Option<String>,
    /// Whether replicas on a real cluster share clusters out by Leases. Without them there must be one replica only.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) leases: bool,
    /// A credential program that cluster Secrets may name; can be given several times.
    #[arg(long, value_name = "NAME", env = "LYNCEUS_ALLOW_EXEC", value_delimiter = ',')]
    pub(crate) allow_exec: Vec<String>,
    /// Send notifications as argocd-notifications-cm says. Leave it out beside an argocd-notifications-controller, which would
    /// send them as well.
    #[arg(long, env = "LYNCEUS_NOTIFICATIONS")]
    pub(crate) notifications: bool,
}

/// The first wait before a home cluster that does not answer is asked again; it doubles.
const RETRY_MIN: Duration = Duration::from_secs(1);
/// The longest.
const RETRY_MAX: Duration = Duration::from_secs(30);

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let health = Health::new(&arguments.exposed);
    if let Some(port) = arguments.health_port {
        health.serve(port).await?;
    }
    let connected = tokio::select! {
        connected = connect_patiently(&arguments) => connected?,
        stopped = crate::sim::interrupted() => return stopped,
    };
    let engine = engine(connected, &arguments.home, &arguments.data_dir, arguments.observe, false);
    if !arguments.observe {
        lynceus_engine::ensure_default_project(engine.home(), &arguments.home.namespace).await;
    }
    health.is_of(engine.clone());
    if let Err(ailment) = engine.ready() {
        eprintln!("note: {ailment}; it starts as soon as it can");
    }
    running::until_stopped(engine).await
}

/// A home cluster that is connected.
pub(crate) struct Connected {
    cluster: Arc<Cluster>,
    reach: BySecret,
}

/// Connects the home cluster once.
pub(crate) async fn connect(home: &Home, observe: bool) -> Result<Connected, ClusterError> {
    let config = lynceus_cluster::config(home.kubeconfig.as_deref(), home.context.as_deref()).await?;
    let client =
        kube::Client::try_from(config.clone()).map_err(|error| ClusterError::Configure(Box::new(error)))?;
    let options = lynceus_cluster::Options {
        home: home.namespace.as_str().into(),
        read_only: observe,
        rate: lynceus_cluster::Rate::read(|name| std::env::var(name).ok()),
        ..lynceus_cluster::Options::default()
    };
    let cluster = Cluster::connect(client, options).await?;
    let allowed = home.sharing.allow_exec.clone();
    Ok(Connected { cluster, reach: BySecret { home: Some(config), allowed } })
}

/// Connects the home cluster, however long it takes. The kubeconfig is read anew each time: a token may have been renewed.
async fn connect_patiently(arguments: &Arguments) -> Outcome<Connected> {
    let mut pause = RETRY_MIN;
    loop {
        match connect(&arguments.home, arguments.observe).await {
            Ok(connected) => return Ok(connected),
            // Nothing that time could change.
            Err(error @ ClusterError::Configure(_)) => return Err(error).doing("cannot find the cluster"),
            Err(error) => {
                let failure = Failure::because("cannot read the home cluster", &error);
                anstream::eprintln!("{failure}\n  trying again in {} s", pause.as_secs());
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(RETRY_MAX);
    }
}

/// How notifications are sent: whom the operator trusts for repositories is trusted for services as well.
pub(crate) fn post_options(cluster: &Arc<Cluster>, namespace: &str) -> PostOptions {
    let (cluster, namespace) = (Arc::downgrade(cluster), namespace.to_owned());
    let certificates = move |host: &str| {
        let key = ObjectKey::new("", "ConfigMap", namespace.as_str(), "argocd-tls-certs-cm");
        let cluster = cluster.upgrade().ok_or("the connection to the cluster is closed")?;
        let Some(map) = cluster.cache().get(&key) else {
            // One that was never seen may be there.
            let unread = cluster.cache().errors().remove(&key.group_kind());
            return unread.map_or(Ok(None), |error| Err(format!("{key} cannot be read: {}", error.message)));
        };
        let text = map.value().at(&["data", host]);
        let wrong = || format!("{key} has something else than a text for it");
        text.map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).transpose()
    };
    PostOptions { certificates: Arc::new(certificates), ..PostOptions::default() }
}

/// An engine at home in a cluster.
pub(crate) fn engine(
    connected: Connected,
    home: &Home,
    data_dir: &Path,
    observe: bool,
    children: bool,
) -> Arc<Engine> {
    let sharing = &home.sharing;
    let replica = || sharing.replica_id.clone().unwrap_or_else(running::host_name);
    let options = Options {
        namespace: home.namespace.as_str().into(),
        children,
        replica: sharing.leases.then(|| replica().into()),
        observe,
        reach: Arc::new(connected.reach),
        notifications: sharing.notifications.then(|| post_options(&connected.cluster, &home.namespace)),
        sets: children,
        ..Options::default()
    };
    let sources = Sources::new(data_dir.join("mirrors"), home.plugins.settings());
    Engine::new(connected.cluster, sources, Arc::new(SystemClock), options)
}
