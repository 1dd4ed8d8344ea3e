//! `lynceus sim`: the embedded Kubernetes alone.

mod fault;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lynceus_sim::kinds::Additions;
use lynceus_sim::operators::{Operator, SHIPPED};
use lynceus_sim::{Options, Server, Sim, Stage, TokenFile};

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::place;

/// Start the embedded Kubernetes alone, for kubectl and any client.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    cluster: Cluster,
    /// Run no nodes: controllers make pods, and the pods stay pending.
    #[arg(long)]
    without_nodes: bool,
    /// Whether requests without credentials are the anonymous user's; otherwise they are turned away.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    anonymous_auth: bool,
    /// Let in whoever has a token of this file: lines of token, user, uid and "group,group".
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// Take client certificates that these root certificates have signed, beside those of the cluster's own.
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Leave out what these parts of admission add to new objects.
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',', value_enum)]
    disable_admission_plugins: Vec<Plugin>,
    /// Print what an operator does that is shipped, such as cert-manager, and end.
    #[arg(long, value_name = "NAME")]
    print_operator: Option<String>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Have something go wrong in an embedded cluster that runs: errors, silence, full disks.
    Fault(Box<fault::Arguments>),
}

/// A part of admission that can be left out, by the name that kube-apiserver has for it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Plugin {
    /// The service account of a pod, with its token.
    #[value(name = "ServiceAccount")]
    ServiceAccount,
    /// The tolerations for nodes that fail.
    #[value(name = "DefaultTolerationSeconds")]
    DefaultTolerationSeconds,
    /// The finalizers that keep volumes and claims while they are in use.
    #[value(name = "StorageObjectInUseProtection")]
    StorageObjectInUseProtection,
}

// How the embedded cluster is started.
#[derive(clap::Args, Clone)]
pub(crate) struct Cluster {
    /// Keep the cluster's objects and certificates here.
    #[arg(long, value_name = "DIR", default_value = place::DATA_DIR)]
    pub(crate) data_dir: PathBuf,
    /// Keep everything in memory; nothing is left when it ends.
    #[arg(long)]
    pub(crate) ephemeral: bool,
    /// The port to listen on; 0 picks a free one.
    #[arg(long, value_name = "N", default_value_t = 6440)]
    pub(crate) port: u16,
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) bind: IpAddr,
    /// What the cluster is like: a stage (docs/sim.md), or a snapshot of a real one (docs/snapshot.md), or one of each.
    #[arg(long, value_name = "FILE")]
    pub(crate) stage: Vec<PathBuf>,
    /// Write the administrator's kubeconfig to this file as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
    /// Have the operator that this file declares at work as well; can be given several times.
    #[arg(long, value_name = "FILE")]
    operator: Vec<PathBuf>,
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    if let Some(Command::Fault(arguments)) = arguments.command {
        return fault::run(*arguments).await;
    }
    if let Some(name) = &arguments.print_operator {
        return print_operator(name);
    }
    let adds = |plugin| !arguments.disable_admission_plugins.contains(&plugin);
    let options = Options {
        without_nodes: arguments.without_nodes,
        without_anonymous: !arguments.anonymous_auth,
        tokens: arguments.token_auth_file.as_deref().map(read_tokens).transpose()?.unwrap_or_default(),
        client_roots: arguments.client_ca_file.as_deref().map(read_roots).transpose()?.unwrap_or_default(),
        additions: Additions {
            service_account: adds(Plugin::ServiceAccount),
            tolerations: adds(Plugin::DefaultTolerationSeconds),
            protection: adds(Plugin::StorageObjectInUseProtection),
        },
        ..Options::default()
    };
    let (sim, server) = start(&arguments.cluster, options).await?;
    let kubeconfig = hand_out(&arguments.cluster, &sim, &server)?;
    let shown = kubeconfig.path.display();
    println!("cluster      {}, kubeconfig {shown}", server.url());
    println!("try          kubectl --kubeconfig {shown} get namespaces");
    interrupted().await?;
    server.shutdown().await;
    drop(sim);
    Ok(())
}

/// Starts the cluster. The stage of the options counts where the arguments name none.
pub(crate) async fn start(arguments: &Cluster, options: Options) -> Outcome<(Sim, Server)> {
    let data_dir = (!arguments.ephemeral).then(|| arguments.data_dir.join("cluster"));
    let operators = arguments.operator.iter().map(|file| operator(file)).collect::<Outcome<_>>()?;
    let stage = match arguments.stage.as_slice() {
        [] => options.stage.clone(),
        files => read_stages(files)?,
    };
    let options = Options { data_dir, operators, stage, ..options };
    let sim = Sim::start(options).await.doing("cannot start the embedded cluster")?;
    for repair in &sim.recovery().repairs {
        eprintln!("note: {repair}");
    }
    for note in sim.told() {
        eprintln!("note: {note}");
    }
    let server = sim
        .serve(SocketAddr::new(arguments.bind, arguments.port))
        .await
        .doing("cannot serve the embedded cluster")
        .map_err(|failure| failure.hint("choose another with --port N"))?;
    Ok((sim, server))
}

