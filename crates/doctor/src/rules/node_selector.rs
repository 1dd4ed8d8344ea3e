//! Pods that ask for nodes that are not there.

use lynceus_object::{Object, Str, Value};

use super::fit;
use super::near;
use super::scheduler::{self, Obstacle, Waiting};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0403",
    title: "No node is what the pods ask for",
    explanation: "\
The pods name labels that a node must have, by a node selector or a required affinity, and no node has them. They stay Pending.

## Why
A pool was renamed or removed, its nodes were made without the label, or the label is misspelt.

## Example
```
nodeSelector: {example.org/pool: gpu}
0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.
```

## What to do
Name the label that the nodes have, or bring nodes with the label that is named. What a kubelet says of its machine, as
`kubernetes.io/arch`, is no label to write on another: bring such a machine.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for one in scheduler::waiting(case, server) {
            if one.is(case, server, Obstacle::Selection) && !is_mended(case, server, &one) {
                findings.add(found(case, server, &one));
            }
        }
    }
}

/// Whether the template has been put right since the pod was made.
fn is_mended(case: &Case<'_>, server: &str, one: &Waiting<'_>) -> bool {
    let Some(template) = Pods::of(one.owner) else { return false };
    let asked = |pods: &Pods<'_>| fit::asked(pods).map(|(words, ..)| words);
    let nodes = case.of_kind(server, "", "Node");
    asked(&template) != asked(&one.spec) && nodes.iter().any(|node| fit::is_selected(&template, node))
}

fn found(case: &Case<'_>, server: &str, one: &Waiting<'_>) -> Finding {
    let key = one.owner.key();
    let asked = fit::asked(&one.spec);
    let words = asked.as_ref().map_or_else(|| "what they ask for".to_owned(), |(words, ..)| words.clone());
    let app = case.owner(server, &key);
    let field = asked.map(|(value, path, _)| Evidence::Field { object: one.pod.key(), path, value });
    let near = near_label(case, server, one);
    let hint = near.as_ref().map(|(key, there)| format!("; there is {key}={there}")).unwrap_or_default();
    let cause = format!("{}: no node has the labels that they ask for, {words}{hint}", one.told());
    let fixes = app.as_ref().zip(near.as_ref()).and_then(|(app, near)| name_it(app, one, near));
    // What many ask for in the same words, and are written in one file, they have from one place.
    let slip = case.written_in(server, &key).map(|file| format!("{server} {words} {file}"));
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(app.clone())
        .alike(slip)
        .seen(one.evidence(case, server))
        .seen(field)
        .fix(fixes.into_iter().chain([bring(case, server, one, &words)]).chain(leave_out(
            case,
            server,
            app.as_ref(),
            one,
        )))
}

/// The labels that no node has taken out of what is asked for, where they stand in a node selector.
fn leave_out(case: &Case<'_>, server: &str, app: Option<&AppName>, one: &Waiting<'_>) -> Option<Fix> {
    let (app, template) = (app?, Pods::of(one.owner)?);
    let nodes = case.of_kind(server, "", "Node");
    let wanted = template.spec.at(&["nodeSelector"])?.as_map()?;
    let has = |(key, value): &(&Str, &Value)| nodes.iter().any(|node| node.label(key) == value.as_str());
    let (kept, absent): (Vec<_>, Vec<_>) = wanted.iter().partition(has);
    if absent.is_empty() || nodes.is_empty() {
        return None;
    }
    let selector = template.path.field("nodeSelector");
    // An empty selector would hide what a chart inherits.
    let paths = match kept.is_empty() {
        true => vec![selector],
        false => absent.iter().map(|(key, _)| selector.field((*key).clone())).collect(),
    };
    let fix =
        Fix::new(format!("Let the pods of {} {} run on other nodes too", one.owner.kind(), one.owner.name()));
    let fix = paths
        .into_iter()
        .fold(fix, |fix, path| fix.git(app, Place::Field { object: one.owner.key(), path, value: None }));
    let fix = fix
        .risk(Risk::Medium, "the pods run where they were not meant to")
        .why("right if the labels are of another cluster")
        .verify(scheduler::verify(one.owner));
    Some(fix)
}

