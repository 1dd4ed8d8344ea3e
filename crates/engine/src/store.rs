//! Writes what changed about an Application, and only that.

use lynceus_api::{
    Application, ApplicationConditionType, Kind as _, OperationState, SyncStatusCode, Wait, Word as _,
    annotations,
};
use lynceus_object::{Object, Value, patch};
use tracing::debug;

use crate::condition::{Condition, merge};
use crate::engine::{Engine, EngineError};
use crate::key::{AppKey, application_gvk};
use crate::limits;
use crate::look::Look;
use crate::reason;
use crate::report::report;
use crate::wait_mark::mark;

/// What Argo CD says of a status that the cluster does not take.
const TOO_LARGE: &str = "Application status exceeds the Kubernetes resource size limit and could not be persisted. The \
                         displayed status may be stale. Reduce the number of managed resources, set \
                         ApplyOutOfSyncOnly=true, lower spec.revisionHistoryLimit, or split the Application.";

impl Engine {
    /// Stores what a look found, and takes off the annotation that asked for it.
    pub(crate) async fn store_look(
        &self,
        application: &mut Application,
        look: &Look,
    ) -> Result<(), EngineError> {
        let before = application.clone();
        let now = self.clock().now();
        application.status = report(application, look, &self.options().namespace, now);
        let reasons =
            reason::explain(application, look, &self.checks(), self.wait_for_step(application)).await;
        reason::write(application, &reasons);
        application.metadata.annotations.remove(annotations::REFRESH);
        application.metadata.annotations.remove(annotations::REFRESH_TIMESTAMP);
        match self.store(&before, application).await {
            Err(EngineError::Store { source, .. }) if source.is_too_large() => {
                *application = before.clone();
                let condition = Condition::new(ApplicationConditionType::UnknownError, TOO_LARGE);
                let evaluated = [ApplicationConditionType::UnknownError];
                application.status.conditions =
                    merge(&application.status.conditions, &[condition], &evaluated, now);
                self.store(&before, application).await?;
            }
            other => other?,
        }
        self.tell_transitions(&before, application).await;
        Ok(())
    }

    /// Stores the state of an operation, with what it waits for.
    pub(crate) async fn store_operation(
        &self,
        application: &mut Application,
        state: OperationState,
        wait: Option<&Wait>,
    ) -> Result<(), EngineError> {
        let before = application.clone();
        application.status.operation_state = Some(state);
        mark(application, wait);
        self.store_unless_overtaken(&before, application).await
    }

    /// Writes the difference between two states of an application, if there is one. If its operation is not what it was
    /// before, somebody else has been at it, and nothing is written: of two that begin one operation only one does.
    pub(crate) async fn store_unless_overtaken(
        &self,
        before: &Application,
        after: &mut Application,
    ) -> Result<(), EngineError> {
        let mut change = ours(before, after);
        if change.is_empty() {
            return Ok(());
        }
        let key = AppKey::of(after);
        for _ in 0..limits::OVERTAKEN {
            change.set(&["metadata", "resourceVersion"], after.metadata.resource_version.clone());
            let error = match self.patch(&key, &change, after).await {
                Err(EngineError::Store { source, .. }) if source.is_conflict() => source,
                other => return other,
            };
            // Most writers do not touch the operation: a label, a request to refresh.
            let live = self.home().get(&application_gvk(), &key.namespace, &key.name).await;
            let failed = |source| EngineError::Store { application: key.clone(), source };
            let Some(live) = live.map_err(failed)? else { return Ok(()) };
            match Application::from_object(&live) {
                Ok(live) if is_same_operation(&live, before) => {
                    change = caught_up(before, after, &live);
                    after.metadata.resource_version = live.metadata.resource_version;
                }
                _ => return Err(failed(error)),
            }
        }
        Err(EngineError::Overtaken { application: key })
    }

