//! Workloads of Kruise, which can be updated in part.

use lynceus_object::Object;

use crate::{Health, present};

fn number(object: &Object, path: &[&str]) -> Option<i64> {
    object.value().int_at(path)
}

/// Whether the status is about the object as it is.
fn is_observed(object: &Object) -> bool {
    present(object, &["status"])
        && number(object, &["metadata", "generation"]) == number(object, &["status", "observedGeneration"])
}

pub(super) fn stateful_set(object: &Object) -> Health {
    let waiting = Health::progressing("Waiting for initialization");
    if !is_observed(object) {
        return waiting;
    }
    let status = |field| number(object, &["status", field]);
    let rolling = |field| ["spec", "updateStrategy", "rollingUpdate", field];
    let available = status("updatedAvailableReplicas");
    if object.value().bool_at(&rolling("paused")) == Some(true) || available.is_none() {
        return Health::suspended("Statefulset is paused");
    }
    let partition = number(object, &rolling("partition"));
    if partition != Some(0) && object.generation() > 1 {
        let kept = status("replicas").unwrap_or_default() - partition.unwrap_or_default();
        let updated = status("updatedReplicas").unwrap_or_default();
        return if updated > kept {
            Health::suspended("Statefulset needs manual intervention")
        } else {
            waiting
        };
    }
    if available == status("replicas") {
        return Health::healthy("All Statefulset workloads are ready and updated");
    }
    Health::degraded("Some replicas are not ready or available")
}

pub(super) fn daemon_set(object: &Object) -> Health {
    let waiting = Health::progressing("Waiting for initialization");
    if !is_observed(object) {
        return waiting;
    }
    let status = |field| number(object, &["status", field]);
    let rolling = |field| ["spec", "updateStrategy", "rollingUpdate", field];
    let (updated, wanted) = (status("updatedNumberScheduled"), status("desiredNumberScheduled"));
    if object.value().bool_at(&rolling("paused")) == Some(true) || updated.is_none() {
        return Health::suspended("Daemonset is paused");
    }
    let partition = number(object, &rolling("partition")).unwrap_or_default();
    if partition != 0 && object.generation() > 1 {
        let kept = wanted.unwrap_or_default() - partition;
        return if updated.unwrap_or_default() > kept {
            Health::suspended("Daemonset needs manual intervention")
        } else {
            waiting
        };
    }
    if updated == wanted && status("numberAvailable") == wanted {
        return Health::healthy("All Daemonset workloads are ready and updated");
    }
    if updated == wanted && status("numberUnavailable") == wanted {
        return Health::degraded("Some pods are not ready or available");
    }
    waiting
}

pub(super) fn game_server_set(object: &Object) -> Health {
    let waiting = Health::progressing("Waiting for GameServerSet initialization");
    if !is_observed(object) {
        return waiting;
    }
    let status = |field| number(object, &["status", field]).unwrap_or_default();
    let rolling = |field| ["spec", "updateStrategy", "rollingUpdate", field];
    if object.value().bool_at(&rolling("paused")) == Some(true) {
        return Health::suspended("GameServerSet is paused");
    }
    let partition = number(object, &rolling("partition")).unwrap_or_default();
    let (all, ready) = (status("replicas"), status("readyReplicas"));
    if partition != 0 && status("updatedReplicas") >= all - partition {
        return Health::suspended(format!("Partition={partition}, waiting for manual intervention"));
    }
    if status("updatedReadyReplicas") == all {
        return Health::healthy("All GameServerSet replicas are updated and ready");
    }
    if ready < all {
        return Health::progressing(format!("ReadyReplicas {ready}/{all}, still progressing"));
    }
    waiting
}
