//! Why an application that differs from Git is left as it is.

use lynceus_api::{
    Application, ApplicationConditionType, OperationPhase, Reason, ReasonCode, SyncStatusCode,
};

use crate::look::Look;

/// What keeps an application from being synced, if something does. A sync that is about to begin is held by nothing.
pub(super) fn held(application: &Application, look: &Look) -> Option<Reason> {
    let Some(policy) = application.spec.automated() else {
        return Some(Reason::new(
            ReasonCode::SyncIsManual,
            "it does not sync by itself, and nobody has asked for a sync",
        ));
    };
    let refused = application
        .status
        .conditions
        .iter()
        .find(|condition| condition.type_.known() == Some(ApplicationConditionType::SyncError));
    if let Some(condition) = refused {
        let since = condition.last_transition_time;
        return Some(
            Reason::new(ReasonCode::SyncFailed, &condition.message)
                .since(since)
                .because(failures(application)),
        );
    }
    let mut differing =
        look.assessment.resources.iter().filter(|one| one.status == SyncStatusCode::OutOfSync);
    if !policy.prunes() && differing.all(|one| one.requires_pruning) {
        let words = "what is left is no longer in Git, and it does not prune by itself";
        return Some(Reason::new(ReasonCode::PruningIsOff, words));
    }
    let revision = look.sourced.first().map(|one| &one.revision)?;
    let state = application.status.operation_state.as_ref()?;
    let is_synced = state.phase == OperationPhase::Succeeded
        && state
            .sync_result
            .as_ref()
            .is_some_and(|result| result.revision == *revision || result.revisions.first() == Some(revision));
    if !is_synced {
        return None;
    }
    if policy.heals() {
        // The pauses between two attempts grow; when the next one is due is the queue's affair.
        let words = "it was synced to this revision and has changed again; it is mended after a pause";
        return Some(Reason::new(ReasonCode::HealingPauses, words));
    }
    let words = "it was synced to this revision and has changed since, and it does not heal by itself";
    Some(Reason::new(ReasonCode::HealingIsOff, words))
}

/// What the last sync said of the objects that it could not apply.
fn failures(application: &Application) -> Vec<Reason> {
    let result = application.status.operation_state.as_ref().and_then(|state| state.sync_result.as_ref());
    let resources = result.map(|result| result.resources.as_slice()).unwrap_or_default();
    let failed = resources.iter().filter(|one| {
        one.status == lynceus_api::ResultCode::SyncFailed
            || one.hook_phase.known().is_some_and(OperationPhase::is_unsuccessful)
    });
    let told = failed.map(|one| {
        let key = lynceus_object::ObjectKey::new(
            one.group.clone(),
            one.kind.clone(),
            one.namespace.clone(),
            one.name.clone(),
        );
        Reason::new(ReasonCode::Failed, format!("{} {}: {}", one.kind, one.name, one.message)).about(key)
    });
    told.collect()
}