    /// Writes the difference between two states of an application, if nobody else has written it meanwhile: lists are
    /// written whole, and a finalizer that somebody has just added must not be lost.
    pub(crate) async fn store_exactly(
        &self,
        before: &Application,
        after: &mut Application,
    ) -> Result<(), EngineError> {
        let mut change = ours(before, after);
        if change.is_empty() {
            return Ok(());
        }
        change.set(&["metadata", "resourceVersion"], before.metadata.resource_version.clone());
        self.patch(&AppKey::of(after), &change, after).await
    }

    /// Writes the difference between two states of an application, if there is one.
    pub(crate) async fn store(
        &self,
        before: &Application,
        after: &mut Application,
    ) -> Result<(), EngineError> {
        let change = ours(before, after);
        if change.is_empty() {
            return Ok(());
        }
        self.patch(&AppKey::of(after), &change, after).await
    }

    async fn patch(&self, key: &AppKey, change: &Value, after: &mut Application) -> Result<(), EngineError> {
        debug!(application = %key, "storing what changed");
        match self.home().patch_record(&application_gvk(), &key.namespace, &key.name, change).await {
            Ok(object) => {
                after.metadata.resource_version = object.resource_version().into();
                Ok(())
            }
            // It was deleted meanwhile; there is nothing left to say.
            Err(error) if error.is_not_found() => Ok(()),
            Err(source) => Err(EngineError::Store { application: key.clone(), source }),
        }
    }

    /// An Application that cannot be read gets a condition and nothing else is touched.
    pub(crate) async fn refuse(&self, object: &Object, why: &str) -> Result<(), EngineError> {
        let key = AppKey::new(object.namespace(), object.name());
        let message = format!("the Application cannot be read: {why}");
        let known = object.value().items_at(&["status", "conditions"]);
        if known.iter().any(|condition| condition.str_at(&["message"]) == Some(message.as_str())) {
            return Ok(());
        }
        let time = lynceus_api::Time::from(self.clock().now()).to_string();
        let change = lynceus_object::value!({"status": {
            "conditions": [{"type": "InvalidSpecError", "message": message, "lastTransitionTime": time}],
            "sync": {"status": SyncStatusCode::Unknown.as_str()},
            "health": {"status": "Unknown"},
        }});
        match self.home().patch_record(&application_gvk(), &key.namespace, &key.name, &change).await {
            Ok(_) => Ok(()),
            Err(source) => Err(EngineError::Store { application: key, source }),
        }
    }
}

fn is_same_operation(live: &Application, known: &Application) -> bool {
    live.status.operation_state == known.status.operation_state && live.operation == known.operation
}

/// The difference between two states, where others have written meanwhile. Reasons may be newer than what it was decided on:
/// a write of ours whose answer was lost. What they say of a sync that ends now has to end with it.
fn caught_up(before: &Application, after: &mut Application, live: &Application) -> Value {
    let mut before = Box::new(before.clone());
    reason::take_over(&mut before, live);
    reason::take_over(after, live);
    if !reason::is_operating(after) {
        reason::end_waits(after);
    }
    ours(&before, after)
}

/// The parts of the difference that are ours to write: status, operation, annotations and finalizers.
fn ours(before: &Application, after: &Application) -> Value {
    // Most looks find nothing new, and to compare costs a tenth of what it takes to write both down.
    if before == after {
        return Value::default();
    }
    let (before, after) = (before.to_object(), after.to_object());
    let mut change = patch::create::merge_two_way(before.value(), after.value()).unwrap_or_default();
    if let Some(metadata) = change.at_mut(&["metadata"]).and_then(Value::as_map_mut) {
        metadata.retain(|field, _| matches!(field, "annotations" | "finalizers"));
    }
    if let Some(map) = change.as_map_mut() {
        map.retain(|field, value| match field {
            "metadata" => !value.is_empty(),
            "status" | "operation" => true,
            _ => false,
        });
    }
    change
}
