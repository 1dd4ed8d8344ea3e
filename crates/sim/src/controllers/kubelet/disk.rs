//! What a kubelet does while its node's disk is full: it sends its pods away, one after the other, and takes no others.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_object::{Object, Quantity};

use super::scene::{Scene, from_kubelet};
use super::status;
use crate::controllers::key::Key;
use crate::controllers::kind::POD;
use crate::controllers::scheduler::objection::Objection;
use crate::controllers::steps::Announcement;
use crate::controllers::time::after;
use crate::controllers::world::World;
use crate::controllers::{condition, nodes, pods};

/// The reason of every pod that is sent away or not taken.
const REASON: &str = "Evicted";
/// From this priority on a pod is never sent away.
const CRITICAL: i64 = 2_000_000_000;
/// The part of a disk that has to be free, as kubelets are set up.
const FREE: f64 = 0.1;

/// When pods have to go.
#[derive(Default)]
pub(super) struct Evictions(BTreeMap<Key, Timestamp>);

impl Evictions {
    /// Puts the pods of a node whose disk is full into an order: the least important first, one each second.
    pub(super) fn note(&mut self, pods: &[&Object], now: Timestamp) {
        let mut active: Vec<&Object> =
            pods.iter().copied().filter(|pod| !pods::is_finished(pod) && !is_critical(pod)).collect();
        active.sort_by_key(|pod| (priority(pod), pod.namespace().to_owned(), pod.name().to_owned()));
        for (pod, turn) in active.into_iter().zip(0..) {
            self.0.entry(Key::of(&POD.place(), pod)).or_insert(after(now, turn));
        }
    }

    /// When a pod has to go, if it has to.
    pub(super) fn due(&mut self, key: &Key, pod: &Object, world: &World<'_>) -> Option<Timestamp> {
        let node = pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default();
        if !world.local.is_full(node) {
            self.0.remove(key);
        }
        self.0.get(key).copied()
    }

    /// Forgets a pod that is gone.
    pub(super) fn forget(&mut self, key: &Key) {
        self.0.remove(key);
    }
}

/// What a node whose disk is full has against a new pod.
pub(super) fn objection(pod: &Object, node: &Object) -> Option<Objection> {
    let message = "The node had condition: [DiskPressure]. ";
    (nodes::has_pressure(node) && !is_critical(pod))
        .then(|| Objection { reason: REASON, message: message.to_owned() })
}

/// The status of a pod that has to go, if its turn has come.
pub(super) fn evicted(scene: &mut Scene<'_>, due: Option<Timestamp>) -> Option<Object> {
    let due = due?;
    if due > scene.now() {
        scene.wake(due);
        return None;
    }
    let capacity = scene.node.value().str_at(&["status", "capacity", "ephemeral-storage"]).unwrap_or("0");
    let capacity = Quantity::parse(capacity).map_or(0, |amount| amount.value());
    let threshold = binary((capacity as f64 * FREE) as i64);
    let message = format!(
        "The node was low on resource: ephemeral-storage. Threshold quantity: {threshold}, available: 0. "
    );
    let told = Announcement::warning(scene.pod, REASON, message.as_str());
    scene.news.push(from_kubelet(told, scene.node, ""));
    let mut evicted = status::exceeded(scene, REASON, &message);
    let disrupted = condition::disruption(&evicted, "TerminationByKubelet", &message, scene.now());
    condition::replace(&mut evicted, disrupted);
    Some(evicted)
}

fn priority(pod: &Object) -> i64 {
    pod.value().int_at(&["spec", "priority"]).unwrap_or(0)
}

fn is_critical(pod: &Object) -> bool {
    priority(pod) >= CRITICAL
}

/// A number of bytes as quantities are written.
fn binary(bytes: i64) -> String {
    let (mut rest, mut unit) = (bytes, 0);
    while rest != 0 && rest % 1024 == 0 && unit < 6 {
        (rest, unit) = (rest / 1024, unit + 1);
    }
    format!("{rest}{}", ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_quantities_are() {
        for (bytes, wanted) in [(0, "0"), (1000, "1000"), (1 << 30, "1Gi"), (109_951_162_777, "109951162777")]
        {
            assert_eq!(binary(bytes), wanted);
        }
    }
}
