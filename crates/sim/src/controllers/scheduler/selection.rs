//! Which nodes a pod names: by their labels, by preference, or by their very names.

use lynceus_object::selector::Requirement;
use lynceus_object::{Object, Str, Value};

use super::node::Node;
use super::words::Obstacle;
use crate::controllers::selector;

/// A term of a node selector; all of it has to hold.
#[derive(Debug)]
pub(super) struct Term {
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
    /// Whether there is a requirement that nothing can meet.
    broken: bool,
}

impl Term {
    /// Reads a term.
    pub(super) fn read(term: &Value) -> Self {
        let mut broken = false;
        let mut all = |field| -> Vec<Requirement> {
            let read = |value| {
                let requirement = selector::requirement(value);
                broken |= requirement.is_none();
                requirement
            };
            term.items_at(&[field]).iter().filter_map(read).collect()
        };
        let (labels, fields) = (all("matchExpressions"), all("matchFields"));
        Term { broken, labels, fields }
    }

    /// Whether a node meets it. One that asks for nothing is met by nobody.
    pub(super) fn holds(&self, node: &Node) -> bool {
        let asks = !self.labels.is_empty() || !self.fields.is_empty();
        !self.broken
            && asks
            && self.labels.iter().all(|wish| wish.matches(node.label(&wish.key)))
            && self.fields.iter().all(|wish| wish.matches(Some(&node.name)))
    }
}

/// The nodes that a pod asks for.
#[derive(Debug)]
pub(super) struct Selection {
    selector: Option<Value>,
    required: Option<Vec<Term>>,
    preferred: Vec<(i64, Term)>,
    /// The only nodes that come into question, if they are named.
    pub(super) named: Option<Vec<Str>>,
}

impl Selection {
    /// Reads what a pod asks for.
    pub(super) fn of(pod: &Object) -> Self {
        let affinity = pod.at(&["spec", "affinity", "nodeAffinity"]);
        let terms = affinity
            .and_then(|affinity| affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
            .map(|required| required.items_at(&["nodeSelectorTerms"]));
        let preferred = affinity.map_or(&[][..], |affinity| {
            affinity.items_at(&["preferredDuringSchedulingIgnoredDuringExecution"])
        });
        let weighed = |term: &Value| {
            let weight = term.int_at(&["weight"]).unwrap_or(0);
            Some((weight, Term::read(term.get("preference")?)))
        };
        Selection {
            selector: pod.at(&["spec", "nodeSelector"]).cloned(),
            required: terms.map(|terms| terms.iter().map(Term::read).collect()),
            preferred: preferred.iter().filter_map(weighed).collect(),
            named: terms.and_then(named),
        }
    }

    /// Whether a node is one of those.
    pub(super) fn holds(&self, node: &Node) -> bool {
        selector::has_all(self.selector.as_ref(), node.labels())
            && self.required.as_ref().is_none_or(|terms| terms.iter().any(|term| term.holds(node)))
    }

    pub(super) fn obstacle(&self, node: &Node) -> Option<Obstacle> {
        (!self.holds(node)).then(|| Obstacle::lasting("node(s) didn't match Pod's node affinity/selector"))
    }

    /// How much a node is preferred.
    pub(super) fn preference(&self, node: &Node) -> i64 {
        self.preferred.iter().filter(|(_, term)| term.holds(node)).map(|(weight, _)| weight).sum()
    }
}

/// The names that terms give, if each of them gives some.
fn named(terms: &[Value]) -> Option<Vec<Str>> {
    let mut names: Vec<Str> = Vec::new();
    for term in terms {
        let is_name = |field: &&Value| {
            field.str_at(&["key"]) == Some("metadata.name") && field.str_at(&["operator"]) == Some("In")
        };
        let field = term.items_at(&["matchFields"]).iter().find(is_name)?;
        names.extend(field.items_at(&["values"]).iter().filter_map(|name| name.as_str().map(Str::from)));
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::{NODE, POD};
    use lynceus_object::{value, yaml};

    #[test]
    fn selectors_and_affinity_choose_nodes() {
        let mut node = NODE.named("", "n1");
        node.set(&["metadata", "labels"], value!({"zone": "a", "cores": "8"}));
        let required = |term: &str| {
            let field = "requiredDuringSchedulingIgnoredDuringExecution";
            format!("affinity: {{nodeAffinity: {{{field}: {{nodeSelectorTerms: [{term}]}}}}}}")
        };
        let by_label = |wish: &str| required(&format!("{{matchExpressions: [{wish}]}}"));
        for (spec, fits) in [
            ("{}".to_owned(), true),
            ("nodeSelector: {zone: a}".to_owned(), true),
            ("nodeSelector: {zone: b}".to_owned(), false),
            (by_label("{key: cores, operator: Gt, values: ['4']}"), true),
            (by_label("{key: cores, operator: Lt, values: ['4']}"), false),
            (by_label("{key: cores, operator: Near, values: ['4']}"), false),
            (required("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"), true),
            (required("{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}"), false),
            (required("{}"), false),
        ] {
            let mut pod = POD.named("shop", "web");
            pod.set(&["spec"], yaml::parse_str(&spec).unwrap());
            assert_eq!(Selection::of(&pod).holds(&Node::of(&node)), fits, "{spec}");
        }
    }
}
