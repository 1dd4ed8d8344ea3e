//! Indexed Jobs: each pod has a number, and each number has to succeed once.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lynceus_object::{Object, Value, value};

use super::policy::{self, Effect};
use crate::controllers::{pods, time};

const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// How many pods of a number failed before this one.
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
/// How many pods of a number failed before this one without counting.
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";
/// The list of the status with the numbers that have succeeded.
pub(super) const COMPLETED: &str = "completedIndexes";
/// The list of the status with the numbers that have failed for good.
pub(super) const FAILED: &str = "failedIndexes";

/// The number of a pod.
pub(super) fn of(pod: &Object) -> Option<i64> {
    pod.annotation(INDEX)?.parse().ok()
}

/// Numbers that have neither ended nor a pod, the lowest first. A pod that stops counts where its Job waits for its end.
pub(super) fn free(job: &Object, pods_of_job: &[Object], status: &Object) -> Vec<i64> {
    let completions = job.value().int_at(&["spec", "completions"]).unwrap_or(0);
    let (done, failed) = (numbers(status, COMPLETED), numbers(status, FAILED));
    let waits = policy::waits_for_end(job);
    let is_there = |pod: &&Object| !pods::is_finished(pod) && (waits || !pod.is_deleting());
    let taken: BTreeSet<i64> = pods_of_job.iter().filter(is_there).filter_map(of).collect();
    (0..completions)
        .filter(|index| !done.contains(index) && !failed.contains(index) && !taken.contains(index))
        .collect()
}

/// Whether each number has a limit of its own.
pub(super) fn has_own_limit(job: &Object) -> bool {
    job.value().int_at(&["spec", "backoffLimitPerIndex"]).is_some()
}

/// How often a number had failed before a pod was made for it: failures that count, and others.
fn failures_before(pod: &Object) -> (i64, i64) {
    let read = |name| pod.annotation(name).and_then(|count| count.parse().ok()).unwrap_or(0);
    (read(FAILURES), read(IGNORED))
}

/// How often the number of a failed pod has failed, with this pod.
fn failures_with(job: &Object, pod: &Object) -> (i64, i64) {
    let (counted, ignored) = failures_before(pod);
    match policy::effect(job, pod) {
        Effect::Ignore => (counted, ignored + 1),
        _ => (counted + 1, ignored),
    }
}

/// Whether the number of a failed pod has failed for good.
pub(super) fn is_given_up(job: &Object, pod: &Object) -> bool {
    let limit = job.value().int_at(&["spec", "backoffLimitPerIndex"]).unwrap_or(i64::MAX);
    match policy::effect(job, pod) {
        Effect::FailIndex => true,
        Effect::Ignore => false,
        Effect::Count | Effect::FailJob(_) => failures_before(pod).0 >= limit,
    }
}

/// The last failed pod of each number that is to be tried again: it stays until there is the next, which has to know
/// how many there were before it.
pub(super) fn awaiting<'a>(
    job: &Object,
    failed: &[&'a Object],
    pods_of_job: &[Object],
    status: &Object,
) -> BTreeMap<i64, &'a Object> {
    let open: BTreeSet<i64> = free(job, pods_of_job, status).into_iter().collect();
    let mut last: BTreeMap<i64, &Object> = BTreeMap::new();
    for pod in failed {
        let Some(index) = of(pod).filter(|index| open.contains(index)) else { continue };
        let tries = |pod: &Object| failures_before(pod).0 + failures_before(pod).1;
        let known = last.entry(index).or_insert(pod);
        if tries(pod) >= tries(known) {
            *known = pod;
        }
    }
    last
}

/// Until when to wait before a failed pod's number is tried again.
pub(super) fn again_at(job: &Object, failed: &Object, first: i64, longest: i64) -> Option<Timestamp> {
    let (counted, ignored) = failures_with(job, failed);
    let doublings = u32::try_from(counted + ignored - 1).unwrap_or(0).min(16);
    Some(time::after(super::tally::ended_at(failed)?, (first << doublings).min(longest)))
}

/// Writes on a pod how often its number has failed before.
pub(super) fn remember(pod: &mut Object, job: &Object, replaced: Option<&Object>) {
    let (counted, ignored) = replaced.map_or((0, 0), |failed| failures_with(job, failed));
    pod.set_annotation(FAILURES, counted.to_string());
    if ignored > 0 {
        pod.set_annotation(IGNORED, ignored.to_string());
    }
}

/// Gives a pod its number: in its name, as a label and annotation, and in the environment of its containers.
pub(super) fn label(pod: &mut Object, job: &Object, index: i64) {
    let text = index.to_string();
    pod.set(&["metadata", "generateName"], format!("{}-{text}-", job.name()));
    pod.set_annotation(INDEX, text.as_str());
    pod.set_label(INDEX, text.as_str());
    pod.set(&["spec", "hostname"], format!("{}-{text}", job.name()));
    for list in ["initContainers", "containers"] {
        let Some(Value::Seq(containers)) = pod.value_mut().at_mut(&["spec", list]) else { continue };
        for container in containers.make_mut() {
            let mut env = container.items_at(&["env"]).to_vec();
            let field = value!({"fieldRef": {"apiVersion": "v1", "fieldPath": format!("metadata.labels['{INDEX}']")}});
            env.push(value!({"name": "JOB_COMPLETION_INDEX", "valueFrom": field}));
            container.set(&["env"], env);
        }
    }
}

/// Adds numbers to those that have succeeded. Gives how many there are.
pub(super) fn complete(status: &mut Object, more: &[i64]) -> i64 {
    let mut done = numbers(status, COMPLETED);
    done.extend(more);
    if !done.is_empty() {
        status.set(&["status", COMPLETED], print(&done));
    }
    done.len() as i64
}

/// Adds numbers to those that have failed for good. The list is there even if it is empty.
pub(super) fn give_up(status: &mut Object, more: impl Iterator<Item = i64>) {
    let mut failed = numbers(status, FAILED);
    failed.extend(more);
    status.set(&["status", FAILED], print(&failed));
}

/// The numbers in a list of the status.
pub(super) fn numbers(status: &Object, list: &str) -> BTreeSet<i64> {
    read(status.value().str_at(&["status", list]).unwrap_or_default())
}

/// Reads numbers as [`print`] writes them.
pub(super) fn read(text: &str) -> BTreeSet<i64> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<i64>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// Numbers as `0,2-4`: two in a row are listed, more become a range.
fn print(done: &BTreeSet<i64>) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for index in done {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let parts: Vec<String> = ranges
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first},{last}"),
            _ => format!("{first}-{last}"),
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::JOB;

    #[test]
    fn numbers_are_kept_as_ranges() {
        let mut job = JOB.named("shop", "index");
        assert_eq!(complete(&mut job, &[0, 2, 3, 4]), 4);
        assert_eq!(job.value().str_at(&["status", "completedIndexes"]), Some("0,2-4"));
        assert_eq!(complete(&mut job, &[1]), 5);
        assert_eq!(job.value().str_at(&["status", "completedIndexes"]), Some("0-4"));
        assert_eq!(complete(&mut job, &[6, 7]), 7);
        assert_eq!(job.value().str_at(&["status", "completedIndexes"]), Some("0-4,6,7"));
    }
}
