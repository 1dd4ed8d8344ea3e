//! Pods that nobody looks after: those of nodes that are not there, and those that were deleted before they had one.

use std::collections::HashMap;

use jiff::Timestamp;
use lynceus_object::Object;

use super::key::Key;
use super::kind::{NODE, POD, is_among};
use super::steps::{Deletion, Steps};
use super::time::after;
use super::world::World;
use super::{Controller, Writer, condition, pods};
use crate::store::{Event, EventKind, Place};

/// How long a node that was never seen may take to come, in seconds.
const QUARANTINE: i64 = 40;

/// How often the original looks, in seconds: whoever holds a pod that was deleted before it had a node has this long to let it go.
const ROUND: i64 = 20;

/// Deletes pods that no kubelet will ever let go.
#[derive(Default)]
pub(crate) struct PodCollector {
    /// Since when nobody has had a pod.
    lost: HashMap<Key, Timestamp>,
}

impl Controller for PodCollector {
    fn component(&self) -> &'static str {
        "pod-garbage-collector"
    }

    fn writer(&self) -> Writer {
        super::manager!("pod-garbage-collector")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[NODE, POD], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let is_gone = event.kind == EventKind::Deleted;
        if NODE.is(&event.place) && is_gone {
            let pods = world.list_all(POD);
            for pod in pods.iter().filter(|pod| node_of(pod) == event.object.name()) {
                let key = Key::of(&POD.place(), pod);
                // The node was there, and does not have to be waited for.
                self.lost.insert(key.clone(), after(world.now, -QUARANTINE));
                wake.push(key);
            }
        } else if POD.is(&event.place) {
            let key = Key::of(&event.place, &event.object);
            if is_gone {
                self.lost.remove(&key);
            } else if is_left_alone(&event.object, world) {
                wake.push(key);
            }
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(pod) = world.find(key).filter(|pod| is_left_alone(pod, world)) else {
            self.lost.remove(key);
            return;
        };
        let patience = if node_of(&pod).is_empty() { ROUND } else { QUARANTINE };
        let due = after(*self.lost.entry(key.clone()).or_insert(world.now), patience);
        if due > world.now {
            out.again_at(due);
            return;
        }
        let mut new = pod.clone();
        if !node_of(&pod).is_empty() {
            let message = "PodGC: node no longer exists";
            let why = condition::disruption(&pod, "DeletionByPodGC", message, world.now);
            condition::replace(&mut new, why);
        }
        // Who counts pods has to see how this one ended.
        if !pods::is_finished(&pod) {
            new.set(&["status", "phase"], "Failed");
            out.status_if_changed(POD, &pod, new);
        }
        out.delete_how(POD, &pod, Deletion { grace: Some(0), propagation: None });
    }
}

fn node_of(pod: &Object) -> &str {
    pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default()
}

/// Whether no kubelet has a pod: it names a node that is not there, or was deleted before it had one.
fn is_left_alone(pod: &Object, world: &World<'_>) -> bool {
    match node_of(pod) {
        "" => pod.is_deleting(),
        node => world.get(NODE, "", node).is_none(),
    }
}
