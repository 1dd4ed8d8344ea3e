//! Pods.

use lynceus_object::{Object, Value, value};

use super::keep;
use crate::kinds::edit::{each, part};
use crate::kinds::quality;

/// How a container's AppArmor profile was named before there was a field for it.
pub(in crate::kinds) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// A new pod waits, and is told how well it will be treated when resources run short.
pub(super) fn create(pod: &mut Value) {
    app_armor(pod);
    stop_signals(pod);
    let quality = quality::class(pod);
    pod.set(&["status"], value!({"phase": "Pending", "qosClass": quality}));
    if !pod.items_at(&["spec", "schedulingGates"]).is_empty() {
        let since = pod.at(&["metadata", "creationTimestamp"]).cloned().unwrap_or_default();
        let gated = value!({
            "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null, "lastTransitionTime": since,
        });
        pod.set(&["status", "conditions"], vec![gated]);
    }
    let labels = pod.at(&["metadata", "labels"]).cloned().unwrap_or_default();
    for constraint in each(pod, &["spec", "topologySpreadConstraints"]) {
        label_keys(constraint, &labels);
    }
    for affinity in ["podAffinity", "podAntiAffinity"] {
        for term in
            each(pod, &["spec", "affinity", affinity, "requiredDuringSchedulingIgnoredDuringExecution"])
        {
            label_keys(term, &labels);
        }
        for term in
            each(pod, &["spec", "affinity", affinity, "preferredDuringSchedulingIgnoredDuringExecution"])
        {
            if let Some(term) = part(term, &["podAffinityTerm"]) {
                label_keys(term, &labels);
            }
        }
    }
}

/// A signal of its own to stop a container with is not yet a feature that a stock server has switched on.
fn stop_signals(pod: &mut Value) {
    for list in ["initContainers", "containers"] {
        for container in each(pod, &["spec", list]) {
            container.remove(&["lifecycle", "stopSignal"]);
            if container.get("lifecycle").is_some_and(Value::is_empty) {
                container.remove(&["lifecycle"]);
            }
        }
    }
}

/// The old annotation for a container's AppArmor profile becomes the field, unless the pod says the same.
fn app_armor(pod: &mut Value) {
    if pod.str_at(&["spec", "os", "name"]) == Some("windows") {
        return;
    }
    let said: Vec<(String, Value)> = old_app_armor(pod)
        .filter_map(|(container, profile)| Some((container.str_at(&["name"])?.to_owned(), profile?)))
        .collect();
    let of_pod = pod.at(&["spec", "securityContext", "appArmorProfile"]).cloned();
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in each(pod, &["spec", list]) {
            let name = container.str_at(&["name"]).unwrap_or_default();
            let profile = said.iter().find(|(known, _)| known == name).map(|(_, profile)| profile);
            if let Some(profile) = profile.filter(|profile| Some(*profile) != of_pod.as_ref()) {
                container.set(&["securityContext", "appArmorProfile"], profile.clone());
            }
        }
    }
}

/// The containers that have a profile by annotation and none by field, with what it would be as a field;
/// `None` where that cannot be told.
pub(in crate::kinds) fn old_app_armor(pod: &Value) -> impl Iterator<Item = (&Value, Option<Value>)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"].into_iter();
    lists.flat_map(|list| pod.items_at(&["spec", list])).filter_map(|container| {
        let key = format!("{APP_ARMOR}{}", container.str_at(&["name"]).unwrap_or_default());
        let said = pod.str_at(&["metadata", "annotations", &key])?;
        let field = container.at(&["securityContext", "appArmorProfile"]);
        field.is_none_or(Value::is_null).then(|| (container, app_armor_field(said)))
    })
}

fn app_armor_field(said: &str) -> Option<Value> {
    match said {
        "unconfined" => Some(value!({"type": "Unconfined"})),
        "runtime/default" => Some(value!({"type": "RuntimeDefault"})),
        other => {
            let file = other.strip_prefix("localhost/").filter(|file| !file.trim().is_empty())?;
            (file.trim() == file).then(|| value!({"type": "Localhost", "localhostProfile": file}))
        }
    }
}

/// `matchLabelKeys` becomes part of the selector of a term or a constraint when the pod is made.
fn label_keys(term: &mut Value, labels: &Value) {
    for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        for key in term.items_at(&[field]).to_vec() {
            let found = key.as_str().and_then(|key| labels.str_at(&[key]));
            let (Some(found), true) = (found, term.get("labelSelector").is_some()) else { continue };
            let wish = value!({"key": key, "operator": operator, "values": [found]});
            let selector = term.as_map_or_insert().entry("labelSelector");
            selector.as_map_or_insert().entry("matchExpressions").as_seq_or_insert().push(wish);
        }
    }
}

/// What the kubelet reports may not take the pod from its owner, nor bring it back to life.
pub(super) fn status(new: &mut Object, old: &Object) {
    keep(new, old, &["metadata", "ownerReferences"]);
    keep(new, old, &["metadata", "deletionTimestamp"]);
    for (field, zero) in [("qosClass", Value::from("")), ("observedGeneration", Value::Int(0))] {
        if new.at(&["status", field]).is_none_or(|value| value.is_null() || *value == zero) {
            keep(new, old, &["status", field]);
        }
    }
}

/// Everything but one field stays as it was.
pub(super) fn only(new: &mut Object, old: &Object, path: &[&str]) {
    let wanted = new.at(path).cloned();
    let version = new.at(&["metadata", "resourceVersion"]).cloned();
    let managed = new.at(&["metadata", "managedFields"]).cloned();
    *new = old.clone();
    super::put(new, path, wanted);
    super::put(new, &["metadata", "resourceVersion"], version);
    super::put(new, &["metadata", "managedFields"], managed);
}

/// Everything but the containers' resources stays as it was.
pub(super) fn only_resources(new: &mut Object, old: &Object) {
    let wanted = new.clone();
    only(new, old, &["spec", "resources"]);
    for list in ["containers", "initContainers"] {
        let wanted = wanted.value().items_at(&["spec", list]);
        for container in each(new.value_mut(), &["spec", list]) {
            let Some(wish) = wanted.iter().find(|wish| wish.get("name") == container.get("name")) else {
                continue;
            };
            for field in ["resources", "resizePolicy"] {
                match wish.get(field) {
                    Some(value) => container.set(&[field], value.clone()),
                    None => {
                        container.remove(&[field]);
                    }
                }
            }
        }
    }
}
