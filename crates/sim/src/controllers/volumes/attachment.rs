//! Volumes that only one node can have at a time, and pods that wait for them.

use std::collections::BTreeMap;

use lynceus_object::{Object, Str};

use super::{HOST_PATH, PROVISIONED_BY, PROVISIONER, claims_of, text};
use crate::controllers::key::Key;
use crate::controllers::kind::{CLAIM, CSI_DRIVER, POD, VOLUME, is_among};
use crate::controllers::steps::{Announcement, Steps};
use crate::controllers::world::World;
use crate::controllers::{Controller, Writer, manager, pods};
use crate::store::{Event, EventKind, Place};

/// A volume as its driver knows it: the driver, and the volume's name there.
pub(crate) type Handle = (Str, Str);

/// A volume that a pod cannot have, because pods of other nodes have it.
#[derive(Debug)]
pub(crate) struct Held {
    /// The volume's name.
    volume: Str,
    /// The pods that have it.
    by: Vec<Object>,
}

impl Held {
    /// What is said to a pod about it: it is told the names of the pods of its own namespace only.
    fn words(&self, pod: &Object) -> String {
        let near: Vec<&str> =
            self.by.iter().filter(|other| other.namespace() == pod.namespace()).map(Object::name).collect();
        let far = match self.by.len() - near.len() {
            0 => String::new(),
            count => format!("{count} pod(s) in different namespaces"),
        };
        let names = match near.is_empty() {
            true => String::new(),
            false => format!("pod(s) {}", near.join(", ")),
        };
        let users =
            [names, far].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" and ");
        format!("Multi-Attach error for volume {:?} Volume is already used by {users}", self.volume.as_str())
    }
}

/// The driver of a volume and the volume's name there. What the provisioner of a class makes has the volume's own name.
pub(crate) fn handle(volume: &Object) -> Option<Handle> {
    let own = |field: &str| volume.value().str_at(&["spec", "csi", field]).map(Str::from);
    if let Some(driver) = own("driver") {
        return Some((driver, own("volumeHandle")?));
    }
    let by = volume.annotation(PROVISIONED_BY).filter(|by| *by != HOST_PATH)?;
    Some((by.into(), volume.name().into()))
}

/// Whether only one node can have a volume at a time.
fn is_exclusive(volume: &Object, world: &World<'_>) -> bool {
    let modes = volume.value().items_at(&["spec", "accessModes"]);
    let alone =
        |mode: &lynceus_object::Value| matches!(mode.as_str(), Some("ReadWriteOnce" | "ReadWriteOncePod"));
    !modes.is_empty() && modes.iter().all(alone) && is_attached(volume, world)
}

/// Whether a volume is attached to nodes at all: those of a driver that says so, and those that are made here.
fn is_attached(volume: &Object, world: &World<'_>) -> bool {
    if let Some(driver) = volume.value().str_at(&["spec", "csi", "driver"]) {
        let driver = world.get(CSI_DRIVER, "", driver);
        return driver.and_then(|driver| driver.value().bool_at(&["spec", "attachRequired"])) != Some(false);
    }
    let by = volume.annotation(PROVISIONED_BY).unwrap_or_default();
    let class = text(volume, &["spec", "storageClassName"]);
    by == PROVISIONER
        || world.local.stage().storage.iter().any(|one| one.class == class && one.provisioner() == by)
}

/// The volumes of a pod that are attached to one node at a time.
fn exclusive(pod: &Object, world: &World<'_>) -> Vec<(Handle, Object)> {
    let volume = |name: &str| {
        let claim = world.get(CLAIM, pod.namespace(), name)?;
        let volume = world.get(VOLUME, "", text(&claim, &["spec", "volumeName"]))?;
        let handle = handle(&volume).filter(|_| is_exclusive(&volume, world))?;
        Some((handle, volume))
    };
    claims_of(pod).filter_map(volume).collect()
}

fn node_of(pod: &Object) -> &str {
    text(pod, &["spec", "nodeName"])
}

/// Whether a pod was started on its node: from then on the node has its volumes.
fn is_started(pod: &Object) -> bool {
    pod.at(&["status", "podIP"]).is_some()
}

fn has_claims(pod: &Object) -> bool {
    claims_of(pod).next().is_some()
}

/// The first volume that keeps a pod from starting on its node.
pub(crate) fn held(pod: &Object, world: &World<'_>) -> Option<Held> {
    if !has_claims(pod) {
        return None;
    }
    let wanted = exclusive(pod, world);
    if wanted.is_empty() {
        return None;
    }
    let elsewhere = |other: &Object| {
        has_claims(other)
            && is_started(other)
            && !pods::is_finished(other)
            && node_of(other) != node_of(pod)
            && other.uid() != pod.uid()
    };
    let others: Vec<(Vec<(Handle, Object)>, Object)> = world
        .list_all(POD)
        .into_iter()
        .filter(elsewhere)
        .map(|other| (exclusive(&other, world), other))
        .collect();
    wanted.into_iter().find_map(|(handle, volume)| {
        let has = |(volumes, other): &(Vec<(Handle, Object)>, Object)| {
            volumes.iter().any(|(known, _)| *known == handle).then(|| other.clone())
        };
        let by: Vec<Object> = others.iter().filter_map(has).collect();
        (!by.is_empty()).then(|| Held { volume: volume.name().into(), by })
    })
}

/// Says which pods wait for a volume that another node has.
#[derive(Default)]
pub(crate) struct Attachments {
    /// The pods that were told, by what they wait for.
    told: BTreeMap<Key, Str>,
}

impl Controller for Attachments {
    fn component(&self) -> &'static str {
        "attachdetach-controller"
    }

    fn writer(&self) -> Writer {
        manager!("attachdetach-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[POD], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        if !POD.is(&event.place) || !has_claims(&event.object) {
            return;
        }
        if event.kind == EventKind::Deleted {
            self.told.remove(&Key::of(&event.place, &event.object));
        }
        // Whoever gets or leaves a volume is news for all that want one.
        let waits = |pod: &&Object| {
            has_claims(pod) && !node_of(pod).is_empty() && !is_started(pod) && !pod.is_deleting()
        };
        let mut keys: Vec<Key> =
            world.list_all(POD).iter().filter(waits).map(|pod| Key::of(&POD.place(), pod)).collect();
        let own = Key::of(&event.place, &event.object);
        if self.told.contains_key(&own) && !keys.contains(&own) {
            keys.push(own);
        }
        wake.extend(keys);
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(pod) = world.find(key) else { return };
        if is_started(&pod) {
            if let Some(volume) = self.told.remove(key) {
                let message = format!("AttachVolume.Attach succeeded for volume {:?} ", volume.as_str());
                out.announce(Announcement::normal(&pod, "SuccessfulAttachVolume", message));
            }
            return;
        }
        let Some(held) = held(&pod, world) else { return };
        if self.told.get(key) != Some(&held.volume) {
            out.announce(Announcement::warning(&pod, "FailedAttachVolume", held.words(&pod)));
            self.told.insert(key.clone(), held.volume);
        }
    }
}
