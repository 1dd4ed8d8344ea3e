//! Pods leave a node that has a NoExecute taint, at once or after as long as they tolerate it.

use std::collections::HashMap;

use jiff::Timestamp;
use lynceus_object::{Object, Value};

use super::key::Key;
use super::kind::{NODE, POD, is_among};
use super::scheduler::taints::tolerates;
use super::steps::{Announcement, Steps};
use super::time::after;
use super::world::World;
use super::{Controller, Writer, condition, pods};
use crate::store::{Event, EventKind, Place};

/// Deletes pods from nodes that they do not tolerate.
#[derive(Default)]
pub(crate) struct TaintEviction {
    /// Since when pods stand on a tainted node.
    since: HashMap<Key, Timestamp>,
}

impl Controller for TaintEviction {
    fn component(&self) -> &'static str {
        "taint-eviction-controller"
    }

    fn writer(&self) -> Writer {
        super::manager!("node-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[NODE, POD], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let key = Key::of(&event.place, &event.object);
        if NODE.is(&event.place) {
            let before = event.previous.as_ref().map(taints).unwrap_or_default();
            if event.kind != EventKind::Deleted && before != taints(&event.object) {
                let pods = world.list_all(POD);
                let here = pods.iter().filter(|pod| node_of(pod) == event.object.name());
                wake.extend(here.map(|pod| Key::of(&POD.place(), pod)));
            }
        } else if POD.is(&event.place) && event.kind == EventKind::Deleted {
            self.since.remove(&key);
        } else if POD.is(&event.place) && is_news(event) {
            let node = world.get(NODE, "", node_of(&event.object));
            if node.is_some_and(|node| !taints(&node).is_empty()) {
                wake.push(key);
            }
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(pod) = world.find(key).filter(|pod| !pod.is_deleting()) else {
            self.since.remove(key);
            return;
        };
        let node = world.get(NODE, "", node_of(&pod)).unwrap_or_default();
        let patience = patience(&pod, &taints(&node));
        let about = format!("Pod {}/{}", pod.namespace(), pod.name());
        let Some(seconds) = patience else {
            if self.since.remove(key).is_some() {
                let message = format!("Cancelling deletion of {about}");
                out.announce(Announcement::normal(&pod, "TaintManagerEviction", message));
            }
            return;
        };
        let due = after(*self.since.entry(key.clone()).or_insert(world.now), seconds);
        if due > world.now {
            out.again_at(due);
            return;
        }
        let message = format!("Marking for deletion {about}");
        out.announce(Announcement::normal(&pod, "TaintManagerEviction", message));
        if !pods::is_finished(&pod) {
            out.status(POD, doomed(&pod, world));
        }
        out.delete(POD, &pod);
    }
}

fn node_of(pod: &Object) -> &str {
    pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default()
}

/// Whether a pod has come to a node, or has come to tolerate something else.
fn is_news(event: &Event) -> bool {
    let pod = &event.object;
    let is_other = |old: &Object| {
        node_of(old) != node_of(pod) || old.at(&["spec", "tolerations"]) != pod.at(&["spec", "tolerations"])
    };
    !node_of(pod).is_empty() && event.previous.as_ref().is_none_or(is_other)
}

/// What makes pods leave a node.
fn taints(node: &Object) -> Vec<Value> {
    let all = node.value().items_at(&["spec", "taints"]);
    all.iter().filter(|taint| taint.str_at(&["effect"]) == Some("NoExecute")).cloned().collect()
}

/// How many seconds a pod bears what a node has; for ever if none.
fn patience(pod: &Object, taints: &[Value]) -> Option<i64> {
    let tolerations = pod.value().items_at(&["spec", "tolerations"]);
    let mut least = None;
    for taint in taints {
        let Some(first) = tolerations.iter().find(|toleration| tolerates(toleration, taint)) else {
            return Some(0);
        };
        let seconds = first.int_at(&["tolerationSeconds"]).map(|seconds| seconds.max(0));
        least = [least, seconds].into_iter().flatten().min();
    }
    least
}

/// The pod with why it has to go.
fn doomed(pod: &Object, world: &World<'_>) -> Object {
    let mut doomed = pod.clone();
    let message = "Taint manager: deleting due to NoExecute taint";
    let why = condition::disruption(pod, "DeletionByTaintManager", message, world.now);
    condition::replace(&mut doomed, why);
    doomed
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn a_pod_stays_as_long_as_it_tolerates() {
        let unreachable = value!({"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"});
        let maintenance = value!({"key": "maintenance", "value": "disk", "effect": "NoExecute"});
        let five =
            value!({"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300});
        let ever = value!({"operator": "Exists"});
        let disk =
            value!({"key": "maintenance", "value": "disk", "effect": "NoExecute", "tolerationSeconds": 20});
        for (tolerations, taints, wanted) in [
            (vec![], vec![&unreachable], Some(0)),
            (vec![&five], vec![&unreachable], Some(300)),
            (vec![&five], vec![&unreachable, &maintenance], Some(0)),
            (vec![&five, &disk], vec![&unreachable, &maintenance], Some(20)),
            (vec![&ever], vec![&unreachable, &maintenance], None),
            (vec![&five], vec![], None),
        ] {
            let mut pod = POD.named("shop", "web");
            pod.set(&["spec", "tolerations"], tolerations.into_iter().cloned().collect::<Vec<Value>>());
            let taints: Vec<Value> = taints.into_iter().cloned().collect();
            assert_eq!(patience(&pod, &taints), wanted, "{pod:?} {taints:?}");
        }
    }
}
