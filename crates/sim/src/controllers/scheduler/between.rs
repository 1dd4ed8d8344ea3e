//! Affinity between pods: with whom a pod wants to share a node, a zone or any other place, and with whom not. What
//! runs already may object to newcomers too.

use std::collections::HashMap;

use lynceus_object::{Object, Selector, Str, Value};

use super::crowd::Class;
use super::load::Load;
use super::node::Node;
use super::words::Obstacle;
use crate::controllers::kind::NAMESPACE;
use crate::controllers::world::World;

/// What a required affinity of a running pod counts for a newcomer.
const HARD_WEIGHT: i64 = 1;

/// Which pods are meant, and what has to be in common with them.
#[derive(Debug)]
pub(super) struct Term {
    namespaces: Vec<Str>,
    namespace_selector: Selector,
    selector: Selector,
    /// The label of nodes that makes a place.
    key: Str,
}

impl Term {
    fn read(term: &Value, pod: &Object) -> Self {
        let select = |field| Selector::from_object(term.get(field)).unwrap_or(Selector::Nothing);
        let mut namespaces: Vec<Str> =
            term.items_at(&["namespaces"]).iter().filter_map(|name| name.as_str().map(Str::from)).collect();
        if namespaces.is_empty() && term.get("namespaceSelector").is_none_or(Value::is_null) {
            namespaces.push(pod.namespace().into());
        }
        Term {
            namespaces,
            namespace_selector: select("namespaceSelector"),
            selector: select("labelSelector"),
            key: term.str_at(&["topologyKey"]).unwrap_or_default().into(),
        }
    }

    fn means(&self, namespace: &str, labels: Option<&Value>, world: &World<'_>) -> bool {
        self.selector.matches_labels(labels)
            && (self.namespaces.iter().any(|name| name == namespace) || self.selects(namespace, world))
    }

    fn selects(&self, namespace: &str, world: &World<'_>) -> bool {
        match &self.namespace_selector {
            Selector::Nothing => false,
            everything if everything.is_everything() => true,
            some => world.get(NAMESPACE, "", namespace).is_some_and(|found| some.matches_object(&found)),
        }
    }
}

/// All that a pod wants of other pods.
#[derive(Debug, Default)]
pub(super) struct Terms {
    near: Vec<Term>,
    apart: Vec<Term>,
    /// Preferences with their weights, negative ones for pods to keep away from.
    preferred: Vec<(i64, Term)>,
}

impl Terms {
    /// Reads what a pod wants.
    pub(super) fn of(pod: &Object) -> Self {
        let mut terms = Terms::default();
        let Some(affinity) = pod.at(&["spec", "affinity"]) else { return terms };
        let required = |kind| affinity.items_at(&[kind, "requiredDuringSchedulingIgnoredDuringExecution"]);
        let read = |term| Term::read(term, pod);
        terms.near = required("podAffinity").iter().map(read).collect();
        terms.apart = required("podAntiAffinity").iter().map(read).collect();
        for (kind, sign) in [("podAffinity", 1), ("podAntiAffinity", -1)] {
            for preferred in affinity.items_at(&[kind, "preferredDuringSchedulingIgnoredDuringExecution"]) {
                let weight = preferred.int_at(&["weight"]).unwrap_or(0);
                if let Some(term) = preferred.get("podAffinityTerm") {
                    terms.preferred.push((sign * weight, Term::read(term, pod)));
                }
            }
        }
        terms
    }

    pub(super) fn is_empty(&self) -> bool {
        self.near.is_empty() && self.apart.is_empty() && self.preferred.is_empty()
    }
}

/// How many pods are in a place, by the label that makes places and by its value.
#[derive(Debug, Default)]
struct Places(HashMap<Str, HashMap<Str, i64>>);

impl Places {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts the pods of a class, wherever they are.
    fn add(&mut self, class: &Class, key: &Str, weight: i64, load: &Load) {
        for (node, count) in &class.nodes {
            if let Some((_, node)) = load.machine(node)
                && let Some(value) = node.label(key)
            {
                let values = self.0.entry(key.clone()).or_default();
                *values.entry(value.into()).or_default() += weight * count;
            }
        }
    }

    /// The count where a node is; nothing if it is in no such place.
    fn count(&self, key: &Str, node: &Node) -> Option<i64> {
        let value = node.label(key)?;
        Some(self.0.get(key).and_then(|values| values.get(value)).copied().unwrap_or(0))
    }

