//! A DaemonSet is healthy when every node that wants its pod has the new one.

use lynceus_object::Object;

use crate::{Health, int, text, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "apps/v1" {
        return unsupported(object);
    }
    if object.generation() > int(object, &["status", "observedGeneration"]) {
        return Health::progressing(
            "Waiting for rollout to finish: observed daemon set generation less then desired generation",
        );
    }
    let wanted = int(object, &["status", "desiredNumberScheduled"]);
    let updated = int(object, &["status", "updatedNumberScheduled"]);
    let available = int(object, &["status", "numberAvailable"]);
    if text(object, &["spec", "updateStrategy", "type"]) == "OnDelete" {
        return Health::healthy(format!("daemon set {updated} out of {wanted} new pods have been updated"));
    }
    let waiting = |what: String| {
        Health::progressing(format!("Waiting for daemon set {:?} rollout to finish: {what}", object.name()))
    };
    if updated < wanted {
        return waiting(format!("{updated} out of {wanted} new pods have been updated..."));
    }
    if available < wanted {
        return waiting(format!("{available} of {wanted} updated pods are available..."));
    }
    Health::healthy("")
}
