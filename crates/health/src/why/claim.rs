//! Why a PersistentVolumeClaim is not bound.

use lynceus_api::{Reason, ReasonCode};
use lynceus_object::{Object, ObjectKey, Value};

use super::{Found, Planned, Search, Surroundings, missing, status};

/// The annotation by which clusters mark the class of claims that name none.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

impl Search<'_> {
    pub(super) fn claim(&mut self, claim: &Object, depth: usize) -> Vec<Reason> {
        match status(claim, "phase") {
            "Bound" => return Vec::new(),
            "Lost" => return vec![Reason::new(ReasonCode::ClaimPending, "its volume is gone")],
            _ => {}
        }
        let Some(name) = claim.value().str_at(&["spec", "storageClassName"]) else {
            let words = format!("it names no storage class, and none is marked with {DEFAULT_CLASS}");
            return vec![Reason::new(ReasonCode::ClaimPending, words)];
        };
        if name.is_empty() {
            return vec![Reason::new(
                ReasonCode::ClaimPending,
                "it wants no storage class, and no volume fits it",
            )];
        }
        let key = ObjectKey::new("storage.k8s.io", "StorageClass", "", name);
        let class = match self.around.find(&key) {
            Found::There(class) => class,
            Found::Gone => return missing(self.around, key).into_iter().collect(),
            Found::Unknown => return Vec::new(),
        };
        if !binds_on_first_consumer(&class) {
            let provisioner = class.value().str_at(&["provisioner"]).unwrap_or_default();
            let words =
                format!("{provisioner}, which makes volumes of class {name}, has made none for it yet");
            return vec![Reason::new(ReasonCode::ClaimPending, words).about(key)];
        }
        let words = format!("class {name} binds it when what uses it is scheduled");
        let consumer = self.consumer(claim, depth);
        vec![Reason::new(ReasonCode::BindsOnFirstConsumer, words).about(key).because([consumer])]
    }

    /// What uses a claim, and why that does not get it bound.
    fn consumer(&mut self, claim: &Object, depth: usize) -> Reason {
        let user = self.around.planned().iter().find(|planned| uses(&planned.object, claim)).cloned();
        let Some(Planned { object, wave, is_live }) = user else {
            return Reason::new(ReasonCode::NoConsumer, "nothing in the application uses it");
        };
        let name = format!("{} {}", object.kind(), object.name());
        if !is_live {
            let words = format!("it is used by {name}, which comes in wave {wave}");
            return Reason::new(ReasonCode::ConsumerComesLater, words).about(object.key());
        }
        let live = match self.around.find(&object.key()) {
            Found::There(live) => live,
            Found::Gone | Found::Unknown => object.clone(),
        };
        let words = format!("it is used by {name}, which is not scheduled yet");
        let because = self.why(&live, depth + 1);
        Reason::new(ReasonCode::ConsumerComesLater, words).about(object.key()).because(because)
    }
}

/// Whether a class leaves claims unbound until something that uses them is scheduled.
fn binds_on_first_consumer(class: &Object) -> bool {
    class.value().str_at(&["volumeBindingMode"]) == Some("WaitForFirstConsumer")
}

/// Whether a claim waits for a consumer that its application has not applied yet. Such a claim is not healthy, and to
/// wait for it before going on would be to wait for ever.
pub fn waits_for_later(claim: &Object, around: &dyn Surroundings) -> bool {
    let class = claim.value().str_at(&["spec", "storageClassName"]).unwrap_or_default();
    let key = ObjectKey::new("storage.k8s.io", "StorageClass", "", class);
    claim.group().is_empty()
        && claim.kind() == "PersistentVolumeClaim"
        && status(claim, "phase") == "Pending"
        && matches!(around.find(&key), Found::There(class) if binds_on_first_consumer(&class))
        && around.planned().iter().any(|planned| !planned.is_live && uses(&planned.object, claim))
}

/// Whether a workload mounts a claim, by name or by a template that makes it.
fn uses(object: &Object, claim: &Object) -> bool {
    if object.namespace() != claim.namespace() {
        return false;
    }
    let mounts = |spec: &Value| {
        let volumes = spec.items_at(&["volumes"]).iter();
        volumes
            .filter_map(|volume| volume.str_at(&["persistentVolumeClaim", "claimName"]))
            .any(|name| name == claim.name())
    };
    let templates =
        [&["spec"][..], &["spec", "template", "spec"], &["spec", "jobTemplate", "spec", "template", "spec"]];
    templates.iter().any(|path| object.at(path).is_some_and(mounts)) || makes(object, claim.name())
}

/// Whether a StatefulSet makes claims of this name: `<template>-<set>-<number>`.
fn makes(set: &Object, claim: &str) -> bool {
    set.value().items_at(&["spec", "volumeClaimTemplates"]).iter().any(|template| {
        let name = template.str_at(&["metadata", "name"]).unwrap_or_default();
        let rest = claim
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('-')?.strip_prefix(set.name())?.strip_prefix('-'));
        rest.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
