//! A Deployment is healthy when its rollout is complete.

use lynceus_api::HealthStatusCode;
use lynceus_object::Object;

use crate::{Health, conditions, int, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "apps/v1" {
        return unsupported(object);
    }
    if object.value().bool_at(&["spec", "paused"]) == Some(true) {
        return Health::new(HealthStatusCode::Suspended, "Deployment is paused");
    }
    let waiting = |what: &str| Health::progressing(format!("Waiting for rollout to finish: {what}"));
    if object.generation() > int(object, &["status", "observedGeneration"]) {
        // The spelling is the original's; people search for it.
        return waiting("observed deployment generation less then desired generation");
    }
    let progressing = conditions(object).find(|condition| condition.kind == "Progressing");
    if progressing.is_some_and(|condition| condition.reason == "ProgressDeadlineExceeded") {
        return Health::degraded(format!("Deployment {:?} exceeded its progress deadline", object.name()));
    }
    let wanted = object.value().int_at(&["spec", "replicas"]);
    let all = int(object, &["status", "replicas"]);
    let updated = int(object, &["status", "updatedReplicas"]);
    let available = int(object, &["status", "availableReplicas"]);
    match wanted {
        Some(wanted) if updated < wanted => {
            waiting(&format!("{updated} out of {wanted} new replicas have been updated..."))
        }
        _ if all > updated => waiting(&format!("{} old replicas are pending termination...", all - updated)),
        _ if available < updated => {
            waiting(&format!("{available} of {updated} updated replicas are available..."))
        }
        _ => Health::healthy(""),
    }
}
