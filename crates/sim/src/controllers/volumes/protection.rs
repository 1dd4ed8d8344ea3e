//! Keeping claims and volumes from going while they are used.

use lynceus_object::Object;

use super::{claims_of, text};
use crate::controllers::key::Key;
use crate::controllers::kind::{CLAIM, POD, VOLUME, is_among};
use crate::controllers::steps::{Step, Steps};
use crate::controllers::world::World;
use crate::controllers::{Controller, Writer, manager, pods};
use crate::store::{Event, EventKind, Place};

const IN_USE_BY_POD: &str = "kubernetes.io/pvc-protection";
const IN_USE_BY_CLAIM: &str = "kubernetes.io/pv-protection";

/// Keeps claims and volumes from going while they are used.
pub(crate) struct Protection;

impl Controller for Protection {
    fn component(&self) -> &'static str {
        "pvc-protection-controller"
    }

    fn writer(&self) -> Writer {
        manager!("pvc-protection-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[CLAIM, VOLUME, POD], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        let is_present = event.kind != EventKind::Deleted;
        if (CLAIM.is(&event.place) || VOLUME.is(&event.place)) && is_present {
            wake.push(Key::of(&event.place, object));
        } else if POD.is(&event.place) && event.kind == EventKind::Deleted {
            let claims = claims_of(object);
            wake.extend(claims.map(|name| Key::new(CLAIM, object.namespace(), name)));
        } else if CLAIM.is(&event.place)
            && event.kind == EventKind::Deleted
            && let Some(volume) = object.value().str_at(&["spec", "volumeName"])
        {
            wake.push(Key::new(VOLUME, "", volume));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(object) = world.find(key) else { return };
        if !object.is_deleting() {
            protect(&object, out);
            return;
        }
        let (finalizer, used) = if CLAIM.is(&key.place) {
            let pods = world.list(POD, object.namespace());
            (IN_USE_BY_POD, pods.iter().any(|pod| uses(pod, object.name())))
        } else {
            (IN_USE_BY_CLAIM, text(&object, &["status", "phase"]) == "Bound" && claim_exists(&object, world))
        };
        if !used && object.finalizers().any(|name| name == finalizer) {
            out.steps.push(Step::Unfinalize { key: key.clone(), finalizer });
        }
    }
}

/// Whether a pod keeps a claim from going. One that has no node yet does not: no kubelet starts it while the claim is going.
fn uses(pod: &Object, claim: &str) -> bool {
    let is_scheduled = !text(pod, &["spec", "nodeName"]).is_empty();
    is_scheduled && !pods::is_finished(pod) && claims_of(pod).any(|name| name == claim)
}

/// Admission protects what is new; what is older, or came another way, is protected here.
fn protect(object: &Object, out: &mut Steps) {
    let (kind, finalizer) =
        if object.kind() == CLAIM.kind { (CLAIM, IN_USE_BY_POD) } else { (VOLUME, IN_USE_BY_CLAIM) };
    if object.finalizers().any(|name| name == finalizer) {
        return;
    }
    let mut new = object.clone();
    let finalizers: Vec<&str> = object.finalizers().chain([finalizer]).collect();
    new.set(&["metadata", "finalizers"], finalizers);
    out.update(kind, new);
}

fn claim_exists(volume: &Object, world: &World<'_>) -> bool {
    let claim = |field| text(volume, &["spec", "claimRef", field]);
    world.get(CLAIM, claim("namespace"), claim("name")).is_some_and(|found| found.uid() == claim("uid"))
}
