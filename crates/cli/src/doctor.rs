//! `lynceus doctor`: why is it not Synced and Healthy?

mod patient;
mod trial;

use std::path::PathBuf;
use std::time::Duration;

use lynceus_doctor::{Examination, report};

pub(crate) use patient::{Patient, Where};
pub(crate) use trial::{Ground, attempt, no_sources};

use crate::exit::{Code, Doing as _, Failure, Outcome};

/// Say what is wrong, down to the root causes, and what would mend it.
///
/// Looks at a cluster whose controller is Lynceus or Argo CD, at a repository alone (which is rehearsed in the embedded cluster), or
/// at a snapshot file. It only looks: nothing is changed. Ends with 1 if something is wrong.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Where,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
    /// Try the first fix of each root cause in the embedded cluster, and tell what it does to each application.
    #[arg(long)]
    verify: bool,
    /// A working tree of what a cluster delivers, for --verify; can be given several times; the current directory if not given.
    #[arg(long, value_name = "DIR", requires = "verify", conflicts_with = "repo")]
    tree: Vec<PathBuf>,
    /// Look again and again, and print when something has changed.
    #[arg(long, conflicts_with_all = ["repo", "snapshot", "verify"])]
    watch: bool,
}

/// How it is printed.
#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// For a terminal.
    #[default]
    Text,
    /// For programs.
    Json,
    /// An inventory to keep: causes by weight, plan, risks, validation, rollback.
    Markdown,
}

/// How long the doctor waits between two looks.
const PAUSE: Duration = Duration::from_secs(5);

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let patient = Patient::meet(&arguments.place).await?;
    let mut last = String::new();
    loop {
        let mut examination = patient.examine().await?;
        if arguments.verify {
            trial::verify(&patient, &arguments.place, &arguments.tree, &mut examination).await?;
        }
        let text = print(&examination, arguments.output)?;
        if text != last {
            print!("{text}");
            last = text;
        }
        if !arguments.watch {
            return verdict(&examination);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn print(examination: &Examination, output: Output) -> Outcome<String> {
    match output {
        Output::Text => Ok(report::text(examination)),
        Output::Markdown => Ok(report::markdown(examination)),
        Output::Json => report::json(examination).doing("cannot write the report"),
    }
}

/// Whatever was found counts, that which is only worth putting right too.
fn verdict(examination: &Examination) -> Outcome {
    match !examination.roots.is_empty() || !examination.unexplained.is_empty() {
        true => Err(Failure::new(Code::Answer, "")),
        // Nothing is wrong with nothing, which says nothing where not all could be read.
        false if examination.totals.applications == 0 && !examination.unseen.is_empty() => {
            Err(Failure::new(Code::Trouble, "no application could be looked at"))
        }
        false => Ok(()),
    }
}
