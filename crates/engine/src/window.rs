//! Whether a project lets an application sync now.

use jiff::Timestamp;
use lynceus_api::{AppProject, Application, OperationState, SyncWindow, Wait, WaitFor};
use lynceus_sync::windows::{Attempt, Gate, Windows};

/// How the windows stand for an application, as `app get` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `Sync Allowed`, `Manual Allowed` or `Sync Denied`.
    pub word: &'static str,
    /// The windows that are for it: `deny:0 22 * * *:8h`.
    pub assigned: Vec<String>,
}

/// How a project's windows stand for an application.
pub fn standing(application: &Application, project: &AppProject, now: Timestamp) -> Standing {
    let is_shut = |manual| closed(application, project, Attempt { manual, started: None }, now).is_some();
    let word = match (is_shut(false), is_shut(true)) {
        (false, _) => "Sync Allowed",
        (true, false) => "Manual Allowed",
        (true, true) => "Sync Denied",
    };
    let assigned = lynceus_sync::windows::assigned(&project.spec.sync_windows, application);
    let name = |window: &SyncWindow| format!("{}:{}:{}", window.kind, window.schedule, window.duration);
    Standing { word, assigned: assigned.into_iter().map(name).collect() }
}

/// What a sync has to wait for, if the project's windows are in its way.
pub fn closed(
    application: &Application,
    project: &AppProject,
    attempt: Attempt,
    now: Timestamp,
) -> Option<Wait> {
    let since = attempt.started.unwrap_or(now);
    let wait = |why: String| Wait::new(vec![WaitFor::SyncWindow(why.into())], since);
    match Windows::of(&project.spec.sync_windows, application) {
        Ok(windows) => match windows.gate(attempt, now) {
            Gate::Open => None,
            Gate::Closed(closed) => Some(Wait { until: closed.opens, ..wait(closed.to_string()) }),
        },
        // It may be one that denies.
        Err(error) => Some(wait(format!("invalid sync windows: {error}"))),
    }
}

/// The sync that is under way, as windows see it.
pub(crate) fn attempt(state: &OperationState) -> Attempt {
    Attempt {
        manual: !state.operation.initiated_by.automated,
        started: state.started_at.map(|at| at.timestamp()),
    }
}

/// The operation's message while it waits for a window, in Argo CD's words: with the reason only where a window cannot be
/// read.
pub(crate) fn message(wait: &Wait) -> String {
    match &wait.for_[..] {
        [WaitFor::SyncWindow(why)] if why.starts_with("invalid sync windows") => format!("{wait}: {why}"),
        _ => wait.to_string(),
    }
}
