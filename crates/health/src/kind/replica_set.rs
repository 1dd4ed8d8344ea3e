//! A ReplicaSet is healthy when as many pods are available as were asked for.

use lynceus_object::Object;

use crate::{Health, conditions, int, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "apps/v1" {
        return unsupported(object);
    }
    if object.generation() > int(object, &["status", "observedGeneration"]) {
        return Health::progressing(
            "Waiting for rollout to finish: observed replica set generation less then desired generation",
        );
    }
    let failure = conditions(object).find(|condition| condition.kind == "ReplicaFailure");
    if let Some(failure) = failure
        && failure.status == "True"
    {
        return Health::degraded(failure.message);
    }
    let available = int(object, &["status", "availableReplicas"]);
    match object.value().int_at(&["spec", "replicas"]) {
        Some(wanted) if available < wanted => Health::progressing(format!(
            "Waiting for rollout to finish: {available} out of {wanted} new replicas are available..."
        )),
        _ => Health::healthy(""),
    }
}
