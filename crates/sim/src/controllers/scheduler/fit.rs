//! Whether a pod may run on a node.

use lynceus_object::{Object, Value};

use crate::controllers::{condition, selector};

/// Why a pod may not run on a node, in the scheduler's words.
pub(crate) fn obstacle(pod: &Object, node: &Object) -> Option<String> {
    if node.value().bool_at(&["spec", "unschedulable"]) == Some(true) && !tolerates_unschedulable(pod) {
        return Some("node(s) were unschedulable".into());
    }
    if !condition::is_true(node, "Ready") {
        return Some("node(s) were not ready".into());
    }
    if let Some(taint) = untolerated(pod, node) {
        return Some(format!("node(s) had untolerated taint(s) {{{}}}", describe(taint)));
    }
    (!selected(pod, node)).then(|| "node(s) didn't match Pod's node affinity/selector".into())
}

/// Whether a DaemonSet's pod belongs on a node.
pub(crate) fn runs_daemon(pod: &Object, node: &Object) -> bool {
    untolerated(pod, node).is_none() && selected(pod, node)
}

fn tolerates_unschedulable(pod: &Object) -> bool {
    let taint = lynceus_object::value!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    tolerations(pod).iter().any(|toleration| tolerates(toleration, &taint))
}

fn tolerations(pod: &Object) -> &[Value] {
    pod.value().items_at(&["spec", "tolerations"])
}

fn untolerated<'a>(pod: &Object, node: &'a Object) -> Option<&'a Value> {
    node.value()
        .items_at(&["spec", "taints"])
        .iter()
        .filter(|taint| matches!(taint.str_at(&["effect"]), Some("NoSchedule" | "NoExecute")))
        .find(|taint| !tolerations(pod).iter().any(|toleration| tolerates(toleration, taint)))
}

fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let text = |value: &Value, field| value.str_at(&[field]).unwrap_or_default().to_owned();
    let effect = text(toleration, "effect");
    if !effect.is_empty() && effect != text(taint, "effect") {
        return false;
    }
    let key = text(toleration, "key");
    if !key.is_empty() && key != text(taint, "key") {
        return false;
    }
    match toleration.str_at(&["operator"]) {
        Some("Exists") => true,
        _ => !key.is_empty() && text(toleration, "value") == text(taint, "value"),
    }
}

fn describe(taint: &Value) -> String {
    let text = |field| taint.str_at(&[field]).unwrap_or_default();
    format!("{}: {}", text("key"), text("value"))
}

/// Whether the node selector and the required affinity to nodes hold.
fn selected(pod: &Object, node: &Object) -> bool {
    let labels = node.at(&["metadata", "labels"]);
    if !selector::has_all(pod.at(&["spec", "nodeSelector"]), labels) {
        return false;
    }
    let path = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    let Some(required) = pod.at(&path) else { return true };
    required.items_at(&["nodeSelectorTerms"]).iter().any(|term| term_holds(term, node, labels))
}

fn term_holds(term: &Value, node: &Object, labels: Option<&Value>) -> bool {
    let expressions = term.items_at(&["matchExpressions"]);
    let fields = term.items_at(&["matchFields"]);
    let names = lynceus_object::value!({"metadata.name": node.name()});
    !(expressions.is_empty() && fields.is_empty())
        && expressions.iter().all(|requirement| selector::holds(requirement, labels))
        && fields.iter().all(|requirement| selector::holds(requirement, Some(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::{NODE, POD};
    use lynceus_object::value;

    fn node() -> Object {
        let mut node = NODE.named("", "n1");
        node.set(&["metadata", "labels"], value!({"zone": "a", "cores": "8"}));
        node.set(&["status", "conditions"], value!([{"type": "Ready", "status": "True"}]));
        node
    }

    fn fits(spec: Value) -> Option<String> {
        let mut pod = POD.named("shop", "web");
        pod.set(&["spec"], spec);
        obstacle(&pod, &node())
    }

    #[test]
    fn selectors_and_affinity_choose_nodes() {
        assert_eq!(fits(value!({})), None);
        assert_eq!(fits(value!({"nodeSelector": {"zone": "a"}})), None);
        let reason = "node(s) didn't match Pod's node affinity/selector";
        assert_eq!(fits(value!({"nodeSelector": {"zone": "b"}})).as_deref(), Some(reason));
        let required = |requirement: Value| {
            value!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [requirement]}]}}}})
        };
        assert_eq!(fits(required(value!({"key": "cores", "operator": "Gt", "values": ["4"]}))), None);
        assert!(fits(required(value!({"key": "cores", "operator": "Lt", "values": ["4"]}))).is_some());
    }

    #[test]
    fn taints_keep_pods_away_that_do_not_tolerate_them() {
        let mut node = node();
        node.set(&["spec", "taints"], value!([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]));
        let mut pod = POD.named("shop", "web");
        assert_eq!(obstacle(&pod, &node).as_deref(), Some("node(s) had untolerated taint(s) {gpu: yes}"));
        pod.set(&["spec", "tolerations"], value!([{"key": "gpu", "operator": "Equal", "value": "yes"}]));
        assert_eq!(obstacle(&pod, &node), None);
    }
}
