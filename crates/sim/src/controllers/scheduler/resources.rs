//! Resources: what pods ask for, what nodes have, and what a node lacks for a pod.

use std::collections::BTreeMap;

use lynceus_object::{Object, Str, Value};

use super::load::Machine;
use super::words::Obstacle;
use crate::kinds::quality::amount_of;

/// What a container counts with when nodes are compared, if it asks for nothing: thousandths of a core and bytes.
const LEAST: (i64, i64) = (100, 200 * 1024 * 1024);
/// The best mark that a node can get.
const BEST: i64 = 100;

/// An amount of every resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    /// Thousandths of a core.
    pub(super) cpu: i64,
    /// Bytes.
    pub(super) memory: i64,
    /// Bytes of ephemeral storage.
    pub(super) storage: i64,
    /// Huge pages, devices and whatever else has a name.
    pub(super) others: BTreeMap<Str, i64>,
}

impl Amount {
    /// Reads a list of resources. Pods are counted, not summed up.
    pub(super) fn of(list: Option<&Value>) -> Self {
        let mut amount = Amount::default();
        let Some(list) = list.and_then(Value::as_map) else { return amount };
        for (name, value) in list.iter() {
            let Some(quantity) = amount_of(value) else { continue };
            match name.as_str() {
                "cpu" => amount.cpu = quantity.milli_value(),
                "memory" => amount.memory = quantity.value(),
                "ephemeral-storage" => amount.storage = quantity.value(),
                "pods" => {}
                _ => {
                    amount.others.insert(name.clone(), quantity.value());
                }
            }
        }
        amount
    }

    /// Adds another amount, or takes it away.
    pub(super) fn add(&mut self, other: &Amount, sign: i64) {
        self.merge(other, |a, b| a + sign * b);
    }

    fn raise_to(&mut self, other: &Amount) {
        self.merge(other, i64::max);
    }

    fn merge(&mut self, other: &Amount, by: impl Fn(i64, i64) -> i64) {
        self.cpu = by(self.cpu, other.cpu);
        self.memory = by(self.memory, other.memory);
        self.storage = by(self.storage, other.storage);
        for (name, amount) in &other.others {
            let mine = self.others.entry(name.clone()).or_default();
            *mine = by(*mine, *amount);
        }
    }
}

/// What a pod asks for, and what it counts with when nodes are compared.
pub(super) fn wanted(pod: &Object) -> (Amount, Amount) {
    let requests = |container: &Value| Amount::of(container.at(&["resources", "requests"]));
    let nominal = |container: &Value| {
        let mut amount = requests(container);
        let asks = |name| container.at(&["resources", "requests", name]).is_some();
        if !asks("cpu") {
            amount.cpu = LEAST.0;
        }
        if !asks("memory") {
            amount.memory = LEAST.1;
        }
        amount
    };
    (total(pod, requests), total(pod, nominal))
}

/// The sum over a pod. Containers that stay count all the time; init containers one after the other, each beside the
/// sidecars that were started before it. What is said for the pod as a whole goes first.
fn total(pod: &Object, of: impl Fn(&Value) -> Amount) -> Amount {
    let spec = |list| pod.value().items_at(&["spec", list]);
    let (mut sidecars, mut peak) = (Amount::default(), Amount::default());
    for container in spec("initContainers") {
        let mut now = of(container);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            sidecars.add(&now, 1);
            now = sidecars.clone();
        } else {
            now.add(&sidecars, 1);
        }
        peak.raise_to(&now);
    }
    let mut total = sidecars;
    spec("containers").iter().for_each(|container| total.add(&of(container), 1));
    total.raise_to(&peak);
    let list = pod.at(&["spec", "resources", "requests"]);
    let whole = Amount::of(list);
    let says = |name: &str| list.is_some_and(|list| list.get(name).is_some());
    if says("cpu") {
        total.cpu = whole.cpu;
    }
    if says("memory") {
        total.memory = whole.memory;
    }
    total.others.extend(whole.others);
    total.add(&Amount::of(pod.at(&["spec", "overhead"])), 1);
    total
}

/// A resource of which a node has too little left for a pod.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shortage {
    /// Its name.
    pub(super) resource: Str,
    /// How much the pod asks for.
    pub(super) wanted: i64,
    /// How much others have.
    pub(super) used: i64,
    /// How much there is in all.
    pub(super) capacity: i64,
}

/// Every resource that a node lacks for a pod.
pub(super) fn shortages(more: &Amount, machine: &Machine) -> Vec<Shortage> {
    let mut found = Vec::new();
    let mut check = |resource: &str, wanted: i64, capacity: i64, used: i64| {
        if wanted > 0 && wanted > capacity - used {
            found.push(Shortage { resource: resource.into(), wanted, used, capacity });
        }
    };
    let (has, used) = (&machine.allocatable, &machine.used);
    check("pods", 1, machine.places, machine.pods.len() as i64);
    check("cpu", more.cpu, has.cpu, used.cpu);
    check("memory", more.memory, has.memory, used.memory);
    check("ephemeral-storage", more.storage, has.storage, used.storage);
    let of = |amount: &Amount, name: &Str| amount.others.get(name).copied().unwrap_or(0);
    for (name, more) in &more.others {
        check(name, *more, of(has, name), of(used, name));
    }
    found
}

