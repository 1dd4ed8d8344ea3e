//! Making the set of the present template, and counting rollouts.

use lynceus_object::{Object, Value};

use super::{HASH_LABEL, REVISION, Rollout, progressing};
use crate::controllers::kind::{DEPLOYMENT, REPLICA_SET};
use crate::controllers::pods::{self, spec_int};
use crate::controllers::replicaset::replicas;
use crate::controllers::steps::Announcement;
use crate::controllers::{condition, hash};

const HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MAX: &str = "deployment.kubernetes.io/max-replicas";
const ROLLBACK: &str = "deprecated.deployment.rollback.to";
/// The longest list of earlier revisions that a set keeps.
const HISTORY_CHARS: usize = 2000;
/// The longest name of an object.
const NAME_CHARS: usize = 253;

impl Rollout<'_> {
    /// Brings the annotations of the present set and of the Deployment up to date. Gives false if a write has
    /// to come back first.
    pub(super) fn sync_revision(&mut self) -> bool {
        let Some(stored) = self.new.clone() else { return true };
        let mut set = stored.clone();
        self.annotate(&mut set, true);
        let min_ready = spec_int(&self.deployment, &["minReadySeconds"], 0);
        if spec_int(&set, &["minReadySeconds"], 0) != min_ready {
            set.set(&["spec", "minReadySeconds"], min_ready);
        }
        if set != stored {
            self.out.update(REPLICA_SET, set);
            return false;
        }
        let revision = set.annotation(REVISION).unwrap_or_default().to_owned();
        self.set_revision(&revision);
        if self.has_deadline() && condition::get(&self.deployment, "Progressing").is_none() {
            let message = format!("Found new replica set {:?}", set.name());
            let found = progressing("True", "FoundNewReplicaSet", &message, self.world);
            condition::set(&mut self.deployment, found);
        }
        true
    }

    /// Makes the set of the present template.
    pub(super) fn create_set(&mut self) {
        let template = self.deployment.at(&["spec", "template"]).cloned().unwrap_or_default();
        let collisions = self.deployment.value().int_at(&["status", "collisionCount"]);
        let hash = hash::template(&template, collisions);
        let mut set = REPLICA_SET.named(self.deployment.namespace(), &self.name_with(&hash));
        let mut labelled = template;
        labelled.set(&["metadata", "labels", HASH_LABEL], hash.as_str());
        if let Some(labels) = labelled.at(&["metadata", "labels"]) {
            set.set(&["metadata", "labels"], labels.clone());
        }
        set.set(&["metadata", "ownerReferences"], vec![pods::controller_ref(&self.deployment)]);
        let mut selector = self.deployment.at(&["spec", "selector"]).cloned().unwrap_or_default();
        selector.set(&["matchLabels", HASH_LABEL], hash.as_str());
        set.set(&["spec", "selector"], selector);
        set.set(&["spec", "template"], labelled);
        let min_ready = spec_int(&self.deployment, &["minReadySeconds"], 0);
        if min_ready != 0 {
            set.set(&["spec", "minReadySeconds"], min_ready);
        }
        set.set(&["spec", "replicas"], 0);
        let count = self.new_count(&set);
        set.set(&["spec", "replicas"], count);
        self.annotate(&mut set, false);
        let revision = set.annotation(REVISION).unwrap_or_default().to_owned();
        let name = set.name().to_owned();
        if count > 0 {
            let message = format!("Scaled up replica set {name} from 0 to {count}");
            let told = Announcement::normal(&self.deployment, "ScalingReplicaSet", message);
            self.out.create_and_tell(REPLICA_SET, set, told);
        } else {
            self.out.create(REPLICA_SET, set);
        }
        self.set_revision(&revision);
        if self.has_deadline() {
            let message = format!("Created new replica set {name:?}");
            let created = progressing("True", "NewReplicaSetCreated", &message, self.world);
            condition::set(&mut self.deployment, created);
        }
        let (old, new) = (self.stored.clone(), self.deployment.clone());
        self.out.status_if_changed(DEPLOYMENT, &old, new);
    }

    /// How many pods the present set may have now.
    pub(super) fn new_count(&self, set: &Object) -> i64 {
        if self.recreates() {
            return self.wanted();
        }
        let room = self.wanted() + self.fenceposts().0 - self.total();
        let own = replicas(set);
        if room <= 0 { own } else { own + room.min(self.wanted() - own) }
    }

    fn name_with(&self, hash: &str) -> String {
        let name = self.deployment.name();
        let most = NAME_CHARS.saturating_sub(hash.len() + 1);
        format!("{}-{hash}", name.get(..most).unwrap_or(name))
    }

    fn set_revision(&mut self, revision: &str) {
        if self.deployment.annotation(REVISION) != Some(revision) {
            self.deployment.set_annotation(REVISION, revision);
        }
    }

    fn annotate(&self, set: &mut Object, exists: bool) {
        for (key, value) in self.deployment.annotations() {
            let own = matches!(key, REVISION | HISTORY | DESIRED | MAX | ROLLBACK)
                || key == lynceus_api::annotations::LAST_APPLIED;
            if !own && set.annotation(key) != Some(value) {
                set.set_annotation(key, value);
            }
        }
        let next = self.old.iter().map(revision_of).max().unwrap_or(0) + 1;
        let before = set.annotation(REVISION).map(str::to_owned);
        if revision_of(set) < next {
            set.set_annotation(REVISION, next.to_string());
            if let Some(before) = before {
                remember_revision(set, &before);
            }
        }
        if !exists {
            self.note_size(set);
        }
    }

    /// Writes down for how many pods the Deployment was, so that a later change of it is noticed.
    pub(super) fn note_size(&self, set: &mut Object) {
        let (surge, _) = self.fenceposts();
        for (key, count) in [(DESIRED, self.wanted()), (MAX, self.wanted() + surge)] {
            let count = count.to_string();
            if set.annotation(key) != Some(&count) {
                set.set_annotation(key, count);
            }
        }
    }
}

/// For how many pods the Deployment was when a set was last scaled.
pub(super) fn desired(set: &Object) -> Option<i64> {
    set.annotation(DESIRED)?.parse().ok()
}

/// How many pods there could have been then.
pub(super) fn max(set: &Object) -> Option<i64> {
    set.annotation(MAX)?.parse().ok()
}

/// Which rollout a set belongs to.
pub(super) fn revision_of(set: &Object) -> i64 {
    set.annotation(REVISION).and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

fn remember_revision(set: &mut Object, revision: &str) {
    let known = set.annotation(HISTORY).unwrap_or_default();
    let mut revisions: Vec<&str> = known.split(',').filter(|known| !known.is_empty()).collect();
    revisions.push(revision);
    while revisions.len() > 1 && revisions.join(",").len() > HISTORY_CHARS {
        revisions.remove(0);
    }
    let text = revisions.join(",");
    set.set_annotation(HISTORY, Value::from(text));
}
