//! What is made to go wrong: how each Fault stands, and which pods are Vault's while it is sealed.

use lynceus_object::Object;

use super::key::Key;
use super::kind::{FAULT, NODE, POD, is_among};
use super::steps::{Announcement, Step, Steps};
use super::world::World;
use super::{Controller, Writer};
use crate::attributes::Attributes;
use crate::faults::{Phase, Standing};
use crate::stage::{Fault, What};
use crate::store::{Event, EventKind, Place};

/// What a sealed pod of Vault has, which operators read.
const SEALED: &str = "sim.lynceus.dev/sealed";
/// The Fault that sealed it.
const SEALED_BY: &str = "sim.lynceus.dev/sealed-by";
/// How often it is written down how many requests a fault has hit, in seconds.
const COUNT: i64 = 10;

/// Says how faults stand.
pub(crate) struct Faults;

impl Controller for Faults {
    fn component(&self) -> &'static str {
        "fault-controller"
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:lynceus:faults", manager: "lynceus" }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[FAULT, POD], place)
    }

    fn begin(&mut self, world: &World<'_>, out: &mut Steps) {
        for (name, spec) in &world.local.stage().faults {
            if world.get(FAULT, "", name).is_none() {
                let mut fault = FAULT.named("", name);
                fault.set(&["spec"], spec.clone());
                out.create(FAULT, fault);
            }
        }
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        if FAULT.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        } else if POD.is(&event.place) && event.kind == EventKind::Added {
            let all = world.list_all(FAULT);
            let sealing = all.iter().filter(|fault| seals(fault, &event.object));
            wake.extend(sealing.map(|fault| Key::of(&FAULT.place(), fault)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let fault = world.find(key);
        let faults = world.local.faults();
        let standing = fault.as_ref().and_then(|fault| faults.iter().find(|one| one.uid == fault.uid()));
        seal(&key.name, world, out);
        let (Some(fault), Some(standing)) = (&fault, standing) else { return };
        report(fault, standing, world, out);
    }
}

/// The Faults that have pods sealed at this time.
fn sealing(world: &World<'_>) -> Vec<Object> {
    let standing = world.local.faults();
    let is_active = |fault: &Object| {
        let one = standing.iter().find(|one| one.uid == fault.uid());
        one.is_some_and(|one| {
            matches!(one.fault.what, What::SealVault { .. }) && one.phase(world.now) == Phase::Active
        })
    };
    let mut faults = world.list_all(FAULT);
    faults.retain(is_active);
    faults
}

/// Whether a Fault is about a pod of Vault.
fn seals(fault: &Object, pod: &Object) -> bool {
    match Fault::of_object(fault).map(|fault| fault.what) {
        Ok(What::SealVault { namespace, pod: name }) => {
            namespace.matches(pod.namespace()) && name.matches(pod.name())
        }
        _ => false,
    }
}

/// Seals the pods that a fault is about, and opens those again that it was about, unless another one is.
fn seal(name: &str, world: &World<'_>, out: &mut Steps) {
    let sealing = sealing(world);
    for pod in world.list_all(POD) {
        let by = pod.annotation(SEALED_BY);
        let is_to_be = |fault: &&Object| seals(fault, &pod);
        let is_ours = sealing.iter().filter(is_to_be).any(|fault| fault.name() == name);
        let mut new = pod.clone();
        if by == Some(name) && !is_ours {
            match sealing.iter().find(is_to_be) {
                Some(other) => new.set_annotation(SEALED_BY, other.name()),
                None => {
                    new.remove(&["metadata", "annotations", SEALED]);
                    new.remove(&["metadata", "annotations", SEALED_BY]);
                }
            }
        } else if pod.annotation(SEALED) != Some("true") && is_ours {
            new.set_annotation(SEALED, "true");
            new.set_annotation(SEALED_BY, name);
        } else {
            continue;
        }
        out.update(POD, new);
    }
}

fn report(fault: &Object, standing: &Standing, world: &World<'_>, out: &mut Steps) {
    let before = fault.value().str_at(&["status", "phase"]).unwrap_or("Waiting");
    let phase = standing.phase(world.now);
    let mut new = fault.clone();
    new.set(&["status"], standing.status(world.now));
    out.status_if_changed(FAULT, fault, new);
    if before == "Waiting" && phase != Phase::Waiting {
        out.announce(Announcement::normal(fault, "Begun", "it goes wrong from now on"));
    }
    if before != "Over" && phase == Phase::Over {
        out.announce(Announcement::normal(fault, "Ended", "it is over"));
    }
    match (phase, standing.ends) {
        (Phase::Waiting, _) => out.again_at(standing.begins),
        (Phase::Active, ends) => {
            if let Some(ends) = ends {
                out.again_at(ends);
            }
            if standing.fault.what.requests().is_some() {
                out.again_after(world.now, COUNT);
            }
        }
        (Phase::Over, _) => {}
    }
}

/// The nodes that a change of a Fault is about, to be looked at again.
pub(crate) fn nodes_of(event: &Event, world: &World<'_>) -> Vec<Object> {
    if !FAULT.is(&event.place) {
        return Vec::new();
    }
    let patterns = [Some(&event.object), event.previous.as_ref()].into_iter().flatten();
    let patterns: Vec<_> = patterns
        .filter_map(|fault| match Fault::of_object(fault).ok()?.what {
            What::NodeDown(name) | What::DiskFull(name) => Some(name),
            _ => None,
        })
        .collect();
    if patterns.is_empty() {
        return Vec::new();
    }
    let mut nodes = world.list_all(NODE);
    nodes.retain(|node| patterns.iter().any(|pattern| pattern.matches(node.name())));
    nodes
}

/// A step as the API server sees it, for faults. Events are lost anyway if they do not get through.
pub(crate) fn request(step: &Step) -> Option<Attributes> {
    let of = |verb: &str, group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| {
        Some(Attributes {
            verb: verb.into(),
            group: group.into(),
            resource: resource.into(),
            subresource: subresource.into(),
            namespace: namespace.into(),
            name: name.into(),
            ..Attributes::default()
        })
    };
    let keyed = |verb: &str, key: &Key, part: &str| {
        of(verb, &key.place.group, &key.place.resource, part, &key.namespace, &key.name)
    };
    match step {
        Step::Create { kind, object, .. } => {
            of("create", kind.group, kind.resource, "", object.namespace(), object.name())
        }
        Step::Update { kind, object } => {
            of("update", kind.group, kind.resource, "", object.namespace(), object.name())
        }
        Step::Status { kind, object } => {
            of("update", kind.group, kind.resource, "status", object.namespace(), object.name())
        }
        Step::Apply { key, subresource, .. } => keyed("patch", key, subresource),
        Step::Merge { key, .. } => keyed("patch", key, ""),
        Step::Scale { key, .. } => keyed("patch", key, "scale"),
        Step::Delete { key, .. } => keyed("delete", key, ""),
        Step::Unfinalize { key, .. } | Step::Disown { key, .. } => keyed("update", key, ""),
        Step::Bind { pod, .. } => of("create", "", "pods", "binding", pod.namespace(), pod.name()),
        Step::Finalize { namespace } => of("update", "", "namespaces", "finalize", "", namespace.name()),
        Step::Announce(_) => None,
    }
}
