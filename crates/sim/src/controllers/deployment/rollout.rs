//! The two ways in which a new set takes over.

use lynceus_object::Object;

use super::Rollout;
use crate::controllers::kind::POD;
use crate::controllers::pods;
use crate::controllers::replicaset::{counted, replicas};

impl Rollout<'_> {
    /// Step by step, within the limits of surge and unavailability.
    pub(super) fn roll(&mut self) {
        let Some(new) = self.new.clone() else {
            self.create_set();
            return;
        };
        if !self.sync_revision() {
            return;
        }
        let scaled = self.scale_new_up(&new) || self.scale_old_down(&new);
        if !scaled && self.is_complete() {
            self.clean_up();
        }
        self.report(true);
    }

    /// All at once: first all old pods go, then the new ones come.
    pub(super) fn recreate(&mut self) {
        if self.new.is_some() && !self.sync_revision() {
            return;
        }
        let active: Vec<Object> = self.old.iter().filter(|set| replicas(set) > 0).cloned().collect();
        for set in &active {
            self.resize(set, 0, false);
        }
        if !active.is_empty() || self.old_pods_run() {
            self.report(true);
            return;
        }
        match self.new.clone() {
            None => {
                self.create_set();
                return;
            }
            Some(new) => {
                self.resize(&new, self.wanted(), false);
            }
        }
        if self.is_complete() {
            self.clean_up();
        }
        self.report(true);
    }

    fn old_pods_run(&self) -> bool {
        self.old.iter().any(|set| counted(set, "replicas") > 0)
            || self
                .old
                .iter()
                .flat_map(|set| self.world.managed(set, POD))
                .any(|pod| !pods::is_finished(&pod))
    }

    fn scale_new_up(&mut self, new: &Object) -> bool {
        let (own, wanted) = (replicas(new), self.wanted());
        if own == wanted {
            return false;
        }
        let count = if own > wanted { wanted } else { self.new_count(new) };
        self.resize(new, count, false)
    }

    fn scale_old_down(&mut self, new: &Object) -> bool {
        let mut old: Vec<Object> = self.old.iter().filter(|set| replicas(set) > 0).cloned().collect();
        if old.is_empty() {
            return false;
        }
        let least = self.wanted() - self.fenceposts().1;
        let missing = replicas(new) - counted(new, "availableReplicas");
        let spare = self.total() - least - missing;
        if spare <= 0 {
            return false;
        }
        let unhealthy = self.drop_unhealthy(&mut old, spare);
        let available: i64 = old.iter().chain([new]).map(|set| counted(set, "availableReplicas")).sum();
        let healthy = self.drop_healthy(&old, available - least);
        unhealthy + healthy > 0
    }

    /// Takes away pods of old sets that do not work anyway.
    fn drop_unhealthy(&mut self, old: &mut [Object], most: i64) -> i64 {
        let mut dropped = 0;
        for set in old {
            let broken = replicas(set) - counted(set, "availableReplicas");
            let count = broken.min(most - dropped);
            if count > 0 {
                let rest = replicas(set) - count;
                self.resize(set, rest, false);
                set.set(&["spec", "replicas"], rest);
                dropped += count;
            }
        }
        dropped
    }

    fn drop_healthy(&mut self, old: &[Object], most: i64) -> i64 {
        let mut dropped = 0;
        for set in old {
            let count = replicas(set).min(most - dropped);
            if count > 0 {
                self.resize(set, replicas(set) - count, false);
                dropped += count;
            }
        }
        dropped
    }
}
