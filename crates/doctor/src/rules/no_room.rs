//! Pods that no node has room for.

use std::collections::BTreeMap;

use lynceus_object::{FieldPath, Object, Str};

use super::fit::{self, Fit};
use super::room::{self, Amounts};
use super::scheduler::{self, Obstacle, Waiting, reasons};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::snapshot::Override;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0404",
    title: "No node has room for the pods",
    explanation: "\
The nodes that would take the pods have not enough of something left: processors, memory, places for pods, devices. The pods stay
Pending until others go or nodes come.

## Why
A request is larger than any node, the pool has filled up, or the cluster's autoscaler is at its limit.

## Example
```
0/3 nodes are available: 3 Insufficient memory.
a pod asks for 16Gi; the most that a node has left is 5Gi
```

## What to do
If the request is larger than a whole node, lower it or bring a larger node. If the pool is full, add a node to it, or lower what
its pods ask for and do not use.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let waiting: Vec<Waiting<'_>> = scheduler::waiting(case, server)
            .into_iter()
            .filter(|one| one.is(case, server, Obstacle::Room))
            .collect();
        if waiting.is_empty() {
            continue;
        }
        let used = room::used(case, server);
        let mut full: BTreeMap<Str, Vec<(Waiting<'_>, Short)>> = BTreeMap::new();
        for one in waiting {
            let short = short(case, server, &one, &used);
            match &short.pool {
                // The pool is full: whatever waits for it waits for the same thing.
                Some(pool) if !short.is_too_large => full.entry(pool.clone()).or_default().push((one, short)),
                _ => findings.add(too_large(case, server, &one, &short)),
            }
        }
        full.into_iter().for_each(|(pool, waiting)| findings.add(is_full(case, server, &pool, &waiting)));
    }
}

/// What pods lack.
struct Short {
    /// The resource: `memory`.
    resource: String,
    /// How much a pod asks for.
    asked: i64,
    /// The most that a node has left, and the most that one has at all.
    left: Option<(i64, i64)>,
    /// Whether no node could hold a pod even if it were empty.
    is_too_large: bool,
    /// The first of the nodes that would take the pods.
    pool: Option<Str>,
}

fn short(
    case: &Case<'_>,
    server: &str,
    one: &Waiting<'_>,
    used: &std::collections::HashMap<&str, Amounts>,
) -> Short {
    let nodes: Vec<&Object> = case
        .of_kind(server, "", "Node")
        .iter()
        .copied()
        .filter(|node| fit::fit(&one.spec, node) == Fit::Takes)
        .collect();
    let resource = resource(one.said);
    let asked = room::asked(&one.spec).get(&resource).copied().unwrap_or_default();
    let left = |node: &&Object| {
        let has = room::allocatable(node).get(&resource).copied().unwrap_or_default();
        let taken = used.get(node.name()).and_then(|used| used.get(&resource)).copied().unwrap_or_default();
        (has - taken, has)
    };
    let most = nodes.iter().map(left).max();
    let largest = nodes.iter().map(left).map(|(_, has)| has).max();
    Short {
        is_too_large: largest.is_some_and(|largest| largest > 0 && largest < asked),
        left: most.zip(largest).map(|((left, _), largest)| (left, largest)),
        pool: nodes.iter().map(|node| Str::from(node.name())).min(),
        resource,
        asked,
    }
}

/// The resource that most nodes lack, by the scheduler's words.
fn resource(said: &str) -> String {
    let lacks = |reason: &str| match reason.strip_prefix("Insufficient ") {
        Some(resource) => Some(resource.to_owned()),
        None => reason.contains("Too many pods").then(|| "pods".to_owned()),
    };
    let all = reasons(said).into_iter().filter_map(|(count, reason)| Some((count, lacks(&reason)?)));
    all.max_by_key(|(count, _)| *count).map(|(_, resource)| resource).unwrap_or_default()
}

fn too_large(case: &Case<'_>, server: &str, one: &Waiting<'_>, short: &Short) -> Finding {
    let key = one.owner.key();
    let amount = |milli| room::shown(&short.resource, milli);
    let cause = match short.left {
        Some((_, largest)) if short.is_too_large => format!(
            "{}: a pod asks for {} of {}, and no node that would take it has more than {}",
            one.told(),
            amount(short.asked),
            short.resource,
            amount(largest)
        ),
        _ => format!("{}: no node has enough {} left", one.told(), short.resource),
    };
    let app = case.owner(server, &key);
    let covered = covered(case, server, one, short);
    let why = Override::ending(covered.as_ref());
    let back = covered.as_ref().map(|(app, covered)| inherit(app, covered, one));
    let fix = app.as_ref().and_then(|app| lower(app, one, short));
    Finding::new(RULE.code, Node::object(server, key), cause + &why)
        .of(app.clone())
        .seen(one.evidence(case, server))
        .seen(covered.iter().flat_map(|(app, covered)| covered.evidence(app)))
        .fix(back.into_iter().chain(fix).chain([larger(short)]))
}

