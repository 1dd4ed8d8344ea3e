//! The machines: a few that are there from the start, and what follows when one goes.

use lynceus_object::{Object, Value, value};

use super::key::Key;
use super::kind::{NODE, POD, STORAGE_CLASS};
use super::steps::{Deletion, Steps};
use super::time::{after, stamp};
use super::volumes::{DEFAULT_CLASS, PROVISIONER};
use super::world::World;
use super::{Controller, Writer, condition};
use crate::store::{Event, EventKind};

/// How many nodes a new cluster has.
const COUNT: usize = 3;
/// How often nodes say that they are well, in seconds.
const HEARTBEAT: i64 = 300;
/// What each node has.
const CAPACITY: [(&str, &str); 5] = [
    ("cpu", "64"),
    ("memory", "256Gi"),
    ("ephemeral-storage", "1Ti"),
    ("hugepages-2Mi", "0"),
    ("pods", "2000"),
];
/// The version that nodes say they run.
const VERSION: &str = "v1.36.3";

/// Makes nodes, and keeps them well.
pub(crate) struct Nodes;

impl Controller for Nodes {
    fn component(&self) -> &'static str {
        "kubelet"
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:node:sim", manager: "kubelet" }
    }

    fn begin(&mut self, world: &World<'_>, out: &mut Steps) {
        if world.list_all(NODE).is_empty() {
            (0..COUNT).for_each(|number| out.create(NODE, node(number, world)));
        }
        if world.list_all(STORAGE_CLASS).is_empty() {
            out.create(STORAGE_CLASS, storage_class());
        }
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if NODE.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(node) = world.find(key) else { return };
        if !is_ours(&node) {
            return;
        }
        let last = condition::get(&node, "Ready")
            .and_then(|ready| super::time::read(ready.get("lastHeartbeatTime")));
        let due = last.map_or(world.now, |last| after(last, HEARTBEAT));
        if due > world.now {
            out.again_at(due);
            return;
        }
        let mut new = node.clone();
        for condition in conditions(world) {
            condition::replace(&mut new, condition);
        }
        out.status(NODE, new);
        out.again_after(world.now, HEARTBEAT);
    }
}

/// Nodes that somebody else made are somebody else's to keep well.
fn is_ours(node: &Object) -> bool {
    node.value().str_at(&["status", "nodeInfo", "containerRuntimeVersion"]) == Some(RUNTIME)
}

const RUNTIME: &str = "lynceus-sim://1";

fn node(number: usize, world: &World<'_>) -> Object {
    let name = format!("sim-node-{number}");
    let mut node = NODE.named("", &name);
    let zone = ["sim-a", "sim-b", "sim-c"][number % 3];
    for (key, text) in [
        ("kubernetes.io/hostname", name.as_str()),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        ("topology.kubernetes.io/region", "sim"),
        ("topology.kubernetes.io/zone", zone),
        ("node.kubernetes.io/instance-type", "sim"),
    ] {
        node.set_label(key, text);
    }
    node.set(&["spec", "podCIDR"], format!("10.244.{number}.0/24"));
    node.set(&["spec", "podCIDRs"], vec![format!("10.244.{number}.0/24")]);
    node.set(&["spec", "providerID"], format!("sim://{name}"));
    for list in ["capacity", "allocatable"] {
        for (resource, amount) in CAPACITY {
            node.set(&["status", list, resource], amount);
        }
    }
    node.set(
        &["status", "addresses"],
        value!([
            {"type": "InternalIP", "address": format!("172.18.0.{}", number + 2)},
            {"type": "Hostname", "address": name},
        ]),
    );
    node.set(&["status", "conditions"], conditions(world));
    node.set(&["status", "daemonEndpoints", "kubeletEndpoint", "Port"], 10250);
    node.set(&["status", "nodeInfo"], info(number));
    node
}

fn info(number: usize) -> Value {
    let id = format!("{:032x}", 0x51a0_0000_0000_u64 + number as u64);
    value!({
        "machineID": id, "systemUUID": id, "bootID": id, "architecture": "amd64", "operatingSystem": "linux",
        "kernelVersion": "6.12.0", "osImage": "Lynceus Sim", "containerRuntimeVersion": RUNTIME,
        "kubeletVersion": VERSION, "kubeProxyVersion": "",
    })
}

fn conditions(world: &World<'_>) -> Vec<Value> {
    [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    .into_iter()
    .map(|(type_, status, reason, message)| {
        let mut condition = condition::new(type_, status, reason, message, world.now);
        condition.set(&["lastHeartbeatTime"], stamp(world.now));
        condition
    })
    .collect()
}

fn storage_class() -> Object {
    let mut class = STORAGE_CLASS.named("", DEFAULT_CLASS);
    class.set_annotation("storageclass.kubernetes.io/is-default-class", "true");
    class.set(&["provisioner"], PROVISIONER);
    class.set(&["reclaimPolicy"], "Delete");
    class.set(&["volumeBindingMode"], "Immediate");
    class.set(&["allowVolumeExpansion"], true);
    class
}

/// Says how long nodes may remember configuration: the more nodes there are, the longer.
pub(crate) struct Lifetimes;

/// Up to how many nodes how many seconds do.
const LIFETIMES: [(usize, &str); 4] = [(100, "0"), (500, "15"), (1000, "30"), (2000, "60")];
const LIFETIME: &str = "node.alpha.kubernetes.io/ttl";

impl Controller for Lifetimes {
    fn component(&self) -> &'static str {
        "ttl-controller"
    }

    fn writer(&self) -> Writer {
        super::manager!("ttl-controller")
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if NODE.is(&event.place) && event.kind != EventKind::Deleted {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(node) = world.find(key) else { return };
        let count = world.list_all(NODE).len();
        let seconds = LIFETIMES.iter().find(|(most, _)| count <= *most).map_or("300", |(_, seconds)| seconds);
        if node.annotation(LIFETIME) != Some(seconds) {
            let mut new = node.clone();
            new.set_annotation(LIFETIME, seconds);
            out.update(NODE, new);
        }
    }
}

/// Deletes pods of nodes that are gone.
pub(crate) struct PodCollector;

impl Controller for PodCollector {
    fn component(&self) -> &'static str {
        "pod-garbage-collector"
    }

    fn writer(&self) -> Writer {
        super::manager!("pod-garbage-collector")
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let on = |pod: &Object, node: &str| pod.value().str_at(&["spec", "nodeName"]) == Some(node);
        if NODE.is(&event.place) && event.kind == EventKind::Deleted {
            let pods = world.list_all(POD);
            let lost = pods.iter().filter(|pod| on(pod, event.object.name()));
            wake.extend(lost.map(|pod| Key::of(&POD.place(), pod)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(pod) = world.find(key) else { return };
        let node = pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default();
        if !node.is_empty() && world.get(NODE, "", node).is_none() {
            out.delete_how(POD, &pod, Deletion { grace: Some(0), propagation: None });
        }
    }
}
