//! `lynceus app get`

use std::time::Duration;

use lynceus_api::{Application, annotations};
use lynceus_engine::Aim;
use lynceus_object::{typed, value};

use super::context::Context;
use super::record::{Choice, source};
use super::{follow, show, tree};
use crate::exit::{Doing as _, Outcome};
use crate::format::{self, Output};
use crate::table::Table;

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
    /// Show the parameters of its chart as well.
    #[arg(long)]
    show_params: bool,
    #[command(flatten)]
    choice: Choice,
    /// How many seconds a refresh may take before the old state is shown.
    #[arg(long, value_name = "SECONDS", default_value_t = REFRESH.as_secs())]
    timeout: u64,
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
        let time = Duration::from_secs(arguments.timeout);
        refreshed(context, &arguments.name, arguments.hard_refresh, time).await?;
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
            if arguments.show_params {
                print!("{}", parameters(&application, &arguments.choice)?);
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

/// The parameters of the chart that one of its sources is.
fn parameters(application: &Application, choice: &Choice) -> Outcome<String> {
    let failed = format!("cannot read application {}", application.metadata.name);
    let spec = typed::from_typed(&application.spec).doing(failed)?;
    let source = source(&spec, choice.place(&spec)?);
    if source.at(&["helm"]).is_none() {
        return Ok(String::new());
    }
    let mut table = Table::new(&["NAME", "VALUE"]);
    for parameter in source.items_at(&["helm", "parameters"]) {
        let text = |field: &str| parameter.str_at(&[field]).unwrap_or_default();
        table.row([text("name").to_owned(), shortened(text("value"))]);
    }
    Ok(format!("\n\n{table}"))
}

/// A value that fits beside its name.
fn shortened(value: &str) -> String {
    match value.char_indices().nth(VALUE) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value.to_owned(),
    }
}

/// How many characters of a value are shown.
const VALUE: usize = 80;

/// Asks the engine for a look and waits until it has taken one.
pub(crate) async fn refresh(context: &Context, name: &str, hard: bool) -> Outcome {
    refreshed(context, name, hard, REFRESH).await
}

async fn refreshed(context: &Context, name: &str, hard: bool, time: Duration) -> Outcome {
    let kind = if hard { "hard" } else { "normal" };
    if let Some(records) = context.records() {
        let message = records.asking(name, &[("refresh", kind.into())]);
        let failed = format!("cannot refresh application {name}");
        return records.api.call(&failed, "ApplicationService.Get", message).await.map(drop);
    }
    context.patch(name, &value!({"metadata": {"annotations": {annotations::REFRESH: kind}}})).await?;
    let done =
        |application: &Application| !application.metadata.annotations.contains_key(annotations::REFRESH);
    if follow::until(context, name, time, done).await?.is_none() {
        eprintln!("note: no engine has answered the refresh; this is the last known state");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, Value};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        choice: Choice,
    }

    fn check(spec: Value, line: &[&str]) -> String {
        let object = value!({"metadata": {"name": "shop"}, "spec": spec});
        let application = Application::from_object(&Object::new(object).unwrap()).unwrap();
        let choice = Line::parse_from(std::iter::once(&"get").chain(line)).choice;
        parameters(&application, &choice).unwrap_or_else(|failure| failure.message)
    }

    #[test]
    fn parameters_are_those_of_the_source_that_is_meant() {
        let helm = |value: &str| value!({"parameters": [{"name": "image.tag", "value": value}]});
        let long = "x".repeat(81);
        assert_eq!(
            check(value!({"source": {"helm": helm("1")}}), &[]),
            "\n\nNAME       VALUE\nimage.tag  1\n"
        );
        assert_eq!(check(value!({"source": {"path": "."}}), &[]), "");
        let many =
            value!({"sources": [{"name": "a", "helm": helm("1")}, {"name": "b", "helm": helm(&long)}]});
        assert!(check(many.clone(), &["--source-name", "b"]).ends_with(&format!("{}...\n", "x".repeat(80))));
        assert!(check(many, &[]).starts_with("Source position should be specified"));
    }
}
