//! The commands of Helm and Kustomize, which are over in two milliseconds.
//!
//! What every other command has at its start would be a third of that: the tree of all commands, what counts and tells, and a
//! stack with room for the largest of them. So these two are known by the first word and go a way of their own.

use std::ffi::OsString;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::arguments::{self, Arguments};
use crate::exit::{self, Failure, Outcome};
use crate::{helm, kustomize};

/// The part of [`Arguments`] that these commands are.
#[derive(Parser)]
#[command(name = "lynceus", version, args_override_self = true)]
struct Twin {
    /// Say more about what happens inside; twice for even more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Work with charts as Helm does, in process: template, lint, show, dependency.
    Helm(Box<helm::Arguments>),
    /// Work with kustomizations as Kustomize does, in process: build.
    Kustomize(Box<kustomize::Arguments>),
}

/// Whether words name one of the two commands.
pub(crate) fn is_meant(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|word| word == "helm" || word == "kustomize")
}

/// Reads and runs one of them.
#[inline(never)]
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    match read(words) {
        // Whoever wants to be told what happens inside waits for what tells it.
        Ok(twin) if twin.verbose > 0 || std::env::var_os("RUST_LOG").is_some() => crate::perform(twin.into()),
        Ok(twin) => run(&twin.command),
        Err(misuse) => crate::refuse(&misuse),
    }
}

#[inline(never)]
fn read(words: Vec<OsString>) -> Result<Twin, clap::Error> {
    let mut command = Twin::command();
    let twin = command.try_get_matches_from_mut(words).and_then(|mut found| {
        Twin::from_arg_matches_mut(&mut found).map_err(|misuse| misuse.format(&mut command))
    });
    // The program ends soon: to take the tree of flags apart would take longer than to read a chart.
    std::mem::forget(command);
    twin
}

#[inline(never)]
fn run(command: &Command) -> ExitCode {
    let waits = matches!(command, Command::Helm(_)) && helm::may_wait(std::env::args_os());
    let outcome = match command {
        Command::Helm(arguments) if !waits && arguments.is_at_hand() => finish(helm::run(arguments), waits),
        Command::Helm(arguments) => wait(helm::run(arguments), waits),
        Command::Kustomize(arguments) => wait(kustomize::run(arguments), waits),
    };
    exit::told(outcome)
}

/// Runs what most likely never waits, and so needs nothing that waits.
fn finish(work: impl Future<Output = Outcome>, waits: bool) -> Outcome {
    let mut work = std::pin::pin!(work);
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => wait(work, waits),
    }
}

fn wait(work: impl Future<Output = Outcome>, waits: bool) -> Outcome {
    let runtime = executor(waits).enable_all().build();
    runtime.map_err(|error| Failure::because("cannot start", &error))?.block_on(work)
}

/// What runs these commands. Threads take longer to start than a chart to render, so there is one only if a callback may have
/// to wait.
pub(crate) fn executor(waits: bool) -> tokio::runtime::Builder {
    if !waits {
        return tokio::runtime::Builder::new_current_thread();
    }
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.worker_threads(1).thread_stack_size(crate::STACK);
    threads
}

impl From<Twin> for Arguments {
    fn from(twin: Twin) -> Self {
        let command = match twin.command {
            Command::Helm(arguments) => arguments::Command::Helm(arguments),
            Command::Kustomize(arguments) => arguments::Command::Kustomize(arguments),
        };
        Arguments { verbose: twin.verbose, command }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_first_word_decides() {
        assert!(is_meant(&words("lynceus helm template .")));
        assert!(is_meant(&words("lynceus kustomize build")));
        assert!(!is_meant(&words("lynceus -v helm template .")));
        assert!(!is_meant(&words("lynceus app get helm")));
    }

    #[test]
    fn helm_and_kustomize_are_the_same_commands_as_in_the_whole_tree() {
        for name in ["helm", "kustomize"] {
            let (mut twin, mut whole) = (Twin::command(), Arguments::command());
            let help = |command: &mut clap::Command| {
                command.build();
                command.find_subcommand_mut(name).map(|command| command.render_long_help().to_string())
            };
            assert_eq!(help(&mut twin), help(&mut whole), "{name}");
        }
    }
}
