//! What the control plane concludes from what nodes say of themselves, and from their silence.

use std::collections::HashMap;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};

use super::key::Key;
use super::kind::{FAULT, NODE, POD, is_among};
use super::pods::created;
use super::steps::{Announcement, Steps};
use super::time::{after, stamp};
use super::world::World;
use super::{Controller, Writer, condition, faults};
use crate::store::{Event, Place};

/// How long a new node may stay silent, in seconds.
const STARTUP_GRACE: i64 = 60;
/// How long any other node may stay silent, in seconds.
const GRACE: i64 = 50;
/// From how many nodes of a zone on, and from what part of them, their silence says more about the way to them than about
/// them.
const MANY: usize = 3;
const PART: f64 = 0.55;
/// In zones with more nodes than this, pods are moved away all the same.
const LARGE: usize = 50;
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

/// What a node has that says something about itself, and whose state makes pods leave.
const EVICTING: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// Gives up on nodes that say nothing, and taints nodes by their conditions.
#[derive(Default)]
pub(crate) struct NodeLifecycle {
    /// Since when nodes are silent.
    silent: HashMap<Str, Timestamp>,
}

impl Controller for NodeLifecycle {
    fn component(&self) -> &'static str {
        "node-controller"
    }

    fn writer(&self) -> Writer {
        super::manager!("node-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[NODE, FAULT], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        wake.extend(faults::nodes_of(event, world).iter().map(|node| Key::of(&NODE.place(), node)));
        if !NODE.is(&event.place) {
            return;
        }
        wake.push(Key::of(&event.place, &event.object));
        // What becomes of the pods of a node depends on how many others are well.
        if event.previous.as_ref().is_some_and(|old| ready(old) != ready(&event.object)) {
            wake.extend(world.list_all(NODE).iter().map(|node| Key::of(&event.place, node)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(node) = world.find(key) else {
            self.silent.remove(&key.name);
            return;
        };
        if let Some(tainted) = tainted(&node, world) {
            out.update(NODE, tainted);
            return;
        }
        if condition::get(&node, "Ready").is_none() {
            let due = after(created(&node).unwrap_or(world.now), STARTUP_GRACE);
            if due > world.now {
                out.again_at(due);
            } else {
                out.status(NODE, given_up(&node, world));
            }
        } else if world.local.is_down(node.name()) {
            self.wait_for(&node, world, out);
        } else {
            self.silent.remove(&key.name);
        }
    }
}

impl NodeLifecycle {
    /// Gives a silent node some time, and then gives it up.
    fn wait_for(&mut self, node: &Object, world: &World<'_>, out: &mut Steps) {
        let due = after(*self.silent.entry(node.name().into()).or_insert(world.now), GRACE);
        if due > world.now {
            out.again_at(due);
        } else if ready(node) != Some("Unknown") {
            out.status(NODE, given_up(node, world));
            if ready(node) == Some("True") {
                let message = format!("Node {} status is now: NodeNotReady", node.name());
                out.announce(Announcement::normal(node, "NodeNotReady", message));
            }
        } else {
            unready_pods(node, world, out);
        }
    }
}

/// Nobody is to ask the pods of a node that cannot be reached.
fn unready_pods(node: &Object, world: &World<'_>, out: &mut Steps) {
    let pods = world.list_all(POD);
    let here = pods.iter().filter(|pod| pod.value().str_at(&["spec", "nodeName"]) == Some(node.name()));
    for pod in here.filter(|pod| condition::is_true(pod, "Ready")) {
        let mut unready = pod.clone();
        let mut condition = condition::get(pod, "Ready").cloned().unwrap_or_default();
        condition.set(&["status"], "False");
        condition.set(&["lastTransitionTime"], stamp(world.now));
        condition::replace(&mut unready, condition);
        out.status(POD, unready);
        out.announce(Announcement::warning(pod, "NodeNotReady", "Node is not ready"));
    }
}

/// What is known of a node's readiness.
fn ready(node: &Object) -> Option<&str> {
    condition::get(node, "Ready").and_then(|ready| ready.str_at(&["status"]))
}

/// The node with what its silence means.
fn given_up(node: &Object, world: &World<'_>) -> Object {
    let mut silent = node.clone();
    for type_ in UNKNOWN {
        let known = condition::get(node, type_);
        let (reason, message, heard) = match known {
            Some(known) => {
                ("NodeStatusUnknown", "Kubelet stopped posting node status.", known.get("lastHeartbeatTime"))
            }
            None => {
                let created = node.value().at(&["metadata", "creationTimestamp"]);
                ("NodeStatusNeverUpdated", "Kubelet never posted node status.", created)
            }
        };
        if known.and_then(|known| known.str_at(&["status"])) != Some("Unknown") {
            let mut unknown = condition::new(type_, "Unknown", reason, message, world.now);
            unknown.set(&["lastHeartbeatTime"], heard.cloned().unwrap_or_default());
            condition::replace(&mut silent, unknown);
        }
    }
    silent
}

/// The node with the taints that its conditions ask for, if it has others.
fn tainted(node: &Object, world: &World<'_>) -> Option<Object> {
    let taints = node.value().items_at(&["spec", "taints"]);
    let wanted = wanted(node, world);
    let is = |taint: &Value, key: &str| taint.str_at(&["key"]) == Some(key);
    let ours = |taint: &Value| match taint.str_at(&["effect"]) {
        Some("NoSchedule") => TAINTS.iter().any(|(_, _, key)| is(taint, key)) || is(taint, UNSCHEDULABLE),
        Some("NoExecute") => EVICTING.iter().any(|key| is(taint, key)),
        _ => false,
    };
    let says = |taint: &Value, (key, effect): &(&str, &str)| {
        is(taint, key) && taint.str_at(&["effect"]) == Some(effect)
    };
    let stays = |taint: &&Value| !ours(taint) || wanted.iter().any(|wanted| says(taint, wanted));
    let mut new: Vec<Value> = taints.iter().filter(stays).cloned().collect();
    let kept = new.len();
    let added = wanted.iter().filter(|wanted| !taints.iter().any(|taint| says(taint, wanted)));
    new.extend(
        added.map(|(key, effect)| value!({"key": *key, "effect": *effect, "timeAdded": stamp(world.now)})),
    );
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

/// The keys and effects of the taints that a node as it is should have.
fn wanted(node: &Object, world: &World<'_>) -> Vec<(&'static str, &'static str)> {
    let holds = |type_: &str, status: &str| {
        condition::get(node, type_).and_then(|found| found.str_at(&["status"])) == Some(status)
    };
    let mut wanted: Vec<(&'static str, &'static str)> = TAINTS
        .iter()
        .filter(|(type_, status, _)| holds(type_, status))
        .map(|(_, _, key)| (*key, "NoSchedule"))
        .collect();
    if node.value().bool_at(&["spec", "unschedulable"]) == Some(true) {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    let leaving = wanted.iter().find_map(|(key, _)| EVICTING.iter().find(|evicting| *evicting == key));
    if let Some(key) = leaving
        && is_to_blame(node, &world.list_all(NODE))
    {
        wanted.push((key, "NoExecute"));
    }
    wanted
}

/// Whether it is the node that failed. Where no node is well, or most of a zone's are not, it is more likely that they
/// cannot be heard, and their pods stay where they are.
fn is_to_blame(node: &Object, all: &[Object]) -> bool {
    let zone = |node: &Object| {
        let label = |name: &str| node.label(name).unwrap_or_default().to_owned();
        (label("topology.kubernetes.io/region"), label("topology.kubernetes.io/zone"))
    };
    let is_well = |node: &&Object| ready(node) == Some("True");
    if !all.iter().any(|node| is_well(&node)) {
        return false;
    }
    let near: Vec<&Object> = all.iter().filter(|other| zone(other) == zone(node)).collect();
    let well = near.iter().filter(|node| is_well(node)).count();
    let unwell = near.len() - well;
    let most = unwell >= MANY && unwell as f64 / near.len() as f64 >= PART;
    well == 0 || !most || near.len() > LARGE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes as text: a zone and a letter for each node, `+` for well and `-` for not.
    fn blamed(text: &str) -> bool {
        let node = |(at, word): (usize, &str)| {
            let mut node = NODE.named("", &format!("node-{at}"));
            let (zone, state) = word.split_at(1);
            node.set_label("topology.kubernetes.io/zone", zone);
            let status = if state == "+" { "True" } else { "Unknown" };
            node.set(&["status", "conditions"], value!([{"type": "Ready", "status": status}]));
            node
        };
        let all: Vec<Object> = text.split_whitespace().enumerate().map(node).collect();
        is_to_blame(&all[0], &all)
    }

    #[test]
    fn pods_leave_a_node_unless_its_neighbours_are_silent_too() {
        for (nodes, wanted) in [
            ("a- b+ c+", true),
            ("a- a+ a+", true),
            ("a- a- a+", true),
            ("a- a- a- a+", false),
            ("a- a- a- b+", true),
            ("a- b- c-", false),
            ("a- a- a- a+ a+ a+", true),
        ] {
            assert_eq!(blamed(nodes), wanted, "{nodes}");
        }
    }
}
