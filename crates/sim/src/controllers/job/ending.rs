//! How a Job ends.

use std::collections::BTreeSet;

use lynceus_object::{Object, Value};

use super::{index, policy};
use crate::controllers::condition;
use crate::controllers::pods::{self, spec_int};

/// That a Job ends, and how.
pub(super) struct Verdict {
    /// The condition that says so while pods are still there.
    pub(super) target: &'static str,
    /// The condition that says so when all of them are gone.
    pub(super) end: &'static str,
    /// Why, in a word.
    pub(super) reason: String,
    /// Why, in a sentence.
    pub(super) message: String,
}

const SUCCESS: (&str, &str) = ("SuccessCriteriaMet", "Complete");
const FAILURE: (&str, &str) = ("FailureTarget", "Failed");

impl Verdict {
    fn new((target, end): (&'static str, &'static str), reason: &str, message: impl Into<String>) -> Self {
        Verdict { target, end, reason: reason.to_owned(), message: message.into() }
    }

    pub(super) fn success(reason: &str, message: impl Into<String>) -> Self {
        Verdict::new(SUCCESS, reason, message)
    }

    pub(super) fn failure(reason: &str, message: impl Into<String>) -> Self {
        Verdict::new(FAILURE, reason, message)
    }

    /// Whether it is a good end.
    pub(super) fn is_success(&self) -> bool {
        self.target == SUCCESS.0
    }
}

/// The end that was told before: it stays, whatever happens to the pods that are left.
pub(super) fn told(job: &Object) -> Option<Verdict> {
    [SUCCESS, FAILURE].into_iter().find_map(|words| {
        let met = condition::get(job, words.0)?;
        let text = |field| met.str_at(&[field]).unwrap_or_default();
        Some(Verdict::new(words, text("reason"), text("message")))
    })
}

/// The end because of one pod, after which no other has to be tried.
pub(super) fn by_one_pod(job: &Object, pods_of_job: &[Object]) -> Option<Verdict> {
    let failed = pods_of_job.iter().filter(|pod| policy::has_failed(job, pod));
    let mut fatal = failed.filter_map(|pod| match policy::effect(job, pod) {
        policy::Effect::FailJob(message) => Some(message),
        _ => None,
    });
    fatal.next().map(|message| Verdict::failure("PodFailurePolicy", message))
}

/// The end because too much has failed.
pub(super) fn by_failures(job: &Object, pods_of_job: &[Object], failed: i64) -> Option<Verdict> {
    let limit = spec_int(job, &["backoffLimit"], 6);
    let restarts = restarts(pods_of_job);
    // Without a limit the first restart is one too many; with one, the limit itself is.
    let restarted = if limit == 0 { restarts > 0 } else { restarts >= limit };
    let in_place = job.value().str_at(&["spec", "template", "spec", "restartPolicy"]) == Some("OnFailure");
    (failed > limit || in_place && restarted)
        .then(|| Verdict::failure("BackoffLimitExceeded", "Job has reached the specified backoff limit"))
}

/// How many times the containers of pods were started again that have not ended.
fn restarts(pods_of_job: &[Object]) -> i64 {
    let going = pods_of_job.iter().filter(|pod| matches!(pods::phase(pod), "Running" | "Pending"));
    let statuses = going.flat_map(|pod| {
        let of = |list| pod.value().items_at(&["status", list]);
        of("initContainerStatuses").iter().chain(of("containerStatuses"))
    });
    statuses.filter_map(|status| status.int_at(&["restartCount"])).sum()
}

/// The end because indexes have failed for good.
pub(super) fn by_failed_indexes(job: &Object, status: &Object) -> Option<Verdict> {
    job.value().int_at(&["spec", "backoffLimitPerIndex"])?;
    let failed = index::numbers(status, index::FAILED).len() as i64;
    let most = job.value().int_at(&["spec", "maxFailedIndexes"]);
    if most.is_some_and(|most| failed > most) {
        let message = "Job has exceeded the specified maximal number of failed indexes";
        return Some(Verdict::failure("MaxFailedIndexesExceeded", message));
    }
    let all = spec_int(job, &["completions"], 0);
    let over = failed > 0 && failed + index::numbers(status, index::COMPLETED).len() as i64 >= all;
    over.then(|| Verdict::failure("FailedIndexes", "Job has failed indexes"))
}

/// The end because enough of the indexes have succeeded.
pub(super) fn by_success_policy(job: &Object, status: &Object) -> Option<Verdict> {
    let rules = job.value().items_at(&["spec", "successPolicy", "rules"]);
    let done = index::numbers(status, index::COMPLETED);
    let all = spec_int(job, &["completions"], 0);
    let met = rules.iter().position(|rule| !done.is_empty() && is_met(rule, &done, all))?;
    Some(Verdict::success("SuccessPolicy", format!("Matched rules at index {met}")))
}

fn is_met(rule: &Value, done: &BTreeSet<i64>, all: i64) -> bool {
    let least = rule.int_at(&["succeededCount"]);
    match rule.str_at(&["succeededIndexes"]) {
        Some(text) => {
            let mut wanted = index::read(text);
            wanted.retain(|index| *index < all);
            let there = wanted.intersection(done).count() as i64;
            !wanted.is_empty() && there >= least.unwrap_or(wanted.len() as i64)
        }
        None => least.is_some_and(|least| done.len() as i64 >= least),
    }
}
