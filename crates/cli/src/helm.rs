//! `lynceus helm …`: Helm's own commands, with Helm's flags and output, in process.

mod chart;
mod lint;
mod show;
mod template;
mod values;

use std::io::Write as _;

use crate::exit::{Code, Doing as _, Failure, Outcome};

/// Work with charts, as Helm does.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Render a chart and print the manifests, byte for byte as `helm template` does.
    Template(Box<template::Arguments>),
    /// Look for what is wrong with charts.
    Lint(lint::Arguments),
    /// Show what is in a chart.
    Show(show::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let printed = match &arguments.command {
        Command::Template(arguments) => template::run(arguments),
        Command::Lint(arguments) => lint::run(arguments),
        Command::Show(arguments) => show::run(arguments),
    };
    match printed {
        Ok(bytes) => match std::io::stdout().write_all(&bytes) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written.doing("cannot print the manifests"),
        },
        Err(said) => {
            eprintln!("Error: {said}");
            // It has been said in Helm's words; scripts around Helm look for a 1.
            Err(Failure::new(Code::Answer, ""))
        }
    }
}
