//! `lynceus up`: a cluster and the engine that delivers to it, in one process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kube::Client;
use lynceus_cluster::{BySecret, Cluster};
use lynceus_engine::{Engine, Options, SystemClock};
use lynceus_sim::attributes::User;
use lynceus_source::Sources;

use crate::controller::{self, Home, Plugins, Sharing};
use crate::exit::{Doing as _, Outcome};
use crate::exposed::Exposed;
use crate::face::{self, Face};
use crate::health::Health;
use crate::logs::Logs;
use crate::measured::{self, Measured};
use crate::{demo, place, running, sim};

/// Start everything: an embedded cluster (or yours) and the engine that delivers to it.
///
/// Without flags it starts an embedded Kubernetes that keeps its state in ./.lynceus, and prints how to reach it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    cluster: sim::Cluster,
    /// Lay out an example repository and deliver it.
    #[arg(long)]
    demo: bool,
    /// Deliver to the cluster of this kubeconfig instead of an embedded one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["demo", "ephemeral", "stage"])]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    context: Option<String>,
    /// The namespace of Applications, projects and settings.
    #[arg(long, default_value = "argocd")]
    namespace: String,
    /// With a kubeconfig: read everything, write nothing, and print where the Applications say something else.
    #[arg(long, requires = "kubeconfig")]
    observe: bool,
    #[command(flatten)]
    face: Face,
    #[command(flatten)]
    measured: Measured,
    #[command(flatten)]
    sharing: Sharing,
    #[command(flatten)]
    plugins: Plugins,
    #[command(flatten)]
    pub(crate) exposed: Exposed,
    #[command(flatten)]
    pub(crate) logs: Logs,
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    match &arguments.kubeconfig {
        Some(kubeconfig) => real(&arguments, kubeconfig).await,
        None => embedded(&arguments).await,
    }
}

async fn embedded(arguments: &Arguments) -> Outcome {
    let listener = arguments.face.open().await?;
    let measured = arguments.measured.open().await?;
    let stage = if arguments.demo { demo::stage()? } else { lynceus_sim::Stage::default() };
    let options = lynceus_sim::Options { stage, ..lynceus_sim::Options::default() };
    let (sim, server) = sim::start(&arguments.cluster, options).await?;
    let client = Client::new(sim.service(User::admin()), "default");
    let engine = engine(arguments, client).await?;
    let kubeconfig = sim::hand_out(&arguments.cluster, &sim, &server)?;
    println!("cluster      {}, kubeconfig {}", server.url(), kubeconfig.path.display());
    let work = tokio::spawn(engine.clone().run());
    let health = Health::new(&arguments.exposed);
    health.is_of(engine.clone());
    measured::tell(measured, health.clone());
    let shown = face::show(listener, &engine, health).await?;
    println!("page         http://{}", shown.address);
    let directory = match arguments.cluster.ephemeral {
        true => std::env::temp_dir().join(format!("lynceus-{}", shown.address.port())),
        false => arguments.cluster.data_dir.clone(),
    };
    if let Some(file) = face::hand_out_password(&engine, &directory).await? {
        println!("             log in as admin, the password is in {}", file.display());
    }
    if arguments.demo {
        show_demo(arguments, &engine, &kubeconfig.path).await?;
    } else {
        println!("engine       delivers the Applications in namespace {}", arguments.namespace);
        println!("\nnext         lynceus app create NAME --repo URL --path PATH --dest-namespace NAMESPACE");
    }
    println!("\nCtrl-C stops it.");
    sim::interrupted().await?;
    shown.hide();
    running::stop(&engine, work).await?;
    server.shutdown().await;
    Ok(())
}

