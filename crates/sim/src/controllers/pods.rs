//! What workload controllers know about pods.

use std::cmp::Ordering;
use std::collections::HashMap;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value};

use super::condition;
use super::kind::{Kind, POD};
use super::time;

/// The reference by which an object is managed by `owner`.
pub(crate) fn controller_ref(owner: &Object) -> Value {
    let own = |path: &[&str]| owner.at(path).cloned().unwrap_or_default();
    let fields = [
        ("apiVersion", own(&["apiVersion"])),
        ("blockOwnerDeletion", true.into()),
        ("controller", true.into()),
        ("kind", own(&["kind"])),
        ("name", own(&["metadata", "name"])),
        ("uid", own(&["metadata", "uid"])),
    ];
    Value::Map(fields.into_iter().collect())
}

/// A pod of a template, managed by `owner`, with a generated name.
pub(crate) fn from_template(owner: &Object, template: &Value) -> Object {
    let prefix = format!("{}-", owner.name());
    let mut pod = POD.generated(owner.namespace(), &prefix);
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.at(&["metadata", field]) {
            pod.set(&["metadata", field], value.clone());
        }
    }
    pod.set(&["metadata", "ownerReferences"], vec![controller_ref(owner)]);
    if let Some(spec) = template.get("spec") {
        pod.set(&["spec"], spec.clone());
    }
    pod
}

/// The phase, or the empty string.
pub(crate) fn phase(pod: &Object) -> &str {
    pod.value().str_at(&["status", "phase"]).unwrap_or_default()
}

/// Whether it has ended, one way or the other.
pub(crate) fn is_finished(pod: &Object) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Whether it counts as a replica.
pub(crate) fn is_active(pod: &Object) -> bool {
    !is_finished(pod) && !pod.is_deleting()
}

/// Whether it takes traffic.
pub(crate) fn is_ready(pod: &Object) -> bool {
    condition::is_true(pod, "Ready")
}

/// Whether one of its containers has an image of some sort.
pub(crate) fn runs(pod: &Object, is_wanted: impl Fn(&str) -> bool) -> bool {
    images(pod).any(is_wanted)
}

/// The images of its containers.
pub(crate) fn images(pod: &Object) -> impl Iterator<Item = &str> {
    let containers = pod.value().items_at(&["spec", "containers"]);
    containers.iter().filter_map(|container| container.str_at(&["image"]))
}

/// When it will have been ready long enough; none if it is not ready.
pub(crate) fn available_at(pod: &Object, min_ready: i64) -> Option<Timestamp> {
    let ready = condition::get(pod, "Ready").filter(|_| is_ready(pod))?;
    let since = time::read(ready.get("lastTransitionTime"))?;
    Some(time::after(since, min_ready))
}

/// Whether it has been ready long enough.
pub(crate) fn is_available(pod: &Object, min_ready: i64, now: Timestamp) -> bool {
    if min_ready == 0 {
        return is_ready(pod);
    }
    available_at(pod, min_ready).is_some_and(|at| at <= now)
}

/// The next time at which one of `pods` becomes available by waiting.
pub(crate) fn next_available(pods: &[Object], min_ready: i64, now: Timestamp) -> Option<Timestamp> {
    if min_ready == 0 {
        return None;
    }
    pods.iter().filter_map(|pod| available_at(pod, min_ready)).filter(|at| *at > now).min()
}

/// How many times its containers were restarted.
fn restarts(pod: &Object) -> i64 {
    let statuses = pod.value().items_at(&["status", "containerStatuses"]);
    statuses.iter().filter_map(|status| status.int_at(&["restartCount"])).max().unwrap_or(0)
}

/// Orders pods by how little they would be missed: those to delete first come first.
pub(crate) fn rank_for_deletion(pods: &mut [Object]) {
    let mut per_node: HashMap<Str, i64> = HashMap::new();
    for pod in pods.iter() {
        *per_node.entry(node(pod).into()).or_default() += 1;
    }
    let crowd = |pod: &Object| per_node.get(node(pod)).copied().unwrap_or(0);
    pods.sort_by(|a, b| {
        let assigned = |pod: &Object| !node(pod).is_empty();
        assigned(a)
            .cmp(&assigned(b))
            .then_with(|| progress(a).cmp(&progress(b)))
            .then_with(|| is_ready(a).cmp(&is_ready(b)))
            .then_with(|| deletion_cost(a).cmp(&deletion_cost(b)))
            .then_with(|| crowd(b).cmp(&crowd(a)))
            .then_with(|| newer_first(ready_since(a), ready_since(b)))
            .then_with(|| restarts(b).cmp(&restarts(a)))
            .then_with(|| newer_first(created(a), created(b)))
            .then_with(|| a.name().cmp(b.name()))
    });
}

fn node(pod: &Object) -> &str {
    pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default()
}

fn progress(pod: &Object) -> u8 {
    match phase(pod) {
        "Running" => 2,
        "Unknown" => 1,
        _ => 0,
    }
}

fn deletion_cost(pod: &Object) -> i64 {
    const COST: &str = "controller.kubernetes.io/pod-deletion-cost";
    pod.annotation(COST).and_then(|cost| cost.parse().ok()).unwrap_or(0)
}

fn ready_since(pod: &Object) -> Option<Timestamp> {
    available_at(pod, 0)
}

/// When an object was made.
pub(crate) fn created(object: &Object) -> Option<Timestamp> {
    time::read(object.at(&["metadata", "creationTimestamp"]))
}

fn newer_first(a: Option<Timestamp>, b: Option<Timestamp>) -> Ordering {
    b.cmp(&a)
}

/// Orders objects by age, the oldest first.
pub(crate) fn by_age(objects: &mut [Object]) {
    objects.sort_by(|a, b| created(a).cmp(&created(b)).then_with(|| a.name().cmp(b.name())));
}

/// A count in the spec, or its default.
pub(crate) fn spec_int(object: &Object, path: &[&str], default: i64) -> i64 {
    object.at(&["spec"]).and_then(|spec| spec.int_at(path)).unwrap_or(default)
}

/// A count or percentage of `total`.
pub(crate) fn scaled(value: Option<&Value>, total: i64, round_up: bool) -> i64 {
    match value {
        Some(Value::Str(text)) => {
            let percent = text.trim_end_matches('%').parse::<i64>().unwrap_or(0);
            if round_up { (total * percent + 99).div_euclid(100) } else { total * percent / 100 }
        }
        Some(value) => value.as_int().unwrap_or(0),
        None => 0,
    }
}

/// Sets a count of the status, leaving it out when it is zero, as Go does.
pub(crate) fn set_count(object: &mut Object, field: &str, count: i64) {
    if count == 0 {
        object.remove(&["status", field]);
    } else {
        object.set(&["status", field], count);
    }
}

/// The kind and name of the managing controller, if it is of a kind.
pub(crate) fn managed_by(object: &Object, kind: &Kind) -> Option<Str> {
    let owner = object.controller_entry()?;
    let text = |field| owner.str_at(&[field]).unwrap_or_default();
    let group = lynceus_object::split_api_version(text("apiVersion")).0;
    (text("kind") == kind.kind && group == kind.group).then(|| match owner.get("name") {
        Some(Value::Str(name)) => name.clone(),
        _ => Str::new(),
    })
}