/// The value that asks for too much where a lower one says what fits.
fn covered<'a>(
    case: &Case<'a>,
    server: &str,
    one: &Waiting<'_>,
    short: &Short,
) -> Option<(AppName, &'a Override)> {
    let (left, _) = short.left?;
    case.override_of(server, &one.owner.key(), |object| {
        let asked = Pods::of(object).and_then(|pods| room::asked(&pods).get(&short.resource).copied());
        asked.is_some_and(|asked| asked <= left)
    })
}

fn inherit(app: &AppName, covered: &Override, one: &Waiting<'_>) -> Fix {
    covered
        .fix(app, &one.owner.key())
        .risk(Risk::Medium, format!("the pods of {} {} get less", one.owner.kind(), one.owner.name()))
        .verify(scheduler::verify(one.owner))
}

/// The container that asks for most: how much, and where.
fn most(one: &Waiting<'_>, short: &Short) -> Option<(i64, FieldPath)> {
    let template = Pods::of(one.owner)?;
    let asks = |container: &lynceus_object::Value| {
        container.at(&["resources", "requests"])?.get(&short.resource).and_then(room::milli)
    };
    let all =
        template.containers().into_iter().filter_map(|(path, container)| Some((asks(container)?, path)));
    let (own, path) = all.max_by_key(|(own, _)| *own)?;
    Some((own, path.field("resources").field("requests").field(short.resource.clone())))
}

/// Lowers the request of the container that asks for most, such that a node keeps some room.
fn lower(app: &AppName, one: &Waiting<'_>, short: &Short) -> Option<Fix> {
    let (own, path) = most(one, short)?;
    let (left, _) = short.left?;
    let rest = left - (short.asked - own);
    let rest = match short.resource.as_str() {
        "cpu" | "memory" | "ephemeral-storage" => rest - rest / 8,
        _ => rest,
    };
    let value = (rest > 0).then(|| room::shown(&short.resource, rest).into())?;
    Some(
        Fix::new(format!("Ask for no more {} than a node has left", short.resource))
            .git(app, Place::Field { object: one.owner.key(), path, value: Some(value) })
            .risk(Risk::Medium, format!("the pods of {} {} get less", one.owner.kind(), one.owner.name()))
            .why("it needs no other machine; it helps only if the pods need less than they ask for")
            .verify(scheduler::verify(one.owner)),
    )
}

fn larger(short: &Short) -> Fix {
    Fix::new(format!("Bring a node with more {}", short.resource))
        .person(format!(
            "add a node that has {} of {} free to the pool, or raise the limit of its autoscaler",
            room::shown(&short.resource, short.asked),
            short.resource
        ))
        .verify("kubectl get nodes")
        .why("it costs money, and leaves the pods what they ask for")
}

/// One finding for everything that waits for the same nodes.
fn is_full(case: &Case<'_>, server: &str, pool: &str, waiting: &[(Waiting<'_>, Short)]) -> Finding {
    let names: Vec<String> =
        waiting.iter().map(|(one, _)| format!("{} {}", one.owner.kind(), one.owner.name())).collect();
    let (first, short) = &waiting[0];
    let amount = |milli| room::shown(&short.resource, milli);
    let told = format!("the pods of {} are not scheduled", words::list(&names));
    let cause = match short.left {
        Some((left, _)) if left < short.asked => format!(
            "{told}: a pod asks for {} of {}, and the most that a node which would take it has left is {}",
            amount(short.asked),
            short.resource,
            amount(left)
        ),
        // Something that is not seen here takes up room as well.
        _ => format!("{told}: no node that would take them has enough {} left", short.resource),
    };
    let mut apps: Vec<_> = waiting.iter().map(|(one, _)| case.owner(server, &one.owner.key())).collect();
    apps.sort();
    apps.dedup();
    let app = (apps.len() == 1).then(|| apps.remove(0)).flatten();
    let single = app.as_ref().filter(|_| waiting.len() == 1);
    let subject = match waiting {
        [(one, _)] => one.owner.key(),
        _ => lynceus_object::ObjectKey::new("", "Node", "", pool),
    };
    let evidence: Vec<Evidence> = first.evidence(case, server);
    Finding::new(RULE.code, Node::object(server, subject), cause)
        .of(app.clone())
        .seen(evidence)
        .affects(waiting.iter().map(|(one, _)| Node::object(server, one.owner.key())))
        .fix([larger(short)].into_iter().chain(single.and_then(|app| lower(app, first, short))))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    fn pending(asked: &str) -> String {
        format!(
            "
@app web Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: web, namespace: shop}}
spec: {{template: {{spec: {{containers: [{{name: web, image: web, resources: {{requests: {{memory: {asked}}}}}}}]}}}}}}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: web, namespace: shop, uid: s1}}
spec: {{template: {{spec: {{containers: [{{name: web, image: web, resources: {{requests: {{memory: {asked}}}}}}}]}}}}}}
---
apiVersion: v1
kind: Pod
metadata:
  {{name: web-0, namespace: shop, ownerReferences: [{{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: s1, controller: true}}]}}
