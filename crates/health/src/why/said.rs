//! What an object says about itself.

use lynceus_api::{Reason, ReasonCode, Time, annotations};
use lynceus_object::Object;

use crate::{Condition, conditions, int, limits};

/// Conditions that are good when they are true, in the order in which they tell most.
const GOOD: [&str; 10] = [
    "Ready",
    "Available",
    "Established",
    "Healthy",
    "Synced",
    "Succeeded",
    "Accepted",
    "Programmed",
    "Complete",
    "Reconciled",
];
/// Conditions that are bad when they are true.
const BAD: [&str; 7] = [
    "Stalled",
    "Degraded",
    "Failed",
    "ReplicaFailure",
    "NonStructuralSchema",
    "KubernetesAPIApprovalPolicyNonConformant",
    "FailureTarget",
];

/// The conditions that say that something is wrong.
pub(super) fn wrong(object: &Object) -> impl Iterator<Item = Condition<'_>> {
    conditions(object).filter(|condition| {
        let known_good = GOOD.contains(&condition.kind) || condition.kind.ends_with("Ready");
        let known_bad = BAD.contains(&condition.kind);
        (known_good && condition.status != "True") || (known_bad && condition.status == "True")
    })
}

/// What the conditions say that say something is wrong, as reasons.
pub(super) fn complaints(object: &Object) -> Vec<Reason> {
    wrong(object).take(limits::REASON_CHILDREN).map(|condition| told(object, condition)).collect()
}

/// A condition in a sentence.
pub(super) fn told(object: &Object, condition: Condition<'_>) -> Reason {
    let Condition { kind, status, reason, message } = condition;
    let words = match (reason, message) {
        ("", "") => format!("its condition {kind} is {status}"),
        (reason, "") => format!("its condition {kind} is {status}: {reason}"),
        ("", message) => format!("its condition {kind} is {status}: {message}"),
        (reason, message) => format!("its condition {kind} is {status}: {reason}: {message}"),
    };
    Reason::new(ReasonCode::Condition, words).since(since(object, kind))
}

/// Since when a condition is as it is.
pub(super) fn since(object: &Object, kind: &str) -> Option<Time> {
    let conditions = object.value().items_at(&["status", "conditions"]);
    let condition = conditions.iter().find(|condition| condition.str_at(&["type"]) == Some(kind))?;
    condition.str_at(&["lastTransitionTime"])?.parse::<jiff::Timestamp>().ok().map(Time::from)
}

/// A controller that has not looked at the object's last change yet, or is not there to look.
pub(super) fn not_observed(object: &Object) -> Option<Reason> {
    let generation = object.value().int_at(&["metadata", "generation"])?;
    object.value().int_at(&["status", "observedGeneration"])?;
    let observed = int(object, &["status", "observedGeneration"]);
    (observed < generation)
        .then(|| Reason::new(ReasonCode::NotObserved, "its controller has not seen its last change yet"))
}

/// What holds an object that is being deleted.
pub(super) fn held(object: &Object) -> Reason {
    let holders: Vec<&str> = object.finalizers().collect();
    let words = match holders.as_slice() {
        [] => "it is being deleted".to_owned(),
        holders => format!("it is being deleted and held by {}", holders.join(", ")),
    };
    let stamp = object.value().str_at(&["metadata", "deletionTimestamp"]).unwrap_or_default();
    let since = stamp.parse::<jiff::Timestamp>().ok().map(Time::from);
    let remains = conditions_of_namespace(object);
    Reason::new(ReasonCode::HeldByFinalizer, words).since(since).because(remains)
}

/// A namespace that cannot go says what is still in it.
fn conditions_of_namespace(object: &Object) -> Vec<Reason> {
    if (object.group(), object.kind()) != ("", "Namespace") {
        return Vec::new();
    }
    let stuck =
        conditions(object).filter(|condition| condition.status == "True" && !condition.message.is_empty());
    stuck.map(|condition| told(object, condition)).collect()
}

/// An address that something outside of the cluster has to give.
pub(super) fn address(object: &Object) -> Option<Reason> {
    let is_service = object.kind() == "Service";
    if is_service && object.value().str_at(&["spec", "type"]) != Some("LoadBalancer") {
        return None;
    }
    let given = object.value().items_at(&["status", "loadBalancer", "ingress"]);
    let whom = if is_service { "a load balancer" } else { "an ingress controller" };
    given.is_empty().then(|| {
        Reason::new(
            ReasonCode::AddressPending,
            format!("it has no address yet; {whom} of the cluster has to give it one"),
        )
    })
}

/// A child application has its own reasons, which its controller has written down.
pub(super) fn application(object: &Object) -> Vec<Reason> {
    let text = object.annotation(annotations::REASONS);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
