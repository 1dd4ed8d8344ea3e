//! What can be typed.

use clap::{Parser, Subcommand};

use crate::{
    account, admin, app, appset, assess, cert, cluster, controller, crds, diff, doctor, explain, fix, gpg,
    helm, install, kustomize, login, proj, rehearse, render, repo, server, sim, snapshot, up, version,
};

/// A GitOps delivery engine with an embedded Kubernetes.
///
/// Lynceus keeps Kubernetes clusters as Git says. It reads Argo CD's Applications, brings its own Kubernetes to try
/// things in, and says what a sync is waiting for.
#[derive(Parser)]
#[command(
    name = "lynceus",
    version,
    args_override_self = true,
    after_help = "Start here:\n  lynceus up --demo          an embedded cluster with an example repository, delivered\n  \
                  lynceus app list           what is delivered\n  lynceus app get NAME       how it is, and what it waits for\n  lynceus doctor             what is wrong with all of it, and why"
)]
pub(crate) struct Arguments {
    /// Say more about what happens inside; twice for even more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Start everything: an embedded cluster (or yours) and the engine that delivers to it.
    Up(up::Arguments),
    /// Run the engine that delivers the Applications of a cluster.
    Controller(controller::Arguments),
    /// Start the server: Argo CD's API over REST and gRPC, the login, the page, probes and metrics.
    Server(server::Arguments),
    /// Print everything that a cluster needs to run Lynceus: lynceus install | kubectl apply -f -
    Install(install::Arguments),
    /// Start the embedded Kubernetes alone, for kubectl and any client.
    Sim(sim::Arguments),
    /// Write down what a real cluster is like, for the embedded one to begin as.
    Snapshot(snapshot::Arguments),
    /// Work with applications, as `argocd app` does.
    App(Box<app::Arguments>),
    /// Say what is wrong, down to the root causes, and what would mend it.
    Doctor(Box<doctor::Arguments>),
    /// Write a finding's fix into a working tree, after trying it in the embedded cluster.
    Fix(Box<fix::Arguments>),
    /// Say what a sort of finding means, why it happens and what to do, with an example.
    Explain(explain::Arguments),
    /// Show what a folder of manifests, a chart or a kustomization becomes.
    Render(render::Arguments),
    /// Play what would happen if a repository were synced: what is done, in which order, and where it gets stuck.
    Rehearse(Box<rehearse::Arguments>),
    /// Compare a desired object with a live one, as a sync would.
    Diff(diff::Arguments),
    /// Work with charts as Helm does, in process: template, lint, show, dependency.
    Helm(Box<helm::Arguments>),
    /// Work with kustomizations as Kustomize does, in process: build.
    Kustomize(Box<kustomize::Arguments>),
    /// Say how healthy objects in a file are.
    Health(assess::Arguments),
    /// Print the CustomResourceDefinitions of Application, AppProject and ApplicationSet.
    Crds(crds::Arguments),
    /// Print the completions for a shell: lynceus completion bash > /etc/bash_completion.d/lynceus
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the man page: lynceus man > lynceus.1
    Man,
    /// Print the version of this program, and of the server that was logged in to.
    Version(Box<version::Arguments>),
    /// Log in to a server.
    Login(Box<login::LoginArguments>),
    /// Forget a login, and end its session.
    Logout(Box<login::LogoutArguments>),
    /// Log in again where the session has ended.
    Relogin(Box<login::ReloginArguments>),
    /// List logins, or choose the one that counts.
    #[command(visible_alias = "ctx")]
    Context(Box<login::ContextArguments>),
    /// Set what holds for every command.
    Configure(Box<login::ConfigureArguments>),
    /// Look after an installation, as `argocd admin` does.
    Admin(Box<admin::Arguments>),
    /// Work with accounts, as `argocd account` does.
    Account(Box<account::Arguments>),
    /// Work with ApplicationSets, as `argocd appset` does.
    Appset(Box<appset::Arguments>),
    /// Work with projects, as `argocd proj` does.
    Proj(Box<proj::Arguments>),
    /// Work with repositories, as `argocd repo` does.
    Repo(Box<repo::Arguments>),
    /// Work with credentials for many repositories, as `argocd repocreds` does.
    Repocreds(Box<repo::credentials::Arguments>),
    /// Work with clusters, as `argocd cluster` does.
    Cluster(Box<cluster::Arguments>),
    /// Work with certificates and host keys of repositories, as `argocd cert` does.
    Cert(Box<cert::Arguments>),
    /// Work with the keys that commits are signed with, as `argocd gpg` does.
    Gpg(Box<gpg::Arguments>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// A command and all below it, each with what the list of commands says of it and what its own help begins with.
    fn walk(command: &clap::Command, path: &str, found: &mut Vec<(String, String, String)>) {
        let about =
            |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
        for listed in command.get_subcommands() {
            let path = format!("{path} {}", listed.get_name());
            let mut own = listed.clone();
            // What is put off until a command is needed is done now.
            own.render_help();
            found.push((path.clone(), about(listed), about(&own)));
            walk(&own, &path, found);
        }
    }

    /// The help of a command is what its variant says, unless the struct of its arguments, or one that is flattened into it
    /// and comes later, has a doc comment: then that is taken, whatever it is about.
    #[test]
    fn every_command_is_introduced_by_a_sentence_about_itself() {
        let mut found = Vec::new();
        walk(&Arguments::command(), "lynceus", &mut found);
        found.retain(|(path, ..)| !path.ends_with(" help"));
        assert!(found.len() > 150, "{}", found.len());
        found.retain(|(_, listed, own)| !listed.contains(' ') || listed != own);
        assert!(found.is_empty(), "{found:#?}");
    }
}
