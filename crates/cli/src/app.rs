//! `lynceus app`: Argo CD's commands, working through the kubeconfig as `argocd --core` does.

mod actions;
mod ask;
mod context;
mod create;
mod delete;
mod diff;
mod follow;
mod get;
mod history;
mod list;
mod local;
mod manifests;
mod pattern;
mod resources;
mod rollback;
mod show;
mod sync;
mod tree;
mod wait;

use std::path::PathBuf;

use clap::Subcommand;

use crate::exit::Outcome;
pub(crate) use context::Context;

/// Work with applications.
///
/// The commands have the names, flags and exit codes of `argocd app`. They work through the kubeconfig: the one named with
/// --kubeconfig, the one in KUBECONFIG, or the one that `lynceus up` left in ./.lynceus.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Which cluster, and where in it.
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
    /// Show how the cluster differs from Git. Exit code 1 if it does.
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
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let access = arguments.access;
    match arguments.command {
        Command::List(arguments) => list::run(&Context::light(&access).await?, &arguments).await,
        Command::Get(arguments) => get::run(&Context::full(&access).await?, &arguments).await,
        Command::Create(arguments) => create::run(&Context::light(&access).await?, &arguments).await,
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
