//! `lynceus app`: Argo CD's commands, working through the kubeconfig as `argocd --core` does.

mod actions;
mod context;
mod create;
mod delete;
mod diff;
mod entries;
mod flags;
mod follow;
mod get;
mod history;
mod list;
mod local;
mod manifests;
mod pattern;
mod record;
mod resource;
mod resources;
mod revisions;
mod rollback;
mod served;
mod set;
mod show;
mod sync;
mod tree;
mod wait;

use std::path::PathBuf;

use clap::Subcommand;

use crate::api::{Connection, ServerFlags};
use crate::exit::Outcome;
pub(crate) use context::Context;
pub(crate) use flags::Flags;
use record::Records;

/// Work with applications, as `argocd app` does.
///
/// The commands have the names, flags and exit codes of `argocd app`. They work through the kubeconfig: the one named with
/// --kubeconfig, the one in KUBECONFIG, or the one that `lynceus up` left in ./.lynceus.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    server: ServerFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Which cluster, and where in it.
#[derive(clap::Args, Clone)]
pub(crate) struct Access {
    /// The kubeconfig of the cluster that the Applications are in.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) kube_context: Option<String>,
    /// The namespace of the Applications.
    #[arg(short = 'N', long, global = true, value_name = "NAMESPACE", default_value = "argocd")]
    pub(crate) app_namespace: String,
    /// Which server, for commands that may go to one.
    #[arg(skip)]
    server: ServerFlags,
}

impl Access {
    /// Where a command of the API goes.
    fn connection(&self) -> Connection {
        Connection {
            flags: self.server.clone(),
            kubeconfig: self.kubeconfig.clone(),
            kube_context: self.kube_context.clone(),
            argocd_namespace: self.app_namespace.clone(),
        }
    }

    /// The namespace of the Applications, if somebody has named one: a server knows its own.
    fn named_namespace(&self) -> &str {
        if self.app_namespace == "argocd" { "" } else { &self.app_namespace }
    }
}

#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List applications.
    List(list::Arguments),
    /// Show an application: its source, its state, its resources, and what it waits for.
    Get(get::Arguments),
    /// Create an application.
    Create(Box<create::Arguments>),
    /// Sync an application to what Git says.
    Sync(Box<sync::Arguments>),
    /// Wait until an application is synced and healthy.
    Wait(wait::Arguments),
    /// Show how the cluster differs from Git.
    Diff(diff::Arguments),
    /// List what was delivered, and when.
    History(history::Arguments),
    /// Go back to what was delivered before.
    Rollback(rollback::Arguments),
    /// Delete an application and what it has delivered.
    Delete(delete::Arguments),
    /// Confirm what a sync or a deletion waits for: that objects with Prune=confirm or Delete=confirm may go.
    ConfirmDeletion(delete::ConfirmArguments),
    /// List the resources of an application.
    Resources(resources::Arguments),
    /// Show the resources of an application and what they own, as a tree.
    Tree(resources::TreeArguments),
    /// Print the manifests of an application, from Git or as they are in the cluster.
    Manifests(manifests::Arguments),
    /// List and run actions of resources: restart, scale, pause, and those of your own.
    Actions(actions::Arguments),
    /// Stop the sync that is under way.
    TerminateOp(sync::TerminateArguments),
    /// Change what an application is: its source, its destination, its policy.
    Set(Box<set::SetArguments>),
    /// Take back what was set of a source.
    Unset(Box<set::UnsetArguments>),
    /// Add a source to an application with several.
    AddSource(Box<set::AddSourceArguments>),
    /// Remove a source from an application with several.
    RemoveSource(set::RemoveSourceArguments),
    /// Change an Application by a patch.
    Patch(set::PatchArguments),
    /// Replace the spec of an Application by that of a file.
    Edit(set::EditArguments),
    /// Show objects of an application as they are in the cluster.
    GetResource(resource::GetArguments),
    /// Change objects of an application by a patch.
    PatchResource(resource::PatchArguments),
    /// Delete objects of an application.
    DeleteResource(resource::DeleteArguments),
    /// Print the logs of an application's pods.
    Logs(resource::LogsArguments),
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let access = Access { server: arguments.server, ..arguments.access };
    match arguments.command {
        Command::Set(arguments) => set::set(&Records::open(&access).await?, &arguments).await,
        Command::Unset(arguments) => set::unset(&Records::open(&access).await?, &arguments).await,
        Command::AddSource(arguments) => set::add_source(&Records::open(&access).await?, &arguments).await,
        Command::RemoveSource(arguments) => {
            set::remove_source(&Records::open(&access).await?, &arguments).await
        }
        Command::Patch(arguments) => set::patch(&Records::open(&access).await?, &arguments).await,
        Command::Edit(arguments) => set::edit(&Records::open(&access).await?, &arguments).await,
        Command::GetResource(arguments) => resource::get(&Records::open(&access).await?, &arguments).await,
        Command::PatchResource(arguments) => {
            resource::patch(&Records::open(&access).await?, &arguments).await
        }
        Command::DeleteResource(arguments) => {
            resource::delete(&Records::open(&access).await?, &arguments).await
        }
        Command::Logs(arguments) => resource::logs(&Records::open(&access).await?, &arguments).await,
        Command::List(arguments) => list::run(&Context::light(&access).await?, &arguments).await,
        Command::Get(arguments) => get::run(&Context::full(&access).await?, &arguments).await,
        Command::Create(arguments) => create::run(&Records::open(&access).await?, &arguments).await,
        Command::Sync(arguments) => sync::run(&Context::full(&access).await?, &arguments).await,
        Command::Wait(arguments) => wait::run(&Context::full(&access).await?, &arguments).await,
        Command::Diff(arguments) => diff::run(&Context::full(&access).await?, &arguments).await,
        Command::History(arguments) => history::run(&Context::light(&access).await?, &arguments).await,
        Command::Rollback(arguments) => rollback::run(&Context::full(&access).await?, &arguments).await,
        Command::Delete(arguments) => delete::run(&Context::light(&access).await?, &arguments).await,
        Command::ConfirmDeletion(arguments) => {
            delete::confirm(&Context::light(&access).await?, &arguments).await
        }
        Command::Resources(arguments) => resources::run(&Context::full(&access).await?, &arguments).await,
        Command::Tree(arguments) => resources::tree(&Context::full(&access).await?, &arguments).await,
        Command::Manifests(arguments) => manifests::run(&Context::full(&access).await?, &arguments).await,
        Command::Actions(arguments) => actions::run(&Context::full(&access).await?, &arguments).await,
        Command::TerminateOp(arguments) => sync::terminate(&Context::light(&access).await?, &arguments).await,
    }
}
