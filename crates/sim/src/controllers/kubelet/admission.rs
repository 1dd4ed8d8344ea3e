//! What a kubelet does with a pod that comes to its node and that it cannot take.

use lynceus_object::Object;

use super::disk;
use super::scene::from_kubelet;
use crate::controllers::kind::POD;
use crate::controllers::scheduler::objection::{Objection, objection};
use crate::controllers::steps::{Announcement, Steps};
use crate::controllers::time::stamp;
use crate::controllers::world::World;
use crate::controllers::{condition, pods};

/// Refuses a new pod that its node cannot take. Says whether it did.
pub(super) fn refuse(pod: &Object, node: &Object, world: &World<'_>, out: &mut Steps) -> bool {
    if is_admitted(pod) {
        return false;
    }
    let Some(Objection { reason, message }) = disk::objection(pod, node).or_else(|| unfit(pod, node, world))
    else {
        return false;
    };
    let mut refused = pod.clone();
    for (field, text) in [("phase", "Failed"), ("reason", reason)] {
        refused.set(&["status", field], text);
    }
    refused.set(&["status", "message"], format!("Pod was rejected: {message}"));
    refused.set(&["status", "startTime"], stamp(world.now));
    refused.set(&["status", "qosClass"], crate::kinds::quality::class(pod.value()));
    out.status(POD, refused);
    out.announce(from_kubelet(Announcement::warning(pod, reason, message), node, ""));
    true
}

fn is_admitted(pod: &Object) -> bool {
    pod.value().str_at(&["status", "startTime"]).is_some()
}

/// What a node has against a pod that named it. One that the scheduler put there was measured already.
fn unfit(pod: &Object, node: &Object, world: &World<'_>) -> Option<Objection> {
    if condition::is_true(pod, "PodScheduled") {
        return None;
    }
    let all = world.list_all(POD);
    let here = |other: &&Object| {
        super::node_of(other) == node.name() && other.uid() != pod.uid() && !pods::is_finished(other)
    };
    objection(pod, node, all.iter().filter(here).filter(|other| is_admitted(other)))
}
