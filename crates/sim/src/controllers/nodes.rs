//! The machines: those that are there from the start, and how they are kept.

use std::collections::HashMap;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};

use super::key::Key;
use super::kind::{CSI_DRIVER, CSI_NODE, FAULT, NODE, STORAGE_CLASS, is_among};
use super::steps::{Announcement, Steps};
use super::time::{after, stamp};
use super::world::World;
use super::{Controller, Writer, condition, faults};
use crate::snapshot;
use crate::stage::{Pool, Storage, Taint};
use crate::store::{Event, EventKind, Place};

/// How often nodes say that they are well, in seconds.
const HEARTBEAT: i64 = 300;
/// What each node has, unless its pool has something else.
const CAPACITY: [(&str, &str); 5] = [
    ("cpu", "64"),
    ("memory", "256Gi"),
    ("ephemeral-storage", "1Ti"),
    ("hugepages-2Mi", "0"),
    ("pods", "2000"),
];
/// The version that nodes say they run.
const VERSION: &str = "v1.36.3";

/// For how long a node says that its disk is full after there is room again, in seconds.
const PRESSURE_TRANSITION: i64 = 300;

/// Makes nodes, and keeps them well.
#[derive(Default)]
pub(crate) struct Nodes {
    /// The nodes whose disk was full not long ago, and since when there is room again.
    full: HashMap<Str, Option<Timestamp>>,
}

impl Controller for Nodes {
    fn component(&self) -> &'static str {
        "kubelet"
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:node:sim", manager: "kubelet" }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[NODE, CSI_DRIVER, FAULT], place)
    }

    fn begin(&mut self, world: &World<'_>, out: &mut Steps) {
        let stage = world.local.stage();
        let there = world.list_all(NODE);
        match &stage.pools {
            Some(pools) => follow(pools, &there, world, out),
            None if there.is_empty() => follow(&[Pool::usual()], &there, world, out),
            None => {}
        }
        let classes = world.list_all(STORAGE_CLASS);
        // A stage that lists classes lists all that there are.
        let usual = [Storage::usual()];
        let listed =
            if classes.is_empty() && stage.storage.is_empty() { &usual[..] } else { &stage.storage[..] };
        for storage in listed {
            if !classes.iter().any(|class| class.name() == storage.class) {
                out.create(STORAGE_CLASS, class_of(storage));
            }
        }
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        if NODE.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        } else if CSI_DRIVER.is(&event.place) {
            wake.extend(world.list_all(NODE).iter().map(|node| Key::of(&NODE.place(), node)));
        }
        wake.extend(faults::nodes_of(event, world).iter().map(|node| Key::of(&NODE.place(), node)));
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(node) = world.find(key) else {
            self.full.remove(&key.name);
            return;
        };
        let name = node.name();
        if !is_ours(&node) || world.local.is_down(name) {
            return;
        }
        report_drivers(&node, world, out);
        let pressure = self.has_pressure(name, world, out);
        let changed = pressure != condition::is_true(&node, PRESSURE);
        let ready = condition::get(&node, "Ready");
        // What the control plane concluded from a silence is put right at once.
        let given_up = ready.and_then(|ready| ready.str_at(&["status"])) == Some("Unknown");
        let last = ready.and_then(|ready| super::time::read(ready.get("lastHeartbeatTime")));
        let due = last.filter(|_| !given_up && !changed).map_or(world.now, |last| after(last, HEARTBEAT));
        if due > world.now {
            out.again_at(due);
            return;
        }
        let mut new = node.clone();
        for condition in conditions(pressure, world) {
            condition::replace(&mut new, condition);
        }
        out.status(NODE, new);
        let mut tell = |told: Announcement| out.announce(Announcement { host: name.into(), ..told });
        if given_up {
            tell(Announcement::normal(&node, "NodeReady", format!("Node {name} status is now: NodeReady")));
        }
        if changed {
            let reason = if pressure { "NodeHasDiskPressure" } else { "NodeHasNoDiskPressure" };
            tell(Announcement::normal(&node, reason, format!("Node {name} status is now: {reason}")));
        }
        if changed && pressure {
            let message = "Attempting to reclaim ephemeral-storage";
            tell(Announcement::warning(&node, "EvictionThresholdMet", message));
        }
        out.again_after(world.now, HEARTBEAT);
    }
}

