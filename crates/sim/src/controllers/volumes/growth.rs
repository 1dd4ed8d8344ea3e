//! Volumes that are to become larger: first the volume, then, when a pod has it, the file system on it.

use lynceus_object::{Object, Value};

use super::{is_elastic, text};
use crate::controllers::kind::{CLAIM, POD, STORAGE_CLASS, VOLUME};
use crate::controllers::steps::{Announcement, Steps};
use crate::controllers::volumes::matching::{capacity, wanted};
use crate::controllers::world::World;
use crate::controllers::{condition, pods};
use crate::kinds::quality::amount_of;

/// What waits for a pod.
const PENDING: &str = "FileSystemResizePending";

/// Makes the volume of a bound claim as large as the claim wants it. Says whether the claim's status is still to
/// follow.
pub(super) fn look(claim: &Object, volume: &Object, world: &World<'_>, out: &mut Steps) -> bool {
    let has = claim.at(&["status", "capacity", "storage"]).and_then(amount_of);
    let (Some(wanted), Some(has)) = (wanted(claim), has) else { return false };
    if wanted <= has {
        return false;
    }
    let class = world.get(STORAGE_CLASS, "", text(claim, &["spec", "storageClassName"]));
    let grows =
        class.as_ref().is_some_and(|class| class.value().bool_at(&["allowVolumeExpansion"]) == Some(true));
    if !grows {
        return true;
    }
    if !is_elastic(text(volume, &["metadata", "annotations", super::PROVISIONED_BY]), world) {
        let message = "waiting for an external controller to expand this PVC";
        out.announce(Announcement::normal(claim, "ExternalExpanding", message));
        return true;
    }
    if capacity(volume).is_none_or(|capacity| capacity < wanted) {
        let message = format!("External resizer is resizing volume {}", volume.name());
        out.announce(Announcement::normal(claim, "Resizing", message));
        let mut larger = volume.clone();
        if let Some(size) = claim.at(&["spec", "resources", "requests", "storage"]) {
            larger.set(&["spec", "capacity", "storage"], size.clone());
        }
        out.update(VOLUME, larger);
        return true;
    }
    let user = world
        .list(POD, claim.namespace())
        .into_iter()
        .find(|pod| pods::phase(pod) == "Running" && super::claims_of(pod).any(|name| name == claim.name()));
    let mut new = claim.clone();
    match user {
        Some(_) => {
            condition::remove(&mut new, PENDING);
            if let Some(size) = volume.at(&["spec", "capacity"]) {
                new.set(&["status", "capacity"], size.clone());
            }
            let message = "MountVolume.NodeExpandVolume succeeded for volume ";
            let message = format!("{message}{:?}", volume.name());
            out.announce(Announcement::normal(claim, "FileSystemResizeSuccessful", message));
        }
        None if condition::is_true(claim, PENDING) => return true,
        None => {
            let message =
                "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";
            let mut pending = condition::new(PENDING, "True", "", message, world.now);
            pending.set(&["lastProbeTime"], Value::Null);
            condition::replace(&mut new, pending);
            let message = "Require file system resize of volume on node";
            out.announce(Announcement::normal(claim, "FileSystemResizeRequired", message));
        }
    }
    out.status(CLAIM, new);
    true
}
