//! `lynceus proj`: what applications of a project may do, and who may do what to them.

mod change;
mod integrity;
mod role;
mod show;
mod spec;
mod windows;

use std::path::PathBuf;

use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection};
use crate::exit::Outcome;
use crate::format::Output;

pub(crate) use spec::{Spec, from_file, project};

/// Work with projects, as `argocd proj` does.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Create a project.
    Create(Box<spec::Create>),
    /// Set what a project allows; lists are replaced.
    Set {
        /// The project.
        project: String,
        #[command(flatten)]
        spec: Box<Spec>,
    },
    /// Replace the spec of a project by that of a file.
    Edit {
        /// The project.
        project: String,
        /// The new spec, as YAML; `-` is standard input. No editor is started.
        #[arg(short, long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Show a project.
    Get {
        /// The project.
        project: String,
        /// How to print it.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// List the projects.
    List {
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Delete projects.
    Delete {
        /// The projects.
        #[arg(required = true)]
        projects: Vec<String>,
    },
    /// Allow a repository.
    AddSource(change::Text),
    /// Allow a repository no longer.
    RemoveSource(change::Text),
    /// Allow applications in a namespace.
    AddSourceNamespace(change::Text),
    /// Allow applications in a namespace no longer.
    RemoveSourceNamespace(change::Text),
    /// Require commits to be signed with a key.
    AddSignatureKey(change::Text),
    /// Require it no longer.
    RemoveSignatureKey(change::Text),
    /// Allow a destination.
    AddDestination {
        #[command(flatten)]
        destination: change::Place,
        /// The cluster is given by its name.
        #[arg(long)]
        name: bool,
    },
    /// Allow a destination no longer.
    RemoveDestination(change::Place),
    /// Have syncs to a destination done in the name of a service account.
    AddDestinationServiceAccount(change::Account),
    /// Have them done so no longer.
    RemoveDestinationServiceAccount(change::Account),
    /// Leave resources out of those that belong to no application.
    AddOrphanedIgnore(change::Orphan),
    /// Leave them out no longer.
    RemoveOrphanedIgnore(change::Orphan),
    /// Allow a kind that is in no namespace.
    AllowClusterResource(change::ClusterKind),
    /// Forbid a kind that is in no namespace.
    DenyClusterResource(change::ClusterKind),
    /// Allow a kind that is in a namespace.
    AllowNamespaceResource(change::NamespacedKind),
    /// Forbid a kind that is in a namespace.
    DenyNamespaceResource(change::NamespacedKind),
    /// Work with roles and their tokens.
    Role(role::Arguments),
    /// Work with the times in which syncs are allowed or not.
    Windows(windows::Arguments),
    /// Work with what commits have to be signed with.
    SourceIntegrity(integrity::Arguments),
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = arguments.connection;
    let projects = Projects { api: Api::open(&connection).await?, connection };
    match arguments.command {
        Command::Create(create) => spec::create(&projects, &create).await,
        Command::Set { project, spec } => spec::set(&projects, &project, &spec).await,
        Command::Edit { project, file } => spec::edit(&projects, &project, file.as_deref()).await,
        Command::Get { project, output } => show::get(&projects, &project, output).await,
        Command::List { output } => show::list(&projects, output).await,
        Command::Delete { projects: names } => delete(&projects, &names).await,
        Command::Role(arguments) => role::run(&projects, arguments).await,
        Command::Windows(arguments) => windows::run(&projects, arguments).await,
        Command::SourceIntegrity(arguments) => integrity::run(&projects, arguments).await,
        Command::AddSource(text) => change::add_source(&projects, &text).await,
        Command::RemoveSource(text) => change::remove_source(&projects, &text).await,
        Command::AddSourceNamespace(text) => change::add_namespace(&projects, &text).await,
        Command::RemoveSourceNamespace(text) => change::remove_namespace(&projects, &text).await,
        Command::AddSignatureKey(text) => change::add_key(&projects, &text).await,
        Command::RemoveSignatureKey(text) => change::remove_key(&projects, &text).await,
        Command::AddDestination { destination, name } => {
            change::add_destination(&projects, &destination, name).await
        }
        Command::RemoveDestination(place) => change::remove_destination(&projects, &place).await,
        Command::AddDestinationServiceAccount(account) => change::add_account(&projects, &account).await,
        Command::RemoveDestinationServiceAccount(account) => {
            change::remove_account(&projects, &account).await
        }
        Command::AddOrphanedIgnore(orphan) => change::add_orphan(&projects, &orphan).await,
        Command::RemoveOrphanedIgnore(orphan) => change::remove_orphan(&projects, &orphan).await,
        Command::AllowClusterResource(kind) => change::cluster_kind(&projects, &kind, true).await,
        Command::DenyClusterResource(kind) => change::cluster_kind(&projects, &kind, false).await,
        Command::AllowNamespaceResource(kind) => change::namespaced_kind(&projects, &kind, true).await,
        Command::DenyNamespaceResource(kind) => change::namespaced_kind(&projects, &kind, false).await,
    }
}

/// Where projects are kept.
struct Projects {
    api: Api,
    connection: Connection,
}

impl Projects {
    /// A project as it is.
    async fn get(&self, name: &str) -> Outcome<Value> {
        let failed = format!("cannot read project {name}");
        self.api.call(&failed, "ProjectService.Get", value!({"name": name})).await
    }

    /// Writes a project.
    async fn update(&self, project: Value) -> Outcome {
        let name = project.str_at(&["metadata", "name"]).unwrap_or_default();
        let failed = format!("cannot change project {name}");
        self.api.call(&failed, "ProjectService.Update", value!({"project": project})).await.map(drop)
    }
}

async fn delete(projects: &Projects, names: &[String]) -> Outcome {
    for name in names {
        if !projects.connection.confirmed(&format!("Are you sure you want to delete {name}? [y/n] "))? {
            println!("The command to delete {name} was cancelled.");
            continue;
        }
        let failed = format!("cannot delete project {name}");
        projects.api.call(&failed, "ProjectService.Delete", value!({"name": name.as_str()})).await?;
    }
    Ok(())
}
