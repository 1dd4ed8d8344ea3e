//! `lynceus admin`: what somebody does who looks after an installation, with the cluster itself or with files alone.

mod backup;
mod elsewhere;
mod generate;
mod notifications;
mod settings;

use clap::Subcommand;
use lynceus_object::Gvk;

use crate::api::{Connection, misuse};
use crate::exit::{Doing as _, Outcome};

/// Look after an installation, as `argocd admin` does.
#[derive(clap::Args)]
#[command(after_help = elsewhere::LIST)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Print the password that the account admin has at first.
    InitialPassword,
    /// Write everything that an installation knows into one file: settings, credentials, projects, Applications, ApplicationSets.
    Export(backup::Export),
    /// Read back what `export` wrote, also what Argo CD's did.
    Import(Box<backup::Import>),
    /// Print Applications from flags, without storing them.
    App {
        #[command(subcommand)]
        command: generate::App,
    },
    /// Print projects from flags, without storing them.
    Proj {
        #[command(subcommand)]
        command: generate::Project,
    },
    /// Print the Secret of a repository from flags, without storing it.
    Repo {
        #[command(subcommand)]
        command: generate::Repository,
    },
    /// Print the Secret of a cluster from flags, without storing it.
    Cluster {
        #[command(subcommand)]
        command: generate::Cluster,
    },
    /// Look at triggers and templates of notifications, and try them out.
    Notifications(notifications::Arguments),
    /// Try out settings before they count.
    Settings(settings::Arguments),
    /// What is not here, and what to use instead.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = &arguments.connection;
    match arguments.command {
        Command::InitialPassword => initial_password(connection).await,
        Command::Export(arguments) => backup::export(connection, &arguments).await,
        Command::Import(arguments) => backup::import(connection, &arguments).await,
        Command::App { command } => generate::app(command),
        Command::Proj { command } => generate::project(command),
        Command::Repo { command } => generate::repository(command, connection),
        Command::Cluster { command } => generate::cluster(command, connection).await,
        Command::Notifications(arguments) => notifications::run(connection, arguments).await,
        Command::Settings(arguments) => settings::run(connection, arguments).await,
        Command::Other(words) => Err(elsewhere::instead("admin", &words)),
    }
}

async fn initial_password(connection: &Connection) -> Outcome {
    let cluster = open(connection).await?;
    let namespace = connection.argocd_namespace.as_str();
    let name = "argocd-initial-admin-secret";
    let found = cluster.get(&Gvk::new("", "v1", "Secret"), namespace, name).await;
    let found = found.doing("cannot read the password")?;
    let text = found.as_ref().and_then(|secret| secret.value().str_at(&["data", "password"]));
    let bytes =
        text.and_then(|text| base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).ok());
    let Some(bytes) = bytes else {
        return Err(misuse(format!("there is no Secret {name} in namespace {namespace}")).hint(
            "it has been deleted, as it should be; log in with the password that was set since,\nor remove admin.password from the Secret argocd-secret to get a new one",
        ));
    };
    println!("{}", String::from_utf8_lossy(&bytes));
    eprintln!(
        "note: this password is for the first login; change it with `lynceus account update-password` and delete the Secret"
    );
    Ok(())
}

/// The cluster, without looking at everything in it.
async fn open(connection: &Connection) -> Outcome<std::sync::Arc<lynceus_cluster::Cluster>> {
    let kubeconfig = crate::place::kubeconfig(connection.kubeconfig.as_deref());
    let failed = "cannot connect to the cluster";
    let client = lynceus_cluster::client(kubeconfig.as_deref(), connection.kube_context.as_deref());
    let client = client.await.doing(failed)?;
    lynceus_cluster::Cluster::open(client, lynceus_cluster::Options::default()).await.doing(failed)
}
