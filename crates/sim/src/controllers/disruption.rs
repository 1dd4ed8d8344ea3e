//! PodDisruptionBudgets: how many pods may be evicted now.

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value};

use super::key::Key;
use super::kind::{
    DEPLOYMENT, DISRUPTION_BUDGET, POD, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET, is_among,
};
use super::pods::{self, scaled, spec_int};
use super::steps::{Announcement, Steps};
use super::world::World;
use super::{Controller, Writer, condition, manager, selector, time};
use crate::store::{Event, Place};

/// For how many seconds a pod that was let go counts as gone although it is there.
const BELIEVED: i64 = 120;

/// Keeps the status of budgets.
pub(crate) struct DisruptionBudgets;

impl Controller for DisruptionBudgets {
    fn component(&self) -> &'static str {
        "controllermanager"
    }

    fn writer(&self) -> Writer {
        manager!("disruption-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[DISRUPTION_BUDGET, POD, DEPLOYMENT, REPLICA_SET, STATEFUL_SET], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if DISRUPTION_BUDGET.is(&event.place) {
            wake.push(Key::of(&event.place, object));
        } else if POD.is(&event.place) {
            let budgets = world.list(DISRUPTION_BUDGET, object.namespace());
            let fitting =
                budgets.iter().filter(|budget| selector::matches(budget.at(&["spec", "selector"]), object));
            wake.extend(fitting.map(|budget| Key::of(&DISRUPTION_BUDGET.place(), budget)));
        } else if [DEPLOYMENT, REPLICA_SET, STATEFUL_SET].iter().any(|kind| kind.is(&event.place)) {
            let budgets = world.list(DISRUPTION_BUDGET, object.namespace());
            wake.extend(budgets.iter().map(|budget| Key::of(&DISRUPTION_BUDGET.place(), budget)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(budget) = world.find(key) else { return };
        let pods_of_budget: Vec<Object> = world
            .list(POD, budget.namespace())
            .into_iter()
            .filter(|pod| selector::matches(budget.at(&["spec", "selector"]), pod) && pods::is_active(pod))
            .collect();
        if pods_of_budget.is_empty() && budget.at(&["status", "observedGeneration"]).is_none() {
            out.announce(Announcement::normal(&budget, "NoPods", "No matching pods found"));
        }
        let (expected, desired) = expectation(&budget, &pods_of_budget, world);
        let disrupted = still_disrupted(&budget, &pods_of_budget, world, out);
        let is_healthy =
            |pod: &&Object| pods::is_ready(pod) && !disrupted.iter().any(|(name, _)| name == pod.name());
        let healthy = pods_of_budget.iter().filter(is_healthy).count() as i64;
        let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
        let mut new = budget.clone();
        for (field, count) in [
            ("currentHealthy", healthy),
            ("desiredHealthy", desired),
            ("expectedPods", expected),
            ("disruptionsAllowed", allowed),
            ("observedGeneration", budget.generation()),
        ] {
            new.set(&["status", field], count);
        }
        new.remove(&["status", "disruptedPods"]);
        if !disrupted.is_empty() {
            new.set(&["status", "disruptedPods"], Value::Map(disrupted.into_iter().collect()));
        }
        tell_allowed(&mut new, world.now);
        out.status_if_changed(DISRUPTION_BUDGET, &budget, new);
    }
}

/// Has the condition of a budget say what its number of allowed disruptions does.
pub(crate) fn tell_allowed(budget: &mut Object, now: Timestamp) {
    let number = |field: &str| budget.value().int_at(&["status", field]).unwrap_or(0);
    let (status, reason) = match number("disruptionsAllowed") {
        1.. => ("True", "SufficientPods"),
        _ => ("False", "InsufficientPods"),
    };
    let mut condition = condition::new("DisruptionAllowed", status, reason, "", now);
    condition.set(&["message"], "");
    condition.set(&["observedGeneration"], number("observedGeneration"));
    condition::replace(budget, condition);
}

/// The pods that were let go by an eviction, are still there, and may yet be deleted.
fn still_disrupted(
    budget: &Object,
    pods_of_budget: &[Object],
    world: &World<'_>,
    out: &mut Steps,
) -> Vec<(Str, Value)> {
    let mut still = Vec::new();
    for pod in pods_of_budget {
        let Some(since) = budget.at(&["status", "disruptedPods", pod.name()]) else { continue };
        let until = time::read(Some(since)).map(|since| time::after(since, BELIEVED));
        if let Some(until) = until.filter(|until| *until >= world.now) {
            // At that second it is still believed.
            out.again_at(time::after(until, 1));
            still.push((pod.name().into(), since.clone()));
        } else {
            // The original writes the namespace in the place of the budget's name.
            let namespace = budget.namespace();
            let message =
                format!("Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't");
            out.announce(Announcement::warning(pod, "NotDeleted", message));
        }
    }
    still
}

/// How many pods there should be, and how many of them have to be healthy.
fn expectation(budget: &Object, pods_of_budget: &[Object], world: &World<'_>) -> (i64, i64) {
    let least = budget.at(&["spec", "minAvailable"]);
    if let Some(most) = budget.at(&["spec", "maxUnavailable"]) {
        let expected = scale_of(pods_of_budget, world);
        return (expected, (expected - scaled(Some(most), expected, true)).max(0));
    }
    let percentage = least.is_some_and(|least| least.as_str().is_some());
    let expected = if percentage { scale_of(pods_of_budget, world) } else { pods_of_budget.len() as i64 };
    (expected, scaled(least, expected, true))
}

/// The sum of the sizes of the workloads that the pods belong to.
fn scale_of(pods_of_budget: &[Object], world: &World<'_>) -> i64 {
    let mut counted: Vec<Str> = Vec::new();
    let mut total = 0;
    for pod in pods_of_budget {
        let Some(workload) = workload_of(pod, world) else { continue };
        if !counted.iter().any(|uid| uid == workload.uid()) {
            counted.push(workload.uid().into());
            total += spec_int(&workload, &["replicas"], 1);
        }
    }
    total
}

fn workload_of(pod: &Object, world: &World<'_>) -> Option<Object> {
    let of = |object: &Object, kind| {
        pods::managed_by(object, kind).and_then(|name| world.get(kind, object.namespace(), &name))
    };
    if let Some(set) = of(pod, REPLICA_SET) {
        return of(&set, DEPLOYMENT).or(Some(set));
    }
    of(pod, STATEFUL_SET).or_else(|| of(pod, REPLICATION_CONTROLLER))
}
