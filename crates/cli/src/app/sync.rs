//! `lynceus app sync` and `lynceus app terminate-op`

use std::time::Duration;

use lynceus_api::{
    Application, Backoff, Info, Operation, OperationInitiator, OperationPhase, OperationState,
    ResourceStatus, ResultCode, RetryStrategy, SyncOperation, SyncOperationResource, SyncStatusCode,
    SyncStrategy, SyncStrategyApply, SyncStrategyHook,
};
use lynceus_engine::{Aim, Freshness, window};
use lynceus_object::selector::Selector;
use lynceus_object::{Object, Str, json, typed, value};
use lynceus_sync::windows::Attempt;

use super::context::{Choice, Context};
use super::local::Local;
use super::pattern::{self, ResourcePattern};
use super::revisions::Revisions;
use super::{diff, follow, get, served, show};
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
    #[command(flatten)]
    revisions: Revisions,
    /// Delete what is no longer in Git.
    #[arg(long)]
    prune: bool,
    /// Show what would change first, and ask.
    #[arg(long)]
    preview_changes: bool,
    /// Do not ask.
    #[arg(long = "assumeYes")]
    assume_yes: bool,
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
    /// Sync only resources with this label, as KEY=VALUE; may be given several times, for those that have any of them.
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
    #[command(flatten)]
    local: Local,
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
        check(&application, arguments)?;
        let mut operation = operation(&application, arguments)?;
        if let Some(sync) = &mut operation.sync {
            sync.resources = resources(context, &application, arguments).await?;
            let manifests = arguments.local.manifests(&application).await?;
            let text = |object: &Object| json::to_string(object.value()).into();
            sync.manifests = manifests.iter().flatten().map(text).collect();
            if arguments.preview_changes
                && !preview(context, (&application, sync), manifests, arguments).await?
            {
                continue;
            }
        }
        start(context, name, &application, operation).await?;
        if !arguments.background {
            finish(context, name, Duration::from_secs(arguments.timeout), arguments.output).await?;
            left_to_prune(context, name, arguments).await?;
        }
    }
    Ok(())
}

/// What cannot be asked for together.
fn check(application: &Application, arguments: &Arguments) -> Outcome {
    let name = &application.metadata.name;
    let refuse = |message: String| Err(Failure::new(Code::Refused, message));
    let is_multiple = application.spec.has_multiple_sources();
    if application.metadata.deletion_timestamp.is_some() {
        return refuse(format!("{name} is being deleted"));
    }
    if is_multiple && arguments.local.is_given() {
        return refuse(format!("{name} has several sources, which --local cannot stand for"));
    }
    if arguments.local.is_given() && application.spec.automated().is_some() && !arguments.dry_run {
        return refuse(format!(
            "{name} syncs by itself: --local would be undone at once; add --dry-run to try it"
        ));
    }
    Ok(())
}

/// Shows what would change, and asks. `false` if there is nothing to do, or somebody said no.
async fn preview(
    context: &Context,
    (application, sync): (&Application, &SyncOperation),
    manifests: Option<Vec<Object>>,
    arguments: &Arguments,
) -> Outcome<bool> {
    let name = &application.metadata.name;
    println!("====== Previewing differences between live and desired state of application {name} ======");
    let revisions = match (sync.revisions.is_empty(), sync.revision.is_empty()) {
        (false, _) => sync.revisions.clone(),
        (true, false) => vec![sync.revision.clone()],
        (true, true) => Vec::new(),
    };
    let aim = Aim { revisions, manifests, freshness: Freshness::Latest, ..Aim::default() };
    let text = diff::differences(context, application, &aim).await?;
    if text.is_empty() {
        println!("====== No Differences found ======");
        return Ok(false);
    }
    print!("{text}");
    let question = format!(
        "Please review changes to application {name} shown above. Do you want to continue the sync process? (y/n): "
    );
    if arguments.assume_yes || crate::terminal::confirmed(&question)? {
        return Ok(true);
    }
    println!("The sync of {name} was cancelled.");
    Ok(false)
}

