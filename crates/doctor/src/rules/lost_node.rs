//! Nodes that are not ready.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{FieldPath, Object, Value};

use super::fit::{self, Fit};
use super::scheduler::{self, Obstacle};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0407",
    title: "A node is not ready",
    explanation: "\
A node does not report, or reports that it cannot run pods. What ran there counts as gone or cannot end, and what has to run there
waits.

## Why
The machine is off, its network or its kubelet is broken, its disk is full, or it has just been made.

## Example
```
node dev-1: Ready is Unknown: NodeStatusUnknown: Kubelet stopped posting node status.
pod db-0 on it: Terminating for 20 minutes
```

## What to do
Bring the machine back, or delete its node so that its pods and volumes are let go. Be sure that it is really off before: two
writers on one volume destroy it.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let lost: Vec<&Object> =
            case.of_kind(server, "", "Node").iter().copied().filter(|node| !fit::is_ready(node)).collect();
        if lost.is_empty() {
            continue;
        }
        let mut affected = affected(case, server, &lost);
        for node in lost {
            let owners = affected.remove(node.name()).unwrap_or_default();
            findings.add(found(case, server, node, owners));
        }
    }
}

/// What is not well because of each node: what has pods there that are not ready, and what would be scheduled there.
fn affected<'a>(case: &Case<'a>, server: &str, lost: &[&'a Object]) -> BTreeMap<&'a str, BTreeSet<Node>> {
    let mut affected: BTreeMap<&'a str, BTreeSet<Node>> =
        lost.iter().map(|node| (node.name(), BTreeSet::new())).collect();
    for pod in case.of_kind(server, "", "Pod").iter().copied() {
        let on = pod.value().str_at(&["spec", "nodeName"]).and_then(|name| affected.get_mut(name));
        if let Some(owners) = on.filter(|_| case.is_unwell(pod) || pod.is_deleting()) {
            owners.insert(case.node(server, &pod.key()));
        }
    }
    for one in scheduler::waiting(case, server) {
        if !one.is(case, server, Obstacle::Lost) {
            continue;
        }
        for node in lost.iter().filter(|node| fit::fit(&one.spec, node) == Fit::Lost) {
            affected.entry(node.name()).or_default().insert(Node::object(server, one.owner.key()));
        }
    }
    affected
}

fn found(case: &Case<'_>, server: &str, node: &Object, owners: BTreeSet<Node>) -> Finding {
    let text = |field| fit::ready(node).and_then(|ready| ready.str_at(&[field])).unwrap_or_default();
    let state = if text("status") == "Unknown" { "does not report" } else { "says that it is not ready" };
    let names: Vec<String> = owners.iter().map(ToString::to_string).collect();
    let cause = match names.len() {
        0 => format!("node {} {state}; nothing is known to need it", node.name()),
        _ => format!("node {} {state}, and {} needs it", node.name(), words::list(&names)),
    };
    // What runs on every node is missed on this one only.
    let is_everywhere = |node: &Node| node.key().is_some_and(|key| key.kind == "DaemonSet");
    let severity = match owners.is_empty() {
        true => Severity::P3,
        false if owners.iter().all(is_everywhere) => Severity::P2,
        false => Severity::P1,
    };
    let said = [text("reason"), text("message")].join(": ");
    Finding::new(RULE.code, case.node(server, &node.key()), cause)
        .severity(severity)
        .seen([Evidence::Field {
            object: node.key(),
            path: FieldPath::fields(["status", "conditions"]),
            value: words::quote(&format!("Ready is {}: {said}", text("status"))),
        }])
        .seen(pressure(node))
        .affects(owners)
        .fix(fixes(node))
}

/// What else the node complains of: no room on its disk, no memory, no network.
fn pressure(node: &Object) -> Vec<Evidence> {
    let conditions = node.value().items_at(&["status", "conditions"]).iter();
    let bad = |one: &&Value| {
        one.str_at(&["status"]) == Some("True") && one.str_at(&["type"]).is_some_and(|kind| kind != "Ready")
    };
    let told = |one: &Value| Evidence::Field {
        object: node.key(),
        path: FieldPath::fields(["status", "conditions"]),
        value: format!("{} is True", one.str_at(&["type"]).unwrap_or_default()),
    };
    conditions.filter(bad).map(told).collect()
}

fn fixes(node: &Object) -> [Fix; 2] {
    let verify = format!("kubectl describe node {}", node.name());
    [
        Fix::new(format!("Bring node {} back", node.name()))
            .person(format!(
                "look at the machine of node {} and start it, or its kubelet, again",
                node.name()
            ))
            .verify(verify.clone())
            .why("nothing is lost"),
        Fix::new(format!("Give node {} up", node.name()))
            .person(format!("make sure that the machine is off, then: kubectl delete node {}", node.name()))
            .risk(Risk::High, "everything on the node; volumes may be damaged if the machine still runs")
            .verify(verify)
            .why("its pods and volumes are let go, and are made elsewhere"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const LOST: &str = "
@app db Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: data}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: data, uid: s1, generation: 1}
spec: {replicas: 1, template: {spec: {containers: [{name: db, image: db}]}}}
status: {replicas: 1, readyReplicas: 0, observedGeneration: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: data, deletionTimestamp: '2026-01-01T11:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: s1, controller: true}]}
spec: {nodeName: dev-1, containers: [{name: db, image: db}]}
status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1}
status:
  conditions:
  - {type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status.}
";

    #[test]
    fn a_node_that_does_not_report_is_found_with_what_needs_it() {
        assert_eq!(
            check("LYN0407", LOST),
            "P1 LYN0407/-/Node/dev-1: node dev-1 does not report, and StatefulSet data/db needs it\n  Node dev-1: \
             status.conditions: Ready is Unknown: NodeStatusUnknown: Kubelet stopped posting node status.\n  fix: Bring \
             node dev-1 back\n  fix: Give node dev-1 up\n"
        );
        assert_eq!(roots(LOST), "P1 LYN0407/-/Node/dev-1 explains db\n");
    }

    #[test]
    fn a_node_that_is_ready_is_not() {
        assert_eq!(check("LYN0407", &LOST.replace("status: Unknown", "status: 'True'")), "");
    }
}
