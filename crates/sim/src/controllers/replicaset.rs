//! ReplicaSets and ReplicationControllers: a number of pods of one template.

use lynceus_object::{Object, Value};

use super::key::Key;
use super::kind::{Kind, POD, REPLICA_SET, REPLICATION_CONTROLLER, is_among};
use super::pods::{self, set_count, spec_int};
use super::steps::{Announcement, Step, Steps};
use super::world::World;
use super::{Controller, Refusal, Writer, announce_refusal, condition, hash, manager, selector};
use crate::store::{Event, Place};

/// The most pods that are made or deleted in one look.
const BURST: usize = 500;

/// Keeps as many pods as are wanted.
pub(crate) struct ReplicaSets {
    kind: &'static Kind,
    component: &'static str,
    writer: Writer,
    counts_terminating: bool,
}

impl ReplicaSets {
    /// For ReplicaSets.
    pub(crate) fn new() -> Self {
        ReplicaSets {
            kind: REPLICA_SET,
            component: "replicaset-controller",
            writer: manager!("replicaset-controller"),
            counts_terminating: true,
        }
    }

    /// For ReplicationControllers, which are the same with a simpler selector.
    pub(crate) fn replication_controllers() -> Self {
        ReplicaSets {
            kind: REPLICATION_CONTROLLER,
            component: "replication-controller",
            writer: manager!("replication-controller"),
            counts_terminating: false,
        }
    }

    fn selects(&self, set: &Object, pod: &Object) -> bool {
        let wanted = set.at(&["spec", "selector"]);
        if self.kind == REPLICATION_CONTROLLER {
            return wanted.is_some_and(|map| !map.is_empty())
                && selector::has_all(wanted, pod.at(&["metadata", "labels"]));
        }
        selector::matches(wanted, pod)
    }

    /// The pods of a set: those that it has, without those whose labels left, and with those that nobody has.
    fn claim(&self, set: &Object, world: &World<'_>, out: &mut Steps) -> Vec<Object> {
        let mut claimed = Vec::new();
        for pod in world.managed(set, POD) {
            if self.selects(set, &pod) {
                claimed.push(pod);
            } else if !pod.is_deleting() {
                out.steps
                    .push(Step::Disown { key: Key::of(&POD.place(), &pod), owners: vec![set.uid().into()] });
            }
        }
        if !set.is_deleting() {
            let orphans = world.orphans(POD, set.namespace());
            for mut pod in orphans.filter(|pod| pods::is_active(pod) && self.selects(set, pod)) {
                let mut owners = pod.value().items_at(&["metadata", "ownerReferences"]).to_vec();
                owners.push(pods::controller_ref(set));
                pod.set(&["metadata", "ownerReferences"], owners);
                out.update(POD, pod.clone());
                claimed.push(pod);
            }
        }
        claimed
    }

    fn manage(&self, set: &Object, active: &[Object], out: &mut Steps) {
        let wanted = usize::try_from(spec_int(set, &["replicas"], 1)).unwrap_or(0);
        if active.len() < wanted {
            let template = set.at(&["spec", "template"]).cloned().unwrap_or_default();
            for _ in 0..(wanted - active.len()).min(BURST) {
                let pod = pods::from_template(set, &template);
                let told = Announcement::normal(set, "SuccessfulCreate", "Created pod: {name}");
                out.create_and_tell(POD, pod, told);
            }
        } else if active.len() > wanted {
            let mut ranked = active.to_vec();
            pods::rank_for_deletion(&mut ranked);
            for pod in ranked.iter().take((active.len() - wanted).min(BURST)) {
                out.delete(POD, pod);
                let message = format!("Deleted pod: {}", pod.name());
                out.announce(Announcement::normal(set, "SuccessfulDelete", message));
            }
        }
    }

