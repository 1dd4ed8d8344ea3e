//! When a sync that does not end is stopped: a time for all applications, or an application's own.

use std::time::Duration;

use jiff::Timestamp;
use lynceus_api::{
    Application, ApplicationConditionType, OperationPhase, OperationState, annotations, parse_duration,
};

use crate::condition::Condition;
use crate::engine::Engine;
use crate::limits;

/// How long a sync may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// When it is stopped.
    pub(crate) at: Timestamp,
    /// Who says so, as the operation's message names it.
    pub(crate) cause: String,
}

impl Engine {
    /// When an operation is stopped whatever it waits for, if it may not take as long as it likes.
    pub(crate) fn deadline(&self, application: &Application, state: &OperationState) -> Option<Deadline> {
        deadline(application, state, self.settings().sync_timeout)
    }

    /// Has an operation stopped that has taken too long.
    pub(crate) fn stop_if_late(&self, application: &Application, state: &mut OperationState) {
        let is_late = |deadline: Deadline| deadline.at < self.clock().now();
        if state.phase != OperationPhase::Terminating
            && self.deadline(application, state).is_some_and(is_late)
        {
            state.phase = OperationPhase::Terminating.into();
            state.message = "operation is terminating due to timeout".into();
        }
    }

    /// When to look at an operation again: at the latest when it is to be stopped.
    pub(crate) fn look_again(
        &self,
        application: &Application,
        state: &OperationState,
        until: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let Some(deadline) = self.deadline(application, state) else { return until };
        let begun = state.started_at.map(|begun| begun.timestamp());
        let poll = self.clock().now() + self.pause_since(begun);
        // Times on the Application are whole seconds.
        Some(until.unwrap_or(poll).min(deadline.at + limits::OPERATION_POLL))
    }
}

/// An application's own time counts before the one for all. Retries are part of the operation.
fn deadline(
    application: &Application,
    state: &OperationState,
    for_all: Option<Duration>,
) -> Option<Deadline> {
    let started = state.started_at?.timestamp();
    let (time, cause) = match own(application) {
        Some(Ok(time)) => (time, format!("the application's {}", annotations::SYNC_TIMEOUT)),
        _ => (for_all, "controller sync timeout".to_owned()),
    };
    Some(Deadline { at: started.checked_add(time?).ok()?, cause })
}

/// The application's own time; none for as long as it likes.
fn own(application: &Application) -> Option<Result<Option<Duration>, String>> {
    let text = application.metadata.annotations.get(annotations::SYNC_TIMEOUT)?;
    let time = parse_duration(text).map_err(|error| error.to_string());
    let time = time.and_then(|time| Duration::try_from(time).map_err(|_| format!("{text} is in the past")));
    Some(time.map(|time| Some(time).filter(|time| !time.is_zero())))
}

/// What is said of a time that cannot be followed.
pub(crate) fn warning(application: &Application) -> Option<Condition> {
    let why = own(application)?.err()?;
    let message = format!(
        "annotation {} of the Application cannot be followed: {why}; write it as 90s, 10m or 1h",
        annotations::SYNC_TIMEOUT
    );
    Some(Condition::new(ApplicationConditionType::ManifestWarning, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: &str, for_all: Option<u64>) -> String {
        let mut application = Application::default();
        if !own.is_empty() {
            application.metadata.annotations.insert(annotations::SYNC_TIMEOUT.into(), own.into());
        }
        let started_at = Some(Timestamp::UNIX_EPOCH.into());
        let state = OperationState { started_at, ..OperationState::default() };
        let warning = warning(&application).map(|condition| format!(" ({})", condition.message));
        let found = deadline(&application, &state, for_all.map(Duration::from_secs));
        let found =
            found.map_or("never".to_owned(), |found| format!("{} by {}", found.at.as_second(), found.cause));
        format!("{found}{}", warning.unwrap_or_default())
    }

    #[test]
    fn an_application_may_have_a_time_of_its_own() {
        assert_eq!(check("", None), "never");
        assert_eq!(check("", Some(60)), "60 by controller sync timeout");
        assert_eq!(check("10m", Some(60)), "600 by the application's lynceus.dev/sync-timeout");
        assert_eq!(check("0", Some(60)), "never");
        assert_eq!(
            check("soon", Some(60)),
            "60 by controller sync timeout (annotation lynceus.dev/sync-timeout of the Application cannot be followed: \
             unable to parse soon as a duration; write it as 90s, 10m or 1h)"
        );
    }
}
