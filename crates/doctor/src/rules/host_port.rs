//! Pods that want a port of the node which another has.

use lynceus_object::{Object, Value};

use super::fit::{self, Fit};
use super::scheduler::{self, Obstacle, Waiting};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;

pub(super) const RULE: Rule = Rule {
    code: "LYN0409",
    title: "A port of the node is taken",
    explanation: "\
The pods want a port of the node itself (`hostPort`, or any port with `hostNetwork`), and on every node that would take them another
pod has it.

## Why
Two workloads want the same port, or more copies are wanted than there are nodes; an update that starts the new pod before the old
one has gone needs one node more than there are copies.

## Example
```
0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports.
```

## What to do
Take another port or none at all: a Service reaches pods without. For updates, let the old pod go first (`maxSurge: 0`).
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for one in scheduler::waiting(case, server) {
            if one.is(case, server, Obstacle::Port) {
                findings.add(found(case, server, &one));
            }
        }
    }
}

fn found(case: &Case<'_>, server: &str, one: &Waiting<'_>) -> Finding {
    let key = one.owner.key();
    let ports: Vec<i64> = ports(&one.spec);
    let holder = holder(case, server, one, &ports);
    let whose = match &holder {
        Some((pod, _)) if case.top(server, pod).key() == key => "other pods of it have".to_owned(),
        Some((pod, _)) => {
            let top = case.top(server, pod);
            format!("{} {}/{} has", top.kind(), top.namespace(), top.name())
        }
        None => "another pod has".to_owned(),
    };
    let port = holder.as_ref().map(|(_, port)| *port).or(ports.first().copied());
    let port = port
        .map(|port| format!("port {port} of the node"))
        .unwrap_or_else(|| "a port of the node".to_owned());
    let cause = format!("{}: they want {port}, which {whose} on every node that would take them", one.told());
    let app = case.owner(server, &key);
    let seen = holder.map(|(pod, port)| {
        let node = pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default();
        Evidence::seen(format!("pod {}/{} on node {node} has port {port}", pod.namespace(), pod.name()))
    });
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(app.clone())
        .seen(one.evidence(case, server))
        .seen(seen)
        .fix(app.as_ref().and_then(|app| without(app, one)))
        .fix([Fix::new("Take another port, or a node for each")
            .person("choose a port that nobody has, or want no more copies than there are nodes")])
}

/// Whether pods are in the network of their node.
fn is_wide(pods: &Pods<'_>) -> bool {
    pods.spec.bool_at(&["hostNetwork"]) == Some(true)
}

/// The ports of the node that pods want.
fn ports(pods: &Pods<'_>) -> Vec<i64> {
    let field = if is_wide(pods) { "containerPort" } else { "hostPort" };
    let all = pods.containers().into_iter().flat_map(|(_, container)| container.items_at(&["ports"]));
    all.filter_map(|port: &Value| port.int_at(&[field])).filter(|port| *port > 0).collect()
}

/// A pod that has one of the ports, on a node that would take the pods otherwise.
fn holder<'a>(case: &Case<'a>, server: &str, one: &Waiting<'_>, wanted: &[i64]) -> Option<(&'a Object, i64)> {
    let nodes: std::collections::HashSet<&str> = case
        .of_kind(server, "", "Node")
        .iter()
        .filter(|node| fit::fit(&one.spec, node) == Fit::Takes)
        .map(|node| node.name())
        .collect();
    case.of_kind(server, "", "Pod").iter().copied().find_map(|pod| {
        let on = pod.value().str_at(&["spec", "nodeName"])?;
        let port =
            Pods::of(pod).and_then(|pods| ports(&pods).into_iter().find(|port| wanted.contains(port)))?;
        nodes.contains(on).then_some((pod, port))
    })
}

/// Takes the wish for a port of the node out. In the network of the node every port is one of the node's, and the API server sets again
/// what is taken out.
fn without(app: &AppName, one: &Waiting<'_>) -> Option<Fix> {
    let template = Pods::of(one.owner).filter(|pods| !is_wide(pods))?;
    let (path, place) = template.containers().into_iter().find_map(|(path, container)| {
        let mut ports = container.items_at(&["ports"]).iter();
        Some((path, ports.position(|port| port.int_at(&["hostPort"]).is_some_and(|port| port > 0))?))
    })?;
    let path = path.field("ports").index(place).field("hostPort");
    Some(
        Fix::new("Do without the port of the node")
            .git(app, Place::Field { object: one.owner.key(), path, value: None })
            .risk(
                Risk::Medium,
                "what reaches the pods by the address of their node has to go through a Service",
            )
            .why("a Service reaches the pods wherever they are")
            .verify(scheduler::verify(one.owner)),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const PENDING: &str = "
@app edge Synced Progressing
@live
apiVersion: v1
kind: Pod
metadata: {name: edge, namespace: shop}
spec: {containers: [{name: edge, image: edge, ports: [{containerPort: 80, hostPort: 80}]}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) didn''t have free ports for the requested pod ports.'}
---
apiVersion: v1
kind: Pod
metadata: {name: old, namespace: web}
spec: {nodeName: a, containers: [{name: old, image: old, ports: [{containerPort: 8080, hostPort: 80}]}]}
---
apiVersion: v1
kind: Node
metadata: {name: a}
";

    #[test]
    fn a_port_that_another_has_is_found() {
        assert_eq!(
            check("LYN0409", PENDING),
            "P1 LYN0409/shop/Pod/edge: the pods of Pod edge are not scheduled: they want port 80 of the node, which Pod \
             web/old has on every node that would take them\n  Pod shop/edge: status.conditions: 0/1 nodes are available: 1 \
             node(s) didn't have free ports for the requested pod ports.\n  pod web/old on node a has port 80\n  fix: Take \
             another port, or a node for each\n"
        );
    }

    #[test]
    fn in_the_network_of_the_node_no_port_can_be_done_without() {
        let of_app = |spec: &str| {
            let text = PENDING.replacen("@live\n", &format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: edge, namespace: shop}}\nspec: {spec}\n@live\n"), 1);
            check("LYN0409", &text.replacen("spec: {containers: [{name: edge, image: edge, ports: [{containerPort: 80, hostPort: 80}]}]}\nstatus", &format!("spec: {spec}\nstatus"), 1))
        };
        let found =
            of_app("{containers: [{name: edge, image: edge, ports: [{containerPort: 80, hostPort: 80}]}]}");
        assert!(found.contains("  fix: Do without the port of the node\n"), "{found}");
        let found = of_app(
            "{hostNetwork: true, containers: [{name: edge, image: edge, ports: [{containerPort: 80, hostPort: 80}]}]}",
        );
        assert!(found.ends_with("has port 80\n  fix: Take another port, or a node for each\n"), "{found}");
    }

    #[test]
    fn pods_that_lack_room_are_another_matter() {
        let other = PENDING
            .replace("node(s) didn''t have free ports for the requested pod ports", "Insufficient cpu");
        assert_eq!(check("LYN0409", &other), "");
    }
}