    /// The counts of all places that a node is in.
    fn counts<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = i64> + 'a {
        self.0.iter().filter_map(|(key, values)| values.get(node.label(key)?).copied())
    }
}

/// What other pods mean for one pod.
#[derive(Debug)]
pub(super) struct Between {
    terms: Terms,
    /// Where pods are that it wants to be near to.
    near: Places,
    /// Where pods are that it wants to be apart from.
    apart: Places,
    /// Where pods are that want to be apart from it.
    unwelcome: Places,
    /// Whether it is itself one of those that it wants to be near to.
    own: bool,
}

impl Between {
    /// Counts who is where. Nothing if nobody wants anything.
    pub(super) fn of(pod: &Object, load: &Load, world: &World<'_>) -> Option<Self> {
        let terms = Terms::of(pod);
        let labels = pod.at(&["metadata", "labels"]);
        let (mut near, mut apart, mut unwelcome) = (Places::default(), Places::default(), Places::default());
        for class in load.crowd.demanding() {
            for term in class.terms.apart.iter().filter(|term| term.means(pod.namespace(), labels, world)) {
                unwelcome.add(class, &term.key, 1, load);
            }
        }
        if !terms.near.is_empty() || !terms.apart.is_empty() {
            for class in load.crowd.classes() {
                let means = |term: &&Term| term.means(&class.namespace, class.labels.as_ref(), world);
                terms.apart.iter().filter(means).for_each(|term| apart.add(class, &term.key, 1, load));
                if terms.near.iter().all(|term| means(&term)) {
                    terms.near.iter().for_each(|term| near.add(class, &term.key, 1, load));
                }
            }
        }
        if terms.near.is_empty() && terms.apart.is_empty() && unwelcome.is_empty() {
            return None;
        }
        let own = terms.near.iter().all(|term| term.means(pod.namespace(), labels, world));
        Some(Between { near, apart, unwelcome, own, terms })
    }

    pub(super) fn obstacle(&self, node: &Node) -> Option<Obstacle> {
        // The first of those that want to be together goes wherever there is such a place.
        let first = self.near.is_empty() && self.own;
        let is_near = |term: &Term| self.near.count(&term.key, node).is_some_and(|count| count > 0 || first);
        if !self.terms.near.iter().all(is_near) {
            return Some(Obstacle::lasting("node(s) didn't match pod affinity rules"));
        }
        let is_apart = |term: &Term| self.apart.count(&term.key, node).is_none_or(|count| count <= 0);
        if !self.terms.apart.iter().all(is_apart) {
            return Some(Obstacle::passing("node(s) didn't match pod anti-affinity rules"));
        }
        let unwelcome = self.unwelcome.counts(node).any(|count| count > 0);
        unwelcome.then(|| Obstacle::passing("node(s) didn't satisfy existing pods anti-affinity rules"))
    }
}

/// How much pods are drawn to places, and pushed away from them.
#[derive(Debug)]
pub(super) struct Attraction(Places);

impl Attraction {
    /// Weighs the preferences of a pod and of those that run. Nothing if there are none.
    pub(super) fn of(pod: &Object, load: &Load, world: &World<'_>) -> Option<Self> {
        let mut places = Places::default();
        let labels = pod.at(&["metadata", "labels"]);
        for class in load.crowd.demanding() {
            let hard = class.terms.near.iter().map(|term| (HARD_WEIGHT, term));
            let soft = class.terms.preferred.iter().map(|(weight, term)| (*weight, term));
            for (weight, term) in hard.chain(soft) {
                if term.means(pod.namespace(), labels, world) {
                    places.add(class, &term.key, weight, load);
                }
            }
        }
        let terms = Terms::of(pod);
        if !terms.preferred.is_empty() {
            for class in load.crowd.classes() {
                for (weight, term) in &terms.preferred {
                    if term.means(&class.namespace, class.labels.as_ref(), world) {
                        places.add(class, &term.key, *weight, load);
                    }
                }
            }
        }
        (!places.is_empty()).then_some(Attraction(places))
    }

    /// How much a pod is drawn to a node.
    pub(super) fn to(&self, node: &Node) -> i64 {
        self.0.counts(node).sum()
    }
}
