//! Spreading over zones, nodes and other places: as a condition (`DoNotSchedule`) and as a preference.

use std::collections::HashMap;

use lynceus_object::{Object, Selector, Str, Value};

use super::load::Load;
use super::node::{HOSTNAME, Node, ZONE};
use super::selection::Selection;
use super::taints;
use super::words::Obstacle;
use crate::controllers::kind::{REPLICA_SET, REPLICATION_CONTROLLER, SERVICE, STATEFUL_SET};
use crate::controllers::pods;
use crate::controllers::selector;
use crate::controllers::world::World;

/// How the pods of a service or a workload are spread that say nothing themselves: over nodes and over zones.
const DEFAULTS: [(&str, i64); 2] = [(HOSTNAME, 3), (ZONE, 5)];
/// The best mark that a node can get.
const BEST: i64 = 100;

#[derive(Debug)]
struct Constraint {
    key: Str,
    skew: i64,
    least_domains: i64,
    selector: Selector,
    /// Whether nodes count that the pod does not select.
    any_node: bool,
    /// Whether nodes count whose taints the pod does not tolerate.
    any_taint: bool,
}

impl Constraint {
    fn read(value: &Value) -> Self {
        let int = |field, default| value.int_at(&[field]).unwrap_or(default);
        Constraint {
            key: value.str_at(&["topologyKey"]).unwrap_or_default().into(),
            skew: int("maxSkew", 1),
            least_domains: int("minDomains", 1),
            selector: Selector::from_object(value.get("labelSelector")).unwrap_or(Selector::Nothing),
            any_node: value.str_at(&["nodeAffinityPolicy"]) == Some("Ignore"),
            any_taint: value.str_at(&["nodeTaintsPolicy"]) != Some("Honor"),
        }
    }

    fn counts_node(&self, pod: &Object, selection: &Selection, node: &Node) -> bool {
        (self.any_node || selection.holds(node)) && (self.any_taint || taints::tolerated(pod, node))
    }
}

fn constraints(pod: &Object, hard: bool) -> Vec<Constraint> {
    let of_kind = |value: &&Value| (value.str_at(&["whenUnsatisfiable"]) != Some("ScheduleAnyway")) == hard;
    let all = pod.value().items_at(&["spec", "topologySpreadConstraints"]).iter();
    all.filter(of_kind).map(Constraint::read).collect()
}

fn has_all(constraints: &[Constraint], node: &Node) -> bool {
    constraints.iter().all(|constraint| node.label(&constraint.key).is_some())
}

/// What a pod's constraints allow.
#[derive(Debug)]
pub(super) struct Spread {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    constraint: Constraint,
    counts: HashMap<Str, i64>,
    least: i64,
    /// One if the pod counts itself.
    own: i64,
}

impl Spread {
    /// Counts the pods in each place. Nothing if there are no constraints.
    pub(super) fn of(pod: &Object, selection: &Selection, load: &Load) -> Option<Self> {
        let constraints = constraints(pod, true);
        if constraints.is_empty() {
            return None;
        }
        let nodes: Vec<(&Str, &Node)> = load
            .machines()
            .filter(|(_, _, node)| has_all(&constraints, node))
            .map(|(name, _, node)| (name, node))
            .collect();
        let rule = |constraint: Constraint| {
            let on_node = load.crowd.count(pod.namespace(), &constraint.selector);
            let mut counts: HashMap<Str, i64> = HashMap::new();
            for (name, node) in &nodes {
                if constraint.counts_node(pod, selection, node)
                    && let Some(value) = node.label(&constraint.key)
                {
                    *counts.entry(value.into()).or_default() += on_node.get(*name).copied().unwrap_or(0);
                }
            }
            let few = (counts.len() as i64) < constraint.least_domains;
            let least = if few { 0 } else { counts.values().copied().min().unwrap_or(i64::from(i32::MAX)) };
            let own = i64::from(constraint.selector.matches_object(pod));
            Rule { constraint, counts, least, own }
        };
        Some(Spread { rules: constraints.into_iter().map(rule).collect() })
    }

    pub(super) fn obstacle(&self, node: &Node) -> Option<Obstacle> {
        for rule in &self.rules {
            let Some(value) = node.label(&rule.constraint.key) else {
                return Some(Obstacle::lasting(
                    "node(s) didn't match pod topology spread constraints (missing required label)",
                ));
            };
            let here = rule.counts.get(value).copied().unwrap_or(0);
            if here + rule.own - rule.least > rule.constraint.skew {
                return Some(Obstacle::passing("node(s) didn't match pod topology spread constraints"));
            }
        }
        None
    }
}