/// What a node lacks for a pod, in the scheduler's words. More than the whole node has cannot be had by making room.
pub(super) fn shortage(more: &Amount, machine: &Machine) -> Option<Obstacle> {
    let found = shortages(more, machine);
    let hopeless = found.iter().any(|one| one.resource != "pods" && one.wanted > one.capacity);
    let reasons = found.iter().map(|one| match one.resource.as_str() {
        "pods" => "Too many pods".into(),
        name => format!("Insufficient {name}").into(),
    });
    (!found.is_empty()).then(|| Obstacle { reasons: reasons.collect(), hopeless })
}

/// How empty a node would still be: the mark that spreads pods over nodes.
pub(super) fn emptiness(nominal: &Amount, machine: &Machine) -> i64 {
    let free = |more: i64, has: i64, used: i64| {
        let left = has - used - more;
        if left < 0 { 0 } else { left * BEST / has }
    };
    let (has, used) = (&machine.allocatable, &machine.nominal);
    let (mut sum, mut count) = (0, 0);
    for (more, has, used) in [(nominal.cpu, has.cpu, used.cpu), (nominal.memory, has.memory, used.memory)] {
        if has > 0 {
            sum += free(more, has, used);
            count += 1;
        }
    }
    if count == 0 { 0 } else { sum / count }
}

/// How much evener the use of cpu and memory becomes: 75 if nothing changes. A pod that asks for neither has no mark.
pub(super) fn balance(more: &Amount, machine: &Machine) -> i64 {
    if more.cpu == 0 && more.memory == 0 {
        return 0;
    }
    let (has, used) = (&machine.allocatable, &machine.used);
    let evenness = |cpu: i64, memory: i64| {
        if has.cpu == 0 || has.memory == 0 {
            return BEST;
        }
        let share = |part: i64, whole: i64| (part as f64 / whole as f64).min(1.0);
        let deviation = ((share(cpu, has.cpu) - share(memory, has.memory)) / 2.0).abs();
        ((1.0 - deviation) * BEST as f64) as i64
    };
    let after = evenness(used.cpu + more.cpu, used.memory + more.memory);
    BEST / 2 + (BEST / 2 + after - evenness(used.cpu, used.memory)) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    /// cpu, memory and the rest of what a spec asks for.
    fn asks(spec: &str) -> String {
        let mut pod = crate::controllers::kind::POD.named("shop", "web");
        pod.set(&["spec"], yaml::parse_str(spec).unwrap());
        let (amount, nominal) = wanted(&pod);
        let others: Vec<String> = amount.others.iter().map(|(name, n)| format!(" {name}={n}")).collect();
        format!("{}m {} {}{} ~{}m", amount.cpu, amount.memory, amount.storage, others.concat(), nominal.cpu)
    }

    #[test]
    fn requests_are_summed_up_as_kubernetes_does() {
        for (spec, expected) in [
            ("containers: [{name: a}]", "0m 0 0 ~100m"),
            (
                "containers: [{resources: {requests: {cpu: 1, memory: 1k}}}, {resources: {requests: {cpu: 500m}}}]",
                "1500m 1000 0 ~1500m",
            ),
            // An init container runs alone, so the larger of both counts.
            (
                "initContainers: [{resources: {requests: {cpu: 2}}}]\ncontainers: [{resources: {requests: {cpu: 1}}}]",
                "2000m 0 0 ~2000m",
            ),
            // A sidecar stays: beside the containers, and beside the init containers that come later.
            (
                "initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 3}}}]
containers: [{resources: {requests: {cpu: 1}}}]",
                "4000m 0 0 ~4000m",
            ),
            (
                "initContainers: [{resources: {requests: {cpu: 3}}}, {restartPolicy: Always, resources: {requests: {cpu: 1}}}]
containers: [{resources: {requests: {cpu: 1}}}]",
                "3000m 0 0 ~3000m",
            ),
            (
                "overhead: {cpu: 250m}\ncontainers: [{resources: {requests: {cpu: 1, ephemeral-storage: 5}}}]",
                "1250m 0 5 ~1250m",
            ),
            (
                "resources: {requests: {cpu: 4}}\ncontainers: [{resources: {requests: {cpu: 1, example.org/gpu: 2}}}]",
                "4000m 0 0 example.org/gpu=2 ~4000m",
            ),
        ] {
            assert_eq!(asks(spec), expected, "{spec}");
        }
    }
}
