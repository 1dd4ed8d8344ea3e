//! `lynceus app rollback`

use std::time::Duration;

use lynceus_api::{Application, Operation, RevisionHistory, SyncOperation, SyncStrategy, SyncStrategyApply};

use super::context::Context;
use super::sync;
use crate::exit::{Code, Failure, Outcome};
use crate::format::Output;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// What to go back to, by its number in `app history`; the one before the last if it is not given.
    id: Option<i64>,
    /// Delete what was not there then.
    #[arg(long)]
    prune: bool,
    /// How many seconds to wait; 0 is for ever.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    timeout: u64,
    /// How to print it in the end.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let name = &arguments.name;
    let application = context.application(name).await?;
    if application.spec.automated().is_some() {
        return Err(Failure::new(
            Code::Refused,
            format!("{name} syncs by itself: it would go forward again at once"),
        )
        .hint(format!("switch that off first:\nlynceus app set {name} --sync-policy none")));
    }
    if application.metadata.deletion_timestamp.is_some() {
        return Err(Failure::new(Code::Refused, format!("{name} is being deleted")));
    }
    let entry = chosen(&application, arguments.id)?;
    let time = Duration::from_secs(arguments.timeout);
    if let Some(records) = context.records() {
        let message = records.asking(name, &[("id", entry.id.into()), ("prune", arguments.prune.into())]);
        let failed = format!("cannot roll back application {name}");
        records.api.call(&failed, "ApplicationService.Rollback", message).await?;
        return sync::finish(context, name, time, arguments.output).await;
    }
    let options = application.spec.sync_policy.as_ref().map(|policy| policy.sync_options.clone());
    let operation = Operation {
        sync: Some(SyncOperation {
            revision: entry.revision.clone(),
            revisions: entry.revisions.clone(),
            source: entry.sources.is_empty().then(|| entry.source.clone()),
            sources: entry.sources.clone(),
            prune: arguments.prune,
            sync_options: options.unwrap_or_default(),
            // As in Argo CD: the hooks of a former time are not run again.
            sync_strategy: Some(SyncStrategy {
                apply: Some(SyncStrategyApply::default()),
                ..SyncStrategy::default()
            }),
            ..SyncOperation::default()
        }),
        initiated_by: sync::initiator(),
        ..Operation::default()
    };
    sync::start(context, name, &application, operation).await?;
    sync::finish(context, name, time, arguments.output).await
}

fn chosen(application: &Application, id: Option<i64>) -> Outcome<&RevisionHistory> {
    let history = &application.status.history;
    let found = match id {
        Some(id) => history.iter().find(|entry| entry.id == id),
        None => history.len().checked_sub(2).and_then(|place| history.get(place)),
    };
    found.ok_or_else(|| {
        let name = &application.metadata.name;
        let what =
            id.map_or_else(|| "there is nothing to go back to".to_owned(), |id| format!("there is no {id}"));
        Failure::new(Code::NotFound, format!("{what} in the history of {name}"))
            .hint(format!("see what there is:\nlynceus app history {name}"))
    })
}
