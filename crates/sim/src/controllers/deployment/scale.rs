//! Changing how many pods there are, outside a rollout and in the middle of one.

use lynceus_object::Object;

use super::{Rollout, revision};
use crate::controllers::kind::REPLICA_SET;
use crate::controllers::replicaset::{counted, replicas};
use crate::controllers::steps::{Announcement, Step};
use crate::controllers::{key::Key, pods};

impl Rollout<'_> {
    /// Whether the Deployment was given another size since its sets were last scaled.
    pub(super) fn is_scaling(&self) -> bool {
        let wanted = self.wanted();
        self.all()
            .any(|set| replicas(set) > 0 && revision::desired(set).is_some_and(|desired| desired != wanted))
    }

    /// Gives the sets their part of the Deployment's size.
    pub(super) fn scale(&mut self) {
        if let Some(only) = self.only_active() {
            if replicas(&only) != self.wanted() {
                self.resize(&only, self.wanted(), false);
            }
            return;
        }
        if self.is_saturated() {
            let old: Vec<Object> = self.old.iter().filter(|set| replicas(set) > 0).cloned().collect();
            old.iter().for_each(|set| {
                self.resize(set, 0, false);
            });
        } else if !self.recreates() {
            self.scale_in_proportion();
        }
    }

    /// The set that has all the pods; the newest if none has any.
    fn only_active(&self) -> Option<Object> {
        let active: Vec<&Object> = self.all().filter(|set| replicas(set) > 0).collect();
        match active.as_slice() {
            [] => self.new.as_ref().or_else(|| self.old.last()).cloned(),
            [only] => Some((*only).clone()),
            _ => None,
        }
    }

    fn is_saturated(&self) -> bool {
        let wanted = self.wanted();
        self.new.as_ref().is_some_and(|new| {
            replicas(new) == wanted
                && revision::desired(new) == Some(wanted)
                && counted(new, "availableReplicas") == wanted
        })
    }

    fn scale_in_proportion(&mut self) {
        let mut sets: Vec<Object> = self.all().filter(|set| replicas(set) > 0).cloned().collect();
        let (surge, _) = self.fenceposts();
        let allowed = if self.wanted() > 0 { self.wanted() + surge } else { 0 };
        let to_add = allowed - sets.iter().map(replicas).sum::<i64>();
        let newest_first = to_add > 0;
        sets.sort_by(|a, b| {
            let age = pods::created(a).cmp(&pods::created(b));
            replicas(b).cmp(&replicas(a)).then(if newest_first { age.reverse() } else { age })
        });
        let mut added = 0;
        let mut sizes: Vec<i64> = Vec::with_capacity(sets.len());
        for set in &sets {
            let part = if to_add == 0 || to_add == added { 0 } else { self.part(set, to_add - added) };
            added += part;
            sizes.push(replicas(set) + part);
        }
        if let Some(first) = sizes.first_mut() {
            *first = (*first + to_add - added).max(0);
        }
        for (set, size) in sets.iter().zip(sizes) {
            self.resize(set, size, true);
        }
    }

    /// How many pods a set gets of those that are added, or loses of those that are taken away.
    fn part(&self, set: &Object, left: i64) -> i64 {
        let own = replicas(set);
        let fraction = if self.wanted() == 0 {
            -own
        } else {
            let before = revision::max(set).filter(|max| *max > 0);
            let before = before.unwrap_or_else(|| counted(&self.deployment, "replicas"));
            let after = self.wanted() + self.fenceposts().0;
            if before == 0 { 0 } else { ((own * after) as f64 / before as f64).round() as i64 - own }
        };
        if left > 0 { fraction.min(left) } else { fraction.max(left) }
    }

    /// Gives a set another size, and says so. Gives whether the size changed.
    pub(super) fn resize(&mut self, set: &Object, size: i64, note_size: bool) -> bool {
        let before = replicas(set);
        if before == size && !note_size {
            return false;
        }
        let mut new = set.clone();
        new.set(&["spec", "replicas"], size);
        self.note_size(&mut new);
        if new == *set {
            return false;
        }
        self.out.update(REPLICA_SET, new);
        if before != size {
            let direction = if before < size { "up" } else { "down" };
            let message = format!("Scaled {direction} replica set {} from {before} to {size}", set.name());
            self.out.announce(Announcement::normal(&self.stored, "ScalingReplicaSet", message));
        }
        before != size
    }

    /// Deletes the oldest sets that are kept for a rollback, beyond the limit.
    pub(super) fn clean_up(&mut self) {
        let limit = pods::spec_int(&self.deployment, &["revisionHistoryLimit"], 10);
        let mut old: Vec<&Object> = self.old.iter().filter(|set| !set.is_deleting()).collect();
        let excess = usize::try_from(old.len() as i64 - limit).unwrap_or(0);
        old.sort_by_key(|set| revision::revision_of(set));
        for set in old.into_iter().take(excess) {
            let observed = counted(set, "observedGeneration") >= set.generation();
            if counted(set, "replicas") == 0 && replicas(set) == 0 && observed {
                let key = Key::of(&REPLICA_SET.place(), set);
                self.out.steps.push(Step::Delete { key, uid: set.uid().into(), how: Default::default() });
            }
        }
    }
}
