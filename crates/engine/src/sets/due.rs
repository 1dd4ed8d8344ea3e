//! When an ApplicationSet is looked at although nothing seems to have changed.

use std::time::Duration;

use lynceus_api::{ApplicationSet, ApplicationSetGenerator, ApplicationSetNestedGenerator, Json};
use lynceus_appset::rollout::Rollout;
use lynceus_object::to_typed;

use crate::engine::Engine;
use crate::key::AppKey;
use crate::limits;
use crate::queue::Freshness;

impl Engine {
    /// Has a progressive sync looked at again: at once where one of its Applications got further, because that may take it
    /// further still, and before long while any of them waits.
    pub(super) fn look_after(&self, key: &AppKey, set: &ApplicationSet, rollout: Option<&Rollout>) {
        let Some(rollout) = rollout else { return };
        let moved = rollout.statuses != set.status.application_status;
        let pause = match (moved, rollout.waiting.is_empty()) {
            (true, _) => limits::SETTLE,
            (false, false) => limits::SET_ROLLOUT_POLL,
            (false, true) => return,
        };
        self.sets.queue.add(key.clone(), self.clock().monotonic() + pause, Freshness::Recent);
    }

    /// Has a set looked at again as often as its generators ask for.
    pub(super) fn schedule_set(&self, key: &AppKey, set: &ApplicationSet) {
        let usual = self.settings().sets.requeue;
        let has_failed = self.sets.memory().get(key).is_some_and(|memory| !memory.generation.is_complete());
        let again = has_failed.then_some(limits::SET_RETRY);
        if let Some(pause) = period(set, usual).into_iter().chain(again).min() {
            self.sets.queue.add(key.clone(), self.clock().monotonic() + pause, Freshness::Latest);
        }
    }
}

/// The shortest period that any generator asks for; none where all that they depend on tells of its changes.
fn period(set: &ApplicationSet, usual: Duration) -> Option<Duration> {
    set.spec.generators.iter().filter_map(|one| of(one, usual)).min()
}

fn of(one: &ApplicationSetGenerator, usual: Duration) -> Option<Duration> {
    let read = |seconds: Option<i64>, usual: Duration| {
        let asked = seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0);
        asked.map_or(usual, Duration::from_secs)
    };
    let slow = limits::SET_HOST_PERIOD;
    let own = [
        one.git.as_ref().map(|git| read(git.requeue_after_seconds, usual)),
        one.scm_provider.as_ref().map(|scm| read(scm.requeue_after_seconds, slow)),
        one.pull_request.as_ref().map(|pulls| read(pulls.requeue_after_seconds, slow)),
        one.plugin.as_ref().map(|plugin| read(plugin.requeue_after_seconds, slow)),
        one.cluster_decision_resource.as_ref().map(|one| read(one.requeue_after_seconds, usual)),
    ];
    let matrix = one.matrix.iter().flat_map(|matrix| &matrix.generators);
    let inner = matrix.chain(one.merge.iter().flat_map(|merge| &merge.generators));
    own.into_iter().flatten().chain(inner.filter_map(|inner| of_nested(inner, usual))).min()
}

fn of_nested(one: &ApplicationSetNestedGenerator, usual: Duration) -> Option<Duration> {
    let inside = [&one.matrix, &one.merge].into_iter().flatten();
    let inside = inside.flat_map(generators).filter_map(|inner| of(&inner, usual));
    let own = ApplicationSetGenerator {
        git: one.git.clone(),
        scm_provider: one.scm_provider.clone(),
        pull_request: one.pull_request.clone(),
        plugin: one.plugin.clone(),
        cluster_decision_resource: one.cluster_decision_resource.clone(),
        ..ApplicationSetGenerator::default()
    };
    of(&own, usual).into_iter().chain(inside).min()
}

/// The generators of a matrix or merge inside another one. What cannot be read is told of where it is generated.
fn generators(json: &Json) -> Vec<ApplicationSetGenerator> {
    let items = json.0.items_at(&["generators"]).iter();
    items.filter_map(|item| to_typed(item).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    fn seconds(generators: &str) -> Option<u64> {
        let mut set = ApplicationSet::default();
        let value = yaml::parse_str(generators).expect("YAML");
        set.spec.generators = to_typed(&value).expect("generators");
        period(&set, Duration::from_secs(180)).map(|period| period.as_secs())
    }

    #[test]
    fn the_most_impatient_generator_decides() {
        assert_eq!(seconds("[{list: {elements: []}}, {clusters: {}}]"), None);
        assert_eq!(seconds("[{git: {repoURL: r}}]"), Some(180));
        assert_eq!(seconds("[{scmProvider: {github: {organization: o}}}]"), Some(1800));
        assert_eq!(seconds("[{scmProvider: {requeueAfterSeconds: 60}}, {git: {repoURL: r}}]"), Some(60));
        let nested = "[{matrix: {generators: [{clusters: {}}, {merge: {generators: [{git: {requeueAfterSeconds: 20}}]}}]}}]";
        assert_eq!(seconds(nested), Some(20));
    }
}
