//! The binary `lynceus`: commands, output, exit codes.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the face: data on stdout, talk on stderr"
)]

mod account;
mod admin;
mod api;
mod app;
mod appset;
mod arguments;
mod assess;
mod cert;
mod cluster;
mod controller;
mod crds;
mod demo;
mod diff;
mod doctor;
mod elsewhere;
mod exit;
mod explain;
mod exposed;
mod face;
mod fix;
mod format;
mod gpg;
mod health;
mod helm;
mod hint;
mod install;
mod kustomize;
mod limits;
mod login;
mod logins;
mod logs;
mod measured;
mod place;
mod printing;
mod proj;
mod rehearse;
mod render;
mod repo;
mod running;
mod server;
mod sim;
mod snapshot;
mod table;
mod terminal;
mod twin;
mod up;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command};
use exit::{Failure, Outcome};

fn main() -> ExitCode {
    printing::watch();
    let words: Vec<OsString> = std::env::args_os().collect();
    if twin::is_meant(&words) { twin::main(words) } else { whole(words) }
}

/// Reads and runs any command. Apart from `main`, so that its room on the stack is taken only if it is called.
#[inline(never)]
fn whole(words: Vec<OsString>) -> ExitCode {
    let options = std::env::var("ARGOCD_OPTS").unwrap_or_default();
    match Arguments::try_parse_from(api::arrange(words, &options)) {
        Ok(arguments) => perform(arguments),
        Err(misuse) => refuse(&misuse),
    }
}

/// Runs a command, telling of what happens inside as it is asked to.
#[inline(never)]
fn perform(arguments: Arguments) -> ExitCode {
    let courier = match logs::begin(arguments.verbose, &arguments.command) {
        Ok(courier) => courier,
        Err(why) => {
            anstream::eprintln!("error: {why}");
            return ExitCode::from(exit::Code::Trouble.number());
        }
    };
    let runtime = match executor(&arguments.command).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::told(Err(Failure::because("cannot start", &error))),
    };
    if let Some(courier) = courier {
        runtime.spawn(courier.run());
    }
    exit::told(runtime.block_on(run(arguments)))
}

/// Says how the command is meant to be used.
fn refuse(misuse: &clap::Error) -> ExitCode {
    if let Err(error) = misuse.print() {
        printing::stop(
            error.kind() == std::io::ErrorKind::BrokenPipe,
            &format!("failed printing the help: {error}"),
        );
    }
    ExitCode::from(misuse_code(misuse, std::env::args().nth(1).as_deref()))
}

/// The exit code for a command that is not used as it is meant. Helm and Kustomize end with 1 there, and scripts that were
/// written for them go by it.
fn misuse_code(misuse: &clap::Error, command: Option<&str>) -> u8 {
    match misuse.exit_code() {
        // The help is no misuse.
        0 => 0,
        _ if matches!(command, Some("helm" | "kustomize")) => exit::Code::Answer.number(),
        _ => exit::Code::Trouble.number(),
    }
}

/// How much stack a thread has.
pub(crate) const STACK: usize = 8 << 20;

/// What runs a command.
fn executor(command: &Command) -> tokio::runtime::Builder {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    // An answer of the API may go through a comparison, a rendering and a request, which is deep before it is optimised.
    threads.thread_stack_size(STACK);
    match command {
        Command::Helm(_) => return twin::executor(helm::may_wait(std::env::args_os())),
        Command::Kustomize(_) => return twin::executor(false),
        // A clock that is moved waits for the tasks of its own thread.
        Command::Rehearse(_) | Command::Doctor(_) | Command::Fix(_) => {
            return tokio::runtime::Builder::new_current_thread();
        }
        Command::Health(_) | Command::Diff(_) => return tokio::runtime::Builder::new_current_thread(),
        Command::Render(_) => threads.worker_threads(1),
        _ => &mut threads,
    };
    threads
}

async fn run(arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::Up(arguments) => up::run(arguments).await,
        Command::Controller(arguments) => controller::run(arguments).await,
        Command::Sim(arguments) => sim::run(arguments).await,
        Command::Snapshot(arguments) => snapshot::run(&arguments).await,
        Command::Server(arguments) => server::run(arguments).await,
        Command::Install(arguments) => install::run(&arguments),
        Command::Health(arguments) => assess::run(&arguments),
        Command::Crds(arguments) => crds::run(&arguments),
        Command::Render(arguments) => render::run(&arguments).await,
        Command::Rehearse(arguments) => rehearse::run(&arguments).await,
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Doctor(arguments) => doctor::run(*arguments).await,
        Command::Fix(arguments) => fix::run(*arguments).await,
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Helm(arguments) => helm::run(&arguments).await,
        Command::Kustomize(arguments) => kustomize::run(&arguments).await,
        Command::App(arguments) => app::run(*arguments).await,
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "lynceus", &mut script);
            printing::bytes(&script);
            Ok(())
        }
        Command::Man => {
            let mut page = Vec::new();
            let made = clap_mangen::Man::new(Arguments::command()).render(&mut page);
            exit::Doing::doing(made, "cannot write the man page")?;
            printing::bytes(&page);
            Ok(())
        }
        Command::Version(arguments) => version::run(*arguments).await,
        Command::Login(arguments) => login::login(&arguments).await,
        Command::Logout(arguments) => login::logout(&arguments).await,
        Command::Relogin(arguments) => login::relogin(&arguments).await,
        Command::Context(arguments) => login::context(&arguments),
        Command::Configure(arguments) => login::configure(&arguments),
        Command::Admin(arguments) => admin::run(*arguments).await,
        Command::Account(arguments) => account::run(*arguments).await,
        Command::Appset(arguments) => appset::run(*arguments).await,
        Command::Proj(arguments) => proj::run(*arguments).await,
        Command::Repo(arguments) => repo::run(*arguments).await,
        Command::Repocreds(arguments) => repo::credentials::run(*arguments).await,
        Command::Cluster(arguments) => cluster::run(*arguments).await,
        Command::Cert(arguments) => cert::run(*arguments).await,
        Command::Gpg(arguments) => gpg::run(*arguments).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misused_command_ends_as_the_tool_does_that_it_stands_for() {
        for (line, expected) in [
            ("kustomize build --no-such", 1),
            ("helm template --no-such", 1),
            ("helm --help", 0),
            ("app get --no-such", 2),
        ] {
            let words = std::iter::once("lynceus").chain(line.split(' '));
            let misuse = Arguments::try_parse_from(words).err().map(|misuse| {
                let command = line.split(' ').next();
                misuse_code(&misuse, command)
            });
            assert_eq!(misuse, Some(expected), "{line}");
        }
    }
}
