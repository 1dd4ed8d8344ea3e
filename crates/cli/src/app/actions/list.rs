//! `lynceus app actions list`

use clap::ValueEnum;
use lynceus_object::{Object, Value, value, yaml};
use serde::Serialize;

use super::super::context::Context;
use super::super::record::Records;
use super::super::served;
use super::Subjects;
use super::choice::Choice;
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// Only of resources of this kind.
    #[arg(long, default_value = "")]
    kind: String,
    /// Only of resources of this group.
    #[arg(long)]
    group: Option<String>,
    /// Only of resources in this namespace.
    #[arg(long, default_value = "")]
    namespace: String,
    /// Only of resources of this name.
    #[arg(long, default_value = "")]
    resource_name: String,
    /// How to print them, if not for people.
    #[arg(short, long, value_enum, visible_alias = "output")]
    out: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Yaml,
    Json,
}

/// An action of a resource, with the fields that scripts around `argocd` read.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Row {
    group: String,
    kind: String,
    name: String,
    action: String,
    disabled: bool,
}

/// Lists the actions of an application's resources. Where those of one cannot be told, the others are printed all the
/// same.
pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let subjects = Subjects::find(context, &arguments.name).await?;
    let choice = Choice {
        kind: &arguments.kind,
        group: arguments.group.as_deref(),
        namespace: &arguments.namespace,
        name: &arguments.resource_name,
    };
    let (mut rows, mut causes) = (Vec::new(), Vec::new());
    for object in choice.all(&subjects.all)? {
        // What has gone meanwhile has no actions.
        let Some(object) = subjects.whole(object).await? else { continue };
        match context.engine()?.offers(&object) {
            Ok(offers) => rows.extend(offers.iter().map(|offer| row(&object, &offer.name, offer.disabled))),
            Err(error) => causes.push(format!("{}: {}", object.key(), lynceus_engine::words(&error))),
        }
    }
    print(&rows, arguments.out)?;
    match causes.is_empty() {
        true => Ok(()),
        false => Err(Failure {
            causes,
            ..Failure::new(Code::Other, "the actions of some resources cannot be listed")
        }
        .hint("they are under resource.customizations in the ConfigMap argocd-cm")),
    }
}

/// The same of a server.
pub(super) async fn served(context: &Context, records: &Records, arguments: &Arguments) -> Outcome {
    let application = context.application(&arguments.name).await?;
    let group = arguments.group.as_deref();
    let meant =
        (arguments.kind.as_str(), group, arguments.namespace.as_str(), arguments.resource_name.as_str());
    let mut rows = Vec::new();
    for resource in served::meant(&application, meant) {
        let message = served::about(records, &arguments.name, resource);
        let failed = format!("cannot list the actions of {} {}", resource.kind, resource.name);
        let answer = records.api.call(&failed, "ApplicationService.ListResourceActions", message).await?;
        rows.extend(answer.items_at(&["actions"]).iter().map(|action| Row {
            group: resource.group.to_string(),
            kind: resource.kind.to_string(),
            name: resource.name.to_string(),
            action: action.str_at(&["name"]).unwrap_or_default().to_owned(),
            disabled: action.bool_at(&["disabled"]).unwrap_or_default(),
        }));
    }
    print(&rows, arguments.out)
}

fn row(object: &Object, action: &str, disabled: bool) -> Row {
    Row {
        group: object.group().to_owned(),
        kind: object.kind().to_owned(),
        name: object.name().to_owned(),
        action: action.to_owned(),
        disabled,
    }
}

fn print(rows: &[Row], format: Option<Format>) -> Outcome {
    match format {
        // Go's empty slice is null.
        Some(Format::Json) if rows.is_empty() => println!("null"),
        Some(Format::Json) => {
            println!("{}", serde_json::to_string_pretty(rows).doing("cannot print JSON")?);
        }
        Some(Format::Yaml) => println!("{}", yaml::to_string(&listed(rows))),
        None => {
            let mut table = Table::new(&["GROUP", "KIND", "NAME", "ACTION", "DISABLED"]);
            for row in rows {
                let disabled = row.disabled.to_string();
                table.row([
                    row.group.clone(),
                    row.kind.clone(),
                    row.name.clone(),
                    row.action.clone(),
                    disabled,
                ]);
            }
            print!("{table}");
        }
    }
    Ok(())
}

fn listed(rows: &[Row]) -> Value {
    if rows.is_empty() {
        return Value::Null;
    }
    let item = |row: &Row| {
        value!({
            "Action": row.action.as_str(), "Disabled": row.disabled, "Group": row.group.as_str(),
            "Kind": row.kind.as_str(), "Name": row.name.as_str(),
        })
    };
    rows.iter().map(item).collect::<Vec<Value>>().into()
}
