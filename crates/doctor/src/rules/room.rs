//! How much pods ask for, and how much nodes have.

use std::collections::{BTreeMap, HashMap};

use lynceus_object::{Object, Quantity, Value};

use super::fit::{self, Fit};
use crate::case::{Case, Pods};

/// Amounts by resource, in thousandths.
pub(super) type Amounts = BTreeMap<String, i64>;

/// What one pod asks for: the sum of its containers, or its largest init container if that is more.
pub(super) fn asked(pods: &Pods<'_>) -> Amounts {
    let mut sum = Amounts::new();
    for container in pods.spec.items_at(&["containers"]) {
        for (name, amount) in requests(container) {
            *sum.entry(name).or_default() += amount;
        }
    }
    for container in pods.spec.items_at(&["initContainers"]) {
        for (name, amount) in requests(container) {
            let most = sum.entry(name).or_default();
            *most = amount.max(*most);
        }
    }
    for (name, amount) in amounts(pods.spec.at(&["overhead"])) {
        *sum.entry(name).or_default() += amount;
    }
    sum.insert("pods".to_owned(), 1000);
    sum
}

/// What a container asks for; a limit without a request is one too.
fn requests(container: &Value) -> Amounts {
    let mut all = amounts(container.at(&["resources", "limits"]));
    all.extend(amounts(container.at(&["resources", "requests"])));
    all
}

fn amounts(map: Option<&Value>) -> Amounts {
    let pairs = map.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    pairs.filter_map(|(name, value)| Some((name.to_string(), milli(value)?))).collect()
}

/// An amount in thousandths.
pub(super) fn milli(value: &Value) -> Option<i64> {
    match value.as_str() {
        Some(text) => Quantity::parse(text).ok().map(|quantity| quantity.milli_value()),
        None => value.as_int().map(|number| number.saturating_mul(1000)),
    }
}

/// What a node has for pods.
pub(super) fn allocatable(node: &Object) -> Amounts {
    amounts(node.at(&["status", "allocatable"]).or_else(|| node.at(&["status", "capacity"])))
}

/// Whether pods would fit a node if it were empty. Resources that a node says nothing of, it has none of.
fn is_large_enough(asked: &Amounts, node: &Object) -> bool {
    let has = allocatable(node);
    // A node that says nothing at all is not held to it.
    has.is_empty()
        || asked.iter().all(|(name, amount)| *amount == 0 || has.get(name).is_some_and(|has| has >= amount))
}

/// Whether no node that takes the pods could ever hold them, while those that they were meant for could, and are tainted: there are at
/// least as many of those, or they alone have something that the pods ask for. Otherwise the pods ask for too much.
pub(super) fn is_elsewhere(pods: &Pods<'_>, nodes: &[&Object]) -> bool {
    let asked = asked(pods);
    let of = |wanted: Fit| nodes.iter().copied().filter(move |node| fit::fit(pods, node) == wanted);
    let takes: Vec<&Object> = of(Fit::Takes).collect();
    if takes.iter().any(|node| is_large_enough(&asked, node)) {
        return false;
    }
    let is_set_apart =
        |node: &&Object| fit::untolerated(pods, node).is_some_and(|taint| !fit::is_of_system(taint));
    let large = of(Fit::Tainted).filter(|node| is_set_apart(node) && is_large_enough(&asked, node)).count();
    let has_all = |node: &&Object| {
        let has = allocatable(node);
        asked.iter().all(|(name, amount)| *amount == 0 || has.contains_key(name))
    };
    large > 0 && (large >= takes.len() || !takes.iter().any(has_all))
}

/// What the pods on each node ask for together.
pub(super) fn used<'a>(case: &Case<'a>, server: &str) -> HashMap<&'a str, Amounts> {
    let mut used: HashMap<&'a str, Amounts> = HashMap::new();
    for pod in case.of_kind(server, "", "Pod").iter().copied() {
        let ended = matches!(pod.value().str_at(&["status", "phase"]), Some("Succeeded" | "Failed"));
        let (Some(node), Some(spec), false) =
            (pod.value().str_at(&["spec", "nodeName"]), Pods::of(pod), ended)
        else {
            continue;
        };
        let sum = used.entry(node).or_default();
        for (name, amount) in asked(&spec) {
            *sum.entry(name).or_default() += amount;
        }
    }
    used
}

/// An amount as people write it.
pub(super) fn shown(name: &str, milli: i64) -> String {
    let whole = milli.max(0) / 1000;
    match name {
        "cpu" if milli % 1000 != 0 => format!("{milli}m"),
        "memory" | "ephemeral-storage" if whole >= 1 << 30 && whole % (1 << 30) == 0 => {
            format!("{}Gi", whole >> 30)
        }
        "memory" | "ephemeral-storage" if whole >= 1 << 20 => format!("{}Mi", whole >> 20),
        _ => whole.to_string(),
    }
}