/// Reads tokens and whose they are.
fn read_tokens(file: &Path) -> Outcome<TokenFile> {
    let doing = format!("cannot use the file of tokens {}", file.display());
    let text = std::fs::read_to_string(file).doing(doing.as_str())?;
    TokenFile::read(&text).doing(doing)
}

/// Reads root certificates.
fn read_roots(file: &Path) -> Outcome<String> {
    std::fs::read_to_string(file).doing(format!("cannot read the root certificates {}", file.display()))
}

/// Reads what the cluster is like: a stage, a snapshot, or one of each.
pub(crate) fn read_stages(files: &[PathBuf]) -> Outcome<Stage> {
    let (mut stage, mut snapshot) = (None, None);
    for file in files {
        let shown = file.display().to_string();
        let bytes = std::fs::read(file).doing(format!("cannot read the stage {shown}"))?;
        let read = Stage::open(&shown, &bytes).doing("cannot use the stage")?;
        let place = if read.snapshot.is_some() { &mut snapshot } else { &mut stage };
        if place.replace(read).is_some() {
            let message = format!("{shown} is the second file of its sort");
            return Err(Failure::new(Code::Other, message).hint("give one stage and one snapshot at most"));
        }
    }
    let snapshot = snapshot.and_then(|begun: Stage| begun.snapshot);
    Ok(Stage { snapshot, ..stage.unwrap_or_default() })
}

/// Reads what an operator does.
pub(crate) fn operator(file: &Path) -> Outcome<Arc<Operator>> {
    let doing = format!("cannot read the operator {}", file.display());
    let text = std::fs::read_to_string(file).doing(doing.as_str())?;
    Ok(Arc::new(Operator::open(&file.display().to_string(), &text).doing("cannot use the operator")?))
}

/// Prints the declaration of an operator that is shipped, to be changed and given with --operator.
fn print_operator(name: &str) -> Outcome {
    match SHIPPED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => print!("{text}"),
        None => {
            let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
            let failure = Failure::new(Code::NotFound, format!("no operator {name} is shipped"));
            return Err(failure.hint(format!("there is {}", names.join(", "))));
        }
    }
    Ok(())
}

/// Writes the kubeconfig: into the data directory, and wherever else it was asked for. Scripts wait for that file, so it
/// comes last.
pub(crate) fn hand_out(arguments: &Cluster, sim: &Sim, server: &Server) -> Outcome<Kubeconfig> {
    let text = sim.kubeconfig(&server.url());
    let own = (!arguments.ephemeral).then(|| arguments.data_dir.join("kubeconfig"));
    let asked = arguments.write_kubeconfig.clone().or_else(|| own.clone());
    let is_temporary = asked.is_none();
    let kubeconfig = Kubeconfig { path: asked.unwrap_or_else(|| fallback(server)), is_temporary };
    for path in own.iter().filter(|own| **own != kubeconfig.path).chain([&kubeconfig.path]) {
        place::write_private(path, &text)?;
    }
    Ok(kubeconfig)
}

/// The kubeconfig that was handed out. One that nobody asked for goes with the cluster.
pub(crate) struct Kubeconfig {
    pub(crate) path: PathBuf,
    is_temporary: bool,
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        if !self.is_temporary {
            return;
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                eprintln!("note: {} is left behind: {error}", self.path.display());
            }
            _ => {}
        }
    }
}

/// Somebody who keeps nothing still has to get in.
fn fallback(server: &Server) -> PathBuf {
    let name = format!("lynceus-{}.kubeconfig", server.address().port());
    std::env::temp_dir().join(Path::new(&name))
}

/// Waits for Ctrl-C or a polite request to end.
pub(crate) async fn interrupted() -> Outcome {
    let failed = |error: std::io::Error| Failure::because("cannot listen for signals", &error);
    let mut terminate =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.map_err(failed),
        received = terminate.recv() => {
            received.ok_or_else(|| Failure::new(Code::Other, "cannot listen for signals"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_that_nobody_asked_for_goes_with_the_cluster() {
        for (is_temporary, stays) in [(true, false), (false, true)] {
            let name = format!("lynceus-test-{}-{is_temporary}.kubeconfig", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, "apiVersion: v1\n").unwrap();
            drop(Kubeconfig { path: path.clone(), is_temporary });
            assert_eq!(path.exists(), stays);
            if stays {
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}
