//! `lynceus app manifests`

use lynceus_engine::{Aim, Freshness};
use lynceus_object::Object;

use super::context::Context;
use super::local::Local;
use super::revisions::Revisions;
use super::served;
use crate::exit::{Code, Failure, Outcome};
use crate::format;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// Where to take them from: `git` as they are wanted, `live` as they are.
    #[arg(long, default_value = "git", value_parser = ["git", "live"])]
    source: String,
    #[command(flatten)]
    revisions: Revisions,
    #[command(flatten)]
    local: Local,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    if let Some(records) = context.records().filter(|_| !arguments.local.is_given()) {
        let live = arguments.source == "live";
        let application = context.application(&arguments.name).await?;
        let revisions = arguments.revisions.of(&application)?;
        return served::manifests(records, &arguments.name, live, &revisions).await;
    }
    let application = context.application(&arguments.name).await?;
    let revisions = arguments.revisions.of(&application)?;
    let manifests = arguments.local.manifests(&application).await?;
    let aim = Aim { revisions, manifests, freshness: Freshness::Latest, ..Aim::default() };
    let look = context.engine()?.look(&application, &aim).await;
    let errors: Vec<String> = look.errors().map(|condition| condition.message.clone()).collect();
    if !look.compared {
        let mut failure =
            Failure::new(Code::Other, format!("the manifests of {} cannot be rendered", arguments.name));
        failure.causes = errors;
        return Err(failure);
    }
    let objects: Vec<Object> = match arguments.source.as_str() {
        "live" => look
            .changes
            .changes
            .iter()
            .filter_map(|change| change.pair.live())
            .map(|live| context.shown(live))
            .collect(),
        _ => look.desired.objects.iter().map(|object| context.shown(object)).collect(),
    };
    print!("{}", format::documents(&objects));
    for error in errors {
        eprintln!("warning: {error}");
    }
    Ok(())
}
