//! `lynceus app get`

use std::time::Duration;

use lynceus_api::{Application, annotations};
use lynceus_engine::Aim;
use lynceus_object::value;

use super::context::Context;
use super::{follow, show, tree};
use crate::exit::Outcome;
use crate::format::{self, Output};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: GetOutput,
    /// Have Git asked again first.
    #[arg(long)]
    refresh: bool,
    /// Have Git asked again and everything rendered anew first.
    #[arg(long)]
    hard_refresh: bool,
    /// Show the last operation as well.
    #[arg(long)]
    show_operation: bool,
}

/// How an application is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum GetOutput {
    /// For people.
    #[default]
    Wide,
    /// Its name only.
    Name,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// For people, with what its resources own.
    Tree,
    /// The same, with ages and reasons.
    #[value(name = "tree=detailed")]
    Detailed,
}

/// Prints an application for programs. For people there is nothing to print here.
pub(crate) async fn print_object(context: &Context, name: &str, output: Output) -> Outcome {
    let object = format::clean(&context.object(name).await?);
    match output {
        Output::Wide => {}
        Output::Name => println!("{}/{}", object.namespace(), object.name()),
        Output::Json => println!("{}", format::json(object.value())?),
        Output::Yaml => print!("{}", format::documents(&[object])),
    }
    Ok(())
}

/// How long a refresh may take before the old state is shown.
const REFRESH: Duration = Duration::from_secs(60);

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    if arguments.refresh || arguments.hard_refresh {
        refresh(context, &arguments.name, arguments.hard_refresh).await?;
    }
    match arguments.output {
        GetOutput::Json => print_object(context, &arguments.name, Output::Json).await?,
        GetOutput::Yaml => print_object(context, &arguments.name, Output::Yaml).await?,
        GetOutput::Name => print_object(context, &arguments.name, Output::Name).await?,
        GetOutput::Wide | GetOutput::Tree | GetOutput::Detailed => {
            let application = context.application(&arguments.name).await?;
            let now = jiff::Timestamp::now();
            print!("{}", context.summary(&application));
            if let Some(state) = &application.status.operation_state {
                let running = state.phase.known().is_some_and(|phase| !phase.is_completed());
                if running || arguments.show_operation {
                    print!("\n{}", show::operation(state, now));
                }
            }
            println!();
            if arguments.output == GetOutput::Wide {
                print!("{}", show::resources(&application, &context.resources(&application).await));
                return Ok(());
            }
            let look = context.engine()?.look(&application, &Aim::default()).await;
            print!("{}", tree::table(context, &look, arguments.output == GetOutput::Detailed, now)?);
        }
    }
    Ok(())
}

/// Asks the engine for a look and waits until it has taken one.
pub(crate) async fn refresh(context: &Context, name: &str, hard: bool) -> Outcome {
    let kind = if hard { "hard" } else { "normal" };
    if let Some(records) = context.records() {
        let message = records.asking(name, &[("refresh", kind.into())]);
        let failed = format!("cannot refresh application {name}");
        return records.api.call(&failed, "ApplicationService.Get", message).await.map(drop);
    }
    context.patch(name, &value!({"metadata": {"annotations": {annotations::REFRESH: kind}}})).await?;
    let done =
        |application: &Application| !application.metadata.annotations.contains_key(annotations::REFRESH);
    if follow::until(context, name, REFRESH, done).await?.is_none() {
        eprintln!("note: no engine has answered the refresh; this is the last known state");
    }
    Ok(())
}
