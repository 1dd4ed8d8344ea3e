//! What becomes of a set's claims when pods go: they stay, or go with the pod or with the set.
//!
//! The set only says whose a claim is; that it goes with its owner is the garbage collector's business.

use lynceus_object::{Object, Value};

use crate::controllers::pods::controller_ref;

/// Whether claims go when the set shrinks, and when it is deleted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retention {
    scaled: bool,
    deleted: bool,
}

impl Retention {
    pub(super) fn of(set: &Object) -> Self {
        let goes = |when: &str| {
            let path = ["spec", "persistentVolumeClaimRetentionPolicy", when];
            set.value().str_at(&path) == Some("Delete")
        };
        Retention { scaled: goes("whenScaled"), deleted: goes("whenDeleted") }
    }

    /// The owner of a claim whose pod stays or, if it is one too many, goes for good.
    fn owner(self, set: &Object, pod: Option<&Object>, condemned: bool) -> Option<Value> {
        match (self.scaled && condemned, pod) {
            (true, Some(pod)) => Some(controller_ref(pod)),
            _ => self.deleted.then(|| controller_ref(set)),
        }
    }

    /// Gives a claim the owner that it should have. Says whether it had another. A claim that somebody else manages is
    /// left alone.
    pub(super) fn apply(
        self,
        claim: &mut Object,
        set: &Object,
        pod: Option<&Object>,
        condemned: bool,
    ) -> bool {
        let pod_name = pod.map_or("", Object::name);
        let is_ours = |owner: &Value| is(owner, "StatefulSet", set.name()) || is(owner, "Pod", pod_name);
        let before = claim.value().items_at(&["metadata", "ownerReferences"]).to_vec();
        if before.iter().any(|owner| owner.bool_at(&["controller"]) == Some(true) && !is_ours(owner)) {
            return false;
        }
        let mut owners: Vec<Value> = before.iter().filter(|owner| !is_ours(owner)).cloned().collect();
        owners.extend(self.owner(set, pod, condemned));
        if owners == before {
            return false;
        }
        if owners.is_empty() {
            claim.remove(&["metadata", "ownerReferences"]);
        } else {
            claim.set(&["metadata", "ownerReferences"], owners);
        }
        true
    }
}

/// Whether a claim is about to go, with a pod of this name that is gone already: the next pod waits for a new one.
pub(super) fn is_stale(claim: &Object, pod_name: &str) -> bool {
    let owners = claim.value().items_at(&["metadata", "ownerReferences"]);
    claim.is_deleting() || owners.iter().any(|owner| is(owner, "Pod", pod_name))
}

fn is(owner: &Value, kind: &str, name: &str) -> bool {
    owner.str_at(&["kind"]) == Some(kind) && owner.str_at(&["name"]) == Some(name)
}
