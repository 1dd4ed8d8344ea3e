//! What a sync waits for, on the Application, where any reader can see it.
//!
//! Argo CD's status has a place for a sentence only. The structured form stands in an annotation, which no definition of
//! Application prunes.

use lynceus_api::{Application, Wait};
use lynceus_object::Str;
use serde::{Deserialize, Serialize};

/// The annotation.
pub const WAITING: &str = "lynceus.dev/waiting";

/// What a sync waits for, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitMark {
    /// One line per thing.
    #[serde(rename = "for")]
    pub for_: Vec<String>,
    /// Since when, as RFC 3339.
    pub since: String,
    /// When it goes on whatever happens, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl WaitMark {
    /// What the application's sync waits for, if it waits.
    pub fn of(application: &Application) -> Option<Self> {
        serde_json::from_str(application.metadata.annotations.get(WAITING)?).ok()
    }
}

impl From<&Wait> for WaitMark {
    fn from(wait: &Wait) -> Self {
        WaitMark {
            for_: wait.for_.iter().map(ToString::to_string).collect(),
            since: lynceus_api::Time::from(wait.since).to_string(),
            until: wait.until.map(|until| lynceus_api::Time::from(until).to_string()),
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
