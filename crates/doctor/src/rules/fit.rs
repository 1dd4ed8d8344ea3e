//! Which nodes would take which pods, as far as labels and taints tell.

use lynceus_object::{FieldPath, Object, Selector, Value};

use crate::case::Pods;

/// How a node stands to some pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Nothing of the node itself keeps them off.
    Takes,
    /// The pods want another node.
    NotSelected,
    /// It has a taint that the pods do not tolerate.
    Tainted,
    /// It is not ready.
    Lost,
    /// Somebody has closed it.
    Closed,
}

/// How a node stands to some pods. What the pods want of a node comes first, then what is wrong with it.
pub(super) fn fit(pods: &Pods<'_>, node: &Object) -> Fit {
    if !is_selected(pods, node) {
        Fit::NotSelected
    } else if untolerated(pods, node).is_some() {
        Fit::Tainted
    } else if !is_ready(node) {
        Fit::Lost
    } else if node.value().bool_at(&["spec", "unschedulable"]) == Some(true) {
        Fit::Closed
    } else {
        Fit::Takes
    }
}

/// The first taint of a node that sets it apart and that the pods do not tolerate.
pub(super) fn untolerated<'a>(pods: &Pods<'_>, node: &'a Object) -> Option<&'a Value> {
    let taints = node.value().items_at(&["spec", "taints"]).iter();
    taints.filter(|taint| sets_apart(taint)).find(|taint| !is_tolerated(pods, taint))
}

/// Whether a taint keeps pods off on purpose. Those of Kubernetes itself only say how the node is.
pub(super) fn sets_apart(taint: &Value) -> bool {
    let key = taint.str_at(&["key"]).unwrap_or_default();
    taint.str_at(&["effect"]) != Some("PreferNoSchedule") && !key.starts_with("node.kubernetes.io/")
}

/// Taints that set nodes apart for the cluster itself are nobody else's business.
pub(super) fn is_of_system(taint: &Value) -> bool {
    let key = taint.str_at(&["key"]).unwrap_or_default();
    key.starts_with("node-role.kubernetes.io/")
        || key.starts_with("node.cloudprovider.kubernetes.io/")
        || key == "CriticalAddonsOnly"
}

/// Whether pods tolerate a taint.
pub(super) fn is_tolerated(pods: &Pods<'_>, taint: &Value) -> bool {
    pods.spec.items_at(&["tolerations"]).iter().any(|toleration| {
        let text = |field| toleration.str_at(&[field]).unwrap_or_default();
        let of_taint = |field| taint.str_at(&[field]).unwrap_or_default();
        let key_fits = match text("key") {
            "" => text("operator") == "Exists",
            key => key == of_taint("key"),
        };
        let effect_fits = text("effect").is_empty() || text("effect") == of_taint("effect");
        let value_fits = text("operator") == "Exists" || text("value") == of_taint("value");
        key_fits && effect_fits && value_fits
    })
}

/// Whether a node is what pods ask for by their node selector and their required affinity.
pub(super) fn is_selected(pods: &Pods<'_>, node: &Object) -> bool {
    let wanted = pods.spec.at(&["nodeSelector"]).and_then(Value::as_map);
    let labels = wanted.into_iter().flat_map(|map| map.iter());
    let mut labels = labels.filter_map(|(key, value)| Some((key, value.as_str()?)));
    labels.all(|(key, value)| node.label(key) == Some(value)) && is_in_affinity(pods, node)
}

/// The terms of the required affinity: one of them has to hold.
fn is_in_affinity(pods: &Pods<'_>, node: &Object) -> bool {
    let path =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    let terms = pods.spec.items_at(&path);
    terms.is_empty() || terms.iter().any(|term| holds(term, node))
}

fn holds(term: &Value, node: &Object) -> bool {
    let expressions = term.items_at(&["matchExpressions"]).iter().all(|one| expression(one, node));
    let named = term.items_at(&["matchFields"]).iter().all(|one| {
        let listed = one.items_at(&["values"]).iter().any(|value| value.as_str() == Some(node.name()));
        (one.str_at(&["operator"]) == Some("NotIn")) != listed
    });
    expressions && named
}

/// Whether a node is what one expression of an affinity says.
pub(super) fn expression(one: &Value, node: &Object) -> bool {
    let label = one.str_at(&["key"]).and_then(|key| node.label(key));
    let number = label.and_then(|label| label.parse::<i64>().ok());
    let bound =
        one.items_at(&["values"]).first().and_then(Value::as_str).and_then(|text| text.parse::<i64>().ok());
    match one.str_at(&["operator"]) {
        Some("Gt") => number.zip(bound).is_some_and(|(number, bound)| number > bound),
        Some("Lt") => number.zip(bound).is_some_and(|(number, bound)| number < bound),
        _ => {
            let listed = lynceus_object::value!({"matchExpressions": (vec![one.clone()])});
            // What cannot be read is not held against a node.
            Selector::from_object(Some(&listed)).map_or(true, |selector| selector.matches_object(node))
        }
    }
}

/// Whether a node says that it is ready, or says nothing.
pub(super) fn is_ready(node: &Object) -> bool {
    ready(node).is_none_or(|condition| condition.str_at(&["status"]) == Some("True"))
}

/// What a node says about being ready.
pub(super) fn ready(node: &Object) -> Option<&Value> {
    let conditions = node.value().items_at(&["status", "conditions"]);
    conditions.iter().find(|one| one.str_at(&["type"]) == Some("Ready"))
}

/// Whether a label says what a machine is: its kubelet or its cloud sets it, and one that is written by hand is overwritten or a lie.
pub(super) fn is_of_machine(key: &str) -> bool {
    const KEYS: [&str; 7] = [
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "kubernetes.io/hostname",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
    ];
    KEYS.contains(&key)
        || key.starts_with("topology.kubernetes.io/")
        || key.starts_with("failure-domain.beta.kubernetes.io/")
}

/// What pods ask for in nodes, in words, and the field that says so.
pub(super) fn asked(pods: &Pods<'_>) -> Option<(String, FieldPath, Value)> {
    let found = |path: FieldPath, value: &Value| (crate::words::shown(value), path, value.clone());
    if let Some(selector) = pods.spec.at(&["nodeSelector"]).filter(|one| !one.is_empty()) {
        return Some(found(pods.path.field("nodeSelector"), selector));
    }
    let path = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    let required = pods.spec.at(&path).filter(|one| !one.is_empty())?;
    let whole = path.iter().fold(pods.path.clone(), |path, field| path.field(*field));
    Some(found(whole, required))
}
