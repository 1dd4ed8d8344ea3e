//! What a node has against a pod that somebody put there without asking the scheduler: the kubelet asks the scheduler's own
//! questions once more, all but those that it could not answer alone.

use lynceus_object::Object;

use super::load::{Load, Wish};
use super::resources::{self, Shortage};
use super::selection::Selection;
use super::{ports, taints};

/// From this priority on a kubelet makes room for a pod.
const CRITICAL: i64 = 2_000_000_000;

/// Why a pod may not run on its node.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    /// In a word.
    pub(crate) reason: &'static str,
    /// In a sentence.
    pub(crate) message: String,
}

/// What a node with some other pods on it has against a pod.
pub(crate) fn objection<'a>(
    pod: &Object,
    node: &Object,
    others: impl Iterator<Item = &'a Object>,
) -> Option<Objection> {
    let mut load = Load::default();
    load.note_node(node);
    for other in others {
        load.note(other);
    }
    let (machine, node) = load.machine(node.name())?;
    let mut wish = Wish::of(pod);
    // What a node has never heard of is somebody else's to give.
    wish.amount.others.retain(|name, _| machine.allocatable.others.contains_key(name));
    let shortage = (wish.priority < CRITICAL)
        .then(|| resources::shortages(&wish.amount, machine).into_iter().next())
        .flatten();
    let failed = |reason: &'static str, why: &str| Objection {
        reason,
        message: format!("Predicate {reason} failed: {why}"),
    };
    shortage
        .map(|shortage| too_little(&shortage))
        .or_else(|| {
            Selection::of(pod).obstacle(node).map(|obstacle| failed("NodeAffinity", &obstacle.reasons[0]))
        })
        .or_else(|| {
            ports::obstacle(&wish.ports, machine).map(|obstacle| failed("NodePorts", &obstacle.reasons[0]))
        })
        .or_else(|| {
            (!taints::may_stay(pod, node))
                .then(|| failed("TaintToleration", "node(s) had taints that the pod didn't tolerate"))
        })
}

fn too_little(shortage: &Shortage) -> Objection {
    let Shortage { resource, wanted, used, capacity } = shortage;
    let reason = match resource.as_str() {
        "cpu" => "OutOfcpu",
        "memory" => "OutOfmemory",
        "ephemeral-storage" => "OutOfephemeral-storage",
        "pods" => "OutOfpods",
        // Devices are counted by those who hand them out, and in their words.
        _ => {
            let free = capacity - used;
            let message = format!(
                "Allocate failed due to requested number of devices unavailable for {resource}. Requested: {wanted}, \
                 Available: {free}, which is unexpected"
            );
            return Objection { reason: "UnexpectedAdmissionError", message };
        }
    };
    let message = format!(
        "Node didn't have enough resource: {resource}, requested: {wanted}, used: {used}, capacity: {capacity}"
    );
    Objection { reason, message }
}