async fn real(arguments: &Arguments, kubeconfig: &Path) -> Outcome {
    let listener = arguments.face.open().await?;
    let measured = arguments.measured.open().await?;
    let home = Home {
        kubeconfig: Some(kubeconfig.to_path_buf()),
        context: arguments.context.clone(),
        namespace: arguments.namespace.clone(),
        sharing: arguments.sharing.clone(),
        plugins: arguments.plugins.clone(),
    };
    let connected = controller::connect(&home, arguments.observe).await.doing("cannot read the cluster")?;
    let engine = controller::engine(connected, &home, &arguments.cluster.data_dir, arguments.observe, false);
    if !arguments.observe {
        bootstrap(&engine, &arguments.namespace).await?;
    }
    let version = engine.home().version().await.doing("cannot ask the cluster for its version")?;
    println!("cluster      Kubernetes {version}, kubeconfig {}", kubeconfig.display());
    let does = if arguments.observe { "observes" } else { "delivers" };
    println!("engine       {does} the Applications in namespace {}", arguments.namespace);
    let health = Health::new(&arguments.exposed);
    health.is_of(engine.clone());
    measured::tell(measured, health.clone());
    let shown = face::show(listener, &engine, health).await?;
    println!("page         http://{}", shown.address);
    println!("\nCtrl-C stops it.");
    let stopped = running::until_stopped(engine).await;
    shown.hide();
    stopped
}

async fn engine(arguments: &Arguments, client: Client) -> Outcome<Arc<Engine>> {
    let watched = lynceus_cluster::Options {
        home: arguments.namespace.as_str().into(),
        rate: lynceus_cluster::Rate::read(|name| std::env::var(name).ok()),
        ..lynceus_cluster::Options::default()
    };
    let cluster = Cluster::connect(client, watched).await.doing("cannot read the cluster")?;
    let mirrors = match arguments.cluster.ephemeral {
        true => std::env::temp_dir().join(format!("lynceus-mirrors-{}", std::process::id())),
        false => arguments.cluster.data_dir.join("mirrors"),
    };
    let sources = Sources::new(mirrors, arguments.plugins.settings());
    let reach = BySecret { home: None, allowed: arguments.sharing.allow_exec.clone() };
    // Waves of an app-of-apps wait for each other: there is no Argo CD beside us to be surprised. Nor is there another
    // replica to share with.
    let options = Options {
        namespace: arguments.namespace.as_str().into(),
        children: true,
        reach: Arc::new(reach),
        ..Options::default()
    };
    let notifications = Some(controller::post_options(&cluster, &arguments.namespace));
    let options = Options { notifications, ..options };
    let engine = Engine::new(cluster, sources, Arc::new(SystemClock), options);
    bootstrap(&engine, &arguments.namespace).await?;
    Ok(engine)
}

async fn bootstrap(engine: &Engine, namespace: &str) -> Outcome {
    lynceus_engine::bootstrap(engine.home(), namespace)
        .await
        .doing("cannot set up the cluster for Applications")
}

/// Lays the demo out, waits until it has arrived, and says what to try.
async fn show_demo(arguments: &Arguments, engine: &Engine, kubeconfig: &Path) -> Outcome {
    let repository = match arguments.cluster.ephemeral {
        true => std::env::temp_dir().join(format!("lynceus-demo-{}", std::process::id())),
        false => arguments.cluster.data_dir.join("demo"),
    };
    let repository = absolute(&repository)?;
    demo::lay_out(&repository, &arguments.namespace)?;
    demo::deliver(engine.home(), &repository).await?;
    println!("repository   {}", shown(&repository).display());
    println!("delivering   stage by stage, each after the one before it is healthy");
    let arrived = demo::wait(engine).await;
    println!("applications {}", told(&arrived));
    let home = if arguments.cluster.data_dir == Path::new(place::DATA_DIR) && !arguments.cluster.ephemeral {
        String::new()
    } else {
        format!(" --kubeconfig {}", kubeconfig.display())
    };
    let tools = demo::Tools { repository: &shown(&repository), kubeconfig, home: &home };
    print!("{}", demo::next_steps(&tools, arrived.fine == arrived.total));
    Ok(())
}

/// How many of the demo's applications are fine. What is wrong is said to be there on purpose.
fn told(demo::Arrived { total, fine, is_complete }: &demo::Arrived) -> String {
    match total - fine {
        0 => format!("{total}, all Synced and Healthy"),
        _ if !is_complete => format!("{total}, {fine} Synced and Healthy; the others are on their way"),
        wrong => format!(
            "{total}, {fine} Synced and Healthy; {wrong} are not, on purpose: five things are wrong in the folder extras"
        ),
    }
}

fn absolute(path: &Path) -> Outcome<PathBuf> {
    std::path::absolute(path).doing(format!("cannot find {}", path.display()))
}

/// A path as somebody standing here would type it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).map_or_else(|_| path.to_path_buf(), Path::to_path_buf)
}
