//! What a Deployment says about itself.

use lynceus_object::{Object, Value};

use super::{Rollout, progressing};
use crate::controllers::condition;
use crate::controllers::kind::DEPLOYMENT;
use crate::controllers::pods::{set_count, spec_int};
use crate::controllers::replicaset::{counted, replicas};
use crate::controllers::time;

impl Rollout<'_> {
    /// Says that the Deployment is paused, or no longer is.
    pub(super) fn note_pause(&mut self) {
        let reason = condition::reason(&self.deployment, "Progressing");
        if !self.has_deadline() || reason == "ProgressDeadlineExceeded" {
            return;
        }
        let (was, is) = (
            reason == "DeploymentPaused",
            self.deployment.value().bool_at(&["spec", "paused"]) == Some(true),
        );
        let condition = match (was, is) {
            (false, true) => progressing("Unknown", "DeploymentPaused", "Deployment is paused", self.world),
            (true, false) => progressing("Unknown", "DeploymentResumed", "Deployment is resumed", self.world),
            _ => return,
        };
        condition::set(&mut self.deployment, condition);
    }

    /// Whether all wanted pods are there, new and available, and no others.
    pub(super) fn is_complete(&self) -> bool {
        complete(&self.deployment)
    }

    /// Writes the status. `rolling` says whether progress is judged.
    pub(super) fn report(&mut self, rolling: bool) {
        let mut new = self.counted_status();
        if rolling {
            self.judge_progress(&mut new);
            self.pass_failures_on(&mut new);
        }
        if new.value() == self.stored.value() {
            if rolling {
                self.look_again_at_deadline();
            }
            return;
        }
        self.out.status(DEPLOYMENT, new);
    }

    fn counted_status(&self) -> Object {
        let mut new = self.deployment.clone();
        let sum = |field| self.all().map(|set| counted(set, field)).sum::<i64>();
        let available = sum("availableReplicas");
        new.set(&["status", "observedGeneration"], new.generation());
        set_count(&mut new, "replicas", sum("replicas"));
        let updated = self.new.as_ref().map_or(0, |set| counted(set, "replicas"));
        set_count(&mut new, "updatedReplicas", updated);
        set_count(&mut new, "readyReplicas", sum("readyReplicas"));
        set_count(&mut new, "availableReplicas", available);
        set_count(&mut new, "unavailableReplicas", (self.total() - available).max(0));
        new.set(&["status", "terminatingReplicas"], sum("terminatingReplicas"));
        let enough = available >= self.wanted() - self.fenceposts().1;
        let (status, reason, message) = if enough {
            ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
        };
        let mut condition = condition::new("Available", status, reason, message, self.world.now);
        condition.set(&["lastUpdateTime"], time::stamp(self.world.now));
        condition::set(&mut new, condition);
        new
    }

    fn judge_progress(&self, new: &mut Object) {
        if !self.has_deadline() {
            condition::remove(new, "Progressing");
            return;
        }
        let current = condition::get(&self.deployment, "Progressing").cloned();
        let reason = condition::reason(&self.deployment, "Progressing");
        let all_new = counted(new, "replicas") == counted(new, "updatedReplicas");
        if all_new && reason == "NewReplicaSetAvailable" {
            return;
        }
        let subject = self.new.as_ref().map_or_else(
            || format!("Deployment {:?}", self.deployment.name()),
            |set| format!("ReplicaSet {:?}", set.name()),
        );
        if complete(new) {
            let message = format!("{subject} has successfully progressed.");
            condition::set(new, progressing("True", "NewReplicaSetAvailable", &message, self.world));
        } else if self.moved(new) {
            let message = format!("{subject} is progressing.");
            let mut condition = progressing("True", "ReplicaSetUpdated", &message, self.world);
            if let Some(current) = current.filter(|current| current.str_at(&["status"]) == Some("True"))
                && let Some(since) = current.get("lastTransitionTime")
            {
                condition.set(&["lastTransitionTime"], since.clone());
            }
            condition::remove(new, "Progressing");
            condition::set(new, condition);
        } else if self.timed_out(new) {
            let message = format!("{subject} has timed out progressing.");
            condition::set(new, progressing("False", "ProgressDeadlineExceeded", &message, self.world));
        }
    }

    fn moved(&self, new: &Object) -> bool {
        let old = &self.stored;
        let left = |object: &Object| counted(object, "replicas") - counted(object, "updatedReplicas");
        counted(new, "updatedReplicas") > counted(old, "updatedReplicas")
            || left(new) < left(old)
            || counted(new, "readyReplicas") > counted(old, "readyReplicas")
            || counted(new, "availableReplicas") > counted(old, "availableReplicas")
    }

    fn timed_out(&self, new: &Object) -> bool {
        let Some(current) = condition::get(new, "Progressing") else { return false };
        match current.str_at(&["reason"]) {
            Some("NewReplicaSetAvailable") => false,
            Some("ProgressDeadlineExceeded") => true,
            _ => self.deadline(current).is_some_and(|deadline| deadline < self.world.now),
        }
    }

    fn deadline(&self, condition: &Value) -> Option<jiff::Timestamp> {
        let since = time::read(condition.get("lastUpdateTime"))?;
        Some(time::after(since, spec_int(&self.deployment, &["progressDeadlineSeconds"], 600)))
    }

    fn look_again_at_deadline(&mut self) {
        let Some(current) = condition::get(&self.deployment, "Progressing") else { return };
        let waiting = self.has_deadline()
            && !self.is_complete()
            && current.str_at(&["reason"]) != Some("ProgressDeadlineExceeded");
        if let Some(deadline) = self.deadline(current).filter(|_| waiting) {
            self.out.again_at(time::after(deadline.max(self.world.now), 1));
        }
    }

    /// A set that cannot make its pods says so in its status; the Deployment repeats it.
    fn pass_failures_on(&self, new: &mut Object) {
        let failure = self.new.iter().chain(&self.old).find_map(|set| condition::get(set, "ReplicaFailure"));
        match failure {
            Some(failure) => {
                let mut failure = failure.clone();
                if let Some(since) = failure.get("lastTransitionTime").cloned() {
                    failure.set(&["lastUpdateTime"], since);
                }
                condition::set(new, failure);
            }
            None => condition::remove(new, "ReplicaFailure"),
        }
    }
}

fn complete(deployment: &Object) -> bool {
    let wanted = replicas(deployment);
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| counted(deployment, field) == wanted)
        && counted(deployment, "observedGeneration") >= deployment.generation()
}
