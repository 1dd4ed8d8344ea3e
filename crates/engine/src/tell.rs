//! Events about an application.

use std::collections::BTreeMap;

use lynceus_api::{
    Application, ApplicationCondition, ApplicationConditionType, Kind as _, OperationPhase, OperationState,
};
use lynceus_cluster::EventType;
use lynceus_object::Str;
use tracing::debug;

use crate::engine::Engine;

impl Engine {
    pub(crate) async fn tell_transitions(&self, before: &Application, after: &Application) {
        let pairs = [
            ("sync", before.status.sync.status.as_str(), after.status.sync.status.as_str()),
            ("health", before.status.health.status.as_str(), after.status.health.status.as_str()),
        ];
        for (what, old, new) in pairs {
            if old != new {
                let message = format!("Updated {what} status: {old} -> {new}");
                self.tell(after, EventType::Normal, "ResourceUpdated", &message).await;
            }
        }
    }

    /// Tells of an operation that begins.
    pub(crate) async fn started(&self, application: &Application, state: &OperationState) {
        let who = match (&state.operation.initiated_by.username, state.operation.initiated_by.automated) {
            (_, true) => "automated sync".to_owned(),
            (name, false) if name.is_empty() => "unknown user".to_owned(),
            (name, false) => name.to_string(),
        };
        self.tell(application, EventType::Normal, "OperationStarted", &format!("{who} initiated sync")).await;
    }

    /// Tells of an operation that has ended.
    pub(crate) async fn completed(&self, application: &Application, state: &OperationState) {
        let (kind, message) = match state.phase.known() {
            Some(OperationPhase::Succeeded) => {
                let revision =
                    state.sync_result.as_ref().map(|result| result.revision.to_string()).unwrap_or_default();
                (EventType::Normal, format!("Sync operation to {revision} succeeded"))
            }
            _ => (EventType::Warning, format!("Sync operation failed: {}", state.message)),
        };
        self.tell(application, kind, "OperationCompleted", &message).await;
    }

    /// Tells of what keeps a deleted application, if that was not told before.
    pub(crate) async fn tell_deletion_errors(&self, before: &Application, after: &Application) {
        let known = |message: &str| before.status.conditions.iter().any(|old| old.message == message);
        let is_error = |condition: &&ApplicationCondition| {
            condition.type_.known() == Some(ApplicationConditionType::DeletionError)
        };
        for condition in after.status.conditions.iter().filter(is_error) {
            if !known(&condition.message) {
                let message = format!("Unable to delete application resources: {}", condition.message);
                self.tell(after, EventType::Warning, "StatusRefreshed", &message).await;
            }
        }
    }

    /// Tells of something. That it cannot be told is no reason to fail.
    pub(crate) async fn tell(&self, application: &Application, kind: EventType, reason: &str, message: &str) {
        let about = application.to_object();
        let (labels, now) = (self.event_labels(application), self.clock().now());
        if let Err(error) = self.home().record_event(&about, &labels, kind, reason, message, now).await {
            debug!(%error, "an event could not be recorded");
        }
    }

    /// The labels of an application, and of its project where it has none of that name, that its events are to carry.
    fn event_labels(&self, application: &Application) -> BTreeMap<Str, Str> {
        let settings = self.settings();
        let carried = &settings.event_labels;
        if carried.included.is_empty() {
            return BTreeMap::new();
        }
        let mut labels =
            self.project(application).map(|project| project.metadata.labels.clone()).unwrap_or_default();
        labels.extend(application.metadata.labels.clone());
        labels.retain(|name, _| carried.has(name));
        labels
    }
}
