//! The kinds of Cluster API that gather what several conditions say.

use lynceus_object::Object;

use crate::{Health, conditions, present, text};

pub(super) fn machine_pool(object: &Object) -> Health {
    let phase = text(object, &["status", "phase"]);
    let mut message = String::new();
    if present(object, &["status", "phase"]) {
        message = format!("MachinePool is {phase}");
    }
    let missing: Vec<String> = conditions(object)
        .filter(|condition| !condition.kind.is_empty() && condition.status == "False")
        .map(|condition| match condition.reason {
            "" => format!("Not {}", condition.kind),
            reason => format!("Not {} ({reason})", condition.kind),
        })
        .collect();
    if !missing.is_empty() {
        message = format!("{message}: {}", missing.join(", "));
    }
    match phase {
        "Running" | "Scaling" => Health::healthy(message),
        "Failed" | "Unknown" => Health::degraded(message),
        _ => Health::progressing(message),
    }
}

pub(super) fn aws_control_plane(object: &Object) -> Health {
    if !present(object, &["status"]) {
        return Health::progressing("Provisioning...");
    }
    let observed = object.value().int_at(&["status", "observedGeneration"]);
    let generation = object.value().int_at(&["metadata", "generation"]);
    if observed.is_some() && generation.is_some() && observed != generation {
        return Health::progressing("Waiting for the control plane spec to be reconciled");
    }
    let failure = text(object, &["status", "failureMessage"]);
    if !failure.is_empty() {
        return Health::degraded(failure);
    }
    if !present(object, &["status", "conditions"]) {
        return Health::progressing("Provisioning...");
    }
    let is = |kind, status| conditions(object).any(|one| one.kind == kind && one.status == status);
    if is("EKSControlPlaneUpdating", "True") {
        return Health::progressing("EKS control plane is updating");
    }
    if is("Ready", "True") {
        return Health::healthy("Control plane is ready");
    }
    let errors: String = object
        .value()
        .items_at(&["status", "conditions"])
        .iter()
        .filter(|one| one.str_at(&["status"]) == Some("False") && one.str_at(&["severity"]) == Some("Error"))
        .map(|one| format!("{} ", one.str_at(&["message"]).unwrap_or_default()))
        .collect();
    if !errors.is_empty() {
        return Health::degraded(errors);
    }
    if object.value().bool_at(&["status", "ready"]) == Some(false) {
        return Health::progressing("Control plane is not ready (.status.ready is false)");
    }
    Health::progressing("Control plane is not ready")
}
