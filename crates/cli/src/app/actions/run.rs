//! `lynceus app actions run`

use lynceus_engine::Call;
use lynceus_object::{Value, value};

use super::super::context::Context;
use super::super::record::Records;
use super::super::served;
use super::super::sync;
use super::Subjects;
use super::choice::Choice;
use crate::exit::{Code, Doing as _, Failure, Outcome};

/// Run an action on resources of an application.
///
/// An action is run on one resource, or with --all on every one that fits. Resources are those that the application manages;
/// where none of these fits, those that they own.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// The action, as `lynceus app actions list` names it.
    action: String,
    /// The kind of the resource.
    #[arg(long)]
    kind: String,
    /// The group of the resource.
    #[arg(long)]
    group: Option<String>,
    /// The namespace of the resource.
    #[arg(long, default_value = "")]
    namespace: String,
    /// The name of the resource.
    #[arg(long, default_value = "")]
    resource_name: String,
    /// Run it on every resource that fits.
    #[arg(long)]
    all: bool,
    /// A parameter of the action, as `replicas=3`; may be given several times.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is NAME=VALUE, as in replicas=3".to_owned()),
    }
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let parameters = parameters(&arguments.parameters)?;
    let subjects = Subjects::find(context, &arguments.name).await?;
    let choice = Choice {
        kind: &arguments.kind,
        group: arguments.group.as_deref(),
        namespace: &arguments.namespace,
        name: &arguments.resource_name,
    };
    let user = sync::initiator().username;
    let call = Call { action: &arguments.action, parameters: &parameters, user: &user };
    for object in choice.targets(&subjects.all, arguments.all)? {
        let (application, belongings) = (&subjects.application, &subjects.belongings);
        context.engine()?.run_action(application, belongings, object, call).await.doing(format!(
            "cannot run action {} on {}",
            arguments.action,
            object.key()
        ))?;
    }
    Ok(())
}

/// The same of a server.
pub(super) async fn served(context: &Context, records: &Records, arguments: &Arguments) -> Outcome {
    let application = context.application(&arguments.name).await?;
    let group = arguments.group.as_deref();
    let meant =
        (arguments.kind.as_str(), group, arguments.namespace.as_str(), arguments.resource_name.as_str());
    let found = served::meant(&application, meant);
    if found.is_empty() || (found.len() > 1 && !arguments.all) {
        let what = if found.is_empty() {
            "no resource of the application is meant"
        } else {
            "several resources are meant"
        };
        return Err(Failure::new(Code::Other, what)
            .hint("say more with --group, --namespace and --resource-name, or take all with --all"));
    }
    let given = arguments
        .parameters
        .iter()
        .map(|(name, value)| value!({"name": name.as_str(), "value": value.as_str()}));
    let given: Vec<Value> = given.collect();
    for resource in found {
        let mut message = served::about(records, &arguments.name, resource);
        message.set(&["action"], arguments.action.as_str());
        message.set(&["resourceActionParameters"], Value::from(given.clone()));
        let failed = format!("cannot run action {} on {} {}", arguments.action, resource.kind, resource.name);
        records.api.call(&failed, "ApplicationService.RunResourceActionV2", message).await?;
    }
    Ok(())
}

/// The parameters as an action takes them: texts, each given once.
fn parameters(given: &[(String, String)]) -> Outcome<Vec<(&str, Value)>> {
    let mut parameters: Vec<(&str, Value)> = Vec::with_capacity(given.len());
    for (name, value) in given {
        if parameters.iter().any(|(known, _)| known == name) {
            return Err(Failure::new(Code::Other, format!("parameter {name} is given twice")));
        }
        parameters.push((name, value.as_str().into()));
    }
    Ok(parameters)
}