    fn status(&self, set: &Object, active: &[Object], terminating: i64, world: &World<'_>) -> Object {
        let min_ready = spec_int(set, &["minReadySeconds"], 0);
        let labels = set.at(&["spec", "template", "metadata", "labels"]);
        let count = |test: &dyn Fn(&Object) -> bool| active.iter().filter(|pod| test(pod)).count() as i64;
        let mut new = set.clone();
        new.set(&["status", "replicas"], active.len());
        let fully = count(&|pod| selector::has_all(labels, pod.at(&["metadata", "labels"])));
        set_count(&mut new, "fullyLabeledReplicas", fully);
        set_count(&mut new, "readyReplicas", count(&pods::is_ready));
        let available = count(&|pod| pods::is_available(pod, min_ready, world.now));
        set_count(&mut new, "availableReplicas", available);
        if self.counts_terminating {
            new.set(&["status", "terminatingReplicas"], terminating);
        }
        new
    }
}

impl Controller for ReplicaSets {
    fn component(&self) -> &'static str {
        self.component
    }

    fn writer(&self) -> Writer {
        self.writer
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[self.kind, POD], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        if self.kind.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        } else if POD.is(&event.place) {
            let pod = &event.object;
            let before = event.previous.as_ref().and_then(|pod| pods::managed_by(pod, self.kind));
            let now = pods::managed_by(pod, self.kind);
            for name in [&before, &now].into_iter().flatten() {
                wake.push(Key::new(self.kind, pod.namespace(), name));
            }
            if pod.controller_entry().is_none() && pods::is_active(pod) {
                let sets = world.list(self.kind, pod.namespace());
                let interested = sets.iter().filter(|set| self.selects(set, pod));
                wake.extend(interested.map(|set| Key::of(&self.kind.place(), set)));
            }
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(set) = world.find(key) else { return };
        let claimed = self.claim(&set, world, out);
        let (active, rest): (Vec<_>, Vec<_>) = claimed.into_iter().partition(pods::is_active);
        let terminating =
            rest.iter().filter(|pod| pod.is_deleting() && !pods::is_finished(pod)).count() as i64;
        let mut new = self.status(&set, &active, terminating, world);
        let managed_fully = spec_int(&set, &["replicas"], 1) == active.len() as i64;
        if managed_fully {
            condition::remove(&mut new, "ReplicaFailure");
        }
        if new.value() != set.value()
            || set.value().int_at(&["status", "observedGeneration"]) != Some(set.generation())
        {
            new.set(&["status", "observedGeneration"], set.generation());
            out.status(self.kind, new);
        }
        if !set.is_deleting() {
            self.manage(&set, &active, out);
        }
        let min_ready = spec_int(&set, &["minReadySeconds"], 0);
        if let Some(at) = pods::next_available(&active, min_ready, world.now) {
            out.again_at(at);
        }
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        let Some(set) = world.find(key) else { return };
        announce_refusal(&set, why, out);
        let reason = match why.step {
            Step::Create { .. } => "FailedCreate",
            Step::Delete { .. } => "FailedDelete",
            _ => return,
        };
        let mut new = set.clone();
        let text = why.error.to_string();
        condition::set(&mut new, condition::new("ReplicaFailure", "True", reason, &text, world.now));
        out.status_if_changed(self.kind, &set, new);
    }
}

/// How many pods a set is to have.
pub(crate) fn replicas(set: &Object) -> i64 {
    spec_int(set, &["replicas"], 1)
}

/// A count of a set's status.
pub(crate) fn counted(set: &Object, field: &str) -> i64 {
    set.value().int_at(&["status", field]).unwrap_or(0)
}

/// Whether two templates are the same but for the label with their hash.
pub(crate) fn same_template(a: Option<&Value>, b: Option<&Value>) -> bool {
    let bare = |template: Option<&Value>| {
        let mut template = template.cloned().unwrap_or_default();
        template.remove(&["metadata", "labels", super::deployment::HASH_LABEL]);
        hash::essence(&template)
    };
    bare(a) == bare(b)
}
