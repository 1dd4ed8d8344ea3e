//! Why an application that differs from Git is left as it is.

use jiff::Timestamp;
use lynceus_api::{Application, OperationPhase, Reason, ReasonCode, SyncPolicyAutomated, SyncStatusCode};
use lynceus_sync::windows::Attempt;

use super::failure;
use crate::look::Look;
use crate::window;

/// What keeps an application from being synced, if something does. A sync that is about to begin is held by nothing.
pub(super) fn held(
    application: &Application,
    look: &Look,
    now: Timestamp,
    step: Option<Reason>,
) -> Option<Reason> {
    // Somebody asked, by hand or by policy, and this came of it: nothing else explains more.
    if let Some(failed) = failure::last(application, look) {
        return Some(failed);
    }
    if step.is_some() {
        return step;
    }
    let Some(policy) = application.spec.automated() else {
        let words = "it does not sync by itself, and nobody has asked for a sync";
        return Some(Reason::new(ReasonCode::SyncIsManual, words));
    };
    pruning(policy, look)
        .or_else(|| healing(application, policy, look))
        .or_else(|| closed(application, look, now))
        .or_else(|| {
            // The pauses between two attempts grow; when the next one is due is the queue's affair.
            let words = "it was synced to this revision and has changed again; it is mended after a pause";
            is_synced(application, look).then(|| Reason::new(ReasonCode::HealingPauses, words))
        })
}

/// What is no longer in Git, and what the policy makes of it.
fn pruning(policy: &SyncPolicyAutomated, look: &Look) -> Option<Reason> {
    let resources = &look.assessment.resources;
    let is_in_sync = |status: SyncStatusCode| status == SyncStatusCode::Synced;
    let mut differing =
        resources.iter().filter(|one| one.status.known().is_some_and(|status| !is_in_sync(status)));
    if !policy.prunes() {
        let words = "what is left is no longer in Git, and it does not prune by itself";
        let only = differing.all(|one| one.requires_pruning);
        return only.then(|| Reason::new(ReasonCode::PruningIsOff, words));
    }
    let empties = !resources.is_empty() && resources.iter().all(|one| one.requires_pruning);
    let words = "nothing of it is left in Git, and it does not delete all of its objects by itself; allowEmpty lets it";
    (empties && !policy.allows_empty()).then(|| Reason::new(ReasonCode::WouldEmpty, words))
}

fn healing(application: &Application, policy: &SyncPolicyAutomated, look: &Look) -> Option<Reason> {
    let words = "it was synced to this revision and has changed since, and it does not heal by itself";
    (!policy.heals() && is_synced(application, look)).then(|| Reason::new(ReasonCode::HealingIsOff, words))
}

/// A sync would begin now if the project's windows let it.
fn closed(application: &Application, look: &Look, now: Timestamp) -> Option<Reason> {
    let wait = window::closed(application, look.project.as_deref()?, Attempt::default(), now)?;
    wait.for_.first().map(Reason::from)
}

/// Whether the last sync brought what Git has now.
fn is_synced(application: &Application, look: &Look) -> bool {
    let Some(revision) = look.sourced.first().map(|one| &one.revision) else { return false };
    let Some(state) = &application.status.operation_state else { return false };
    let is_of = |result: &lynceus_api::SyncOperationResult| {
        result.revision == *revision || result.revisions.first() == Some(revision)
    };
    state.phase == OperationPhase::Succeeded && state.sync_result.as_ref().is_some_and(is_of)
}
