//! What a sync waits for, on the Application, where any reader can see it.
//!
//! Argo CD's status has a place for a sentence only. The structured form stands in an annotation, which no definition of
//! Application prunes.

use lynceus_api::{Application, Reason, Time, Wait};
use lynceus_object::Str;
use serde::{Deserialize, Serialize};

/// The annotation.
pub const WAITING: &str = "lynceus.dev/waiting";

/// What a sync waits for, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitMark {
    /// One for each thing.
    #[serde(rename = "for")]
    pub for_: Vec<Reason>,
    /// Since when.
    pub since: Time,
    /// When it goes on whatever happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl WaitMark {
    /// What the application's sync waits for, if it waits.
    pub fn of(application: &Application) -> Option<Self> {
        serde_json::from_str(application.metadata.annotations.get(WAITING)?).ok()
    }
}

/// A wait that goes on since it was first marked, if it is for the same as the one that is marked.
pub(crate) fn lasting(application: &Application, mut wait: Wait) -> Wait {
    if let Some(marked) = WaitMark::of(application)
        && marked.for_ == WaitMark::from(&wait).for_
    {
        wait.since = marked.since.timestamp();
    }
    wait
}

impl From<&Wait> for WaitMark {
    fn from(wait: &Wait) -> Self {
        WaitMark {
            for_: wait.for_.iter().map(Reason::from).collect(),
            since: wait.since.into(),
            until: wait.until.map(Time::from),
        }
    }
}

/// Marks an application with what its sync waits for, or takes the mark off.
pub(crate) fn mark(application: &mut Application, wait: Option<&Wait>) {
    match wait.and_then(|wait| serde_json::to_string(&WaitMark::from(wait)).ok()) {
        Some(text) => application.metadata.annotations.insert(WAITING.into(), Str::from(text)),
        None => application.metadata.annotations.remove(WAITING),
    };
}
