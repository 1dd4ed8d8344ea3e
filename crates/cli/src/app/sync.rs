//! `lynceus app sync` and `lynceus app terminate-op`

use std::path::PathBuf;
use std::time::Duration;

use lynceus_api::{
    Application, Backoff, Info, Operation, OperationInitiator, OperationPhase, OperationState, RetryStrategy,
    SyncOperation, SyncOperationResource, SyncStrategy, SyncStrategyApply, SyncStrategyHook,
};
use lynceus_engine::Aim;
use lynceus_object::selector::Selector;
use lynceus_object::{Object, Str, json, typed, value};

use super::context::{Choice, Context};
use super::pattern::{self, ResourcePattern};
use super::{follow, get, show};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::format::Output;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The applications.
    names: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// Those of this project, instead of names; may be given several times.
    #[arg(long)]
    project: Vec<String>,
    /// Sync to this revision instead of the application's own.
    #[arg(long)]
    revision: Option<String>,
    /// Delete what is no longer in Git.
    #[arg(long)]
    prune: bool,
    /// Only try; write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Delete and create again what cannot be changed in place.
    #[arg(long)]
    force: bool,
    /// Sync only this resource, as GROUP:KIND:NAME or GROUP:KIND:NAMESPACE/NAME; `*` for any part, `!` before it for all
    /// others; may be given several times.
    #[arg(long, value_name = "RESOURCE")]
    resource: Vec<ResourcePattern>,
    /// Sync only resources with this label, as KEY=VALUE; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    label: Vec<String>,
    /// Something to remember about this sync, as KEY=VALUE; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    info: Vec<String>,
    /// `apply` leaves hooks out; `hook` runs them.
    #[arg(long, value_parser = ["apply", "hook"])]
    strategy: Option<String>,
    /// Replace objects instead of applying them.
    #[arg(long)]
    replace: bool,
    /// Apply on the server's side.
    #[arg(long)]
    server_side: bool,
    /// Touch only what is out of sync.
    #[arg(long)]
    apply_out_of_sync_only: bool,
    /// Sync these manifests instead of what is in Git.
    #[arg(long, value_name = "DIR")]
    local: Option<PathBuf>,
    /// How often to try again after a failure.
    #[arg(long, value_name = "N", default_value_t = 0)]
    retry_limit: i64,
    /// Take the newest revision when trying again.
    #[arg(long)]
    retry_refresh: bool,
    /// How long to wait before the first repetition.
    #[arg(long, value_name = "DURATION", default_value = "5s")]
    retry_backoff_duration: String,
    /// What each wait is multiplied by.
    #[arg(long, value_name = "N", default_value_t = 2)]
    retry_backoff_factor: i64,
    /// The longest wait between two attempts.
    #[arg(long, value_name = "DURATION", default_value = "3m0s")]
    retry_backoff_max_duration: String,
    /// Do not wait for the end.
    #[arg(long = "async")]
    background: bool,
    /// How many seconds to wait; 0 is for ever.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    timeout: u64,
    /// How to print it in the end.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

#[derive(clap::Args)]
pub(crate) struct TerminateArguments {
    /// The application.
    name: String,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let choice = Choice { projects: arguments.project.clone(), ..arguments.choice.clone() };
    for name in &context.chosen(&arguments.names, &choice).await? {
        let application = context.application(name).await?;
        let mut operation = operation(&application, arguments)?;
        if let Some(sync) = &mut operation.sync {
            sync.resources = resources(context, &application, arguments).await?;
        }
        start(context, name, &application, operation).await?;
        if !arguments.background {
            finish(context, name, Duration::from_secs(arguments.timeout), arguments.output).await?;
        }
    }
    Ok(())
}

/// Asks for an operation, unless one is under way.
pub(crate) async fn start(
    context: &Context,
    name: &str,
    application: &Application,
    operation: Operation,
) -> Outcome {
    let running = application.status.operation_state.as_ref().is_some_and(is_running);
    if application.operation.is_some() || running {
        return Err(Failure::new(Code::Refused, "another operation is already in progress")
            .hint(format!("see what it waits for:\nlynceus app get {name}"))
            .hint(format!("or stop it:\nlynceus app terminate-op {name}")));
    }
    let value = typed::from_typed(&operation).doing("cannot write the operation")?;
    let mut patch = value!({"metadata": {"resourceVersion": application.metadata.resource_version}});
    patch.set(&["operation"], value);
    context.patch(name, &patch).await.map(drop)
}

/// Waits until the operation is over and tells how it went.
pub(crate) async fn finish(context: &Context, name: &str, time: Duration, output: Output) -> Outcome {
    let over = |application: &Application| {
        let state = application.status.operation_state.as_ref();
        application.operation.is_none() && state.is_some_and(|state| !is_running(state))
    };
    let Some(application) = follow::until_telling(context, name, time, output, over).await? else {
        return Err(Failure::new(Code::Other, format!("timed out waiting for the sync of {name}"))
            .hint(format!("see what it waits for:\nlynceus app get {name}")));
    };
    get::print_object(context, name, output).await?;
    let Some(state) = &application.status.operation_state else { return Ok(()) };
    if output == Output::Wide {
        let now = context.engine().clock().now();
        print!("\n{}", show::summary(&application, now));
        print!("\n{}", show::operation(state, now));
        let look = context.engine().look(&application, &Aim::default()).await;
        println!("\n{}", show::resources(&application, &look.assessment));
    }
    if state.phase == OperationPhase::Succeeded {
        return Ok(());
    }
    Err(Failure::new(
        Code::Answer,
        format!("the operation of {name} has completed with phase: {}", state.phase),
    ))
}