impl Nodes {
    /// Whether a node says that its disk is full: it is, or was not long ago.
    fn has_pressure(&mut self, node: &str, world: &World<'_>, out: &mut Steps) -> bool {
        if world.local.is_full(node) {
            self.full.insert(node.into(), None);
            return true;
        }
        let Some(room) = self.full.get_mut(node) else { return false };
        let over = after(*room.get_or_insert(world.now), PRESSURE_TRANSITION);
        if over > world.now {
            out.again_at(over);
        } else {
            self.full.remove(node);
        }
        over > world.now
    }
}

/// The condition of a node whose disk is full.
const PRESSURE: &str = "DiskPressure";

/// Whether a node says that its disk is full.
pub(crate) fn has_pressure(node: &Object) -> bool {
    condition::is_true(node, PRESSURE)
}

/// Makes the nodes that are missing, and takes away our own that are in no pool.
fn follow(pools: &[Pool], there: &[Object], world: &World<'_>, out: &mut Steps) {
    let named = pools.iter().flat_map(|pool| (0..pool.count).map(move |at| (pool, at)));
    let named: Vec<(Str, &Pool, usize)> =
        named.map(|(pool, at)| (ecow::eco_format!("{}-{at}", pool.name), pool, at)).collect();
    for gone in there.iter().filter(|node| is_ours(node)) {
        if !named.iter().any(|(name, _, _)| name == gone.name()) {
            out.delete(NODE, gone);
        }
    }
    for (number, (name, pool, at)) in named.iter().enumerate() {
        if !there.iter().any(|node| node.name() == name) {
            out.create(NODE, node(name, pool, *at, number, world));
        }
    }
}

