//! Pods that no node takes because of its taints.

use lynceus_object::{Object, Value, value};

use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0401",
    title: "No node takes the pods: a taint is not tolerated",
    explanation: "\
Every node that would do has a taint, and the pods do not tolerate it. They stay Pending for ever, and so do their volumes if the
class waits for its first consumer.

## Why
Nodes are set apart for an environment or a purpose by a taint, and a workload that belongs there was not told.

## Example
```
0/3 nodes are available: 3 node(s) had untolerated taint {example.org/environment: dev}.
```

## What to do
Give the pods the toleration where their values come from. Do not take the taint off: it keeps others away.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for owner in case.pod_owners(server) {
            if let Some(finding) = find(case, server, owner) {
                findings.add(finding);
            }
        }
    }
}

fn find<'a>(case: &Case<'a>, server: &str, owner: &'a Object) -> Option<Finding> {
    let pods = case.pods(server, owner);
    let pod =
        pods.iter().find(|pod| unscheduled(pod).is_some_and(|said| said.contains("untolerated taint")))?;
    let said = unscheduled(pod)?;
    let spec = Pods::of(pod)?;
    let taint = missing(case, server, &spec)?;
    let text = |field| taint.str_at(&[field]).unwrap_or_default();
    let shown = format!("{}={}:{}", text("key"), text("value"), text("effect"));
    let key = owner.key();
    let cause = format!(
        "the pods of {} {} are not scheduled: the nodes that would take them have the taint {shown}, which the pods do not \
         tolerate",
        key.kind, key.name
    );
    let owner_name = case.owner(server, &key);
    let toleration = value!({
        "key": (text("key")), "operator": "Equal", "value": (text("value")), "effect": (text("effect")),
    });
    let fix = owner_name.as_ref().zip(Pods::of(owner)).map(|(app, template)| {
        let mut tolerations = template.spec.items_at(&["tolerations"]).to_vec();
        tolerations.push(toleration.clone());
        let place = Place::Field {
            object: key.clone(),
            path: template.path.field("tolerations"),
            value: Some(Value::Seq(tolerations.into_iter().collect())),
        };
        Fix::new(format!("Have the pods of {} {} tolerate {shown}", key.kind, key.name))
            .git(app, place)
            .risk(Risk::Low, format!("the pods of {} {} are made anew", key.kind, key.name))
            .verify(format!("kubectl -n {} get pods -o wide", key.namespace))
    });
    Some(
        Finding::new(RULE.code, Node::object(server, key), cause)
            .of(owner_name)
            .seen([Evidence::Field {
                object: pod.key(),
                path: lynceus_object::FieldPath::fields(["status", "conditions"]),
                value: words::quote(said),
            }])
            .seen(case.event(server, &pod.key(), &["FailedScheduling"]))
            .fix(fix),
    )
}

/// What the scheduler says of a pod that it finds no node for.
pub(super) fn unscheduled(pod: &Object) -> Option<&str> {
    let conditions = pod.value().items_at(&["status", "conditions"]).iter();
    let mut unscheduled = conditions.filter(|one| {
        one.str_at(&["type"]) == Some("PodScheduled") && one.str_at(&["status"]) == Some("False")
    });
    unscheduled.next().and_then(|one| one.str_at(&["message"]))
}

/// The taint that keeps pods off the nodes that they would fit otherwise: the one that most of those nodes have.
fn missing<'a>(case: &Case<'a>, server: &str, pods: &Pods<'_>) -> Option<&'a Value> {
    let fitting = case.of_kind(server, "", "Node").iter().filter(|node| is_selected(pods, node));
    let taints = fitting.flat_map(|node| node.value().items_at(&["spec", "taints"]));
    let blocking = taints.filter(|taint| taint.str_at(&["effect"]) != Some("PreferNoSchedule"));
    let mut untolerated: Vec<&Value> = blocking.filter(|taint| !is_tolerated(pods, taint)).collect();
    untolerated.sort_by_key(|taint| is_of_system(taint));
    untolerated.into_iter().next()
}

/// Taints that set nodes apart for the cluster itself are nobody else's business.
fn is_of_system(taint: &Value) -> bool {
    let key = taint.str_at(&["key"]).unwrap_or_default();
    key.starts_with("node-role.kubernetes.io/")
        || key.starts_with("node.kubernetes.io/")
        || key == "CriticalAddonsOnly"
}

fn is_selected(pods: &Pods<'_>, node: &Object) -> bool {
    let wanted = pods.spec.at(&["nodeSelector"]).and_then(Value::as_map);
    wanted.into_iter().flat_map(|map| map.iter()).all(|(key, value)| node.label(key) == value.as_str())
}

fn is_tolerated(pods: &Pods<'_>, taint: &Value) -> bool {
    pods.spec.items_at(&["tolerations"]).iter().any(|toleration| {
        let text = |field| toleration.str_at(&[field]).unwrap_or_default();
        let key_fits = text("key").is_empty() || Some(text("key")) == taint.str_at(&["key"]);
        let effect_fits = text("effect").is_empty() || Some(text("effect")) == taint.str_at(&["effect"]);
        let value_fits =
            text("operator") == "Exists" || text("value") == taint.str_at(&["value"]).unwrap_or_default();
        key_fits && effect_fits && value_fits
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const PENDING: &str = "
@app vault Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev}
spec:
  template:
    spec: {containers: [{name: vault, image: vault}]}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev, uid: s1}
spec:
  template:
    spec: {containers: [{name: vault, image: vault}]}
---
apiVersion: v1
kind: Pod
metadata:
  {name: vault-0, namespace: dev, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: vault, uid: s1, controller: true}]}
spec: {containers: [{name: vault, image: vault}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) had untolerated taint {env: dev}.'}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1}
spec: {taints: [{key: env, value: dev, effect: NoSchedule}]}
";

    #[test]
    fn pods_that_do_not_tolerate_the_taint_of_every_node_are_found() {
        assert_eq!(
            check("LYN0401", PENDING),
            "P1 LYN0401/vault/StatefulSet/vault: the pods of StatefulSet vault are not scheduled: the nodes that would \
             take them have the taint env=dev:NoSchedule, which the pods do not tolerate\n  Pod dev/vault-0: \
             status.conditions: 0/1 nodes are available: 1 node(s) had untolerated taint {env: dev}.\n  fix: Have the pods \
             of StatefulSet vault tolerate env=dev:NoSchedule\n"
        );
    }

    #[test]
    fn pods_that_wait_for_something_else_are_not() {
        let other = PENDING.replace("1 node(s) had untolerated taint {env: dev}", "1 Insufficient cpu");
        assert_eq!(check("LYN0401", &other), "");
    }
}
