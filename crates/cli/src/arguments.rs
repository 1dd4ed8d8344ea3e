//! What can be typed.

use clap::{Parser, Subcommand};

use crate::{
    app, assess, controller, crds, diff, doctor, explain, fix, helm, install, kustomize, rehearse, render,
    server, sim, snapshot, up,
};

/// A GitOps delivery engine with an embedded Kubernetes.
///
/// Lynceus keeps Kubernetes clusters as Git says. It reads Argo CD's Applications, brings its own Kubernetes to try
/// things in, and says what a sync is waiting for.
#[derive(Parser)]
#[command(
    name = "lynceus",
    version,
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
    /// Run the engine alone, in a pod or with a kubeconfig.
    Controller(controller::Arguments),
    /// Start the server: probes, metrics and the version over HTTP.
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
    /// Say what a sort of finding means, with an example.
    Explain(explain::Arguments),
    /// Show what a folder of manifests becomes.
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
    /// Print the version.
    Version,
}
