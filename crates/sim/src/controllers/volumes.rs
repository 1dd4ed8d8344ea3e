//! Claims and volumes: binding the one to the other, making volumes where a class says how, and what happens
//! to a volume whose claim is gone.

use lynceus_object::{Object, Quantity, Value, value};

use super::key::Key;
use super::kind::{CLAIM, STORAGE_CLASS, VOLUME};
use super::scheduler::waits_for_consumer;
use super::steps::{Announcement, Steps};
use super::world::World;
use super::{Controller, Writer, manager, selector};
use crate::kinds::quality::amount_of;
use crate::store::Event;

/// The provisioner whose volumes are made here, without asking anybody.
pub(crate) const PROVISIONER: &str = "sim.lynceus.dev/local";
/// The name of the class that claims get which name none.
pub(crate) const DEFAULT_CLASS: &str = "standard";

const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const STORAGE_PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const IN_USE_BY_POD: &str = "kubernetes.io/pvc-protection";
const IN_USE_BY_CLAIM: &str = "kubernetes.io/pv-protection";

/// Binds claims to volumes.
pub(crate) struct Volumes;

impl Controller for Volumes {
    fn component(&self) -> &'static str {
        "persistentvolume-controller"
    }

    fn writer(&self) -> Writer {
        manager!("persistent-volume-binder")
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
        } else if STORAGE_CLASS.is(&event.place) {
            wake_pending(world, wake);
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

fn wake_pending(world: &World<'_>, wake: &mut Vec<Key>) {
    let pending = world.list_all(CLAIM).into_iter().filter(|claim| !is_bound(claim));
    wake.extend(pending.map(|claim| Key::of(&CLAIM.place(), &claim)));
}

fn is_bound(claim: &Object) -> bool {
    claim.value().str_at(&["status", "phase"]) == Some("Bound")
}

fn text<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    object.value().str_at(path).unwrap_or_default()
}

fn look_at_claim(claim: &Object, world: &World<'_>, out: &mut Steps) {
    let named = text(claim, &["spec", "volumeName"]);
    if !named.is_empty() {
        match world.get(VOLUME, "", named) {
            Some(volume) => finish_binding(claim, &volume, out),
            None if is_bound(claim) => lose(claim, out),
            None => set_phase(claim, "Pending", out),
        }
        return;
    }
    if let Some(volume) = best_volume(claim, world) {
        bind(claim, &volume, out);
        return;
    }
    set_phase(claim, "Pending", out);
    let class = text(claim, &["spec", "storageClassName"]);
    if class.is_empty() {
        let message = "no persistent volumes available for this claim and no storage class is set";
        announce_once(claim, "FailedBinding", message, out);
        return;
    }
    let Some(class) = world.get(STORAGE_CLASS, "", class) else {
        let message = format!("storageclass.storage.k8s.io {class:?} not found");
        out.announce(Announcement::warning(claim, "ProvisioningFailed", message));
        return;
    };
    if waits_for_consumer(claim, world) && claim.annotation(SELECTED_NODE).is_none() {
        let message = "waiting for first consumer to be created before binding";
        announce_once(claim, "WaitForFirstConsumer", message, out);
        return;
    }
    provision(claim, &class, out);
}

