//! Counting a Job's pods, each exactly once.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value};

use super::policy::{self, Effect};
use super::{ending, index, is_tracked, uids};
use crate::controllers::pods::{self, set_count};
use crate::controllers::time;

/// What a Job's pods have come to.
pub(super) struct Tally {
    /// How many succeeded.
    pub(super) succeeded: i64,
    /// How many failed.
    pub(super) failed: i64,
    /// Pods that are counted and can be let go.
    pub(super) counted: Vec<Str>,
    /// How many pods are counted but not yet known to be let go.
    pub(super) uncounted: usize,
    /// The last failed pod of each index that is to be tried again; not counted yet.
    pub(super) awaiting: BTreeMap<i64, Object>,
}

impl Tally {
    /// Counts pods that have ended since the last look. A pod is written down beside the counts in the same
    /// write that counts it, and crossed out once its finalizer is gone.
    pub(super) fn take(job: &Object, pods_of_job: &[Object], new: &mut Object) -> Self {
        let indexed = job.value().str_at(&["spec", "completionMode"]) == Some("Indexed");
        let number = |field| job.value().int_at(&["status", field]).unwrap_or(0);
        let (mut succeeded, mut failed) = (number("succeeded"), number("failed"));
        let mut counted = Vec::new();
        let mut lists = [("succeeded", uids(job, "succeeded")), ("failed", uids(job, "failed"))];
        let known = |lists: &[(&str, Vec<Str>); 2], uid: &str| {
            lists.iter().any(|(_, list)| list.iter().any(|known| known == uid))
        };
        let (mut new_indexes, mut failing) = (Vec::new(), Vec::new());
        for pod in pods_of_job.iter().filter(|pod| is_tracked(pod)) {
            if known(&lists, pod.uid()) {
                counted.push(pod.uid().into());
            } else if pods::phase(pod) == "Succeeded" {
                succeeded += 1;
                new_indexes.extend(index::of(pod));
                lists[0].1.push(pod.uid().into());
            } else if policy::has_failed(job, pod) {
                failing.push(pod);
            }
        }
        if indexed {
            succeeded = index::complete(new, &new_indexes);
        }
        let mut awaiting = BTreeMap::new();
        if index::has_own_limit(job) {
            let given_up = failing.iter().filter(|pod| index::is_given_up(job, pod));
            index::give_up(new, given_up.filter_map(|pod| index::of(pod)));
            // When the Job ends, nobody is tried again.
            if ending::told(job).is_none() {
                awaiting = index::awaiting(job, &failing, pods_of_job, new);
            }
        }
        for pod in failing {
            if awaiting.values().any(|waiting| waiting.uid() == pod.uid()) {
                continue;
            }
            if policy::effect(job, pod) == Effect::Ignore {
                counted.push(pod.uid().into());
            } else {
                failed += 1;
                lists[1].1.push(pod.uid().into());
            }
        }
        let awaiting: BTreeMap<i64, Object> =
            awaiting.into_iter().map(|(index, pod)| (index, pod.clone())).collect();
        let held = |uid: &Str| pods_of_job.iter().any(|pod| pod.uid() == uid && is_tracked(pod));
        let mut uncounted = 0;
        for (field, list) in &mut lists {
            list.retain(held);
            uncounted += list.len();
            set_list(new, field, list);
        }
        set_count(new, "succeeded", succeeded);
        set_count(new, "failed", failed);
        Tally { succeeded, failed, counted, uncounted, awaiting }
    }

    /// Until when to wait before another pod is made, because pods have failed.
    pub(super) fn backoff_until(
        &self,
        pods_of_job: &[Object],
        first: i64,
        longest: i64,
    ) -> Option<Timestamp> {
        let mut failures: Vec<Timestamp> =
            pods_of_job.iter().filter(|pod| pods::phase(pod) == "Failed").filter_map(ended_at).collect();
        let last_success =
            pods_of_job.iter().filter(|pod| pods::phase(pod) == "Succeeded").filter_map(ended_at).max();
        failures.retain(|at| last_success.is_none_or(|success| *at > success));
        let last = *failures.iter().max()?;
        let doublings = u32::try_from(failures.len() - 1).unwrap_or(0).min(16);
        Some(time::after(last, (first << doublings).min(longest)))
    }
}

/// When the last of a pod's containers ended.
pub(super) fn ended_at(pod: &Object) -> Option<Timestamp> {
    let statuses = pod.value().items_at(&["status", "containerStatuses"]);
    statuses.iter().filter_map(|status| time::read(status.at(&["state", "terminated", "finishedAt"]))).max()
}

fn set_list(new: &mut Object, field: &str, list: &[Str]) {
    let path = ["status", "uncountedTerminatedPods", field];
    if list.is_empty() {
        new.remove(&path);
    } else {
        new.set(&path, list.iter().cloned().collect::<Value>());
    }
}
