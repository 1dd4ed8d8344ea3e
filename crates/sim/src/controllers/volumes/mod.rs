//! Claims and volumes: binding the one to the other, making volumes where a class says how, and what happens
//! to a volume whose claim is gone.

pub(crate) mod attachment;
mod ephemeral;
mod growth;
pub(crate) mod matching;
mod protection;

use lynceus_object::{Object, Value, value};

pub(crate) use self::attachment::Attachments;
pub(crate) use self::ephemeral::EphemeralVolumes;
use self::matching::is_reserved;
pub(crate) use self::protection::Protection;
use super::key::Key;
use super::kind::{CLAIM, CSI_DRIVER, POD, STORAGE_CLASS, VOLUME, is_among};
use super::steps::{Announcement, Steps};
use super::world::World;
use super::{Controller, Writer, condition, manager, pods};
use crate::store::{Event, Place};

/// The provisioner whose volumes are made here, without asking anybody.
pub(crate) const PROVISIONER: &str = "sim.lynceus.dev/local";
/// Says that it was not the user who chose the volume, or the claim.
pub(crate) const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// Tells the provisioner of a claim that waits for its first pod where that pod will run.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const STORAGE_PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
const OLD_STORAGE_PROVISIONER: &str = "volume.beta.kubernetes.io/storage-provisioner";
/// The provisioner of the controller manager itself, for trials; its volumes keep their size.
const HOST_PATH: &str = "kubernetes.io/host-path";
/// The provisioner that makes nothing.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Binds claims to volumes.
pub(crate) struct Volumes;