/// A sync of everything that leaves something behind has not done what was asked for.
async fn left_to_prune(context: &Context, name: &str, arguments: &Arguments) -> Outcome {
    let application = context.application(name).await?;
    let results = application.status.operation_state.and_then(|state| state.sync_result);
    let left = results
        .iter()
        .flat_map(|result| &result.resources)
        .filter(|result| result.status == ResultCode::PruneSkipped)
        .count();
    let was_whole = arguments.resource.is_empty() && arguments.label.is_empty() && !arguments.dry_run;
    if left == 0 || !was_whole || application.status.sync.status == SyncStatusCode::Synced {
        return Ok(());
    }
    Err(Failure::new(Code::Answer, format!("{left} resources require pruning"))
        .hint(format!("delete what is no longer in Git:\nlynceus app sync {name} --prune")))
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
    let Some(engine) = context.engine().ok() else { return served::sync(context, name, &operation).await };
    let now = engine.clock().now();
    let by_hand = Attempt { manual: true, started: None };
    if let Ok(project) = engine.project(application)
        && let Some(wait) = window::closed(application, &project, by_hand, now)
    {
        let failure = Failure::new(Code::Refused, "cannot sync: blocked by sync window");
        return Err(wait
            .for_
            .iter()
            .fold(failure, |failure, what| failure.hint(format!("it waits for {what}"))));
    }
    let value = typed::from_typed(&operation).doing("cannot write the operation")?;
    let mut patch = value!({"metadata": {"resourceVersion": application.metadata.resource_version}});
    patch.set(&["operation"], value);
    context.patch(name, &patch).await.map(drop)
}

/// Waits until the operation is over and tells how it went.
pub(crate) async fn finish(context: &Context, name: &str, time: Duration, output: Output) -> Outcome {
    let over = |application: &Application, _: &[ResourceStatus]| {
        let state = application.status.operation_state.as_ref();
        application.operation.is_none() && state.is_some_and(|state| !is_running(state))
    };
    let Some(application) = follow::until_telling(context, name, time, output, over).await? else {
        return Err(Failure::new(Code::Other, format!("timed out waiting for the sync of {name}"))
            .hint(format!("see what it waits for:\nlynceus app get {name}")));
    };
    // What is told is what a look after the end finds, as with Argo CD: until then the state is that from before.
    get::refresh(context, name, false).await?;
    get::print_object(context, name, output).await?;
    let Some(state) = &application.status.operation_state else { return Ok(()) };
    if output == Output::Wide {
        let application = context.application(name).await?;
        print!("\n{}", context.summary(&application));
        print!("\n{}", show::operation(state, jiff::Timestamp::now()));
        println!("\n{}", show::resources(&application, &context.resources(&application).await));
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
    if let Some(records) = context.records() {
        let failed = format!("cannot stop the operation of {}", arguments.name);
        let message = records.about(&arguments.name);
        records.api.call(&failed, "ApplicationService.TerminateOperation", message).await?;
        println!("application '{}' operation terminating", arguments.name);
        return Ok(());
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
    let is_multiple = application.spec.has_multiple_sources();
    let revisions = arguments.revisions.of(application)?;
    let one = revisions.first().filter(|_| !is_multiple).cloned().unwrap_or_default();
    let sync = SyncOperation {
        revision: one,
        revisions: if is_multiple { revisions } else { Vec::new() },
        prune: arguments.prune,
        dry_run: arguments.dry_run,
        sync_options: options,
        sync_strategy: strategy(arguments),
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

/// The resources that are meant, by name or by label; none for all.
async fn resources(
    context: &Context,
    application: &Application,
    arguments: &Arguments,
) -> Outcome<Vec<SyncOperationResource>> {
    let mut meant = labelled(context, application, &arguments.label).await?;
    meant.extend(pattern::meant(&arguments.resource, &application.status.resources));
    let asked = !arguments.resource.is_empty() || !arguments.label.is_empty();
    if meant.is_empty() && asked {
        let message = match arguments.label.is_empty() {
            true => "no resource of the application is meant by --resource".to_owned(),
            false => format!("no matching resources found for labels: {}", arguments.label.join(",")),
        };
        let name = &application.metadata.name;
        return Err(Failure::new(Code::Other, message)
            .hint(format!("see what there is:\nlynceus app manifests {name}")));
    }
    Ok(meant)
}

/// The resources that have one of the labels.
async fn labelled(
    context: &Context,
    application: &Application,
    labels: &[String],
) -> Outcome<Vec<SyncOperationResource>> {
    if labels.is_empty() {
        return Ok(Vec::new());
    }
    let selectors = labels
        .iter()
        .map(|label| Selector::parse(label).doing("cannot read --label"))
        .collect::<Outcome<Vec<_>>>()?;
    let look = context.engine()?.look(application, &Aim::default()).await;
    let is_meant =
        |object: &&Object| selectors.iter().any(|selector| selector.matches(|key| object.label(key)));
    let named = |object: &Object| SyncOperationResource {
        group: object.group().into(),
        kind: object.kind().into(),
        namespace: object.namespace().into(),
        name: object.name().into(),
        ..SyncOperationResource::default()
    };
    Ok(look.desired.objects.iter().filter(is_meant).map(named).collect())
}

/// Reads `KEY=VALUE`.
fn info(text: &str) -> Outcome<Info> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Failure::new(Code::Other, format!("--info {text:?} should have the form KEY=VALUE")));
    };
    Ok(Info { name: name.into(), value: value.into(), ..Info::default() })
}