/// A label that nodes have and that differs little from the one that is asked for: key, asked, there.
fn near_label<'a>(case: &Case<'a>, server: &str, one: &Waiting<'_>) -> Option<(String, &'a str)> {
    let nodes = case.of_kind(server, "", "Node");
    let wanted = one.spec.spec.at(&["nodeSelector"])?.as_map()?;
    wanted.iter().find_map(|(key, value)| {
        let values: Vec<&'a str> =
            nodes.iter().copied().filter_map(|node: &'a Object| node.label(key)).collect();
        let asked = value.as_str()?;
        if values.contains(&asked) {
            return None;
        }
        near::likely(asked, values.iter().copied()).map(|there| (key.to_string(), there))
    })
}

fn name_it(app: &AppName, one: &Waiting<'_>, (key, there): &(String, &str)) -> Option<Fix> {
    let template = Pods::of(one.owner)?;
    let path = template.path.field("nodeSelector").field(key.as_str());
    let place = Place::Field { object: one.owner.key(), path, value: Some(Value::from(*there)) };
    Some(
        Fix::new(format!("Ask for {key}={there}, which nodes have"))
            .git(app, place)
            .risk(Risk::Low, format!("the pods of {} {} are made anew", one.owner.kind(), one.owner.name()))
            .why("a label that differs little is there")
            .verify(scheduler::verify(one.owner)),
    )
}

fn bring(case: &Case<'_>, server: &str, one: &Waiting<'_>, words: &str) -> Fix {
    let machine: Vec<String> = lacking(case, server, &one.spec)
        .into_iter()
        .filter(|key| fit::is_of_machine(key))
        .map(|key| key.to_string())
        .collect();
    match machine.is_empty() {
        true => Fix::new("Bring a node with the labels")
            .person(format!("add a pool whose nodes have {words}, or label nodes that are meant: kubectl label node NODE KEY=VALUE"))
            .why("it cannot be told from here which nodes were meant"),
        false => Fix::new("Bring a node of that kind")
            .person(format!(
                "add a pool whose nodes are {words}, or ask for what the nodes are, with an image that runs there; do not label others \
                 so: {} says what a machine is",
                words::list(machine)
            ))
            .why("a kubelet sets such a label by the machine that it is on"),
    }
    .verify("kubectl get nodes --show-labels")
}

/// The keys of labels that are asked for and that no node has so; all of them where only no node has them together.
fn lacking<'a>(case: &Case<'_>, server: &str, pods: &Pods<'a>) -> Vec<&'a str> {
    let nodes = case.of_kind(server, "", "Node");
    let path =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    let selector = pods.spec.at(&["nodeSelector"]).and_then(Value::as_map);
    let labels = selector
        .into_iter()
        .flat_map(|map| map.iter())
        .map(|(key, value)| (key.as_str(), nodes.iter().any(|node| node.label(key) == value.as_str())));
    let terms = pods.spec.items_at(&path).iter().flat_map(|term| term.items_at(&["matchExpressions"]));
    let terms = terms
        .filter_map(|one| Some((one.str_at(&["key"])?, nodes.iter().any(|node| fit::expression(one, node)))));
    let asked: Vec<(&str, bool)> = labels.chain(terms).collect();
    let absent: Vec<&str> = asked.iter().filter(|(_, is_there)| !is_there).map(|(key, _)| *key).collect();
    if absent.is_empty() { asked.into_iter().map(|(key, _)| key).collect() } else { absent }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const PENDING: &str = "
@app web Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop}
spec: {template: {spec: {nodeSelector: {pool: workers}, containers: [{name: web, image: web}]}}}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop, uid: s1}
spec: {template: {spec: {nodeSelector: {pool: workers}, containers: [{name: web, image: web}]}}}
---
apiVersion: v1
kind: Pod
metadata:
  {name: web-0, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: s1, controller: true}]}
spec: {nodeSelector: {pool: workers}, containers: [{name: web, image: web}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/2 nodes are available: 1 node(s) didn''t match Pod''s node affinity/selector, 1 node(s) had untolerated taint(s).'}
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {pool: worker}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
spec: {taints: [{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]}
";

    #[test]
    fn a_label_that_no_node_has_is_found_and_the_nearest_named() {
        assert_eq!(
            check("LYN0403", PENDING),
            "P1 LYN0403/web/StatefulSet/web: the pods of StatefulSet web are not scheduled: no node has the labels that they \
             ask for, {\"pool\":\"workers\"}; there is pool=worker\n  Pod shop/web-0: status.conditions: 0/2 nodes are available: 1 node(s) didn't \
             match Pod's node affinity/selector, 1 node(s) had untolerated taint(s).\n  Pod shop/web-0: spec.nodeSelector: \
             {\"pool\":\"workers\"}\n  fix: Ask for pool=worker, which nodes have\n  fix: Bring a node with the labels\n  \
             fix: Let the pods of StatefulSet web run on other nodes too\n"
        );
        assert_eq!(check("LYN0401", PENDING), "");
    }

    #[test]
    fn a_label_that_says_the_same_shorter_is_named() {
        let text = PENDING.replace("pool: workers", "pool: nvidia-a100");
        assert!(
            check("LYN0403", &text.replace("pool: worker}", "pool: a100}"))
                .contains("fix: Ask for pool=a100")
        );
        assert!(!check("LYN0403", &text).contains("fix: Ask for"));
    }

    #[test]
    fn what_a_kubelet_says_of_its_machine_is_not_written_on_another() {
        let fixes = |text: &str| crate::tests::roots_with_fixes(text);
        let arch = fixes(&PENDING.replace("pool: workers", "kubernetes.io/arch: arm64"));
        assert!(
            arch.contains(
                "  Bring a node of that kind\n    add a pool whose nodes are {\"kubernetes.io/arch\":\"arm64\"}, or ask for what the \
                 nodes are, with an image that runs there; do not label others so: kubernetes.io/arch says what a machine is\n"
            ),
            "{arch}"
        );
        let affinity = PENDING.replace(
            "nodeSelector: {pool: workers}",
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: \
             topology.kubernetes.io/zone, operator: In, values: [eu-1c]}]}]}}}",
        );
        let zone = fixes(&affinity);
        assert!(
            zone.contains("topology.kubernetes.io/zone says what a machine is")
                && !zone.contains("kubectl label"),
            "{zone}"
        );
        let pool = PENDING.replace("pool: workers", "pool: workers, kubernetes.io/arch: amd64");
        let pool = fixes(&pool.replace("{pool: worker}", "{pool: worker, kubernetes.io/arch: amd64}"));
        assert!(pool.contains("kubectl label node"), "what the machine is, is there: {pool}");
    }

    #[test]
    fn a_node_that_has_the_label_and_a_taint_is_another_matter() {
        let text = PENDING.replace("{name: b}", "{name: b, labels: {pool: workers}}");
        assert_eq!(check("LYN0403", &text), "");
        assert!(check("LYN0401", &text).contains("node-role.kubernetes.io/control-plane:NoSchedule"));
    }
}
