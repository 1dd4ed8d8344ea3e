//! Pods whose nodes somebody has closed.

use std::collections::BTreeMap;

use lynceus_object::{Object, ObjectKey, Str};

use super::fit::{self, Fit};
use super::scheduler::{self, Obstacle, Waiting};
use crate::case::Case;
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0410",
    title: "The nodes that would take the pods are closed",
    explanation: "\
Every node that would take the pods is cordoned: it keeps what it has, and takes nothing new.

## Why
Somebody drained nodes for maintenance and did not open them again, or an upgrade stopped half way.

## Example
```
0/3 nodes are available: 3 node(s) were unschedulable.
```

## What to do
Open the nodes again when the maintenance is over, or add others.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let mut closed: BTreeMap<Str, Vec<Waiting<'_>>> = BTreeMap::new();
        for one in scheduler::waiting(case, server) {
            if one.is(case, server, Obstacle::Closed)
                && let Some(first) = nodes(case, server, &one).first()
            {
                closed.entry(first.name().into()).or_default().push(one);
            }
        }
        closed.into_iter().for_each(|(node, waiting)| findings.add(found(case, server, &node, &waiting)));
    }
}

/// The closed nodes that would take pods, in order of their names.
fn nodes<'a>(case: &Case<'a>, server: &str, one: &Waiting<'_>) -> Vec<&'a Object> {
    let all = case.of_kind(server, "", "Node").iter().copied();
    let mut closed: Vec<&Object> = all.filter(|node| fit::fit(&one.spec, node) == Fit::Closed).collect();
    closed.sort_by_key(|node| node.name());
    closed
}

fn found(case: &Case<'_>, server: &str, node: &str, waiting: &[Waiting<'_>]) -> Finding {
    let first = &waiting[0];
    let closed = words::list(nodes(case, server, first).iter().map(|node| node.name()));
    let owners = waiting.iter().map(|one| format!("{} {}", one.owner.kind(), one.owner.name()));
    let cause = format!(
        "the pods of {} are not scheduled: the nodes that would take them are closed, {closed}",
        words::list(owners)
    );
    Finding::new(RULE.code, Node::object(server, ObjectKey::new("", "Node", "", node)), cause)
        .seen(first.evidence(case, server))
        .affects(waiting.iter().map(|one| Node::object(server, one.owner.key())))
        .fix([Fix::new("Open the nodes again")
            .person(format!("when the maintenance is over: kubectl uncordon {node}"))
            .risk(Risk::Low, "pods are scheduled onto the nodes again")
            .undo(format!("kubectl cordon {node}"))
            .verify("kubectl get nodes")])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const CLOSED: &str = "
@live
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: web}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) were unschedulable.'}
---
apiVersion: v1
kind: Node
metadata: {name: a}
spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}
";

    #[test]
    fn a_node_that_was_not_opened_again_is_found() {
        assert_eq!(
            check("LYN0410", CLOSED),
            "P1 LYN0410/-/Node/a: the pods of Pod web are not scheduled: the nodes that would take them are closed, a\n  Pod \
             shop/web: status.conditions: 0/1 nodes are available: 1 node(s) were unschedulable.\n  fix: Open the nodes \
             again\n"
        );
    }

    #[test]
    fn a_closed_node_beside_one_that_is_full_is_not() {
        let full = CLOSED
            .replace("1 node(s) were unschedulable", "1 Insufficient cpu, 1 node(s) were unschedulable");
        assert_eq!(check("LYN0410", &full), "");
    }
}
