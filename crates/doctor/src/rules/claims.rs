//! Claims that are not bound, and what they wait for.

use std::collections::HashMap;

use lynceus_object::{Object, ObjectKey, Value};

use crate::case::{Case, Pods};
use crate::node::AppName;

/// The claims of a cluster that wait for a volume.
pub(super) fn pending<'a>(case: &Case<'a>, server: &str) -> Vec<&'a Object> {
    let all = case.of_kind(server, "", "PersistentVolumeClaim").iter().copied();
    all.filter(|claim| claim.value().str_at(&["status", "phase"]) == Some("Pending") && !claim.is_deleting())
        .collect()
}

/// The key of a storage class.
pub(super) fn class_key(name: &str) -> ObjectKey {
    ObjectKey::new("storage.k8s.io", "StorageClass", "", name)
}

/// The name of a claim's class: nothing if none is named, empty if it wants none.
pub(super) fn class_name(claim: &Object) -> Option<&str> {
    let named = claim.value().str_at(&["spec", "storageClassName"]);
    named.or_else(|| claim.annotation("volume.beta.kubernetes.io/storage-class"))
}

/// A claim's class, if it is there.
pub(super) fn class_of<'a>(case: &Case<'a>, server: &str, claim: &Object) -> Option<&'a Object> {
    case.live(server, &class_key(class_name(claim)?))
}

/// Whether a claim is bound only when something that uses it is scheduled.
pub(super) fn waits_for_consumer(case: &Case<'_>, server: &str, claim: &Object) -> bool {
    match class_of(case, server, claim) {
        Some(class) => class.value().str_at(&["volumeBindingMode"]) == Some("WaitForFirstConsumer"),
        None => case.event(server, &claim.key(), &["WaitForFirstConsumer", "WaitForPodScheduled"]).is_some(),
    }
}

/// Whether what makes pods uses a claim, by name or by a template that makes it.
pub(super) fn uses(object: &Object, claim: &ObjectKey) -> bool {
    if object.namespace() != claim.namespace {
        return false;
    }
    let by_name = Pods::of(object).is_some_and(|pods| pods.needs().iter().any(|(key, ..)| key == claim));
    by_name || makes(object, claim)
}

/// Whether nothing is to be seen that uses a claim or speaks of it: pods that are there or would be made, nor anything that somebody may make
/// pods of.
pub(super) fn is_unused(case: &Case<'_>, server: &str, claim: &ObjectKey) -> bool {
    let wanted = case.apps().filter(|app| app.server() == server).flat_map(|app| app.wanted());
    let mut all = case.objects(server).iter().chain(wanted.map(|one| &one.object));
    let is_seen = case.is_absent(server, &ObjectKey::new("", "Pod", claim.namespace.clone(), ""));
    is_seen && !all.any(|object| uses(object, claim) || names(object, claim))
}

/// Whether an object beside a claim has its name somewhere in what it says.
fn names(object: &Object, claim: &ObjectKey) -> bool {
    let is_beside = object.namespace() == claim.namespace.as_str()
        && !matches!(object.kind(), "PersistentVolumeClaim" | "Event");
    let parts = object.value().as_map().into_iter().flat_map(|map| map.iter());
    let said =
        parts.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "status"));
    is_beside && said.into_iter().any(|(_, value)| has_text(value, &claim.name))
}

fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::Map(map) => map.values().any(|value| has_text(value, text)),
        Value::Seq(items) => items.iter().any(|value| has_text(value, text)),
        _ => value.as_str() == Some(text),
    }
}

/// Whether a StatefulSet makes claims of this name: `<template>-<set>-<number>`.
pub(super) fn makes(set: &Object, claim: &ObjectKey) -> bool {
    let fits = |template: &Value| {
        let name = template.str_at(&["metadata", "name"]).unwrap_or_default();
        let rest =
            claim.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')?.strip_prefix(set.name()));
        let number = rest.and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    set.namespace() == claim.namespace
        && set.value().items_at(&["spec", "volumeClaimTemplates"]).iter().any(fits)
}

/// The StatefulSets of each namespace, to find the one that a claim comes from.
pub(super) struct Sets<'a>(HashMap<&'a str, Vec<&'a Object>>);

impl<'a> Sets<'a> {
    pub(super) fn new(case: &Case<'a>, server: &str) -> Self {
        let mut sets: HashMap<&'a str, Vec<&'a Object>> = HashMap::new();
        for set in case.of_kind(server, "apps", "StatefulSet").iter().copied() {
            if !set.value().items_at(&["spec", "volumeClaimTemplates"]).is_empty() {
                sets.entry(set.namespace()).or_default().push(set);
            }
        }
        Sets(sets)
    }

    /// What brings a claim about: what owns it, the set whose template it is of, or itself; and whose that is.
    pub(super) fn maker(
        &self,
        case: &Case<'a>,
        server: &str,
        claim: &'a Object,
    ) -> (&'a Object, Option<AppName>) {
        let mut sets = self.0.get(claim.namespace()).into_iter().flatten().copied();
        let maker = sets.find(|set| makes(set, &claim.key())).unwrap_or_else(|| case.top(server, claim));
        (maker, case.owner(server, &maker.key()))
    }

    /// The application that all claims come from, if it is one.
    pub(super) fn app(&self, case: &Case<'a>, server: &str, claims: &[&'a Object]) -> Option<AppName> {
        let mut apps: Vec<AppName> =
            claims.iter().filter_map(|claim| self.maker(case, server, claim).1).collect();
        apps.sort();
        apps.dedup();
        if apps.len() == 1 { apps.pop() } else { None }
    }
}

/// The messages of events about a claim with one of these reasons.
pub(super) fn told<'a>(case: &Case<'a>, server: &str, claim: &Object, reasons: &[&str]) -> Vec<&'a str> {
    let events = case.events(server, &claim.key()).iter().copied();
    let fits = |event: &&Object| reasons.contains(&event.value().str_at(&["reason"]).unwrap_or_default());
    events.filter(fits).filter_map(|event| event.value().str_at(&["message"])).collect()
}
