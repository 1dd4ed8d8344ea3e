//! Workloads that wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::Object;

use super::asking::{self, Asking};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::graph::Graph;
use crate::links::service::is_behind;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0908",
    title: "Workloads wait for each other",
    explanation: "\
Each of several workloads asks a Service that leads to another one of them, runs and does not get ready. A Service sends nothing to
pods that are not ready, so that none of them ever is.

## Why
The probe of each counts whether the others answer. That works as long as they came up one by one and never again after all were
stopped at once.

## Example
```
Deployment web: API_URL: http://api        does not get ready
Deployment api: WEB_URL: http://web        does not get ready
```

## What to do
Let one of them be ready without the others: take what it asks of them out of its readiness probe. A Service with
`publishNotReadyAddresses: true` lets them find each other where the program itself can wait.
",
    check,
};

/// A workload that asks a service that another one is behind.
struct Edge<'u, 'a> {
    from: &'u Asking<'a>,
    setting: usize,
    service: &'a Object,
    to: &'u Asking<'a>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let all = asking::asking(case, server);
        if all.len() < 2 {
            continue;
        }
        let edges = edges(case, server, &all);
        let mut graph = Graph::default();
        let node = |asking: &Asking<'_>| Node::object(server, asking.owner.key());
        edges.iter().for_each(|edge| graph.link(node(edge.from), node(edge.to)));
        let knots = graph.knots();
        let knot = |asking: &Asking<'_>| graph.find(&node(asking)).map(|place| knots[place]);
        let mut circles: BTreeMap<usize, Vec<&Edge<'_, '_>>> = BTreeMap::new();
        for edge in edges.iter().filter(|edge| knot(edge.from) == knot(edge.to)) {
            circles.entry(knot(edge.from).unwrap_or_default()).or_default().push(edge);
        }
        circles.values().for_each(|circle| findings.add(found(case, server, circle)));
    }
}

/// Who waits for whom. A service that some ready pod is behind answers.
fn edges<'u, 'a>(case: &Case<'a>, server: &str, all: &'u [Asking<'a>]) -> Vec<Edge<'u, 'a>> {
    let silent: Vec<&Asking<'a>> = all.iter().filter(|one| is_silent(case, server, one.owner)).collect();
    let mut edges = Vec::new();
    for from in silent.iter().copied() {
        for asked in from.asked() {
            let Some(service) = case.live(server, &asked.key) else { continue };
            if service.value().bool_at(&["spec", "publishNotReadyAddresses"]) == Some(true) {
                continue;
            }
            let others = silent.iter().copied().filter(|to| to.owner.key() != from.owner.key());
            for to in others.filter(|to| is_behind(case, server, service, to.owner)) {
                edges.push(Edge { from, setting: asked.setting, service, to });
            }
        }
    }
    edges
}

fn is_silent<'a>(case: &Case<'a>, server: &str, owner: &'a Object) -> bool {
    let is_ready = |pod: &&Object| {
        let conditions = pod.value().items_at(&["status", "conditions"]).iter();
        let mut ready = conditions.filter(|one| one.str_at(&["type"]) == Some("Ready"));
        ready.any(|one| one.str_at(&["status"]) == Some("True"))
    };
    !case.pods(server, owner).iter().any(is_ready)
}

