//! Deployments: ReplicaSets that take over from one another.

mod progress;
mod revision;
mod rollout;
mod scale;

use lynceus_object::{Object, Value};

use super::key::Key;
use super::kind::{DEPLOYMENT, POD, REPLICA_SET, is_among};
use super::pods::{self, scaled, spec_int};
use super::replicaset::{replicas, same_template};
use super::steps::{Announcement, Step, Steps};
use super::world::World;
use super::{Controller, Refusal, Writer, condition, manager, selector};
use crate::store::{Event, Place};

/// The label that tells the pods of one ReplicaSet of a Deployment from those of another.
pub(crate) const HASH_LABEL: &str = "pod-template-hash";
/// Which rollout a ReplicaSet or Deployment is at.
pub(crate) const REVISION: &str = "deployment.kubernetes.io/revision";

/// Rolls ReplicaSets out.
pub(crate) struct Deployments;

impl Controller for Deployments {
    fn component(&self) -> &'static str {
        "deployment-controller"
    }

    fn writer(&self) -> Writer {
        manager!("deployment-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[DEPLOYMENT, REPLICA_SET, POD], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if DEPLOYMENT.is(&event.place) {
            wake.push(Key::of(&event.place, object));
        } else if REPLICA_SET.is(&event.place) {
            match pods::managed_by(object, DEPLOYMENT) {
                Some(name) => wake.push(Key::new(DEPLOYMENT, object.namespace(), &name)),
                None if object.controller_entry().is_none() => {
                    let all = world.list(DEPLOYMENT, object.namespace());
                    let fitting = all.iter().filter(|deployment| selects(deployment, object));
                    wake.extend(fitting.map(|deployment| Key::of(&DEPLOYMENT.place(), deployment)));
                }
                None => {}
            }
        } else if POD.is(&event.place) && event.kind == crate::store::EventKind::Deleted {
            // A Deployment that replaces all pods at once waits for the old ones to be gone.
            let set = pods::managed_by(object, REPLICA_SET)
                .and_then(|name| world.get(REPLICA_SET, object.namespace(), &name));
            if let Some(name) = set.and_then(|set| pods::managed_by(&set, DEPLOYMENT)) {
                wake.push(Key::new(DEPLOYMENT, object.namespace(), &name));
            }
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(deployment) = world.find(key) else { return };
        let sets = claim(&deployment, world, out);
        let mut rollout = Rollout::new(deployment, sets, world, out);
        if rollout.deployment.is_deleting() {
            rollout.report(false);
            return;
        }
        rollout.note_pause();
        if rollout.deployment.value().bool_at(&["spec", "paused"]) == Some(true) {
            rollout.sync_revision();
            rollout.scale();
            rollout.clean_up();
            rollout.report(false);
        } else if rollout.is_scaling() {
            rollout.sync_revision();
            rollout.scale();
            rollout.report(false);
        } else if rollout.recreates() {
            rollout.recreate();
        } else {
            rollout.roll();
        }
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        let (Some(deployment), Step::Create { object, .. }) = (world.find(key), why.step) else { return };
        let mut new = deployment.clone();
        if why.error.reason == "AlreadyExists" {
            // The name is taken by a set of another template: a count makes the next name differ.
            let count = deployment.value().int_at(&["status", "collisionCount"]).unwrap_or(0);
            new.set(&["status", "collisionCount"], count + 1);
        } else {
            let message = format!("Failed to create new replica set {:?}: {}", object.name(), why.error);
            out.announce(Announcement::warning(&deployment, "ReplicaSetCreateError", message.as_str()));
            let failed = progressing("False", "ReplicaSetCreateError", &message, world);
            condition::set(&mut new, failed);
        }
        out.status_if_changed(DEPLOYMENT, &deployment, new);
    }
}

/// One Deployment with its ReplicaSets, while it is looked at.
struct Rollout<'a> {
    deployment: Object,
    /// The Deployment as it is stored.
    stored: Object,
    /// The set of the present template.
    new: Option<Object>,
    /// All other sets, the oldest first.
    old: Vec<Object>,
    world: &'a World<'a>,
    out: &'a mut Steps,
}

impl<'a> Rollout<'a> {
    fn new(deployment: Object, mut sets: Vec<Object>, world: &'a World<'_>, out: &'a mut Steps) -> Self {
        pods::by_age(&mut sets);
        let template = deployment.at(&["spec", "template"]);
        let at = sets.iter().position(|set| same_template(template, set.at(&["spec", "template"])));
        let new = at.map(|at| sets.remove(at));
        Rollout { stored: deployment.clone(), deployment, new, old: sets, world, out }
    }

    fn wanted(&self) -> i64 {
        replicas(&self.deployment)
    }

    /// How many pods there may be beyond those wanted, and how many may be missing.
    fn fenceposts(&self) -> (i64, i64) {
        if self.recreates() {
            return (0, 0);
        }
        let part = |field| self.deployment.at(&["spec", "strategy", "rollingUpdate", field]);
        let surge = scaled(part("maxSurge"), self.wanted(), true);
        let unavailable = scaled(part("maxUnavailable"), self.wanted(), false);
        if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable.min(self.wanted())) }
    }

    fn recreates(&self) -> bool {
        self.deployment.value().str_at(&["spec", "strategy", "type"]) == Some("Recreate")
    }

    fn all(&self) -> impl Iterator<Item = &Object> {
        self.old.iter().chain(&self.new)
    }

    fn total(&self) -> i64 {
        self.all().map(replicas).sum()
    }

    fn has_deadline(&self) -> bool {
        spec_int(&self.deployment, &["progressDeadlineSeconds"], i64::from(i32::MAX)) != i64::from(i32::MAX)
    }
}

fn progressing(status: &str, reason: &str, message: &str, world: &World<'_>) -> Value {
    let mut condition = condition::new("Progressing", status, reason, message, world.now);
    condition.set(&["lastUpdateTime"], super::time::stamp(world.now));
    condition
}

fn selects(deployment: &Object, set: &Object) -> bool {
    selector::matches(deployment.at(&["spec", "selector"]), set)
}

/// The sets of a Deployment: those that it has, without those whose labels left, and with those nobody has.
fn claim(deployment: &Object, world: &World<'_>, out: &mut Steps) -> Vec<Object> {
    let mut claimed = Vec::new();
    for set in world.managed(deployment, REPLICA_SET) {
        if selects(deployment, &set) {
            claimed.push(set);
        } else if !set.is_deleting() {
            let key = Key::of(&REPLICA_SET.place(), &set);
            out.steps.push(Step::Disown { key, owners: vec![deployment.uid().into()] });
        }
    }
    if deployment.is_deleting() {
        return claimed;
    }
    for mut set in world.orphans(REPLICA_SET, deployment.namespace()) {
        if !set.is_deleting() && selects(deployment, &set) {
            let mut owners = set.value().items_at(&["metadata", "ownerReferences"]).to_vec();
            owners.push(pods::controller_ref(deployment));
            set.set(&["metadata", "ownerReferences"], owners);
            out.update(REPLICA_SET, set);
        }
    }
    claimed
}
