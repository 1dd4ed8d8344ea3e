//! What the control plane concludes from what nodes say of themselves, and from their silence.

use lynceus_object::{Object, Value, value};

use super::key::Key;
use super::kind::NODE;
use super::pods::created;
use super::steps::Steps;
use super::time::{after, stamp};
use super::world::World;
use super::{Controller, Writer, condition};
use crate::store::Event;

/// How long a new node may stay silent, in seconds.
const STARTUP_GRACE: i64 = 60;
/// What is unknown of a node that never said anything.
const UNKNOWN: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
/// The taint of a node that takes no new pods.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// Which condition, in which state, keeps pods away by which taint.
const TAINTS: [(&str, &str, &str); 6] = [
    ("Ready", "False", "node.kubernetes.io/not-ready"),
    ("Ready", "Unknown", "node.kubernetes.io/unreachable"),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];

/// Gives up on nodes that never said a word, and taints nodes by their conditions.
pub(crate) struct NodeLifecycle;

impl Controller for NodeLifecycle {
    fn component(&self) -> &'static str {
        "node-controller"
    }

    fn writer(&self) -> Writer {
        super::manager!("node-controller")
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if NODE.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(node) = world.find(key) else { return };
        if let Some(tainted) = tainted(&node, world) {
            out.update(NODE, tainted);
            return;
        }
        if condition::get(&node, "Ready").is_some() {
            return;
        }
        let due = after(created(&node).unwrap_or(world.now), STARTUP_GRACE);
        if due > world.now {
            out.again_at(due);
            return;
        }
        out.status(NODE, given_up(&node, world));
    }
}

/// The node with what its silence means.
fn given_up(node: &Object, world: &World<'_>) -> Object {
    let mut silent = node.clone();
    for type_ in UNKNOWN {
        let mut unknown = condition::new(
            type_,
            "Unknown",
            "NodeStatusNeverUpdated",
            "Kubelet never posted node status.",
            world.now,
        );
        let created = node.value().at(&["metadata", "creationTimestamp"]).cloned();
        unknown.set(&["lastHeartbeatTime"], created.unwrap_or_default());
        if condition::get(node, type_).is_none() {
            condition::replace(&mut silent, unknown);
        }
    }
    silent
}

/// The node with the taints that its conditions ask for, if it has others.
fn tainted(node: &Object, world: &World<'_>) -> Option<Object> {
    let taints = node.value().items_at(&["spec", "taints"]);
    let wanted = wanted(node);
    let is = |taint: &Value, key: &str| taint.str_at(&["key"]) == Some(key);
    let ours = |taint: &Value| {
        let known = TAINTS.iter().any(|(_, _, key)| is(taint, key)) || is(taint, UNSCHEDULABLE);
        known && taint.str_at(&["effect"]) == Some("NoSchedule")
    };
    let has = |key: &str| taints.iter().any(|taint| ours(taint) && is(taint, key));
    let stays = |taint: &&Value| !ours(taint) || wanted.iter().any(|key| is(taint, key));
    let mut new: Vec<Value> = taints.iter().filter(stays).cloned().collect();
    let kept = new.len();
    let added = wanted.iter().filter(|key| !has(key));
    new.extend(added.map(|key| value!({"key": *key, "effect": "NoSchedule", "timeAdded": stamp(world.now)})));
    if kept == taints.len() && new.len() == kept {
        return None;
    }
    let mut tainted = node.clone();
    if new.is_empty() {
        tainted.remove(&["spec", "taints"]);
    } else {
        tainted.set(&["spec", "taints"], new);
    }
    Some(tainted)
}

/// The keys of the taints that keep pods away from a node as it is.
fn wanted(node: &Object) -> Vec<&'static str> {
    let holds = |type_: &str, status: &str| {
        condition::get(node, type_).and_then(|found| found.str_at(&["status"])) == Some(status)
    };
    let mut wanted: Vec<&'static str> =
        TAINTS.iter().filter(|(type_, status, _)| holds(type_, status)).map(|(_, _, key)| *key).collect();
    if node.value().bool_at(&["spec", "unschedulable"]) == Some(true) {
        wanted.push(UNSCHEDULABLE);
    }
    wanted
}
