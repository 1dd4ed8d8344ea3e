//! `lynceus helm …`: Helm's own commands, with Helm's flags and output, in process.

mod access;
mod chart;
mod cluster;
mod dependency;
mod lint;
mod login;
mod repositories;
mod settings;
mod show;
mod speech;
mod supply;
mod template;
mod unused;
mod values;

use std::ffi::OsString;

use crate::exit::{Code, Failure, Outcome};

/// Work with charts as Helm does, in process: template, lint, show, dependency.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten, next_help_heading = "Options of every command")]
    settings: settings::Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
#[command(defer = true)]
enum Command {
    /// Render a chart and print the manifests, byte for byte as `helm template` does.
    Template(Box<template::Arguments>),
    /// Look for what is wrong with charts, as `helm lint` does.
    Lint(lint::Arguments),
    /// Show what is in a chart.
    #[command(visible_alias = "inspect")]
    Show(Box<show::Arguments>),
    /// Bring the dependencies of a chart into its charts/ directory, as `helm dependency` does.
    #[command(visible_aliases = ["dep", "dependencies"])]
    Dependency(Box<dependency::Arguments>),
}

impl Arguments {
    /// Whether everything that the command needs lies on this machine, so that nothing has to be waited for.
    pub(crate) fn is_at_hand(&self) -> bool {
        matches!(&self.command, Command::Template(arguments) if arguments.is_at_hand())
    }
}

pub(crate) async fn run(arguments: &Arguments) -> Outcome {
    let settings = &arguments.settings;
    let printed = match &arguments.command {
        Command::Template(arguments) => template::run(arguments, settings).await,
        Command::Lint(arguments) => lint::run(arguments, settings),
        Command::Show(arguments) => show::run(arguments, settings).await,
        Command::Dependency(arguments) => dependency::run(arguments, settings).await,
    };
    match printed {
        Ok(bytes) => {
            crate::printing::bytes(&bytes);
            Ok(())
        }
        Err(said) => {
            eprintln!("Error: {said}");
            // It has been said in Helm's words; scripts around Helm look for a 1.
            Err(Failure::new(Code::Answer, ""))
        }
    }
}

/// Whether a command line may make [`wait`] necessary, which takes a thread: a URL, or a cluster that is asked.
pub(crate) fn may_wait(mut words: impl Iterator<Item = OsString>) -> bool {
    let signs = ["://", "=server", "--validate"];
    words.any(|word| signs.iter().any(|sign| word.to_string_lossy().contains(sign)))
}

/// Waits where a callback cannot: for a template that asks the cluster, or a flag that names a URL.
fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work))
}
