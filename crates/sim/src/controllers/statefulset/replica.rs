//! One replica of a StatefulSet: its name, its claims, its place in the order.

use std::collections::BTreeMap;

use lynceus_object::{Object, Value, value};

use super::REVISION_LABEL;
use crate::controllers::kind::CLAIM;
use crate::controllers::pods::{self, spec_int};

/// The pods of a set by their ordinals.
pub(super) struct Replicas {
    /// The wanted ordinals, in order, with the pods that are there.
    pub(super) wanted: Vec<(i64, Option<Object>)>,
    /// Pods beyond the wanted ones with their ordinals, the last first.
    pub(super) condemned: Vec<(i64, Object)>,
}

impl Replicas {
    /// Sorts the pods of a set.
    pub(super) fn sort(set: &Object, pods_of_set: &[Object]) -> Self {
        let start = spec_int(set, &["ordinals", "start"], 0);
        let count = spec_int(set, &["replicas"], 1);
        let mut by_ordinal: BTreeMap<i64, Object> =
            pods_of_set.iter().filter_map(|pod| Some((ordinal(set, pod)?, pod.clone()))).collect();
        let wanted = (start..start + count).map(|ordinal| (ordinal, by_ordinal.remove(&ordinal))).collect();
        Replicas { wanted, condemned: by_ordinal.into_iter().rev().collect() }
    }
}

fn ordinal(set: &Object, pod: &Object) -> Option<i64> {
    pod.name().strip_prefix(set.name())?.strip_prefix('-')?.parse().ok()
}

/// A pod of a set.
pub(super) fn pod(set: &Object, template: &Value, revision: &str, ordinal: i64) -> Object {
    let name = format!("{}-{ordinal}", set.name());
    let mut pod = pods::from_template(set, template);
    pod.set(&["metadata", "name"], name.as_str());
    for (key, text) in [
        (REVISION_LABEL, revision),
        ("statefulset.kubernetes.io/pod-name", &name),
        ("apps.kubernetes.io/pod-index", &ordinal.to_string()),
    ] {
        pod.set_label(key, text);
    }
    pod.set(&["spec", "hostname"], name.as_str());
    if let Some(service) = set.at(&["spec", "serviceName"]).filter(|service| !service.is_empty()) {
        pod.set(&["spec", "subdomain"], service.clone());
    }
    mount_claims(&mut pod, set, ordinal);
    pod
}

fn mount_claims(pod: &mut Object, set: &Object, ordinal: i64) {
    let claims: Vec<(String, String)> = templates(set)
        .map(|template| {
            let name = template.str_at(&["metadata", "name"]).unwrap_or_default();
            (name.to_owned(), claim_name(set, name, ordinal))
        })
        .collect();
    if claims.is_empty() {
        return;
    }
    let own = |volume: &&Value| claims.iter().all(|(name, _)| volume.str_at(&["name"]) != Some(name));
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|(name, claim)| value!({"name": name, "persistentVolumeClaim": {"claimName": claim}}))
        .collect();
    volumes.extend(pod.value().items_at(&["spec", "volumes"]).iter().filter(own).cloned());
    pod.set(&["spec", "volumes"], volumes);
}

fn templates(set: &Object) -> impl Iterator<Item = &Value> {
    set.value().items_at(&["spec", "volumeClaimTemplates"]).iter()
}

fn claim_name(set: &Object, template: &str, ordinal: i64) -> String {
    format!("{template}-{}-{ordinal}", set.name())
}

/// The claims of a pod.
pub(super) fn claims(set: &Object, ordinal: i64) -> Vec<Object> {
    templates(set)
        .map(|template| {
            let name = template.str_at(&["metadata", "name"]).unwrap_or_default();
            let mut claim = CLAIM.named(set.namespace(), &claim_name(set, name, ordinal));
            for field in ["labels", "annotations"] {
                if let Some(value) = template.at(&["metadata", field]) {
                    claim.set(&["metadata", field], value.clone());
                }
            }
            let selected = set.at(&["spec", "selector", "matchLabels"]).and_then(Value::as_map);
            for (key, value) in selected.into_iter().flat_map(|labels| labels.iter()) {
                claim.set_label(key, value.clone());
            }
            if let Some(spec) = template.get("spec") {
                claim.set(&["spec"], spec.clone());
            }
            claim
        })
        .collect()
}
