//! How long a repository that cannot be read changes nothing: a server that is started anew is no news.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lynceus_api::{Application, ApplicationConditionType};
use lynceus_source::SourceError;
use tracing::warn;

use crate::engine::Engine;
use crate::key::AppKey;
use crate::look::Look;
use crate::queue::Freshness;
use crate::rendering::RenderingError;

/// Since when applications' repositories cannot be read, on the monotonic clock. A process that begins counts anew.
#[derive(Default)]
pub(crate) struct Grace(Mutex<HashMap<AppKey, Duration>>);

impl Grace {
    /// When an application's time is up, if its repository cannot be read now; none if it can be again.
    fn until(&self, key: &AppKey, unfetched: bool, period: Duration, now: Duration) -> Option<Duration> {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !unfetched {
            since.remove(key);
            return None;
        }
        Some(since.entry(key.clone()).or_insert(now).saturating_add(period))
    }

    pub(crate) fn forget(&self, key: &AppKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

impl Engine {
    /// Whether a look is passed over because its repository has not been away for long. Who asked for a look is told at
    /// once, and of what was never compared there is no former state to keep.
    pub(crate) fn passes_over(&self, application: &Application, look: &Look, asked: bool) -> bool {
        let key = AppKey::of(application);
        let now = self.clock().monotonic();
        let until = self.grace.until(&key, look.unfetched, self.settings().repo_error_grace, now);
        let Some(until) = until.filter(|until| !asked && now < *until && is_good(application)) else {
            return false;
        };
        let why: Vec<&str> = look.errors().map(|condition| condition.message.as_str()).collect();
        warn!(application = %key, why = why.join("; "), "its repository cannot be read; nothing is said of it yet");
        self.queue.add(key, until, Freshness::Latest);
        true
    }
}

/// Whether the status tells of a comparison with the sources that the application has now, after its last sync.
fn is_good(application: &Application) -> bool {
    let (spec, status) = (&application.spec, &application.status);
    let compared = &status.sync.compared_to;
    let same = match spec.has_multiple_sources() {
        true => compared.sources == spec.sources,
        false => Some(&compared.source) == spec.all_sources().first(),
    };
    let finished = status.operation_state.as_ref().and_then(|state| state.finished_at);
    let is_error = |condition: &lynceus_api::ApplicationCondition| {
        condition.type_.known() == Some(ApplicationConditionType::ComparisonError)
    };
    same && status.reconciled_at >= finished && !status.conditions.iter().any(is_error)
}

/// Whether an error is of the way to a repository, and not of what is in it or of what is asked of it.
pub(crate) fn is_of_the_way(error: &RenderingError) -> bool {
    match error {
        RenderingError::Source { source, .. } | RenderingError::Need { source, .. } => match &**source {
            SourceError::Certificate { .. }
            | SourceError::HostKey { .. }
            | SourceError::Authentication { .. }
            | SourceError::RepositoryNotFound { .. }
            | SourceError::Protocol { .. }
            | SourceError::Corrupt { .. }
            | SourceError::Storage { .. } => true,
            other => other.is_transient(),
        },
        RenderingError::Interrupted | RenderingError::Overdue { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_counted_from_the_first_failure_and_anew_after_a_success() {
        let grace = Grace::default();
        let key = AppKey::new("argocd", "shop");
        let seconds = Duration::from_secs;
        let until = |unfetched, now| grace.until(&key, unfetched, seconds(180), seconds(now));
        assert_eq!(until(true, 10), Some(seconds(190)));
        assert_eq!(until(true, 100), Some(seconds(190)));
        assert_eq!(until(false, 120), None);
        assert_eq!(until(true, 130), Some(seconds(310)));
    }
}
