//! What became of one Application since it was last looked at.

use lynceus_api::{
    Application, ApplicationConditionType, ApplicationSetApplicationStatus, HealthStatusCode, OperationPhase,
    ProgressiveSyncStatusCode as Code, SyncStatusCode, Time,
};
use lynceus_object::{Str, from_typed};

use super::wait::Wants;

/// An Application that was looked at.
pub(super) struct Looked {
    /// What is written down about it.
    pub(super) status: ApplicationSetApplicationStatus,
    /// Its step, counted from 0.
    pub(super) step: Option<usize>,
    /// What it lacks to get further.
    pub(super) wants: Wants,
}

const NEW: &str = "No Application status found, defaulting status to Waiting";
const BOTH_CHANGED: &str =
    "Application has pending changes (revision and spec differ), setting status to Waiting";
const REVISION_CHANGED: &str = "Application has pending changes, setting status to Waiting";
const SPEC_CHANGED: &str = "Application has pending changes (spec differs), setting status to Waiting";
const WAS_HEALTHY: &str = "Application resource has synced, updating status to Healthy";
const WAS_SYNCED: &str = "Application resource has synced, updating status to Progressing";
const SUCCEEDED: &str =
    "Application resource completed a sync successfully, updating status from Pending to Progressing";
const COMPLETED: &str = "Application resource completed a sync, updating status from Pending to Progressing";
const STARTED: &str = "Application resource became Progressing, updating status from Pending to Progressing";
const CANNOT_SYNC: &str = "Application resource has error and cannot sync, updating status to Progressing";
const HEALTHY: &str = "Application resource became Healthy, updating status from Progressing to Healthy";

/// Looks at an Application.
pub(super) fn look(
    app: &Application,
    before: Option<&ApplicationSetApplicationStatus>,
    step: Option<usize>,
    spec_differs: bool,
    now: Time,
) -> Looked {
    let mut status = before.cloned().unwrap_or_else(|| ApplicationSetApplicationStatus {
        application: app.metadata.name.clone(),
        target_revisions: revisions(app),
        last_transition_time: Some(now),
        message: NEW.into(),
        status: Code::Waiting.into(),
        ..ApplicationSetApplicationStatus::default()
    });
    status.step = step.map_or_else(|| "-1".into(), |step| (step + 1).to_string().into());
    let was = status.status.known();
    restart(&mut status, app, spec_differs, now);
    let wants = match status.status.known() {
        Some(Code::Pending) => pending(&mut status, app, now),
        Some(Code::Progressing) if was == Some(Code::Progressing) => progressing(&mut status, app, now),
        Some(Code::Healthy) => Wants::Nothing,
        _ => waiting(&mut status, app, spec_differs, now),
    };
    Looked { status, step, wants }
}

fn to(status: &mut ApplicationSetApplicationStatus, code: Code, message: &str, now: Time) {
    status.status = code.into();
    status.message = message.into();
    status.last_transition_time = Some(now);
}

/// A new revision or spec begins it all anew.
fn restart(status: &mut ApplicationSetApplicationStatus, app: &Application, spec_differs: bool, now: Time) {
    let message = match (status.target_revisions != revisions(app), spec_differs) {
        (true, true) => BOTH_CHANGED,
        (true, false) => REVISION_CHANGED,
        (false, true) => SPEC_CHANGED,
        (false, false) => return,
    };
    status.target_revisions = revisions(app);
    // A wait that goes on is no new one.
    if status.status != Code::Waiting || status.message.as_str() != message {
        to(status, Code::Waiting, message, now);
    }
}

/// One that waits may be done already: not every change needs a sync.
fn waiting(
    status: &mut ApplicationSetApplicationStatus,
    app: &Application,
    spec_differs: bool,
    now: Time,
) -> Wants {
    if spec_differs {
        return Wants::SpecWritten;
    }
    if !is_compared(app) {
        return Wants::Compared;
    }
    if app.status.sync.status != SyncStatusCode::Synced || app.operation.is_some() {
        return Wants::Turn;
    }
    match seen_since_sync(app) {
        Some(wants) => wants,
        None if app.status.health.status == HealthStatusCode::Healthy => {
            to(status, Code::Healthy, WAS_HEALTHY, now);
            Wants::Nothing
        }
        None => {
            to(status, Code::Progressing, WAS_SYNCED, now);
            health(app)
        }
    }
}