pub(crate) async fn terminate(context: &Context, arguments: &TerminateArguments) -> Outcome {
    let application = context.application(&arguments.name).await?;
    if !application.status.operation_state.as_ref().is_some_and(is_running) {
        return Err(Failure::new(
            Code::Other,
            format!("unable to terminate operation: no operation is in progress on {}", arguments.name),
        )
        .hint(format!("see its state:\nlynceus app get {}", arguments.name)));
    }
    let phase = OperationPhase::Terminating.to_string();
    context.patch(&arguments.name, &value!({"status": {"operationState": {"phase": phase}}})).await?;
    println!("application '{}' operation terminating", arguments.name);
    Ok(())
}

fn is_running(state: &OperationState) -> bool {
    state.phase.known().is_some_and(|phase| !phase.is_completed())
}

/// Who asks, for the history.
pub(crate) fn initiator() -> OperationInitiator {
    let username = std::env::var("USER").unwrap_or_default().into();
    OperationInitiator { username, ..OperationInitiator::default() }
}

fn operation(application: &Application, arguments: &Arguments) -> Outcome<Operation> {
    let mut options: Vec<Str> =
        application.spec.sync_policy.as_ref().map(|policy| policy.sync_options.clone()).unwrap_or_default();
    for (wanted, option) in [
        (arguments.replace, "Replace=true"),
        (arguments.server_side, "ServerSideApply=true"),
        (arguments.apply_out_of_sync_only, "ApplyOutOfSyncOnly=true"),
    ] {
        if wanted {
            options.push(option.into());
        }
    }
    let sync = SyncOperation {
        revision: arguments.revision.as_deref().unwrap_or_default().into(),
        prune: arguments.prune,
        dry_run: arguments.dry_run,
        sync_options: options,
        sync_strategy: strategy(arguments),
        manifests: local(arguments)?,
        ..SyncOperation::default()
    };
    let policy = application.spec.sync_policy.as_ref().and_then(|policy| policy.retry.clone());
    let retry = match arguments.retry_limit {
        0 => policy.unwrap_or_default(),
        limit => RetryStrategy {
            limit,
            refresh: arguments.retry_refresh,
            backoff: Some(Backoff {
                duration: arguments.retry_backoff_duration.as_str().into(),
                factor: Some(arguments.retry_backoff_factor),
                max_duration: arguments.retry_backoff_max_duration.as_str().into(),
                ..Backoff::default()
            }),
            ..RetryStrategy::default()
        },
    };
    let info = arguments.info.iter().map(|text| info(text)).collect::<Outcome<_>>()?;
    Ok(Operation { sync: Some(sync), initiated_by: initiator(), retry, info, ..Operation::default() })
}

fn strategy(arguments: &Arguments) -> Option<SyncStrategy> {
    let force = arguments.force;
    match arguments.strategy.as_deref() {
        Some("apply") => Some(SyncStrategy {
            apply: Some(SyncStrategyApply { force, ..SyncStrategyApply::default() }),
            ..SyncStrategy::default()
        }),
        Some(_) => Some(hook(force)),
        None => force.then(|| hook(force)),
    }
}

fn hook(force: bool) -> SyncStrategy {
    let hook = SyncStrategyHook { force, ..SyncStrategyHook::default() };
    SyncStrategy { hook: Some(hook), ..SyncStrategy::default() }
}

/// Manifests of a folder, as the operation carries them.
fn local(arguments: &Arguments) -> Outcome<Vec<Str>> {
    let Some(folder) = &arguments.local else { return Ok(Vec::new()) };
    let text = |object: &Object| json::to_string(object.value()).into();
    Ok(super::manifests::of_folder(folder)?.iter().map(text).collect())
}

/// The resources that are meant, by name and by label; none for all.
async fn resources(
    context: &Context,
    application: &Application,
    arguments: &Arguments,
) -> Outcome<Vec<SyncOperationResource>> {
    if arguments.label.is_empty() {
        let known = &application.status.resources;
        let meant = pattern::meant(&arguments.resource, known);
        if meant.is_empty() && !arguments.resource.is_empty() {
            return Err(Failure::new(Code::Other, "no resource of the application is meant by --resource")
                .hint(format!("see what there is:\nlynceus app resources {}", application.metadata.name)));
        }
        return Ok(meant);
    }
    let wanted = Selector::parse(&arguments.label.join(",")).doing("cannot read --label")?;
    let look = context.engine().look(application, &Aim::default()).await;
    let meant: Vec<SyncOperationResource> = look
        .desired
        .objects
        .iter()
        .filter(|object| wanted.matches(|key| object.label(key)))
        .map(|object| SyncOperationResource {
            group: object.group().into(),
            kind: object.kind().into(),
            namespace: object.namespace().into(),
            name: object.name().into(),
            ..SyncOperationResource::default()
        })
        .collect();
    if meant.is_empty() {
        let labels = arguments.label.join(",");
        return Err(Failure::new(Code::Other, format!("no matching resources found for labels: {labels}"))
            .hint(format!("see what there is:\nlynceus app manifests {}", application.metadata.name)));
    }
    Ok(meant)
}

/// Reads `KEY=VALUE`.
fn info(text: &str) -> Outcome<Info> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Failure::new(Code::Other, format!("--info {text:?} should have the form KEY=VALUE")));
    };
    Ok(Info { name: name.into(), value: value.into(), ..Info::default() })
}
