//! Conditions: what a status says about one aspect.

use jiff::Timestamp;
use lynceus_object::edit::part_or_new;
use lynceus_object::{Object, Value};

use super::time;

/// The condition of a type.
pub(crate) fn get<'a>(object: &'a Object, type_: &str) -> Option<&'a Value> {
    list(object).iter().find(|condition| condition.str_at(&["type"]) == Some(type_))
}

/// Whether a condition holds.
pub(crate) fn is_true(object: &Object, type_: &str) -> bool {
    get(object, type_).and_then(|condition| condition.str_at(&["status"])) == Some("True")
}

/// The reason of a condition.
pub(crate) fn reason<'a>(object: &'a Object, type_: &str) -> &'a str {
    get(object, type_).and_then(|condition| condition.str_at(&["reason"])).unwrap_or_default()
}

fn list(object: &Object) -> &[Value] {
    object.value().items_at(&["status", "conditions"])
}

/// A condition that was set just now.
pub(crate) fn new(type_: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    let time = time::stamp(now);
    let fields = [
        ("lastTransitionTime", time.as_str()),
        ("message", message),
        ("reason", reason),
        ("status", status),
        ("type", type_),
    ];
    let is_said = |(field, text): &(&str, &str)| !text.is_empty() || !matches!(*field, "reason" | "message");
    Value::Map(fields.into_iter().filter(is_said).collect())
}

/// The condition that says why a pod has to go though nothing is wrong with it.
pub(crate) fn disruption(pod: &Object, reason: &str, message: &str, now: Timestamp) -> Value {
    let mut why = new("DisruptionTarget", "True", reason, message, now);
    why.set(&["lastProbeTime"], Value::Null);
    if pod.generation() > 0 {
        why.set(&["observedGeneration"], pod.generation());
    }
    why
}

/// Sets a condition; one with the same status keeps its transition time, one with the same reason too stays
/// as it is.
pub(crate) fn set(object: &mut Object, mut condition: Value) {
    let type_ = condition.str_at(&["type"]).unwrap_or_default().to_owned();
    if let Some(current) = get(object, &type_) {
        let same = |field: &str| current.str_at(&[field]) == condition.str_at(&[field]);
        if same("status") && same("reason") {
            return;
        }
        if same("status")
            && let Some(since) = current.get("lastTransitionTime").cloned()
        {
            condition.set(&["lastTransitionTime"], since);
        }
    }
    remove(object, &type_);
    let value = object.value_mut();
    let mut conditions: Vec<Value> = value.items_at(&["status", "conditions"]).to_vec();
    conditions.push(condition);
    value.set(&["status", "conditions"], conditions);
}

/// Sets a condition in its place, keeping the transition time while the status stays the same.
pub(crate) fn replace(object: &mut Object, mut condition: Value) {
    let type_ = condition.str_at(&["type"]).unwrap_or_default();
    let place = list(object).iter().position(|current| current.str_at(&["type"]) == Some(type_));
    if let Some(current) = place.and_then(|at| list(object).get(at)) {
        if current.str_at(&["status"]) == condition.str_at(&["status"])
            && let Some(since) = current.get("lastTransitionTime").cloned()
        {
            condition.set(&["lastTransitionTime"], since);
        }
        // What stays as it is stays shared with the stored object, and is not looked at by those who write it.
        if *current == condition {
            return;
        }
    }
    let conditions = part_or_new(object.value_mut(), "status").as_map_or_insert().entry("conditions");
    let conditions = conditions.as_seq_or_insert();
    match place {
        Some(at) => conditions.make_mut()[at] = condition,
        None => conditions.push(condition),
    }
}

/// Removes a condition.
pub(crate) fn remove(object: &mut Object, type_: &str) {
    if get(object, type_).is_none() {
        return;
    }
    let rest: Vec<Value> =
        list(object).iter().filter(|condition| condition.str_at(&["type"]) != Some(type_)).cloned().collect();
    if rest.is_empty() {
        object.remove(&["status", "conditions"]);
    } else {
        object.set(&["status", "conditions"], rest);
    }
}
