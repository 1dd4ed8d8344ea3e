//! `lynceus app delete` and `lynceus app confirm-deletion`

use std::io::IsTerminal as _;

use lynceus_api::{annotations, finalizers};
use lynceus_cluster::Deletion;
use lynceus_engine::application_gvk;
use lynceus_object::{Propagation, value};

use super::context::{Choice, Context};
use super::{follow, served};
use crate::exit::{Code, Doing as _, Outcome};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The applications.
    names: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// Delete what it has delivered as well.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    cascade: bool,
    /// What happens first: `foreground` waits for what is owned, `background` does not.
    #[arg(short = 'p', long, default_value = "foreground", value_parser = ["foreground", "background"])]
    propagation_policy: String,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Wait until it is gone.
    #[arg(long)]
    wait: bool,
}

#[derive(clap::Args)]
pub(crate) struct ConfirmArguments {
    /// The application.
    name: String,
}

/// Confirms what a sync or a deletion waits for.
pub(crate) async fn confirm(context: &Context, arguments: &ConfirmArguments) -> Outcome {
    let now = lynceus_api::Time::from(jiff::Timestamp::now()).to_string();
    let mut patch = value!({"metadata": {}});
    patch.set(&["metadata", "annotations", annotations::DELETION_APPROVED], now);
    context.patch(&arguments.name, &patch).await?;
    println!("Application '{}' updated successfully", arguments.name);
    Ok(())
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    // Only what is deleted with an application is worth a question, and only if somebody is there to answer.
    let ask = arguments.cascade && !arguments.yes && std::io::stdout().is_terminal();
    for name in &context.chosen(&arguments.names, &arguments.choice).await? {
        let object = context.object(name).await?;
        let question = format!("Are you sure you want to delete '{name}' and all its resources? [y/n] ");
        if ask && !crate::terminal::confirmed(&question)? {
            println!("The command to delete '{name}' was cancelled.");
            continue;
        }
        if context.records().is_some() {
            served::delete(context, name, arguments.cascade, &arguments.propagation_policy).await?;
            gone(context, name, arguments.wait).await?;
            continue;
        }
        let others = object.finalizers().filter(|finalizer| !finalizers::deletes_resources(finalizer));
        let mut wanted: Vec<&str> = others.collect();
        if arguments.cascade {
            wanted.push(match arguments.propagation_policy.as_str() {
                "background" => finalizers::RESOURCES_BACKGROUND,
                _ => finalizers::RESOURCES,
            });
        }
        // Nothing may be added to what is being deleted already.
        let may_change = !object.is_deleting() || !arguments.cascade;
        if may_change && !object.finalizers().eq(wanted.iter().copied()) {
            context.patch(name, &value!({"metadata": {"finalizers": wanted}})).await?;
        }
        let key = context.key(name);
        let deletion = Deletion { propagation: Propagation::Background, ..Deletion::default() };
        context
            .cluster()?
            .delete(&application_gvk(), &key.namespace, &key.name, &deletion)
            .await
            .doing(format!("cannot delete application {name}"))?;
        gone(context, name, arguments.wait).await?;
    }
    Ok(())
}

/// Says that an application is deleted; with `wait`, when it is gone.
async fn gone(context: &Context, name: &str, wait: bool) -> Outcome {
    if wait {
        match follow::until(context, name, std::time::Duration::ZERO, |_| false).await {
            // It cannot be read any more, though it could: that is what was waited for. A server says of what is not there that
            // one may not see it.
            Err(failure) if matches!(failure.code, Code::NotFound | Code::Denied) => {}
            Err(failure) => return Err(failure),
            Ok(_) => {}
        }
    }
    println!("application '{name}' deleted");
    Ok(())
}