fn found(case: &Case<'_>, server: &str, circle: &[&Edge<'_, '_>]) -> Finding {
    let name = |owner: &Object| format!("{} {}", owner.kind(), owner.name());
    let members: BTreeMap<_, &Object> =
        circle.iter().map(|edge| (edge.from.owner.key(), edge.from.owner)).collect();
    let names = words::list(members.values().map(|owner| name(owner)));
    let told: BTreeSet<String> = circle
        .iter()
        .map(|edge| format!("{} asks Service {}", name(edge.from.owner), edge.service.name()))
        .collect();
    let cause = format!("{names} wait for each other: {}, and none gets ready", words::list(told));
    let seen = circle.iter().map(|edge| {
        let setting = &edge.from.settings[edge.setting];
        Evidence::Field {
            object: setting.object.clone(),
            path: setting.path.clone(),
            value: format!("{}.{}", edge.service.name(), edge.service.namespace()),
        }
    });
    let mut nodes = members.keys().map(|key| Node::object(server, key.clone()));
    let subject = nodes.next().unwrap_or(Node::Controller);
    let first = members.keys().next();
    let fix = Fix::new("Let one of them be ready without the others")
        .person(format!("take what it asks of the others out of the readiness probe of one of {names}"))
        .risk(Risk::Medium, "requests that come before the others are there")
        .why("which of them can do without the others only its authors know");
    Finding::new(RULE.code, subject, cause)
        .of(first.and_then(|key| case.owner(server, key)))
        .seen(seen.take(crate::limits::NAMED))
        .affects(nodes)
        .unless_deeper()
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    fn workload(name: &str, asks: &str, ready: bool) -> String {
        format!(
            "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop, uid: {name}, generation: 1}}
spec:
  replicas: 1
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: main, image: a, env: [{{name: PEER_URL, value: 'http://{asks}'}}]}}]}}
status: {{observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}-1, namespace: shop, labels: {{app: {name}}}, ownerReferences: [{{kind: Deployment, name: {name}, uid: {name}, controller: true}}]}}
spec: {{containers: [{{name: main, image: a}}]}}
status:
  phase: Running
  conditions: [{{type: Ready, status: '{}'}}]
  containerStatuses: [{{name: main, ready: {ready}, state: {{running: {{startedAt: '2026-01-01T11:00:00Z'}}}}}}]
---
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop}}
spec: {{selector: {{app: {name}}}, ports: [{{port: 80}}]}}
---",
            if ready { "True" } else { "False" }
        )
    }

    fn world(all: &[(&str, &str, bool)]) -> String {
        let wanted = |(name, ..): &(&str, &str, bool)| {
            format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\n"
            )
        };
        let wanted: String = all.iter().map(wanted).collect();
        let live: String = all.iter().map(|(name, asks, ready)| workload(name, asks, *ready)).collect();
        format!("@app shop Synced Progressing\n{wanted}@live\n{live}\n")
    }

    #[test]
    fn those_who_ask_each_other_are_told_as_one() {
        let text = world(&[("api", "web", false), ("web", "api", false)]);
        assert_eq!(
            check("LYN0908", &text),
            "P1 LYN0908/shop/Deployment/api: Deployment api and Deployment web wait for each other: Deployment api asks Service web and \
             Deployment web asks Service api, and none gets ready\n  Deployment shop/api: spec.template.spec.containers[0].env[0].value: \
             web.shop\n  Deployment shop/web: spec.template.spec.containers[0].env[0].value: api.shop\n  fix: Let one of them be ready \
             without the others\n"
        );
        assert_eq!(roots(&text), "P1 LYN0908/shop/Deployment/api explains shop\n");
    }

    #[test]
    fn a_circle_of_three_is_one_too() {
        let text = world(&[("api", "web", false), ("db", "api", false), ("web", "db", false)]);
        assert_eq!(roots(&text), "P1 LYN0908/shop/Deployment/api explains shop\n");
    }

    #[test]
    fn one_that_merely_waits_for_another_is_none() {
        let text = world(&[("api", "gone.example.com", false), ("web", "api", false)]);
        assert_eq!(check("LYN0908", &text), "");
        let text = world(&[("api", "web", true), ("web", "api", false)]);
        assert_eq!(check("LYN0908", &text), "", "one of them is ready");
    }

    #[test]
    fn what_keeps_one_of_them_from_coming_up_is_the_cause() {
        let text = world(&[("api", "web", false), ("web", "api", false)]);
        let text = text.replacen("image: a, env", "image: a, envFrom: [{secretRef: {name: gone}}], env", 1);
        assert_eq!(roots(&text), "P1 LYN0301/shop/Secret/gone explains shop\n");
    }
}
