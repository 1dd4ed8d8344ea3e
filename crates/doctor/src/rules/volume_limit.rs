//! Nodes that have as many volumes as they may have.

use std::collections::BTreeMap;

use lynceus_object::{Object, ObjectKey, Str};

use super::fit::{self, Fit};
use super::scheduler::{self, Obstacle, Waiting};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0405",
    title: "The nodes hold as many volumes as they may",
    explanation: "\
A machine can have only so many disks attached. The nodes that would take the pods have reached that number, so pods with a volume
stay Pending although there is room for the pods themselves.

## Why
Clouds bound the number of disks by the size of the machine, often to eight for small ones. Several databases on one small node
reach that soon.

## Example
```
0/7 nodes are available: 1 node(s) exceed max volume count, 6 node(s) had untolerated taint(s).
```

## What to do
Add a node to the pool, or take a larger machine, which may have more disks. Volumes that nobody needs any more can be given back.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let mut full: BTreeMap<Str, Vec<Waiting<'_>>> = BTreeMap::new();
        for one in scheduler::waiting(case, server) {
            if one.is(case, server, Obstacle::VolumeCount) {
                full.entry(pool(case, server, &one)).or_default().push(one);
            }
        }
        full.into_iter().for_each(|(pool, waiting)| findings.add(found(case, server, &pool, &waiting)));
    }
}

/// The first of the nodes that would take pods; empty if none is known.
fn pool(case: &Case<'_>, server: &str, one: &Waiting<'_>) -> Str {
    let nodes = case.of_kind(server, "", "Node").iter();
    let takes = nodes.filter(|node| fit::fit(&one.spec, node) == Fit::Takes);
    takes.map(|node| Str::from(node.name())).min().unwrap_or_default()
}

/// One finding for everything that waits for the same nodes: the first of them stands for all.
fn found(case: &Case<'_>, server: &str, pool: &str, waiting: &[Waiting<'_>]) -> Finding {
    let first = &waiting[0];
    let names: Vec<String> =
        waiting.iter().map(|one| format!("{} {}", one.owner.kind(), one.owner.name())).collect();
    let cause = format!(
        "the pods of {} are not scheduled: the nodes that would take them have as many volumes as they may have",
        words::list(&names)
    );
    let node = ObjectKey::new("", "Node", "", pool);
    let subject = if pool.is_empty() { first.owner.key() } else { node };
    let mut apps: Vec<_> = waiting.iter().filter_map(|one| case.owner(server, &one.owner.key())).collect();
    apps.sort();
    apps.dedup();
    Finding::new(RULE.code, Node::object(server, subject), cause)
        .of(if apps.len() == 1 { apps.pop() } else { None })
        .seen(first.evidence(case, server))
        .seen(limit(case, server, pool))
        .affects(waiting.iter().map(|one| Node::object(server, one.owner.key())))
        .fix(fixes())
}

/// How many volumes a node may have, and how many of its pods have one.
fn limit(case: &Case<'_>, server: &str, node: &str) -> Option<Evidence> {
    let known = case.live(server, &ObjectKey::new("storage.k8s.io", "CSINode", "", node))?;
    let count = |driver: &lynceus_object::Value| driver.int_at(&["allocatable", "count"]);
    let most = known.value().items_at(&["spec", "drivers"]).iter().filter_map(count).min()?;
    let is_here = |pod: &&&Object| pod.value().str_at(&["spec", "nodeName"]) == Some(node);
    let claims: usize = case
        .of_kind(server, "", "Pod")
        .iter()
        .filter(is_here)
        .map(|pod| pod.value().items_at(&["spec", "volumes"]))
        .map(|volumes| volumes.iter().filter(|one| one.get("persistentVolumeClaim").is_some()).count())
        .sum();
    Some(Evidence::seen(format!("node {node} may have {most} volumes, and its pods have {claims}")))
}

fn fixes() -> [Fix; 2] {
    [
        Fix::new("Add a node to the pool")
            .person("add a node to the pool, or raise the limit of its autoscaler")
            .verify("kubectl get csinodes -o yaml")
            .why("it moves nothing that runs"),
        Fix::new("Take machines that may have more volumes")
            .person("make the pool anew with a larger size of machine")
            .risk(Risk::Medium, "everything on the pool moves")
            .why("it lasts longer, and everything on the pool has to move"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const PENDING: &str = "
@app db Synced Progressing
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: data, uid: s1}
spec: {template: {spec: {containers: [{name: db, image: db}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: data, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: s1, controller: true}]}
spec: {containers: [{name: db, image: db}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) exceed max volume count.'}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: dev-1}
spec: {drivers: [{name: disk, allocatable: {count: 8}}]}
";

    #[test]
    fn a_node_that_may_have_no_more_volumes_is_found() {
        assert_eq!(
            check("LYN0405", PENDING),
            "P1 LYN0405/-/Node/dev-1: the pods of StatefulSet db are not scheduled: the nodes that would take them have as \
             many volumes as they may have\n  Pod data/db-0: status.conditions: 0/1 nodes are available: 1 node(s) exceed \
             max volume count.\n  node dev-1 may have 8 volumes, and its pods have 0\n  fix: Add a node to the pool\n  \
             fix: Take machines that may have more volumes\n"
        );
    }

    #[test]
    fn a_volume_that_is_out_of_reach_is_another_matter() {
        assert_eq!(
            check(
                "LYN0405",
                &PENDING.replace("exceed max volume count", "had volume node affinity conflict")
            ),
            ""
        );
    }
}
