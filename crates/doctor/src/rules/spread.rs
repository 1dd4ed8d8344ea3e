//! Pods that may not stand where there is room.

use std::collections::BTreeSet;

use lynceus_object::{Object, Value};

use super::fit::{self, Fit};
use super::scheduler::{self, Obstacle, Waiting};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0408",
    title: "The pods may not stand where there is room",
    explanation: "\
The pods ask to be spread over nodes or zones, to stand away from each other, or to stand beside others, and ask for it as a must.
The nodes that there are do not allow it.

## Why
More copies are wanted than there are nodes or zones; a zone is gone; or what they want to stand beside is not there.

## Example
```
replicas: 4, on three nodes, with a required anti-affinity by kubernetes.io/hostname
0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.
```

## What to do
Ask for it as a wish (`ScheduleAnyway`, `preferredDuringScheduling…`), want fewer copies, or add nodes.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for one in scheduler::waiting(case, server) {
            for sort in [Obstacle::Spread, Obstacle::Neighbours] {
                if one.is(case, server, sort) {
                    findings.add(found(case, server, &one, sort));
                }
            }
        }
    }
}

fn found(case: &Case<'_>, server: &str, one: &Waiting<'_>, sort: Obstacle) -> Finding {
    let key = one.owner.key();
    let what = match sort {
        Obstacle::Spread => "they have to be spread evenly",
        _ if one.said.contains("existing pods anti-affinity") => {
            "pods that are there do not stand beside them"
        }
        _ if one.said.contains("didn't match pod affinity rules") => {
            "they have to stand beside pods that are not there"
        }
        _ => "they have to stand away from each other",
    };
    let nodes = case.of_kind(server, "", "Node").iter().copied();
    let takes: Vec<&Object> = nodes.filter(|node| fit::fit(&one.spec, node) == Fit::Takes).collect();
    let domain = domain(one, sort, &takes);
    let copies = one.owner.value().int_at(&["spec", "replicas"]);
    let count = copies.map(|copies| format!(", and {copies} are wanted")).unwrap_or_default();
    let room = words::count(takes.len(), "node");
    let room = domain.as_ref().map_or(room.clone(), |domain| format!("{room} {}", domain.told()));
    let cause = format!(
        "{}: {what}, and the nodes do not allow it ({room} would take them otherwise{count})",
        one.told()
    );
    let app = case.owner(server, &key);
    let place = wish(one, sort);
    let field = place.as_ref().map(|(path, value, ..)| Evidence::Field {
        object: key.clone(),
        path: path.clone(),
        value: value.clone(),
    });
    let soft = app.as_ref().zip(place).and_then(|(app, place)| soften(app, one, place));
    Finding::new(RULE.code, Node::object(server, key), cause)
        .of(app.clone())
        .seen(one.evidence(case, server))
        .seen(field)
        .fix(soft.into_iter().chain([more(domain.as_ref())]))
}

/// What pods are told apart by that is more than a node, such as the zones that nodes are in.
struct Domain<'a> {
    /// The label that says it.
    key: &'a str,
    /// How many there are among the nodes that would take the pods.
    count: usize,
}

/// By what the pods have to be apart, if it is not by nodes. Of several it is the one of which there are fewest.
fn domain<'a>(one: &Waiting<'a>, sort: Obstacle, nodes: &[&Object]) -> Option<Domain<'a>> {
    let own = Pods::of(one.owner).unwrap_or_else(|| one.spec.clone());
    let required = ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    let (rules, is_must): (_, fn(&&Value) -> bool) = match sort {
        Obstacle::Spread => (own.spec.items_at(&["topologySpreadConstraints"]), |rule| {
            rule.str_at(&["whenUnsatisfiable"]) == Some("DoNotSchedule")
        }),
        _ if one.said.contains("didn't match pod affinity rules") => return None,
        _ => (own.spec.items_at(&required), |_| true),
    };
    let keys = rules.iter().filter(is_must).filter_map(|rule| rule.str_at(&["topologyKey"]));
    let domains = keys.filter(|key| *key != "kubernetes.io/hostname").map(|key| {
        let values: BTreeSet<&str> = nodes.iter().filter_map(|node| node.label(key)).collect();
        Domain { key, count: values.len() }
    });
    domains.min_by_key(|domain| domain.count)
}

impl Domain<'_> {
    /// `in 3 zones`
    fn told(&self) -> String {
        match (self.count, self.key.rsplit('/').next()) {
            (0, _) => format!("without the label {}", self.key),
            (count, Some(noun @ ("zone" | "region"))) => format!("in {}", words::count(count, noun)),
            (count, _) => format!("with {} of {}", words::count(count, "value"), self.key),
        }
    }
}

/// Where the must stands that would have to be a wish: field, what stands there, what should.
type Wish = (lynceus_object::FieldPath, String, Option<Value>);

