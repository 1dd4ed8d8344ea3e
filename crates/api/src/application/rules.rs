//! What an application's fields mean when they are not set, and what follows from several of them.

use jiff::{SignedDuration, Timestamp};

use super::Application;
use super::policy::{RetryStrategy, SyncPolicy, SyncPolicyAutomated};
use super::source::ApplicationSource;
use super::spec::ApplicationSpec;
use crate::annotations;
use crate::duration::{DurationError, parse_duration};
use crate::options::Options;

/// The address that means the cluster which the engine itself runs in.
pub const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";
/// The name that means the same cluster.
pub const IN_CLUSTER_NAME: &str = "in-cluster";
/// The project of applications that name none.
pub const DEFAULT_PROJECT: &str = "default";
/// How many deployments are remembered where the spec does not say.
pub const REVISION_HISTORY_LIMIT: i64 = 10;

const RETRY_WAIT: SignedDuration = SignedDuration::from_secs(5);
const RETRY_WAIT_MAX: SignedDuration = SignedDuration::from_secs(180);
const RETRY_FACTOR: i64 = 2;

impl ApplicationSpec {
    /// Whether the application is one of several sources, which its status then shows in lists.
    pub fn has_multiple_sources(&self) -> bool {
        self.source_hydrator.is_none() && !self.sources.is_empty()
    }

    /// All sources, whichever way they are written down.
    pub fn all_sources(&self) -> Vec<ApplicationSource> {
        if let Some(hydrator) = &self.source_hydrator {
            let (dry, sync) = (&hydrator.dry_source, &hydrator.sync_source);
            let repo = if sync.repo_url.is_empty() { &dry.repo_url } else { &sync.repo_url };
            return vec![ApplicationSource {
                repo_url: repo.clone(),
                path: sync.path.clone(),
                target_revision: sync.target_branch.clone(),
                ..ApplicationSource::default()
            }];
        }
        if self.has_multiple_sources() { self.sources.clone() } else { self.source.iter().cloned().collect() }
    }

    /// The automated policy, if it is on.
    pub fn automated(&self) -> Option<&SyncPolicyAutomated> {
        self.sync_policy.as_ref().and_then(SyncPolicy::automated)
    }
}

impl Application {
    /// Whether somebody has approved since then that what asks for confirmation may be pruned or deleted. A time that
    /// cannot be read approves nothing.
    pub fn is_deletion_approved(&self, since: Timestamp) -> bool {
        let approved = self.metadata.annotations.get(annotations::DELETION_APPROVED);
        approved.and_then(|text| text.parse::<Timestamp>().ok()).is_some_and(|at| at >= since)
    }

    /// The sync options of the policy.
    pub fn sync_options(&self) -> Options {
        let policy = self.spec.sync_policy.as_ref();
        Options::from(policy.map(|policy| policy.sync_options.as_slice()).unwrap_or_default())
    }
}

impl SyncPolicy {
    /// The automated policy, if it is on.
    pub fn automated(&self) -> Option<&SyncPolicyAutomated> {
        self.automated.as_ref().filter(|automated| automated.enabled != Some(false))
    }
}

impl SyncPolicyAutomated {
    /// Whether objects that left the source are deleted.
    pub fn prunes(&self) -> bool {
        self.prune == Some(true)
    }

    /// Whether changes in the cluster are undone.
    pub fn heals(&self) -> bool {
        self.self_heal == Some(true)
    }

    /// Whether the source may have no object at all.
    pub fn allows_empty(&self) -> bool {
        self.allow_empty == Some(true)
    }
}

impl RetryStrategy {
    /// When a failed attempt is repeated, after `retries` repetitions before it.
    pub fn next_retry_at(&self, failed_at: Timestamp, retries: i64) -> Result<Timestamp, DurationError> {
        let backoff = self.backoff.as_ref();
        let read = |text: Option<&str>, default| match text {
            None | Some("") => Ok(default),
            Some(text) => parse_duration(text),
        };
        let first = read(backoff.map(|backoff| backoff.duration.as_str()), RETRY_WAIT)?;
        let longest = read(backoff.map(|backoff| backoff.max_duration.as_str()), RETRY_WAIT_MAX)?;
        let factor = backoff.and_then(|backoff| backoff.factor).unwrap_or(RETRY_FACTOR);
        let mut seconds = first.as_secs_f64() * (factor as f64).powf(retries as f64);
        if longest > SignedDuration::ZERO {
            seconds = seconds.min(longest.as_secs_f64());
        }
        let wait = SignedDuration::try_from_secs_f64(seconds).unwrap_or(SignedDuration::MAX);
        Ok(failed_at.saturating_add(wait).unwrap_or(failed_at))
    }

    /// Whether another attempt is allowed after `retries` repetitions.
    pub fn allows(&self, retries: i64) -> bool {
        self.limit < 0 || retries < self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::Backoff;

    fn wait(strategy: &RetryStrategy, retries: i64) -> i64 {
        strategy.next_retry_at(Timestamp::UNIX_EPOCH, retries).unwrap().as_second()
    }

    #[test]
    fn waits_grow_up_to_their_maximum() {
        let strategy = RetryStrategy::default();
        assert_eq!([0, 1, 2, 10].map(|retries| wait(&strategy, retries)), [5, 10, 20, 180]);
        let backoff = Backoff {
            duration: "10".into(),
            factor: Some(3),
            max_duration: "1m".into(),
            ..Backoff::default()
        };
        let strategy = RetryStrategy { backoff: Some(backoff), ..RetryStrategy::default() };
        assert_eq!([0, 1, 2].map(|retries| wait(&strategy, retries)), [10, 30, 60]);
    }

    #[test]
    fn what_was_approved_before_it_was_asked_for_is_not_approved() {
        let since = "2026-01-02T00:00:00Z".parse().unwrap();
        let approved = |text: &str| {
            let mut application = Application::default();
            application.metadata.annotations.insert(annotations::DELETION_APPROVED.into(), text.into());
            application.is_deletion_approved(since)
        };
        assert!(approved("2026-01-02T00:00:00Z"));
        assert!(approved("2026-01-02T03:00:00.5+02:00"));
        assert!(!approved("2026-01-01T23:59:59Z"));
        assert!(!approved("true"));
        assert!(!Application::default().is_deletion_approved(since));
    }

    #[test]
    fn a_wait_that_cannot_be_read_is_an_error() {
        let backoff = Backoff { duration: "soon".into(), ..Backoff::default() };
        let strategy = RetryStrategy { backoff: Some(backoff), ..RetryStrategy::default() };
        let error = strategy.next_retry_at(Timestamp::UNIX_EPOCH, 0).unwrap_err();
        assert_eq!(error.to_string(), "unable to parse soon as a duration");
    }
}
