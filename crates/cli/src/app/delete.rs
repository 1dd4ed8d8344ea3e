//! `lynceus app delete`

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use lynceus_api::finalizers;
use lynceus_cluster::Deletion;
use lynceus_engine::application_gvk;
use lynceus_object::{Propagation, value};

use super::context::Context;
use super::follow;
use crate::exit::{Code, Doing as _, Failure, Outcome};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The applications.
    #[arg(required = true)]
    names: Vec<String>,
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

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    for name in &arguments.names {
        let object = context.object(name).await?;
        if !arguments.yes && !confirmed(name, arguments.cascade)? {
            println!("The command to delete '{name}' was cancelled.");
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
        context.patch(name, &value!({"metadata": {"finalizers": wanted}})).await?;
        let key = context.key(name);
        let deletion = Deletion { propagation: Propagation::Background, ..Deletion::default() };
        context
            .cluster()
            .delete(&application_gvk(), &key.namespace, &key.name, &deletion)
            .await
            .doing(format!("cannot delete application {name}"))?;
        if arguments.wait {
            match follow::until(context, name, std::time::Duration::ZERO, |_| false).await {
                Err(failure) if failure.code == Code::NotFound => {}
                Err(failure) => return Err(failure),
                Ok(_) => {}
            }
        }
        println!("application '{name}' deleted");
    }
    Ok(())
}

/// Asks whoever sits at the terminal; without one, nobody has said yes.
fn confirmed(name: &str, cascade: bool) -> Outcome<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(Code::Other, format!("nobody is here to confirm the deletion of {name}"))
            .hint("use --yes if it is meant"));
    }
    let what = if cascade { " and all its resources" } else { "" };
    print!("Are you sure you want to delete '{name}'{what}? [y/n] ");
    std::io::stdout().flush().doing("cannot ask")?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).doing("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
