//! How pods end that do not end by themselves: deleted ones, and those whose time is over.

use jiff::Timestamp;
use lynceus_object::Object;

use super::scene::{Scene, from_kubelet};
use super::{program, status};
use crate::controllers::kind::POD;
use crate::controllers::steps::{Announcement, Deletion, Steps};
use crate::controllers::time::{self, after};
use crate::controllers::world::World;
use crate::controllers::{condition, pods};

/// How many seconds containers take to stop, if they are given that long.
const STOP_SECONDS: i64 = 1;

/// Stops a pod's containers and, when they have stopped, lets the pod go.
pub(super) fn stop(pod: &Object, node: &Object, world: &World<'_>, out: &mut Steps) {
    let grace = pod.value().int_at(&["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0);
    let deadline = time::read(pod.at(&["metadata", "deletionTimestamp"])).unwrap_or(world.now);
    let asked = after(deadline, -grace);
    let stopped = after(asked, grace.min(STOP_SECONDS.saturating_add(pre_stop_seconds(pod))));
    let running = !pods::is_finished(pod) && pods::phase(pod) == "Running";
    if world.now < stopped && running {
        for container in pod.value().items_at(&["spec", "containers"]) {
            let name = container.str_at(&["name"]).unwrap_or_default();
            let told = Announcement::normal(pod, "Killing", format!("Stopping container {name}"));
            out.announce(from_kubelet(told, node, &format!("spec.containers{{{name}}}")));
        }
        out.again_at(stopped);
        return;
    }
    if pod.finalizers().next().is_some() {
        finish(pod, world, out);
    }
    out.delete_how(POD, pod, Deletion { grace: Some(0), propagation: None });
}

/// How many seconds pass before the last container is even asked to stop.
fn pre_stop_seconds(pod: &Object) -> i64 {
    let containers = pod.value().items_at(&["spec", "containers"]).iter();
    containers.map(|container| program::pre_stop(container).as_secs()).max().unwrap_or(0)
}

/// A stopped pod that something else still holds on to has to be seen as stopped.
fn finish(pod: &Object, world: &World<'_>, out: &mut Steps) {
    if pods::is_finished(pod) {
        return;
    }
    let mut new = pod.clone();
    new.set(&["status", "phase"], "Failed");
    for type_ in ["Ready", "ContainersReady"] {
        let mut condition = condition::new(type_, "False", "PodFailed", "", world.now);
        condition.set(&["lastProbeTime"], lynceus_object::Value::Null);
        condition::replace(&mut new, condition);
    }
    out.status(POD, new);
}

/// The status of a pod that has been active for longer than it may, if it has.
pub(super) fn overdue(scene: &mut Scene<'_>, begun: Timestamp) -> Option<Object> {
    const REASON: &str = "DeadlineExceeded";
    const MESSAGE: &str = "Pod was active on the node longer than the specified deadline";
    let seconds = scene.pod.value().int_at(&["spec", "activeDeadlineSeconds"])?;
    let due = after(begun, seconds);
    if due > scene.now() {
        scene.wake(due);
        return None;
    }
    let told = Announcement::normal(scene.pod, REASON, MESSAGE);
    scene.news.push(from_kubelet(told, scene.node, ""));
    Some(status::exceeded(scene, REASON, MESSAGE))
}