impl Controller for Volumes {
    fn component(&self) -> &'static str {
        "persistentvolume-controller"
    }

    fn writer(&self) -> Writer {
        manager!("persistent-volume-binder")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[CLAIM, VOLUME, STORAGE_CLASS, CSI_DRIVER, POD], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if CLAIM.is(&event.place) {
            wake.push(Key::of(&event.place, object));
            if let Some(volume) = object.value().str_at(&["spec", "volumeName"]) {
                wake.push(Key::new(VOLUME, "", volume));
            }
        } else if VOLUME.is(&event.place) {
            wake.push(Key::of(&event.place, object));
            wake_pending(world, wake);
            let claim = |field| text(object, &["spec", "claimRef", field]);
            wake.push(Key::new(CLAIM, claim("namespace"), claim("name")));
        } else if STORAGE_CLASS.is(&event.place) || CSI_DRIVER.is(&event.place) {
            wake_pending(world, wake);
        } else if POD.is(&event.place) && tells_of_claims(event) {
            wake.extend(claims_of(object).map(|name| Key::new(CLAIM, object.namespace(), name)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(object) = world.find(key) else { return };
        if VOLUME.is(&key.place) {
            look_at_volume(&object, world, out);
        } else if !object.is_deleting() {
            look_at_claim(&object, world, out);
        }
    }
}

/// Whether a pod found no node, which its claims may wait for, or runs now, which their growth may wait for.
fn tells_of_claims(event: &Event) -> bool {
    let news = |pod: &Object| {
        (condition::reason(pod, "PodScheduled") == "Unschedulable", pods::phase(pod) == "Running")
    };
    let before = event.previous.as_ref().map(news).unwrap_or_default();
    let now = news(&event.object);
    (now.0 && !before.0) || (now.1 && !before.1)
}

fn wake_pending(world: &World<'_>, wake: &mut Vec<Key>) {
    let pending = world.list_all(CLAIM).into_iter().filter(|claim| !is_bound(claim));
    wake.extend(pending.map(|claim| Key::of(&CLAIM.place(), &claim)));
}

fn is_bound(claim: &Object) -> bool {
    text(claim, &["status", "phase"]) == "Bound"
}

/// Whether a claim has a volume, and both sides know it.
pub(crate) fn is_completely_bound(claim: &Object) -> bool {
    !text(claim, &["spec", "volumeName"]).is_empty() && claim.annotation(BIND_COMPLETED).is_some()
}

fn text<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    object.value().str_at(path).unwrap_or_default()
}

fn claims_of(pod: &Object) -> impl Iterator<Item = &str> {
    let volumes = pod.value().items_at(&["spec", "volumes"]).iter();
    volumes.filter_map(|volume| volume.str_at(&["persistentVolumeClaim", "claimName"]))
}

/// The class of a claim that is bound only once a pod that uses it is scheduled.
pub(crate) fn class_that_waits(claim: &Object, world: &World<'_>) -> Option<Object> {
    let class = world.get(STORAGE_CLASS, "", text(claim, &["spec", "storageClassName"]))?;
    (text(&class, &["volumeBindingMode"]) == "WaitForFirstConsumer").then_some(class)
}

/// Whether volumes of a provisioner are made here: our own, and those of every driver that the cluster says it has.
fn is_provided(provisioner: &str, world: &World<'_>) -> bool {
    matches!(provisioner, PROVISIONER | HOST_PATH) || is_driver(provisioner, world)
}

/// Whether such volumes can become larger.
fn is_elastic(provisioner: &str, world: &World<'_>) -> bool {
    provisioner != HOST_PATH && is_provided(provisioner, world)
}

fn is_driver(provisioner: &str, world: &World<'_>) -> bool {
    !provisioner.is_empty() && world.get(CSI_DRIVER, "", provisioner).is_some()
}

fn look_at_claim(claim: &Object, world: &World<'_>, out: &mut Steps) {
    let named = text(claim, &["spec", "volumeName"]);
    if !named.is_empty() {
        match world.get(VOLUME, "", named) {
            Some(volume) => finish_binding(claim, &volume, world, out),
            None if is_bound(claim) => lose(claim, out),
            None => set_phase(claim, "Pending", out),
        }
        return;
    }
    let class_name = text(claim, &["spec", "storageClassName"]);
    // Nobody but an administrator makes volumes for drivers that are not here: once the node is known, theirs will do.
    let waits = class_that_waits(claim, world).is_some() && claim.annotation(SELECTED_NODE).is_none();
    if let Some(volume) = matching::best(claim, waits, world) {
        bind(claim, &volume, out);
        return;
    }
    set_phase(claim, "Pending", out);
    if class_name.is_empty() {
        let message = "no persistent volumes available for this claim and no storage class is set";
        out.announce(Announcement::normal(claim, "FailedBinding", message));
        return;
    }
    if waits {
        let (reason, message) = what_it_waits_for(claim, world);
        out.announce(Announcement::normal(claim, reason, message));
        return;
    }
    let Some(class) = world.get(STORAGE_CLASS, "", class_name) else {
        let message = format!("storageclass.storage.k8s.io {class_name:?} not found");
        out.announce(Announcement::warning(claim, "ProvisioningFailed", message));
        return;
    };
    provision(claim, &class, world, out);
}

/// The pod that a claim waits for.
fn what_it_waits_for(claim: &Object, world: &World<'_>) -> (&'static str, String) {
    let uses = |pod: &Object| claims_of(pod).any(|name| name == claim.name());
    let unplaced = |pod: &Object| {
        text(pod, &["spec", "nodeName"]).is_empty() && condition::get(pod, "PodScheduled").is_some()
    };
    let pods = world.list(POD, claim.namespace());
    let names: Vec<&str> = pods
        .iter()
        .filter(|pod| pods::is_active(pod) && unplaced(pod) && uses(pod))
        .map(Object::name)
        .collect();
    match names.as_slice() {
        [] => ("WaitForFirstConsumer", "waiting for first consumer to be created before binding".into()),
        [pod] => ("WaitForPodScheduled", format!("waiting for pod {pod} to be scheduled")),
        pods => ("WaitForPodScheduled", format!("waiting for pods {} to be scheduled", pods.join(","))),
    }
}

fn set_phase(claim: &Object, phase: &str, out: &mut Steps) {
    if text(claim, &["status", "phase"]) != phase {
        let mut new = claim.clone();
        new.set(&["status", "phase"], phase);
        out.status(CLAIM, new);
    }
}

fn lose(claim: &Object, out: &mut Steps) {
    let message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
    out.announce(Announcement::warning(claim, "ClaimLost", message));
    set_phase(claim, "Lost", out);
}

/// A claim as it stands in its volume.
pub(crate) fn claim_ref(claim: &Object) -> Value {
    value!({
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": claim.namespace(),
        "name": claim.name(), "uid": claim.uid(), "resourceVersion": claim.resource_version(),
    })
}

/// Writes the claim into the volume; the look that follows finishes the rest.
fn bind(claim: &Object, volume: &Object, out: &mut Steps) {
    if text(volume, &["spec", "claimRef", "uid"]) != claim.uid() {
        let mut new = volume.clone();
        if new.at(&["spec", "claimRef"]).is_none() {
            new.set_annotation(BOUND_BY_CONTROLLER, "yes");
        }
        new.set(&["spec", "claimRef"], claim_ref(claim));
        out.update(VOLUME, new);
    }
    let mut new = claim.clone();
    if text(claim, &["spec", "volumeName"]).is_empty() {
        new.set_annotation(BOUND_BY_CONTROLLER, "yes");
    }
    new.set(&["spec", "volumeName"], volume.name());
    new.set_annotation(BIND_COMPLETED, "yes");
    out.update(CLAIM, new);
}

fn finish_binding(claim: &Object, volume: &Object, world: &World<'_>, out: &mut Steps) {
    let free = volume.at(&["spec", "claimRef"]).is_none();
    if !free && !is_reserved(volume, claim) {
        let message = format!("volume {:?} already bound to a different claim.", volume.name());
        out.announce(Announcement::warning(claim, "FailedBinding", message));
        set_phase(claim, "Pending", out);
        return;
    }
    if free
        && !is_completely_bound(claim)
        && let Some(why) = matching::mismatch(claim, volume)
    {
        let message = format!("Cannot bind to requested volume {:?}: {why}", volume.name());
        out.announce(Announcement::warning(claim, "VolumeMismatch", message));
        set_phase(claim, "Pending", out);
        return;
    }
    if text(volume, &["spec", "claimRef", "uid"]) != claim.uid() || claim.annotation(BIND_COMPLETED).is_none()
    {
        bind(claim, volume, out);
        return;
    }
    if is_bound(claim) && growth::look(claim, volume, world, out) {
        return;
    }
    let mut new = claim.clone();
    new.set(&["status", "phase"], "Bound");
    for (to, from) in [("accessModes", "accessModes"), ("capacity", "capacity")] {
        if let Some(value) = volume.at(&["spec", from]) {
            new.set(&["status", to], value.clone());
        }
    }
    out.status_if_changed(CLAIM, claim, new);
}

/// Makes a volume for a claim, as its class says, or waits for the one whose job that is.
fn provision(claim: &Object, class: &Object, world: &World<'_>, out: &mut Steps) {
    let provisioner = text(class, &["provisioner"]);
    if provisioner == NO_PROVISIONER {
        let message = "no volume plugin matched name: kubernetes.io/no-provisioner";
        out.announce(Announcement::warning(claim, "ProvisioningFailed", message));
        return;
    }
    if claim.annotation(STORAGE_PROVISIONER) != Some(provisioner) {
        let mut new = claim.clone();
        new.set_annotation(STORAGE_PROVISIONER, provisioner);
        new.set_annotation(OLD_STORAGE_PROVISIONER, provisioner);
        out.update(CLAIM, new);
        return;
    }
    // The provisioner of a class that the stage has is there, and does what the stage says.
    let declared = world.local.stage().storage.iter().find(|one| one.class == class.name());
    if let Some(problem) = declared.and_then(|one| one.fails.as_ref()) {
        let message = format!("failed to provision volume with StorageClass {:?}: {problem}", class.name());
        out.announce(Announcement::warning(claim, "ProvisioningFailed", message));
        return;
    }
    if declared.is_none() && !is_provided(provisioner, world) {
        let message = format!(
            "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the \
             system administrator. If volume creation is delayed, please verify that the provisioner is running and \
             correctly registered."
        );
        out.announce(Announcement::normal(claim, "ExternalProvisioning", message));
        return;
    }
    let volume = provisioned(claim, class, world);
    let message = format!("Successfully provisioned volume {} using {provisioner}", volume.name());
    out.create(VOLUME, volume);
    out.announce(Announcement::normal(claim, "ProvisioningSucceeded", message));
}

fn provisioned(claim: &Object, class: &Object, world: &World<'_>) -> Object {
    let provisioner = text(class, &["provisioner"]);
    let name = format!("pvc-{}", claim.uid());
    let mut volume = VOLUME.named("", &name);
    volume.set_annotation(PROVISIONED_BY, provisioner);
    let size = claim.at(&["spec", "resources", "requests", "storage"]).cloned().unwrap_or("1Gi".into());
    volume.set(&["spec", "capacity", "storage"], size);
    for field in ["accessModes", "volumeMode", "storageClassName"] {
        if let Some(value) = claim.at(&["spec", field]) {
            volume.set(&["spec", field], value.clone());
        }
    }
    for (to, from) in [("persistentVolumeReclaimPolicy", "reclaimPolicy"), ("mountOptions", "mountOptions")] {
        if let Some(value) = class.at(&[from]) {
            volume.set(&["spec", to], value.clone());
        }
    }
    if is_driver(provisioner, world) {
        volume.set(&["spec", "csi"], value!({"driver": provisioner, "volumeHandle": name.as_str()}));
    } else {
        let path = format!("/var/lib/sim/{}/{}", claim.namespace(), claim.name());
        volume.set(&["spec", "hostPath"], value!({"path": path, "type": "DirectoryOrCreate"}));
    }
    volume.set(&["spec", "claimRef"], claim_ref(claim));
    volume
}

fn look_at_volume(volume: &Object, world: &World<'_>, out: &mut Steps) {
    if volume.is_deleting() {
        return;
    }
    let claim_name = text(volume, &["spec", "claimRef", "name"]);
    if claim_name.is_empty() {
        set_volume_phase(volume, "Available", out);
        return;
    }
    let claim = world.get(CLAIM, text(volume, &["spec", "claimRef", "namespace"]), claim_name);
    let uid = text(volume, &["spec", "claimRef", "uid"]);
    match claim {
        Some(claim) if uid.is_empty() || claim.uid() == uid => {
            let phase =
                if text(&claim, &["spec", "volumeName"]) == volume.name() { "Bound" } else { "Available" };
            set_volume_phase(volume, phase, out);
        }
        _ if uid.is_empty() => set_volume_phase(volume, "Available", out),
        _ => reclaim(volume, world, out),
    }
}

fn set_volume_phase(volume: &Object, phase: &str, out: &mut Steps) {
    if text(volume, &["status", "phase"]) != phase {
        let mut new = volume.clone();
        new.set(&["status", "phase"], phase);
        out.status(VOLUME, new);
    }
}

/// The claim is gone: the volume stays, is emptied or goes, as its policy says. One that somebody else made goes only
/// when they take it away.
fn reclaim(volume: &Object, world: &World<'_>, out: &mut Steps) {
    if text(volume, &["status", "phase"]) != "Released" {
        set_volume_phase(volume, "Released", out);
        return;
    }
    let ours = volume.annotation(PROVISIONED_BY).is_some_and(|provisioner| is_provided(provisioner, world));
    let on_host = volume.at(&["spec", "hostPath"]).is_some();
    match text(volume, &["spec", "persistentVolumeReclaimPolicy"]) {
        "Delete" if ours || on_host => out.delete(VOLUME, volume),
        "Recycle" if on_host || volume.at(&["spec", "nfs"]).is_some() => {
            let mut empty = volume.clone();
            empty.remove(&["spec", "claimRef"]);
            empty.remove(&["metadata", "annotations", BOUND_BY_CONTROLLER]);
            out.update(VOLUME, empty);
            out.announce(Announcement::normal(volume, "VolumeRecycled", "Volume recycled"));
        }
        _ => {}
    }
}
