//! `lynceus rehearse DIR`: what would happen if this repository were synced.

mod junit;
mod markdown;
mod sarif;
mod summary;
mod text;

use std::path::PathBuf;

use clap::ValueEnum;
use jiff::Timestamp;
use lynceus_rehearse::{RehearseError, Report, Script, Verdict, rehearse};

use crate::elsewhere;
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::sim;

/// Play what would happen if a repository were synced: what is done, in which order, and where it gets stuck.
///
/// Finds the Applications of the repository that no other Application creates, brings them to an embedded Kubernetes, and runs
/// the engine on a clock of its own: every wave, hook, retry and prune, hours of it in seconds. The files are taken as they stand,
/// changes that are not committed included. With --from, the older revision is played first, and what is told is what the change
/// does to it.
///
/// What neither the repository nor a snapshot tells is taken to be there and listed as assumed: images, nodes, classes, kinds that
/// come from elsewhere. What the repository itself should bring is not: a definition that one of its files holds, a Secret that a
/// pod names, a namespace.
#[derive(clap::Args)]
#[command(
    after_help = "Exit code: 0 it would finish, 1 it would get stuck, 2 it could not be rehearsed.\n\n\
    Examples:\n  lynceus rehearse                                   the repository around this folder, from nothing\n  \
    lynceus rehearse . --from main                     what this branch would do, merged\n  \
    lynceus rehearse . --from v1.2 --to v1.3 -o markdown\n  \
    lynceus rehearse . --snapshot cluster.json.gz      on a cluster as it is (see lynceus snapshot)\n  \
    lynceus rehearse . --stage nodes.yaml --strict     on the machines that a stage names, with nothing assumed"
)]
pub(crate) struct Arguments {
    /// The repository, or a folder of it in which the Applications are.
    #[arg(default_value = ".", value_name = "DIR")]
    directory: PathBuf,
    /// Play this revision first, and tell what the change from it does.
    #[arg(long, value_name = "REV")]
    from: Option<String>,
    /// Play this revision rather than the files as they stand.
    #[arg(long, value_name = "REV")]
    to: Option<String>,
    /// Begin as a real cluster was, as `lynceus snapshot` wrote it down.
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// What the cluster is like: machines, images, what programs do (docs/sim.md).
    #[arg(long, value_name = "FILE")]
    stage: Vec<PathBuf>,
    /// Have the operator that this file declares at work as well; can be given several times.
    #[arg(long, value_name = "FILE")]
    operator: Vec<PathBuf>,
    /// Begin with this Application, by its name or its file, rather than with all that nobody creates; can be given several times.
    #[arg(long = "app", value_name = "FILE|NAME")]
    application: Vec<String>,
    /// An address under which Applications know this repository, beside those that it was cloned from.
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// A branch that the files stand for, beside the one that is checked out and the default one.
    #[arg(long, value_name = "NAME")]
    branch: Vec<String>,
    /// Fail if anything has to be assumed.
    #[arg(long)]
    strict: bool,
    /// List every object that is created, changed or deleted, in order.
    #[arg(long)]
    steps: bool,
    /// How to print what came of it.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// How a rehearsal is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people.
    Text,
    /// JSON, everything that is known.
    Json,
    /// For a comment on a pull request.
    Markdown,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit's XML, a test for each application.
    Junit,
}

pub(crate) async fn run(arguments: &Arguments) -> Outcome {
    let script = script(arguments)?;
    let played = Box::pin(rehearse(&script)).await.map_err(|error| refusal(arguments, &error))?;
    let report = &played.report;
    print!("{}", printed(arguments, report)?);
    match report.verdict {
        Verdict::Finishes | Verdict::Gone => Ok(()),
        // What there is to say has been said.
        Verdict::Stuck => Err(Failure::new(Code::Answer, "")),
        Verdict::NotRehearsed => Err(Failure::new(Code::Trouble, "")),
    }
}

fn printed(arguments: &Arguments, report: &Report) -> Outcome<String> {
    let steps = arguments.steps;
    Ok(match arguments.output {
        Form::Text => text::print(report, steps),
        Form::Markdown => markdown::print(report),
        Form::Junit => junit::print(report),
        Form::Sarif => pretty(&sarif::log(report))?,
        Form::Json => pretty(report)?,
    })
}

fn pretty(value: &impl serde::Serialize) -> Outcome<String> {
    Ok(serde_json::to_string_pretty(value).doing("cannot print JSON")? + "\n")
}

fn script(arguments: &Arguments) -> Outcome<Script> {
    let stages: Vec<PathBuf> = arguments.snapshot.iter().chain(&arguments.stage).cloned().collect();
    let stage = sim::read_stages(&stages).map_err(trouble)?;
    let operators = arguments.operator.iter().map(|file| sim::operator(file)).collect::<Outcome<_>>();
    let script = Script {
        from: arguments.from.clone(),
        to: arguments.to.clone(),
        applications: arguments.application.clone(),
        urls: arguments.url.clone(),
        branches: arguments.branch.clone(),
        operators: operators.map_err(trouble)?,
        strict: arguments.strict,
        cache: Some(elsewhere::cache()),
        ..Script::new(&arguments.directory)
    };
    Ok(script.on(stage, Timestamp::now()))
}

/// Everything that keeps a rehearsal from being played ends with the same code.
fn trouble(failure: Failure) -> Failure {
    Failure { code: Code::Trouble, ..failure }
}

fn refusal(arguments: &Arguments, error: &RehearseError) -> Failure {
    let shown = arguments.directory.display();
    let failure = trouble(Failure::because(format!("{shown} cannot be rehearsed"), error));
    match error {
        RehearseError::NoApplications { .. } => failure.hint(
            "Applications are looked for in YAML and JSON files, and in kustomizations;\na chart that makes them is played by an \
             Application whose source it is",
        ),
        RehearseError::NoSuchApplication { similar, .. } if !similar.is_empty() => {
            failure.hint(format!("there is {}", similar.join(", ")))
        }
        RehearseError::Cycle { .. } => {
            failure.hint("say which one you would apply by hand: --app NAME")
        }
        RehearseError::Revision { .. } => {
            failure.hint("a shallow clone has only its last commit; get the others with\ngit fetch --unshallow")
        }
        _ => failure,
    }
}
