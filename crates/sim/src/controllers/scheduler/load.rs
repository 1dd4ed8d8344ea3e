//! How much of each node is asked for already.

use std::collections::HashMap;

use lynceus_object::{Object, Str, Value};

use crate::controllers::pods;
use crate::kinds::quality::amount_of;

/// What a pod asks for, or a node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    /// Thousandths of a core.
    pub(super) cpu: i64,
    /// Bytes.
    pub(super) memory: i64,
    /// Pods.
    pub(super) pods: i64,
}

impl Amount {
    fn add(&mut self, other: Amount, sign: i64) {
        self.cpu += sign * other.cpu;
        self.memory += sign * other.memory;
        self.pods += sign * other.pods;
    }
}

/// What the pods on each node ask for.
#[derive(Debug, Default)]
pub(super) struct Load {
    by_node: HashMap<Str, Amount>,
    by_pod: HashMap<Str, (Str, Amount)>,
}

impl Load {
    /// Takes a pod in, as it is now.
    pub(super) fn note(&mut self, pod: &Object) {
        self.forget(pod.uid());
        let node = pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default();
        if node.is_empty() || pods::is_finished(pod) {
            return;
        }
        let amount = wanted(pod);
        self.by_node.entry(node.into()).or_default().add(amount, 1);
        self.by_pod.insert(pod.uid().into(), (node.into(), amount));
    }

    /// Takes a pod out.
    pub(super) fn forget(&mut self, uid: &str) {
        if let Some((node, amount)) = self.by_pod.remove(uid)
            && let Some(load) = self.by_node.get_mut(&node)
        {
            load.add(amount, -1);
        }
    }

    /// Takes a pod in that is about to be bound to a node.
    pub(super) fn assume(&mut self, pod: &Object, node: &str) {
        let mut bound = pod.clone();
        bound.set(&["spec", "nodeName"], node);
        self.note(&bound);
    }

    /// What is asked for on a node.
    pub(super) fn of(&self, node: &str) -> Amount {
        self.by_node.get(node).copied().unwrap_or_default()
    }

    /// What a node lacks for a pod, in the scheduler's words.
    pub(super) fn shortage(&self, pod: &Object, node: &Object) -> Option<&'static str> {
        let (has, load, more) = (allocatable(node), self.of(node.name()), wanted(pod));
        let short = |has: i64, load: i64, more: i64| more > 0 && load + more > has;
        if short(has.pods, load.pods, 1) {
            Some("Too many pods")
        } else if short(has.cpu, load.cpu, more.cpu) {
            Some("Insufficient cpu")
        } else if short(has.memory, load.memory, more.memory) {
            Some("Insufficient memory")
        } else {
            None
        }
    }
}

fn allocatable(node: &Object) -> Amount {
    let of = |resource| node.at(&["status", "allocatable", resource]).and_then(amount_of);
    Amount {
        cpu: of("cpu").map_or(0, |cpu| cpu.milli_value()),
        memory: of("memory").map_or(0, |memory| memory.value()),
        pods: of("pods").map_or(0, |pods| pods.value()),
    }
}

/// What a pod asks for: the sum of its containers, or the largest init container if that is more.
fn wanted(pod: &Object) -> Amount {
    let request = |container: &Value| {
        let of = |resource| container.at(&["resources", "requests", resource]).and_then(amount_of);
        Amount {
            cpu: of("cpu").map_or(0, |cpu| cpu.milli_value()),
            memory: of("memory").map_or(0, |memory| memory.value()),
            pods: 0,
        }
    };
    let mut total = Amount { pods: 1, ..Amount::default() };
    for container in pod.value().items_at(&["spec", "containers"]) {
        total.add(request(container), 1);
    }
    for container in pod.value().items_at(&["spec", "initContainers"]) {
        let init = request(container);
        total.cpu = total.cpu.max(init.cpu);
        total.memory = total.memory.max(init.memory);
    }
    total
}