spec: {{containers: [{{name: web, image: web, resources: {{requests: {{memory: {asked}}}}}}}]}}
status:
  phase: Pending
  conditions:
  - {{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {{role: db}}.'}}
---
apiVersion: v1
kind: Node
metadata: {{name: a}}
status: {{allocatable: {{memory: 8Gi, pods: 110}}}}
---
apiVersion: v1
kind: Node
metadata: {{name: b}}
spec: {{taints: [{{key: role, value: db, effect: NoSchedule}}]}}
status: {{allocatable: {{memory: 8Gi, pods: 110}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: other, namespace: shop}}
spec: {{nodeName: a, containers: [{{name: other, image: other, resources: {{requests: {{memory: 6Gi}}}}}}]}}
status: {{phase: Running}}
"
        )
    }

    #[test]
    fn a_pool_that_is_full_is_found_though_other_nodes_are_out_of_reach() {
        assert_eq!(
            check("LYN0404", &pending("4Gi")),
            "P1 LYN0404/web/StatefulSet/web: the pods of StatefulSet web are not scheduled: a pod asks for 4Gi of memory, \
             and the most that a node which would take it has left is 2Gi\n  Pod shop/web-0: status.conditions: 0/2 nodes \
             are available: 1 Insufficient memory, 1 node(s) had untolerated taint {role: db}.\n  fix: Bring a node with \
             more memory\n  fix: Ask for no more memory than a node has left\n"
        );
    }

    #[test]
    fn a_request_that_no_node_could_ever_hold_is_said_to_be_too_large() {
        let found = check("LYN0404", &pending("32Gi"));
        assert!(
            found.contains("a pod asks for 32Gi of memory, and no node that would take it has more than 8Gi"),
            "{found}"
        );
    }

    #[test]
    fn a_value_that_covers_a_request_which_fits_is_taken_out_and_a_node_keeps_some_room() {
        let covers = "@covers west.yaml:3 resources.requests.memory 32Gi values.yaml StatefulSet web \
                      spec.template.spec.containers[0].resources.requests.memory 512Mi\n@live\n";
        let text = pending("32Gi").replacen("@live\n", covers, 1);
        let found = check("LYN0404", &text);
        assert!(
            found.contains("; `resources.requests.memory: 32Gi` in west.yaml covers what values.yaml has\n"),
            "{found}"
        );
        assert!(
            found.contains("\n  fix: Take `resources.requests.memory: 32Gi` out of west.yaml\n  fix: Ask"),
            "{found}"
        );
        let larger = check("LYN0404", &text.replace("512Mi", "4Gi"));
        assert!(!larger.contains("west.yaml"), "what is too much as well does not help: {larger}");
        let steps = crate::tests::roots_with_fixes(&pending("32Gi"));
        assert!(steps.contains("requests.memory of StatefulSet web to \"1792Mi\"\n"), "{steps}");
    }

    #[test]
    fn pods_that_would_fit_a_tainted_node_only_lack_a_toleration() {
        let large = pending("4Gi").replacen("{memory: 8Gi, pods: 110}", "{memory: 1Gi, pods: 110}", 1);
        assert_eq!(check("LYN0404", &large), "");
        assert!(check("LYN0401", &large).contains("role=db:NoSchedule"));
    }

    #[test]
    fn one_tainted_node_that_happens_to_be_larger_is_not_what_pods_were_meant_for() {
        let many = pending("4Gi").replacen("{memory: 8Gi, pods: 110}", "{memory: 1Gi, pods: 110}", 1)
            + "---\napiVersion: v1\nkind: Node\nmetadata: {name: c}\nstatus: {allocatable: {memory: 1Gi, pods: 110}}\n";
        assert!(check("LYN0404", &many).contains("no node that would take it has more than 1Gi"));
        assert_eq!(check("LYN0401", &many), "");
    }
}
