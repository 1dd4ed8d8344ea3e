//! What a Job makes of a pod that failed: whether it counts, and whether it is the end of more than the pod.

use lynceus_object::{Object, Value};

use crate::controllers::{condition, pods};

/// What follows from a failed pod.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It counts as a failure.
    Count,
    /// It does not count, and is replaced.
    Ignore,
    /// It counts, and its index has failed for good.
    FailIndex,
    /// It counts, and the Job has failed for good, with these words.
    FailJob(String),
}

/// Whether a Job waits for a pod to have stopped before it is replaced, and counts it only then. A failure policy has to
/// see how the pod ended.
pub(super) fn waits_for_end(job: &Object) -> bool {
    job.value().str_at(&["spec", "podReplacementPolicy"]) == Some("Failed")
        || job.at(&["spec", "podFailurePolicy"]).is_some_and(|policy| !policy.is_null())
}

/// Whether a pod counts as failed. One that is deleted counts at once, unless the Job waits for its end.
pub(super) fn has_failed(job: &Object, pod: &Object) -> bool {
    match pods::phase(pod) {
        "Failed" => true,
        "Succeeded" => false,
        _ => pod.is_deleting() && !waits_for_end(job),
    }
}

/// What the first rule that fits says of a failed pod.
pub(super) fn effect(job: &Object, pod: &Object) -> Effect {
    let rules = job.value().items_at(&["spec", "podFailurePolicy", "rules"]);
    for (at, rule) in rules.iter().enumerate() {
        let Some(found) = fits(rule, pod) else { continue };
        return match rule.str_at(&["action"]) {
            Some("Ignore") => Effect::Ignore,
            Some("FailIndex") => Effect::FailIndex,
            Some("FailJob") => Effect::FailJob(format!("{found} matching FailJob rule at index {at}")),
            _ => Effect::Count,
        };
    }
    Effect::Count
}

/// What of a pod a rule is about, in words.
fn fits(rule: &Value, pod: &Object) -> Option<String> {
    let (namespace, name) = (pod.namespace(), pod.name());
    if let Some(wanted) = rule.get("onExitCodes").filter(|wanted| !wanted.is_null()) {
        let (container, code) = exited(wanted, pod)?;
        return Some(format!(
            "Container {container} for pod {namespace}/{name} failed with exit code {code}"
        ));
    }
    let holds = |wanted: &&Value| {
        let type_ = wanted.str_at(&["type"]).unwrap_or_default();
        let status = condition::get(pod, type_).and_then(|found| found.str_at(&["status"]));
        status.is_some() && status == wanted.str_at(&["status"])
    };
    let found = rule.items_at(&["onPodConditions"]).iter().find(holds)?;
    let type_ = found.str_at(&["type"]).unwrap_or_default();
    Some(format!("Pod {namespace}/{name} has condition {type_}"))
}

/// The first container that ended with one of the codes.
fn exited<'a>(wanted: &Value, pod: &'a Object) -> Option<(&'a str, i64)> {
    let values = wanted.items_at(&["values"]);
    let inside = wanted.str_at(&["operator"]) == Some("In");
    let named = wanted.str_at(&["containerName"]);
    ["containerStatuses", "initContainerStatuses"]
        .into_iter()
        .flat_map(|list| pod.value().items_at(&["status", list]))
        .filter_map(|status| {
            let code = status.int_at(&["state", "terminated", "exitCode"])?;
            Some((status.str_at(&["name"]).unwrap_or_default(), code))
        })
        .filter(|(name, code)| *code != 0 && named.is_none_or(|named| named == *name))
        .find(|(_, code)| values.iter().any(|value| value.as_int() == Some(*code)) == inside)
}
