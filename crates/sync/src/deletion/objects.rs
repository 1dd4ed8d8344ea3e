//! The objects of an application that is deleted, wave by wave, the last one first.

use std::collections::BTreeSet;

use lynceus_api::options::sync;
use lynceus_api::{Options, WaitFor, annotations, finalizers, wave};
use lynceus_object::{Object, ObjectKey, Propagation};

use super::{Decision, Situation, departure, needs_confirmation};
use crate::action::{Action, ActionId, Deed};
use crate::order::is_definition;

/// Deletes the objects of the highest wave that is left. Those of the next follow when all of them are gone.
pub(super) fn delete(situation: &Situation<'_>, propagation: Propagation) -> Decision {
    let policy = situation.application.sync_options();
    let going: Vec<&Object> =
        situation.live.iter().filter(|object| goes(situation, &policy, object)).collect();
    if going.is_empty() {
        let ours = situation.application.metadata.finalizers.iter();
        return Decision::Release(
            ours.filter(|finalizer| finalizers::deletes_resources(finalizer)).cloned().collect(),
        );
    }
    // A hook's finalizer is ours; nobody else will take it off.
    let is_ours = |object: &&Object| object.finalizers().any(|finalizer| finalizer == finalizers::HOOK);
    let mut deeds: Vec<(&Object, Deed)> =
        going.iter().copied().filter(is_ours).map(|object| (object, Deed::RemoveHookFinalizer)).collect();
    let leaving: Vec<&Object> = going.iter().copied().filter(|object| object.is_deleting()).collect();
    if !leaving.is_empty() {
        return waiting(deeds, &leaving);
    }
    let unconfirmed = unconfirmed(situation, &going);
    if !unconfirmed.is_empty() {
        return Decision::Wait { actions: Vec::new(), for_: unconfirmed };
    }
    let last = going.iter().map(|object| wave(object)).max().unwrap_or_default();
    let now: Vec<&Object> = going.into_iter().filter(|object| wave(object) == last).collect();
    deeds.extend(now.iter().map(|object| (*object, Deed::Prune(propagation))));
    waiting(deeds, &now)
}

fn waiting(deeds: Vec<(&Object, Deed)>, for_: &[&Object]) -> Decision {
    let for_ = for_.iter().map(|object| departure(object, false)).collect();
    Decision::Wait { actions: actions(deeds), for_ }
}

/// Whether an object goes with its application: not one that asks to stay, no definition, because every object of its
/// kind would go too, and not the application itself.
fn goes(situation: &Situation<'_>, policy: &Options, object: &Object) -> bool {
    let own = Options::sync(object);
    let stays = own.value(sync::DELETE).or_else(|| policy.value(sync::DELETE)) == Some(sync::FALSE)
        || Options::of(object, annotations::HELM_RESOURCE_POLICY).has("keep");
    !stays && !is_definition(object) && object.key() != *situation.key && object.controller().is_none()
}

/// What somebody has to confirm before anything is deleted.
fn unconfirmed(situation: &Situation<'_>, going: &[&Object]) -> Vec<WaitFor> {
    let application = situation.application;
    let asked = application.metadata.deletion_timestamp.map(|at| at.timestamp()).unwrap_or_default();
    if application.is_deletion_approved(asked) {
        return Vec::new();
    }
    let policy = application.sync_options();
    let listed = application.status.resources.iter().filter(|one| one.requires_deletion_confirmation);
    let listed: BTreeSet<ObjectKey> = listed
        .map(|one| {
            ObjectKey::new(one.group.clone(), one.kind.clone(), one.namespace.clone(), one.name.clone())
        })
        .collect();
    going
        .iter()
        .filter(|object| needs_confirmation(object, &policy) || listed.contains(&object.key()))
        .map(|object| WaitFor::DeletionConfirmation(object.key()))
        .collect()
}

/// Deeds with numbers.
pub(super) fn actions<'a>(deeds: impl IntoIterator<Item = (&'a Object, Deed)>) -> Vec<Action> {
    let action = |(at, (object, deed)): (usize, (&Object, Deed))| Action {
        id: ActionId(at),
        object: object.clone(),
        deed,
    };
    deeds.into_iter().enumerate().map(action).collect()
}