/// News about a claim that does not change are told when it is new.
fn announce_once(claim: &Object, reason: &'static str, message: &str, out: &mut Steps) {
    if claim.at(&["status", "phase"]).is_none() || text(claim, &["status", "phase"]) == "Pending" {
        out.announce(Announcement::normal(claim, reason, message));
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

/// The smallest volume that will do and that nobody else has.
fn best_volume(claim: &Object, world: &World<'_>) -> Option<Object> {
    let wanted = claim.at(&["spec", "resources", "requests", "storage"]).and_then(amount_of);
    let size = |volume: &Object| volume.at(&["spec", "capacity", "storage"]).and_then(amount_of);
    world
        .list_all(VOLUME)
        .into_iter()
        .filter(|volume| fits(claim, volume, wanted.as_ref()))
        .min_by(|a, b| reserved(b, claim).cmp(&reserved(a, claim)).then_with(|| size(a).cmp(&size(b))))
}

fn reserved(volume: &Object, claim: &Object) -> bool {
    text(volume, &["spec", "claimRef", "name"]) == claim.name()
        && text(volume, &["spec", "claimRef", "namespace"]) == claim.namespace()
}

fn fits(claim: &Object, volume: &Object, wanted: Option<&Quantity>) -> bool {
    let free = match volume.at(&["spec", "claimRef"]) {
        None => text(volume, &["status", "phase"]) != "Released",
        Some(claimed) => {
            let uid = claimed.str_at(&["uid"]).unwrap_or_default();
            reserved(volume, claim) && (uid.is_empty() || uid == claim.uid())
        }
    };
    let same = |field| text(claim, &["spec", field]) == text(volume, &["spec", field]);
    let modes = volume.value().items_at(&["spec", "accessModes"]);
    let has = volume.at(&["spec", "capacity", "storage"]).and_then(amount_of);
    let large_enough = match (wanted, &has) {
        (Some(wanted), Some(has)) => has >= wanted,
        (None, _) => true,
        (Some(_), None) => false,
    };
    let labels = claim.at(&["spec", "selector"]);
    free && !volume.is_deleting()
        && same("storageClassName")
        && same("volumeMode")
        && claim.value().items_at(&["spec", "accessModes"]).iter().all(|mode| modes.contains(mode))
        && large_enough
        && (labels.is_none() || selector::matches(labels, volume))
}

fn claim_ref(claim: &Object) -> Value {
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
    new.set(&["spec", "volumeName"], volume.name());
    new.set_annotation(BOUND_BY_CONTROLLER, "yes");
    new.set_annotation(BIND_COMPLETED, "yes");
    out.update(CLAIM, new);
}

fn finish_binding(claim: &Object, volume: &Object, out: &mut Steps) {
    if volume.at(&["spec", "claimRef"]).is_some() && !reserved(volume, claim) {
        let message = format!("volume {:?} already bound to a different claim.", volume.name());
        out.announce(Announcement::warning(claim, "FailedBinding", message));
        set_phase(claim, "Pending", out);
        return;
    }
    if text(volume, &["spec", "claimRef", "uid"]) != claim.uid() || claim.annotation(BIND_COMPLETED).is_none()
    {
        bind(claim, volume, out);
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

/// Makes a volume for a claim, as its class says.
fn provision(claim: &Object, class: &Object, out: &mut Steps) {
    let provisioner = text(class, &["provisioner"]);
    if claim.annotation(STORAGE_PROVISIONER) != Some(provisioner) {
        let mut new = claim.clone();
        new.set_annotation(STORAGE_PROVISIONER, provisioner);
        out.update(CLAIM, new);
        return;
    }
    if provisioner == "kubernetes.io/no-provisioner" {
        return;
    }
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
    let policy = class.at(&["reclaimPolicy"]).cloned().unwrap_or("Delete".into());
    volume.set(&["spec", "persistentVolumeReclaimPolicy"], policy);
    let path = format!("/var/lib/sim/{}/{}", claim.namespace(), claim.name());
    volume.set(&["spec", "hostPath"], value!({"path": path, "type": "DirectoryOrCreate"}));
    volume.set(&["spec", "claimRef"], claim_ref(claim));
    out.create(VOLUME, volume);
    let message = format!("Successfully provisioned volume {name}");
    out.announce(Announcement::normal(claim, "ProvisioningSucceeded", message));
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
        _ => reclaim(volume, out),
    }
}

fn set_volume_phase(volume: &Object, phase: &str, out: &mut Steps) {
    if text(volume, &["status", "phase"]) != phase {
        let mut new = volume.clone();
        new.set(&["status", "phase"], phase);
        out.status(VOLUME, new);
    }
}

/// The claim is gone: the volume stays or goes, as its policy says.
fn reclaim(volume: &Object, out: &mut Steps) {
    if text(volume, &["spec", "persistentVolumeReclaimPolicy"]) == "Delete" {
        out.delete(VOLUME, volume);
    } else {
        set_volume_phase(volume, "Released", out);
    }
}

/// Keeps claims and volumes from going while they are used.
pub(crate) struct Protection;

impl Controller for Protection {
    fn component(&self) -> &'static str {
        "pvc-protection-controller"
    }

    fn writer(&self) -> Writer {
        manager!("pvc-protection-controller")
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        let is_present = event.kind != crate::store::EventKind::Deleted;
        if (CLAIM.is(&event.place) || VOLUME.is(&event.place)) && is_present {
            wake.push(Key::of(&event.place, object));
        } else if super::kind::POD.is(&event.place) && event.kind == crate::store::EventKind::Deleted {
            let claims = claims_of(object);
            wake.extend(claims.map(|name| Key::new(CLAIM, object.namespace(), name)));
        } else if CLAIM.is(&event.place)
            && event.kind == crate::store::EventKind::Deleted
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
            let pods = world.list(super::kind::POD, object.namespace());
            (
                IN_USE_BY_POD,
                pods.iter().any(|pod| {
                    !super::pods::is_finished(pod) && claims_of(pod).any(|name| name == object.name())
                }),
            )
        } else {
            (IN_USE_BY_CLAIM, text(&object, &["status", "phase"]) == "Bound" && claim_exists(&object, world))
        };
        if !used && object.finalizers().any(|name| name == finalizer) {
            out.steps.push(super::steps::Step::Unfinalize { key: key.clone(), finalizer });
        }
    }
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

fn claims_of(pod: &Object) -> impl Iterator<Item = &str> {
    let volumes = pod.value().items_at(&["spec", "volumes"]).iter();
    volumes.filter_map(|volume| volume.str_at(&["persistentVolumeClaim", "claimName"]))
}
