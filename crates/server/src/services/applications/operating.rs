//! Syncing, rolling back and stopping.

use jiff::Timestamp;
use lynceus_api::{
    Application, Operation, OperationInitiator, OperationPhase, OperationState, RetryStrategy,
    RevisionHistory,
};
use lynceus_api::{SyncOperation, SyncStrategy, SyncStrategyApply};
use lynceus_engine::{AppKey, window};
use lynceus_object::{Object, Str, Value, typed, value};
use lynceus_sync::windows::Attempt;

use super::changing::done;
use crate::call::{Answer, Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// Asks for a sync.
pub(super) async fn sync(call: &Call) -> Answered {
    let object = call.application_may("sync", "name")?;
    let application = super::read(&object)?;
    refuse_deleted(&application)?;
    let manifests = call.texts("manifests");
    if !manifests.is_empty() {
        // What is not from Git is more than a sync: it takes the right to override.
        call.caller.need(Resource::Applications, "override", &call.application_object(&object))?;
        if application.spec.automated().is_some() && !call.flag("dryRun") {
            let message = "cannot use local sync when Automatic Sync Policy is enabled unless for dry run";
            return Err(Refusal::new(Code::FailedPrecondition, message));
        }
    }
    let operation = wanted(call, &application, manifests)?;
    begin(call, &object, &application, &operation).await
}

/// Goes back to what was synced before.
pub(super) async fn rollback(call: &Call) -> Answered {
    let is_apart = call.server.setting("server.rbac.rollback.enforce.enable") == "true";
    let action = if is_apart { "rollback" } else { "sync" };
    let object = call.application_may(action, "name")?;
    let application = super::read(&object)?;
    refuse_deleted(&application)?;
    if application.spec.automated().is_some() {
        return Err(Refusal::new(
            Code::FailedPrecondition,
            "rollback cannot be initiated when auto-sync is enabled",
        ));
    }
    let entry = entry(&application, call.request.int_at(&["id"]))?;
    let options = application.spec.sync_policy.as_ref().map(|policy| policy.sync_options.clone());
    // As in Argo CD: the hooks of a former time are not run again.
    let strategy = SyncStrategy { apply: Some(SyncStrategyApply::default()), ..SyncStrategy::default() };
    let sync = SyncOperation {
        revision: entry.revision.clone(),
        revisions: entry.revisions.clone(),
        source: entry.sources.is_empty().then(|| entry.source.clone()),
        sources: entry.sources.clone(),
        prune: call.flag("prune"),
        dry_run: call.flag("dryRun"),
        sync_options: options.unwrap_or_default(),
        sync_strategy: Some(strategy),
        ..SyncOperation::default()
    };
    let operation = Operation { sync: Some(sync), initiated_by: initiator(call), ..Operation::default() };
    begin(call, &object, &application, &operation).await
}

/// Stops what is under way.
pub(super) async fn terminate(call: &Call) -> Answered {
    let object = call.application_may("sync", "name")?;
    let application = super::read(&object)?;
    if !application.status.operation_state.as_ref().is_some_and(is_running) {
        let message = "Unable to terminate operation. No operation is in progress";
        return Err(Refusal::invalid(message));
    }
    let phase = OperationPhase::Terminating.to_string();
    let key = AppKey::new(object.namespace(), object.name());
    call.patch_application(&key, &value!({"status": {"operationState": {"phase": phase}}})).await?;
    Ok(Answer::One(done()))
}

/// The operation that a request describes.
fn wanted(call: &Call, application: &Application, manifests: Vec<String>) -> Result<Operation, Refusal> {
    let policy = application.spec.sync_policy.as_ref();
    let given = |field: &str| call.request.at(&[field]).filter(|value| !value.is_null()).cloned();
    let options = match given("syncOptions") {
        Some(options) => strings(&options.get("items").cloned().unwrap_or(options)),
        None => policy.map(|policy| policy.sync_options.clone()).unwrap_or_default(),
    };
    let retry = match given("retryStrategy") {
        Some(retry) => part::<RetryStrategy>(&retry, "retryStrategy")?,
        None => policy.and_then(|policy| policy.retry.clone()).unwrap_or_default(),
    };
    let revisions: Vec<Str> = match call.request.items_at(&["sourcePositions"]) {
        [] => Vec::new(),
        positions => revisions_by_place(application, positions, &call.texts("revisions"))?,
    };
    let sync = SyncOperation {
        revision: call.text("revision").into(),
        revisions,
        prune: call.flag("prune"),
        dry_run: call.flag("dryRun"),
        sync_strategy: given("strategy").map(|strategy| part(&strategy, "strategy")).transpose()?,
        resources: given("resources")
            .map(|resources| part(&resources, "resources"))
            .transpose()?
            .unwrap_or_default(),
        sync_options: options,
        manifests: manifests.into_iter().map(Str::from).collect(),
        ..SyncOperation::default()
    };
    let info = given("infos").map(|infos| part(&infos, "infos")).transpose()?.unwrap_or_default();
    Ok(Operation { sync: Some(sync), initiated_by: initiator(call), retry, info, ..Operation::default() })
}

fn part<T: serde::de::DeserializeOwned>(value: &Value, field: &str) -> Result<T, Refusal> {
    typed::to_typed(value).map_err(|error| Refusal::invalid(format!("{field}: {error}")))
}

fn strings(value: &Value) -> Vec<Str> {
    value.as_seq().unwrap_or_default().iter().filter_map(|item| Some(item.as_str()?.into())).collect()
}

/// The revision of each source, where one is given for its place.
fn revisions_by_place(
    application: &Application,
    places: &[Value],
    given: &[String],
) -> Result<Vec<Str>, Refusal> {
    let mut revisions = vec![Str::new(); application.spec.all_sources().len()];
    if places.len() != given.len() {
        return Err(Refusal::invalid("every revision needs one source position"));
    }
    for (place, revision) in places.iter().zip(given) {
        let at = place
            .as_int()
            .and_then(|place| usize::try_from(place).ok())
            .and_then(|place| place.checked_sub(1));
        let slot = at.and_then(|at| revisions.get_mut(at));
        *slot.ok_or_else(|| Refusal::invalid("source position is out of range"))? = revision.as_str().into();
    }
    Ok(revisions)
}

fn initiator(call: &Call) -> OperationInitiator {
    OperationInitiator { username: call.caller.name().into(), ..OperationInitiator::default() }
}

fn refuse_deleted(application: &Application) -> Result<(), Refusal> {
    match application.metadata.deletion_timestamp {
        None => Ok(()),
        Some(_) => Err(Refusal::new(Code::FailedPrecondition, "application is deleting")),
    }
}

fn entry(application: &Application, id: Option<i64>) -> Result<&RevisionHistory, Refusal> {
    let history = &application.status.history;
    let found = match id {
        Some(id) if id > 0 || history.iter().any(|entry| entry.id == id) => {
            history.iter().find(|entry| entry.id == id)
        }
        _ => history.len().checked_sub(2).and_then(|place| history.get(place)),
    };
    let name = &application.metadata.name;
    let missing = || {
        Refusal::invalid(format!(
            "application {name} does not have deployment with id {}",
            id.unwrap_or_default()
        ))
    };
    found.ok_or_else(missing)
}

fn is_running(state: &OperationState) -> bool {
    state.phase.known().is_some_and(|phase| !phase.is_completed())
}

/// Writes the operation for whoever reconciles the application, unless something is in its way.
async fn begin(call: &Call, object: &Object, application: &Application, operation: &Operation) -> Answered {
    let running = application.status.operation_state.as_ref().is_some_and(is_running);
    if application.operation.is_some() || running {
        return Err(Refusal::new(Code::FailedPrecondition, "another operation is already in progress"));
    }
    let now: Timestamp = call.server.engine.clock().now();
    let by_hand = Attempt { manual: true, started: None };
    let project =
        call.server.engine.project(application).map_err(|condition| Refusal::invalid(condition.message))?;
    if window::closed(application, &project, by_hand, now).is_some() {
        return Err(Refusal::new(Code::PermissionDenied, "cannot sync: blocked by sync window"));
    }
    let operation = typed::from_typed(operation).map_err(|error| Refusal::invalid(error.to_string()))?;
    let mut patch = value!({"metadata": {"resourceVersion": object.resource_version()}});
    patch.set(&["operation"], operation);
    let key = AppKey::new(object.namespace(), object.name());
    match call.patch_application(&key, &patch).await {
        // The status is written all the time; what matters is whether there is an operation.
        Err(refusal) if refusal.code == Code::Aborted => again(call, &key, patch).await,
        other => Ok(Answer::One(call.server.shown_with_health(&other?))),
    }
}

async fn again(call: &Call, key: &AppKey, mut patch: Value) -> Answered {
    let home = call.server.engine.home();
    for _ in 0..limits::CHANGES {
        let there = home.get(&lynceus_engine::application_gvk(), &key.namespace, &key.name).await?;
        let there = there.ok_or_else(|| super::absent(&key.name))?;
        if there.at(&["operation"]).is_some_and(|operation| !operation.is_null()) {
            return Err(Refusal::new(Code::FailedPrecondition, "another operation is already in progress"));
        }
        patch.set(&["metadata", "resourceVersion"], there.resource_version());
        match call.patch_application(key, &patch).await {
            Err(refusal) if refusal.code == Code::Aborted => {}
            other => return Ok(Answer::One(call.server.shown_with_health(&other?))),
        }
    }
    Err(Refusal::new(Code::Internal, "Failed to set the operation. Too many conflicts"))
}