/// How many volumes of a driver a node can have, if its pool says so.
fn volume_limit(node: &str, world: &World<'_>) -> Option<i64> {
    let of = |pool: &&Pool| {
        let number = node.strip_prefix(pool.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    world.local.stage().pools.iter().flatten().find(of)?.volume_limit
}

/// How many volumes of the stage's classes a node can have, by who makes them. They are there without a driver that
/// could say so.
pub(crate) fn limits_of_classes(node: &str, world: &World<'_>) -> Vec<(Str, usize)> {
    let Some(limit) = volume_limit(node, world) else { return Vec::new() };
    let limit = usize::try_from(limit).unwrap_or(0);
    let usual = [Storage::usual()];
    let listed = &world.local.stage().storage;
    let classes = if listed.is_empty() { &usual[..] } else { &listed[..] };
    classes.iter().map(|class| (Str::from(class.provisioner()), limit)).collect()
}

/// Says how many volumes of each storage driver a node can have, if its pool does.
fn report_drivers(node: &Object, world: &World<'_>, out: &mut Steps) {
    let Some(limit) = volume_limit(node.name(), world) else { return };
    let drivers: Vec<Value> = world
        .list_all(CSI_DRIVER)
        .iter()
        .map(|driver| value!({"name": driver.name(), "nodeID": node.name(), "topologyKeys": null, "allocatable": {"count": limit}}))
        .collect();
    let stored = world.get(CSI_NODE, "", node.name());
    let mut new = stored.clone().unwrap_or_else(|| CSI_NODE.named("", node.name()));
    let names = |drivers: &[Value]| -> Vec<Option<Str>> {
        drivers.iter().map(|driver| driver.str_at(&["name"]).map(Str::from)).collect()
    };
    let same = names(new.value().items_at(&["spec", "drivers"])) == names(&drivers);
    new.set(&["spec", "drivers"], drivers);
    match stored {
        None => out.create(CSI_NODE, new),
        Some(_) if !same => out.update(CSI_NODE, new),
        Some(_) => {}
    }
}

/// Nodes that somebody else made are somebody else's to keep well.
fn is_ours(node: &Object) -> bool {
    node.value().str_at(&["status", "nodeInfo", "containerRuntimeVersion"]) == Some(RUNTIME)
        || node.annotation(snapshot::NODE).is_some()
}

const RUNTIME: &str = "lynceus-sim://1";

fn node(name: &str, pool: &Pool, at: usize, number: usize, world: &World<'_>) -> Object {
    let mut node = NODE.named("", name);
    for (key, text) in [
        ("kubernetes.io/hostname", name),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", &pool.architecture),
        ("topology.kubernetes.io/region", "sim"),
        ("topology.kubernetes.io/zone", &pool.zones[at % pool.zones.len()]),
        ("node.kubernetes.io/instance-type", "sim"),
    ]
    .into_iter()
    .chain(pool.labels.iter().map(|(key, text)| (key.as_str(), text.as_str())))
    {
        node.set_label(key, text);
    }
    if !pool.taints.is_empty() {
        node.set(&["spec", "taints"], pool.taints.iter().map(taint).collect::<Vec<Value>>());
    }
    let (block, at_block) = (244 + number / 256, number % 256);
    let range = format!("10.{block}.{at_block}.0/24");
    node.set(&["spec", "podCIDR"], range.as_str());
    node.set(&["spec", "podCIDRs"], vec![range]);
    node.set(&["spec", "providerID"], format!("sim://{name}"));
    let own = pool.capacity.iter().map(|(resource, amount)| (resource.as_str(), amount.as_str()));
    for (resource, amount) in CAPACITY.into_iter().chain(own) {
        node.set(&["status", "capacity", resource], amount);
        node.set(&["status", "allocatable", resource], amount);
    }
    node.set(
        &["status", "addresses"],
        value!([
            {"type": "InternalIP", "address": format!("172.18.{}.{}", (number + 2) / 256, (number + 2) % 256)},
            {"type": "Hostname", "address": name},
        ]),
    );
    node.set(&["status", "conditions"], conditions(false, world));
    node.set(&["status", "daemonEndpoints", "kubeletEndpoint", "Port"], 10250);
    node.set(&["status", "nodeInfo"], info(number, &pool.architecture));
    node
}

fn taint(taint: &Taint) -> Value {
    let mut out = value!({"key": taint.key, "effect": taint.effect});
    if !taint.value.is_empty() {
        out.set(&["value"], taint.value.clone());
    }
    out
}

fn info(number: usize, architecture: &str) -> Value {
    let id = format!("{:032x}", 0x51a0_0000_0000_u64 + number as u64);
    value!({
        "machineID": id, "systemUUID": id, "bootID": id, "architecture": architecture, "operatingSystem": "linux",
        "kernelVersion": "6.12.0", "osImage": "Lynceus Sim", "containerRuntimeVersion": RUNTIME,
        "kubeletVersion": VERSION, "kubeProxyVersion": "",
    })
}

fn conditions(pressure: bool, world: &World<'_>) -> Vec<Value> {
    let disk = match pressure {
        true => (PRESSURE, "True", "KubeletHasDiskPressure", "kubelet has disk pressure"),
        false => (PRESSURE, "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    };
    [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        disk,
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

/// A class of the stage.
fn class_of(storage: &Storage) -> Object {
    let mut class = STORAGE_CLASS.named("", &storage.class);
    class.set(&["provisioner"], storage.provisioner());
    class.set(&["reclaimPolicy"], "Delete");
    class.set(&["volumeBindingMode"], if storage.waits { "WaitForFirstConsumer" } else { "Immediate" });
    if storage.default {
        class.set_annotation("storageclass.kubernetes.io/is-default-class", "true");
        class.set(&["allowVolumeExpansion"], true);
    }
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

    fn hears(&self, place: &Place) -> bool {
        is_among(&[NODE], place)
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
