//! Argo Rollouts. New ones say how they are in their phase; older ones have to be read from replicas and conditions.

use lynceus_api::{HealthStatusCode, Word as _};
use lynceus_object::{Object, Value};

use crate::{Health, conditions, present, text};

pub(super) fn check(object: &Object) -> Health {
    if !is_observed(object) || !workload_is_observed(object) {
        return Health::progressing("Waiting for rollout spec update to be observed");
    }
    if present(object, &["status", "phase"]) {
        return by_phase(object);
    }
    let failed = conditions(object).find(|condition| match condition.kind {
        "InvalidSpec" => true,
        "Progressing" => matches!(condition.reason, "RolloutAborted" | "ProgressDeadlineExceeded"),
        _ => false,
    });
    if let Some(failed) = failed {
        return Health::degraded(failed.message);
    }
    let paused = !object.value().items_at(&["status", "pauseConditions"]).is_empty()
        || object.value().bool_at(&["spec", "paused"]) == Some(true);
    if paused {
        return Health::suspended("Rollout is paused");
    }
    if !present(object, &["status", "currentPodHash"]) {
        return Health::progressing("Waiting for rollout to finish: status has not been reconciled.");
    }
    waiting(object).map_or_else(|| Health::healthy(""), Health::progressing)
}

fn by_phase(object: &Object) -> Health {
    let message = text(object, &["status", "message"]);
    match text(object, &["status", "phase"]) {
        "Paused" => Health::suspended(message),
        phase => match HealthStatusCode::parse(phase) {
            Some(status) => Health::new(status, message),
            None => Health::unknown(crate::INVALID_STATUS),
        },
    }
}

/// A rollout that does not say which generation it has seen is taken at its word.
fn is_observed(object: &Object) -> bool {
    if !present(object, &["status"]) {
        return false;
    }
    number(object.at(&["status", "observedGeneration"]))
        .is_none_or(|observed| observed >= object.generation() as f64)
}

/// A rollout of somebody else's workload says which generation of that it has seen.
fn workload_is_observed(object: &Object) -> bool {
    if !present(object, &["spec", "workloadRef"]) || !present(object, &["metadata", "annotations"]) {
        return true;
    }
    let generation = object.at(&["metadata", "annotations", "rollout.argoproj.io/workload-generation"]);
    number(generation) == number(object.at(&["status", "workloadObservedGeneration"]))
}

/// A number, also if it is written as a text.
fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Str(text) => text.trim().parse().ok(),
        value => value.as_float(),
    }
}

/// What an old rollout waits for.
fn waiting(object: &Object) -> Option<&'static str> {
    let int = |path: &[&str], default| object.value().int_at(path).unwrap_or(default);
    let updated = int(&["status", "updatedReplicas"], 0);
    if updated < int(&["spec", "replicas"], 1) {
        return Some("Waiting for roll out to finish: More replicas need to be updated");
    }
    if int(&["status", "availableReplicas"], 0) < updated {
        return Some("Waiting for roll out to finish: updated replicas are still becoming available");
    }
    let current = text(object, &["status", "currentPodHash"]);
    let stable = match object.value().str_at(&["status", "stableRS"]) {
        Some(stable) => stable,
        None => text(object, &["status", "canary", "stableRS"]),
    };
    if present(object, &["spec", "strategy", "blueGreen"]) {
        if text(object, &["status", "blueGreen", "activeSelector"]) != current {
            return Some("active service cutover pending");
        }
        return (!stable.is_empty() && stable != current).then_some("waiting for analysis to complete");
    }
    if present(object, &["spec", "strategy", "canary"]) {
        if int(&["status", "replicas"], 0) > updated {
            return Some("Waiting for roll out to finish: old replicas are pending termination");
        }
        return (stable.is_empty() || stable != current).then_some("Waiting for rollout to finish steps");
    }
    None
}