/// Its sync has to have started since it was told to.
fn pending(status: &mut ApplicationSetApplicationStatus, app: &Application, now: Time) -> Wants {
    let since = status.last_transition_time;
    let is_new = |time: Option<Time>| time.is_some_and(|time| since.is_none_or(|since| time >= since));
    let message = match &app.status.operation_state {
        Some(state) if is_new(state.started_at) => match state.phase.known() {
            Some(OperationPhase::Succeeded) => SUCCEEDED,
            Some(phase) if phase.is_completed() => COMPLETED,
            _ => STARTED,
        },
        _ if has_error(app) && is_new(app.status.reconciled_at) => CANNOT_SYNC,
        _ => return Wants::SyncStarted { since },
    };
    to(status, Code::Progressing, message, now);
    health(app)
}

/// It has to be Synced and Healthy, as seen after its sync and for the spec that it has now.
fn progressing(status: &mut ApplicationSetApplicationStatus, app: &Application, now: Time) -> Wants {
    if app.operation.is_some() || is_running(app) {
        return Wants::SyncEnded;
    }
    if !is_compared(app) {
        return Wants::Compared;
    }
    if let Some(wants) = seen_since_sync(app) {
        return wants;
    }
    let is_done = app.status.sync.status == SyncStatusCode::Synced
        && app.status.health.status == HealthStatusCode::Healthy;
    if !is_done {
        return health(app);
    }
    to(status, Code::Healthy, HEALTHY, now);
    Wants::Nothing
}

fn health(app: &Application) -> Wants {
    let text = |word: &str| if word.is_empty() { Str::from("Unknown") } else { word.into() };
    Wants::Health {
        sync: text(app.status.sync.status.as_str()),
        health: text(app.status.health.status.as_str()),
    }
}

fn is_running(app: &Application) -> bool {
    let phase = app.status.operation_state.as_ref().and_then(|state| state.phase.known());
    phase.is_some_and(|phase| !phase.is_completed())
}

/// Whether the last comparison was made for the source and destination that the Application has now.
fn is_compared(app: &Application) -> bool {
    let compared = &app.status.sync.compared_to;
    if app.status.sync.status.is_empty() {
        return false;
    }
    let single = app.spec.source.clone().unwrap_or_default();
    let sources = if app.spec.sources.is_empty() {
        are_same(&compared.source, &single)
    } else {
        are_same(&compared.sources, &app.spec.sources)
    };
    sources && are_same(&compared.destination, &app.spec.destination)
}

/// Whether two mean the same. What cannot be written down is never the same, and so opens no gate.
fn are_same(one: &impl serde::Serialize, other: &impl serde::Serialize) -> bool {
    matches!((from_typed(one), from_typed(other)), (Ok(one), Ok(other)) if one == other)
}

/// What is missing until the health that is told is the one after the last sync.
fn seen_since_sync(app: &Application) -> Option<Wants> {
    let finished = app.status.operation_state.as_ref()?.finished_at?;
    let seen = app.status.reconciled_at;
    (seen.is_none_or(|seen| seen < finished)).then_some(Wants::SeenSince { finished })
}

fn has_error(app: &Application) -> bool {
    app.status.conditions.iter().any(|condition| {
        condition.type_ == ApplicationConditionType::InvalidSpecError
            || condition.type_ == ApplicationConditionType::UnknownError
    })
}

/// The revisions that an Application was last compared with.
fn revisions(app: &Application) -> Vec<Str> {
    let sync = &app.status.sync;
    if !sync.revisions.is_empty() {
        return sync.revisions.clone();
    }
    Some(sync.revision.clone()).filter(|revision| !revision.is_empty()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_cannot_be_written_down_is_never_the_same() {
        let unwritable = BTreeMap::from([(vec![1], 1)]);
        assert!(!are_same(&unwritable, &unwritable));
        assert!(are_same(&"a", &"a"));
    }
}
