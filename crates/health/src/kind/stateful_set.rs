//! A StatefulSet is healthy when its pods are ready and at the revision that its strategy asks for.

use lynceus_object::Object;

use crate::{Health, int, text, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "apps/v1" {
        return unsupported(object);
    }
    let observed = int(object, &["status", "observedGeneration"]);
    if observed == 0 || object.generation() > observed {
        return Health::progressing("Waiting for statefulset spec update to be observed...");
    }
    let wanted = object.value().int_at(&["spec", "replicas"]);
    let ready = int(object, &["status", "readyReplicas"]);
    let updated = int(object, &["status", "updatedReplicas"]);
    if let Some(wanted) = wanted
        && ready < wanted
    {
        return Health::progressing(format!("Waiting for {} pods to be ready...", wanted - ready));
    }
    let strategy = text(object, &["spec", "updateStrategy", "type"]);
    let rolling = object.at(&["spec", "updateStrategy", "rollingUpdate"]).filter(|value| !value.is_null());
    if strategy == "RollingUpdate"
        && let Some(rolling) = rolling
    {
        if let (Some(wanted), Some(partition)) = (wanted, rolling.int_at(&["partition"]))
            && updated < wanted - partition
        {
            return Health::progressing(format!(
                "Waiting for partitioned roll out to finish: {updated} out of {} new pods have been updated...",
                wanted - partition
            ));
        }
        return Health::healthy(format!(
            "partitioned roll out complete: {updated} new pods have been updated..."
        ));
    }
    if strategy == "OnDelete" {
        return Health::healthy(format!("statefulset has {ready} ready pods"));
    }
    let update_revision = text(object, &["status", "updateRevision"]);
    let current_revision = text(object, &["status", "currentRevision"]);
    if update_revision != current_revision {
        return Health::progressing(format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision {update_revision}..."
        ));
    }
    let current = int(object, &["status", "currentReplicas"]);
    Health::healthy(format!(
        "statefulset rolling update complete {current} pods at revision {current_revision}..."
    ))
}