/// Marks for nodes by how evenly a pod would be spread there: what it prefers itself, or else what is usual. Nothing
/// if it does not matter.
pub(super) fn marks(
    pod: &Object,
    selection: &Selection,
    nodes: &[&Node],
    load: &Load,
    world: &World<'_>,
) -> Option<Vec<i64>> {
    let own = !pod.value().items_at(&["spec", "topologySpreadConstraints"]).is_empty();
    let constraints = if own { constraints(pod, false) } else { usual(pod, world) };
    if constraints.is_empty() {
        return None;
    }
    // Only those that a pod names itself leave out nodes without the labels.
    let counts = |node: &Node| !own || has_all(&constraints, node);
    let qualified = nodes.iter().filter(|node| counts(node)).count();
    let mut raw = vec![0.0; nodes.len()];
    let mut on_node = HashMap::new();
    let mut here = Vec::new();
    for (at, constraint) in constraints.iter().enumerate() {
        // The usual constraints differ only in the places.
        if at == 0 || constraint.selector != constraints[at - 1].selector {
            on_node = load.crowd.count(pod.namespace(), &constraint.selector);
            here = vec![0; nodes.len()];
            for (name, count) in &on_node {
                if let Ok(at) = nodes.binary_search_by(|node| node.name.cmp(name)) {
                    here[at] = *count;
                }
            }
        }
        if constraint.key == HOSTNAME {
            let weight = ((qualified + 2) as f64).ln();
            for ((node, here), raw) in nodes.iter().zip(&here).zip(&mut raw) {
                if node.has_hostname {
                    *raw += *here as f64 * weight + (constraint.skew - 1) as f64;
                }
            }
            continue;
        }
        let places: Vec<Option<&str>> = nodes.iter().map(|node| node.label(&constraint.key)).collect();
        let mut in_place: HashMap<&str, i64> = HashMap::new();
        let mut last = None;
        for (_, place) in nodes.iter().zip(&places).filter(|(node, _)| counts(node)) {
            // There are many nodes and few zones.
            if last.replace(place) != Some(place) {
                in_place.entry(place.unwrap_or_default()).or_default();
            }
        }
        for (name, count) in &on_node {
            if let Some((_, node)) = load.machine(name)
                && counts(node)
                && let Some(sum) = in_place.get_mut(node.label(&constraint.key).unwrap_or_default())
                && constraint.counts_node(pod, selection, node)
            {
                *sum += count;
            }
        }
        let weight = ((in_place.len() + 2) as f64).ln();
        let mut last = None;
        for (place, raw) in places.iter().zip(&mut raw) {
            let Some(place) = place else { continue };
            let count = match last {
                Some((known, count)) if known == place => count,
                _ => in_place.get(place).copied().unwrap_or(0),
            };
            last = Some((place, count));
            *raw += count as f64 * weight + (constraint.skew - 1) as f64;
        }
    }
    Some(normalised(nodes, raw.into_iter().map(|raw: f64| raw.round() as i64).collect(), counts))
}

/// The fewest pods get the best mark.
fn normalised(nodes: &[&Node], raw: Vec<i64>, counts: impl Fn(&Node) -> bool) -> Vec<i64> {
    let counted = || nodes.iter().zip(&raw).filter(|(node, _)| counts(node)).map(|(_, raw)| *raw);
    let (least, most) = (counted().min().unwrap_or(0), counted().max().unwrap_or(0));
    let mark = |(node, raw): (&&Node, &i64)| match most {
        _ if !counts(node) => 0,
        0 => BEST,
        most => BEST * (most + least - raw) / most,
    };
    nodes.iter().zip(&raw).map(mark).collect()
}

/// What holds for the pods of services and workloads.
fn usual(pod: &Object, world: &World<'_>) -> Vec<Constraint> {
    let Some(selector) = kin(pod, world) else { return Vec::new() };
    let constraint = |(key, skew): (&str, i64)| Constraint {
        key: key.into(),
        skew,
        least_domains: 1,
        selector: selector.clone(),
        any_node: false,
        any_taint: true,
    };
    DEFAULTS.into_iter().map(constraint).collect()
}

/// Selects the pods of the same services and of the same workload.
fn kin(pod: &Object, world: &World<'_>) -> Option<Selector> {
    let mut requirements = Vec::new();
    for service in world.list(SERVICE, pod.namespace()) {
        let wanted = service.at(&["spec", "selector"]);
        let labels = wanted.and_then(Value::as_map).filter(|labels| !labels.is_empty());
        if let Some(labels) = labels.filter(|_| selector::has_all(wanted, pod.at(&["metadata", "labels"]))) {
            let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()));
            requirements.extend(Selector::from_labels(labels).requirements().iter().cloned());
        }
    }
    let owner = |kind| {
        let name = pods::managed_by(pod, kind)?;
        world.get(kind, pod.namespace(), &name)
    };
    let of_set = owner(REPLICA_SET)
        .or_else(|| owner(STATEFUL_SET))
        .and_then(|set| Selector::from_object(set.at(&["spec", "selector"])).ok());
    let of_controller = owner(REPLICATION_CONTROLLER).and_then(|owner| {
        let labels = owner.at(&["spec", "selector"])?.as_map()?.clone();
        let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()));
        Some(Selector::from_labels(labels))
    });
    for selector in of_set.iter().chain(&of_controller) {
        requirements.extend(selector.requirements().iter().cloned());
    }
    (!requirements.is_empty()).then_some(Selector::All(requirements))
}