fn wish(one: &Waiting<'_>, sort: Obstacle) -> Option<Wish> {
    let template = Pods::of(one.owner)?;
    if sort == Obstacle::Spread {
        let all = template.spec.items_at(&["topologySpreadConstraints"]).iter();
        let place = all
            .enumerate()
            .position(|(_, one)| one.str_at(&["whenUnsatisfiable"]) == Some("DoNotSchedule"))?;
        let path = template.path.field("topologySpreadConstraints").index(place).field("whenUnsatisfiable");
        return Some((path, "DoNotSchedule".to_owned(), Some(Value::from("ScheduleAnyway"))));
    }
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let part =
        if one.said.contains("didn't match pod affinity rules") { "podAffinity" } else { "podAntiAffinity" };
    let rules = template.spec.at(&["affinity", part, required])?;
    let path = template.path.field("affinity").field(part).field(required);
    Some((path, words::shown(rules), None))
}

fn soften(app: &AppName, one: &Waiting<'_>, (path, _, value): Wish) -> Option<Fix> {
    let fix = Fix::new("Make the must a wish");
    let owner = one.owner.key();
    let fix = match (value, path.parent()) {
        (Some(value), _) => fix.git(app, Place::Field { object: owner, path, value: Some(value) }),
        (None, Some(parent)) => {
            let rules = path.get(one.owner.value())?.as_seq()?;
            let wishes: Vec<Value> = rules
                .iter()
                .map(|rule| lynceus_object::value!({"weight": 100, "podAffinityTerm": (rule.clone())}))
                .collect();
            let soft = parent.field("preferredDuringSchedulingIgnoredDuringExecution");
            let wishes = Some(Value::Seq(wishes.into_iter().collect()));
            fix.git(app, Place::Field { object: owner.clone(), path, value: None })
                .git(app, Place::Field { object: owner, path: soft, value: wishes })
        }
        (None, None) => return None,
    };
    let blast = format!(
        "the pods of {} {} are made anew, and may stand together",
        one.owner.kind(),
        one.owner.name()
    );
    let fix = fix.risk(Risk::Medium, blast).why("it needs no other machines");
    Some(fix.verify(scheduler::verify(one.owner)))
}

fn more(domain: Option<&Domain<'_>>) -> Fix {
    let step = match domain {
        Some(Domain { key, .. }) => format!("add a node with another {key}, or lower spec.replicas"),
        None => "add a node where the pods are still allowed, or lower spec.replicas".to_owned(),
    };
    Fix::new("Add nodes, or want fewer copies").person(step).why("what they ask for stays a must")
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const PENDING: &str = "
@app web Synced Progressing
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop, uid: s1, annotations: {argocd.argoproj.io/tracking-id: 'web:apps/StatefulSet:shop/web'}}
spec:
  replicas: 2
  template:
    spec:
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
      containers: [{name: web, image: web}]
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: s1, controller: true}]}
spec: {containers: [{name: web, image: web}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) didn''t match pod topology spread constraints.'}
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {zone: x}}
";

    #[test]
    fn a_spread_that_the_nodes_do_not_allow_is_found() {
        assert_eq!(
            check("LYN0408", PENDING),
            "P1 LYN0408/web/StatefulSet/web: the pods of StatefulSet web are not scheduled: they have to be spread evenly, and \
             the nodes do not allow it (1 node in 1 zone would take them otherwise, and 2 are wanted)\n  Pod shop/web-1: \
             status.conditions: 0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.\n  \
             StatefulSet shop/web: spec.template.spec.topologySpreadConstraints[0].whenUnsatisfiable: DoNotSchedule\n  \
             fix: Make the must a wish\n  fix: Add nodes, or want fewer copies\n"
        );
    }

    #[test]
    fn copies_that_stand_apart_by_zone_are_counted_by_zones() {
        let node = |name: &str, zone: &str| {
            format!(
                "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}}\n"
            )
        };
        let apart = |key: &str| {
            let rules = format!("requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {key}}}]");
            let text = PENDING
                .replace(
                    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]",
                    &format!("affinity: {{podAntiAffinity: {{{rules}}}}}"),
                )
                .replace("pod topology spread constraints", "pod anti-affinity rules")
                .replace("labels: {zone: x}", "labels: {topology.kubernetes.io/zone: east}");
            check("LYN0408", &format!("{text}{}{}", node("b", "west"), node("c", "west")))
        };
        let zones = apart("topology.kubernetes.io/zone");
        assert!(
            zones.contains("(3 nodes in 2 zones would take them otherwise, and 2 are wanted)"),
            "{zones}"
        );
        let hosts = apart("kubernetes.io/hostname");
        assert!(hosts.contains("(3 nodes would take them otherwise, and 2 are wanted)"), "{hosts}");
        let racks = apart("example.org/rack");
        assert!(racks.contains("(3 nodes without the label example.org/rack would take"), "{racks}");
    }

    #[test]
    fn an_affinity_to_nodes_is_another_matter() {
        let other = PENDING.replace("pod topology spread constraints", "Pod''s node affinity/selector");
        assert_eq!(check("LYN0408", &other), "");
    }
}
