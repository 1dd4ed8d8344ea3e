//! The garbage collector: objects go with their owners.

use lynceus_object::{Object, OwnerRef, Str};

use super::key::Key;
use super::steps::{Deletion, Step, Steps};
use super::world::World;
use super::{Controller, Writer, manager};
use crate::store::{Event, EventKind};
use lynceus_object::Propagation;

/// On an owner: wait until its dependents are gone.
const FOREGROUND: &str = "foregroundDeletion";
/// On an owner: let its dependents stay.
const ORPHAN: &str = "orphan";

/// Deletes what nobody owns any more.
pub(crate) struct Garbage;

impl Controller for Garbage {
    fn component(&self) -> &'static str {
        "garbage-collector-controller"
    }

    fn writer(&self) -> Writer {
        manager!("generic-garbage-collector")
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        let own = || Key::of(&event.place, object);
        match event.kind {
            EventKind::Deleted => {
                wake.extend(world.graph.dependents(object.uid()).cloned());
                // An owner that waits for its dependents may be able to go now.
                wake.extend(object.owners().filter_map(|owner| world.graph.find(&owner.uid).cloned()));
            }
            EventKind::Added if !object.value().items_at(&["metadata", "ownerReferences"]).is_empty() => {
                wake.push(own());
            }
            EventKind::Added | EventKind::Modified => {
                if object.is_deleting()
                    && object.finalizers().any(|name| name == FOREGROUND || name == ORPHAN)
                {
                    wake.push(own());
                }
                let before = event.previous.as_ref().and_then(|old| old.at(&["metadata", "ownerReferences"]));
                if object.at(&["metadata", "ownerReferences"]) != before {
                    wake.push(own());
                    let owners = event.previous.iter().flat_map(Object::owners);
                    wake.extend(owners.filter_map(|owner| world.graph.find(&owner.uid).cloned()));
                }
            }
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(object) = world.find(key) else { return };
        if object.is_deleting() {
            let holds = |name: &str| object.finalizers().any(|finalizer| finalizer == name);
            if holds(ORPHAN) {
                orphan_dependents(key, &object, world, out);
            } else if holds(FOREGROUND) {
                wait_for_dependents(key, &object, world, out);
            }
            return;
        }
        collect(key, &object, world, out);
    }
}

/// What has become of an owner.
enum Owner {
    Solid,
    Waiting,
    Gone(Str),
}

fn state_of(owner: &OwnerRef, object: &Object, world: &World<'_>) -> Owner {
    let found = world
        .graph
        .find(&owner.uid)
        // An owner is in the same namespace or in none: another one of the same uid is a mistake.
        .filter(|key| key.namespace.is_empty() || key.namespace == object.namespace())
        .and_then(|key| world.find(key));
    match found {
        Some(found) if found.is_deleting() && found.finalizers().any(|name| name == FOREGROUND) => {
            Owner::Waiting
        }
        Some(_) => Owner::Solid,
        // A kind that is not served says nothing about whether the owner exists.
        None if !world.serves(&owner.api_version, &owner.kind) => Owner::Solid,
        None => Owner::Gone(owner.uid.clone()),
    }
}

/// Deletes an object none of whose owners is left, and takes off those that are not.
fn collect(key: &Key, object: &Object, world: &World<'_>, out: &mut Steps) {
    let mut gone = Vec::new();
    let (mut solid, mut waiting) = (0, Vec::new());
    for owner in object.owners() {
        match state_of(&owner, object, world) {
            Owner::Solid => solid += 1,
            Owner::Waiting => waiting.push(owner),
            Owner::Gone(uid) => gone.push(uid),
        }
    }
    if solid > 0 {
        gone.extend(waiting.into_iter().map(|owner| owner.uid));
        if !gone.is_empty() {
            out.steps.push(Step::Disown { key: key.clone(), owners: gone });
        }
        return;
    }
    if gone.is_empty() && waiting.is_empty() {
        return;
    }
    let has_dependents = world.graph.dependents(object.uid()).next().is_some();
    let propagation = if !waiting.is_empty() && has_dependents {
        Propagation::Foreground
    } else if object.finalizers().any(|name| name == ORPHAN) {
        Propagation::Orphan
    } else {
        Propagation::Background
    };
    let how = Deletion { grace: None, propagation: Some(propagation) };
    out.steps.push(Step::Delete { key: key.clone(), uid: object.uid().into(), how });
}

fn wait_for_dependents(key: &Key, object: &Object, world: &World<'_>, out: &mut Steps) {
    let mut blocked = false;
    for dependent in world.graph.dependents(object.uid()) {
        let Some(found) = world.find(dependent) else { continue };
        let blocks = found.owners().any(|owner| owner.uid == object.uid() && owner.block_owner_deletion);
        blocked |= blocks;
        if !found.is_deleting() {
            collect(dependent, &found, world, out);
        }
    }
    if !blocked {
        out.steps.push(Step::Unfinalize { key: key.clone(), finalizer: FOREGROUND });
    }
}

fn orphan_dependents(key: &Key, object: &Object, world: &World<'_>, out: &mut Steps) {
    for dependent in world.graph.dependents(object.uid()) {
        out.steps.push(Step::Disown { key: dependent.clone(), owners: vec![object.uid().into()] });
    }
    out.steps.push(Step::Unfinalize { key: key.clone(), finalizer: ORPHAN });
}
