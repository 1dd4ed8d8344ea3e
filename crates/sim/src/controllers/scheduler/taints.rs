//! Taints, and the nodes that take no new pods.

use lynceus_object::{Object, Value, value};

use super::node::Node;
use super::words::Obstacle;

fn tolerations(pod: &Object) -> &[Value] {
    pod.value().items_at(&["spec", "tolerations"])
}

/// Whether a node takes no new pods, or not this one.
pub(super) fn obstacle(pod: &Object, node: &Node) -> Option<Obstacle> {
    if node.unschedulable && !tolerates_unschedulable(pod) {
        return Some(Obstacle::lasting("node(s) were unschedulable"));
    }
    (!tolerated(pod, node)).then(|| Obstacle::lasting("node(s) had untolerated taint(s)"))
}

/// Whether no taint keeps a pod away from a node.
pub(super) fn tolerated(pod: &Object, node: &Node) -> bool {
    bears(pod, node, &["NoSchedule", "NoExecute"])
}

/// Whether no taint sends a pod away that is on a node.
pub(super) fn may_stay(pod: &Object, node: &Node) -> bool {
    bears(pod, node, &["NoExecute"])
}

fn bears(pod: &Object, node: &Node, effects: &[&str]) -> bool {
    let counts = |taint: &&Value| taint.str_at(&["effect"]).is_some_and(|effect| effects.contains(&effect));
    node.taints()
        .iter()
        .filter(counts)
        .all(|taint| tolerations(pod).iter().any(|toleration| tolerates(toleration, taint)))
}

/// How many taints of a node ask a pod to go elsewhere if it can.
pub(super) fn reluctance(pod: &Object, node: &Node) -> i64 {
    let soft = |taint: &&Value| taint.str_at(&["effect"]) == Some("PreferNoSchedule");
    let taints = node.taints().iter().filter(soft);
    taints.filter(|taint| !tolerations(pod).iter().any(|toleration| tolerates(toleration, taint))).count()
        as i64
}

fn tolerates_unschedulable(pod: &Object) -> bool {
    let taint = value!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    tolerations(pod).iter().any(|toleration| tolerates(toleration, &taint))
}

/// Whether a toleration is for a taint.
pub(crate) fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let wish = |field| toleration.str_at(&[field]).unwrap_or_default();
    let has = |field| taint.str_at(&[field]).unwrap_or_default();
    let agrees = |field| wish(field).is_empty() || wish(field) == has(field);
    agrees("effect")
        && agrees("key")
        && match wish("operator") {
            "Exists" => true,
            _ => !wish("key").is_empty() && wish("value") == has("value"),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::{NODE, POD};
    use lynceus_object::yaml;

    #[test]
    fn taints_keep_pods_away_that_do_not_tolerate_them() {
        let untolerated = Some("node(s) had untolerated taint(s)");
        for (taint, toleration, expected) in [
            ("{key: gpu, value: a, effect: NoSchedule}", "", untolerated),
            ("{key: gpu, value: a, effect: PreferNoSchedule}", "", None),
            ("{key: gpu, value: a, effect: NoExecute}", "{key: gpu, operator: Exists}", None),
            ("{key: gpu, value: a, effect: NoSchedule}", "{key: gpu, value: a}", None),
            ("{key: gpu, value: a, effect: NoSchedule}", "{key: gpu, value: b}", untolerated),
            ("{key: gpu, value: a, effect: NoSchedule}", "{operator: Exists}", None),
            (
                "{key: gpu, effect: NoSchedule}",
                "{key: gpu, operator: Exists, effect: NoExecute}",
                untolerated,
            ),
        ] {
            let (mut node, mut pod) = (NODE.named("", "n"), POD.named("shop", "web"));
            node.set(&["spec", "taints"], yaml::parse_str(&format!("[{taint}]")).unwrap());
            pod.set(&["spec", "tolerations"], yaml::parse_str(&format!("[{toleration}]")).unwrap());
            let found = obstacle(&pod, &Node::of(&node)).map(|obstacle| obstacle.reasons[0].clone());
            assert_eq!(found.as_deref(), expected, "{taint} {toleration}");
        }
    }
}
