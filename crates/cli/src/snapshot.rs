//! `lynceus snapshot`: what a real cluster is like, in one file that the embedded one begins as.

use std::path::PathBuf;

use lynceus_cluster::{Cluster, Rate};
use lynceus_rehearse::{RecordError, record};
use lynceus_sim::stage::Snapshot;

use crate::exit::{Doing as _, Failure, Outcome};
use crate::place;

/// Write down what a real cluster is like, for the embedded one to begin as.
///
/// That is its version, nodes, classes, definitions, quotas, policies, rights and objects. `lynceus sim --stage FILE` and
/// `lynceus up --stage FILE` begin as that cluster was. The values of Secrets are never written. What may not be read is told, and the
/// rest goes on.
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
    let snapshot = record(&cluster, &arguments.without).await.map_err(refused)?;
    let file = arguments.file.display().to_string();
    let bytes = snapshot.to_bytes(&file).doing(format!("cannot pack {file}"))?;
    // There is more in a cluster than Secrets that is nobody's business.
    lynceus_sim::write_private(&arguments.file, &bytes).doing(format!("cannot write {file}"))?;
    tell(&snapshot, &file);
    Ok(())
}

/// What to do about a cluster that cannot be written down.
pub(crate) fn refused(error: RecordError) -> Failure {
    let failure = Failure::because("cannot write down what the cluster is like", &error);
    match error {
        RecordError::TooLarge { .. } => {
            failure.hint("leave out what there is most of:\nlynceus snapshot --without RESOURCES FILE")
        }
        _ => failure,
    }
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
