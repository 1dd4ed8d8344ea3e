//! `lynceus app sync` and `lynceus app terminate-op`

use std::path::PathBuf;
use std::time::Duration;

use lynceus_api::{
    Application, ApplicationSource, Operation, OperationInitiator, OperationPhase, OperationState,
    RetryStrategy, SyncOperation, SyncOperationResource, SyncStrategy, SyncStrategyApply, SyncStrategyHook,
};
use lynceus_engine::Aim;
use lynceus_object::{Object, Str, json, typed, value};
use lynceus_source::DiskTree;

use super::context::Context;
use super::{follow, show};
use crate::exit::{Code, Doing as _, Failure, Outcome};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The applications.
    #[arg(required = true)]
    names: Vec<String>,
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
    /// Sync only this resource, as GROUP:KIND:NAME or GROUP:KIND:NAMESPACE/NAME; may be given several times.
    #[arg(long, value_name = "RESOURCE")]
    resource: Vec<String>,
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
    /// Do not wait for the end.
    #[arg(long = "async")]
    background: bool,
    /// How many seconds to wait; 0 is for ever.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    timeout: u64,
}

#[derive(clap::Args)]
pub(crate) struct TerminateArguments {
    /// The application.
    name: String,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    for name in &arguments.names {
        let application = context.application(name).await?;
        let operation = operation(&application, arguments)?;
        start(context, name, &application, operation).await?;
        if !arguments.background {
            finish(context, name, Duration::from_secs(arguments.timeout)).await?;
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
pub(crate) async fn finish(context: &Context, name: &str, time: Duration) -> Outcome {
    let over = |application: &Application| {
        let state = application.status.operation_state.as_ref();
        application.operation.is_none() && state.is_some_and(|state| !is_running(state))
    };
    let Some(application) = follow::until_telling(context, name, time, over).await? else {
        return Err(Failure::new(Code::Other, format!("timed out waiting for the sync of {name}"))
            .hint(format!("see what it waits for:\nlynceus app get {name}")));
    };
    let now = context.engine().clock().now();
    println!();
    print!("{}", show::summary(&application, now));
    let Some(state) = &application.status.operation_state else { return Ok(()) };
    print!("\n{}", show::operation(state, now));
    let look = context.engine().look(&application, &Aim::default()).await;
    println!("\n{}", show::resources(&application, &look.assessment));
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
        ));
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
    let resources = arguments.resource.iter().map(|text| resource(text)).collect::<Outcome<_>>()?;
    let sync = SyncOperation {
        revision: arguments.revision.as_deref().unwrap_or_default().into(),
        prune: arguments.prune,
        dry_run: arguments.dry_run,
        sync_options: options,
        resources,
        sync_strategy: strategy(arguments),
        manifests: local(arguments)?,
        ..SyncOperation::default()
    };
    let policy = application.spec.sync_policy.as_ref().and_then(|policy| policy.retry.clone());
    let retry = match arguments.retry_limit {
        0 => policy.unwrap_or_default(),
        limit => RetryStrategy { limit, ..policy.unwrap_or_default() },
    };
    Ok(Operation { sync: Some(sync), initiated_by: initiator(), retry, ..Operation::default() })
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
    let failed = format!("cannot read {}", folder.display());
    let tree = DiskTree::open(folder).doing(failed.as_str())?;
    let source = ApplicationSource { path: ".".into(), ..ApplicationSource::default() };
    let rendered = lynceus_render::render(&tree, &source).doing(failed.as_str())?;
    if let Some(broken) = rendered.diagnostics.first() {
        return Err(Failure::new(Code::Other, format!("{failed}: {}", broken.to_text())));
    }
    let text = |object: &Object| json::to_string(object.value()).into();
    Ok(rendered.manifests.iter().map(|manifest| text(&manifest.object)).collect())
}

/// Reads `GROUP:KIND:NAME` or `GROUP:KIND:NAMESPACE/NAME`.
fn resource(text: &str) -> Outcome<SyncOperationResource> {
    let parts: Vec<&str> = text.split(':').collect();
    let [group, kind, name] = parts.as_slice() else {
        return Err(Failure::new(
            Code::Other,
            format!("{text:?} should have the form GROUP:KIND:NAME or GROUP:KIND:NAMESPACE/NAME"),
        ));
    };
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    Ok(SyncOperationResource {
        group: (*group).into(),
        kind: (*kind).into(),
        namespace: namespace.into(),
        name: name.into(),
        ..SyncOperationResource::default()
    })
}
