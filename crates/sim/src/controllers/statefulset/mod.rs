//! StatefulSets: pods with names and claims of their own, in order.

mod replica;
mod retention;

use lynceus_object::Object;

use self::replica::Replicas;
use self::retention::Retention;
use super::history::{self, History, Style};
use super::key::Key;
use super::kind::{CLAIM, CONTROLLER_REVISION, POD, STATEFUL_SET, is_among};
use super::pods::{self, scaled, set_count, spec_int};
use super::steps::{Announcement, Steps};
use super::world::World;
use super::{Controller, Refusal, Writer, manager};
use crate::store::{Event, Place};

const STYLE: Style = Style { label: "controller.kubernetes.io/hash" };
/// The label with the name of the revision that a pod was made from.
const REVISION_LABEL: &str = "controller-revision-hash";

/// Keeps the pods of StatefulSets.
pub(crate) struct StatefulSets;

impl Controller for StatefulSets {
    fn component(&self) -> &'static str {
        "statefulset-controller"
    }

    fn writer(&self) -> Writer {
        manager!("statefulset-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[STATEFUL_SET, POD, CONTROLLER_REVISION], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if STATEFUL_SET.is(&event.place) {
            wake.push(Key::of(&event.place, object));
        } else if (POD.is(&event.place) || CONTROLLER_REVISION.is(&event.place))
            && let Some(name) = pods::managed_by(object, STATEFUL_SET)
        {
            wake.push(Key::new(STATEFUL_SET, object.namespace(), &name));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(set) = world.find(key) else { return };
        let history = History::read(&set, &STYLE, world, out);
        // Until the revision is stored there is no name for it; its creation leads to another look.
        let Some(update) = history.present.clone() else { return };
        let running = set.value().str_at(&["status", "currentRevision"]).unwrap_or_default();
        let current = history.revisions.iter().find(|revision| revision.name() == running);
        let current = current.unwrap_or(&update).clone();
        let pods_of_set = world.managed(&set, POD);
        let mut look = Look { set: &set, current: &current, update: &update, world, out };
        look.report(&pods_of_set);
        if !set.is_deleting() {
            look.manage(&pods_of_set);
        }
        let live = |revision: &Object| {
            revision.name() == current.name()
                || revision.name() == update.name()
                || pods_of_set.iter().any(|pod| pod.label(REVISION_LABEL) == Some(revision.name()))
        };
        history.truncate(&set, &live, out);
        let min_ready = spec_int(&set, &["minReadySeconds"], 0);
        if let Some(at) = pods::next_available(&pods_of_set, min_ready, world.now) {
            out.again_at(at);
        }
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        let (Some(set), super::steps::Step::Create { object, .. }) = (world.find(key), why.step) else {
            return;
        };
        let message =
            format!("Create Pod {} in StatefulSet {} failed error: {}", object.name(), set.name(), why.error);
        out.announce(Announcement::warning(&set, "FailedCreate", message));
    }
}

struct Look<'a> {
    set: &'a Object,
    current: &'a Object,
    update: &'a Object,
    world: &'a World<'a>,
    out: &'a mut Steps,
}

impl Look<'_> {
    fn is_available(&self, pod: &Object) -> bool {
        let min_ready = spec_int(self.set, &["minReadySeconds"], 0);
        pods::phase(pod) == "Running" && pods::is_available(pod, min_ready, self.world.now)
    }

    fn in_order(&self) -> bool {
        self.set.value().str_at(&["spec", "podManagementPolicy"]) != Some("Parallel")
    }

    fn report(&mut self, pods_of_set: &[Object]) {
        let count =
            |test: &dyn Fn(&Object) -> bool| pods_of_set.iter().filter(|pod| test(pod)).count() as i64;
        let of = |revision: &Object| {
            let name = revision.name().to_owned();
            count(&|pod| !pod.is_deleting() && pod.label(REVISION_LABEL) == Some(&name))
        };
        let (mut on_current, on_update) = (of(self.current), of(self.update));
        let ready = count(&|pod| pods::phase(pod) == "Running" && pods::is_ready(pod));
        let total = count(&|pod| !pods::phase(pod).is_empty());
        let rolling = self.set.value().str_at(&["spec", "updateStrategy", "type"]) != Some("OnDelete");
        let all_updated = on_update == total && ready == total && pods_of_set.len() as i64 == total;
        let mut current = self.current.name();
        if rolling && all_updated && total == spec_int(self.set, &["replicas"], 1) {
            // Everything runs the new revision: it is the current one from now on.
            current = self.update.name();
            on_current = on_update;
        }
        let mut new = self.set.clone();
        new.set(&["status", "observedGeneration"], self.set.generation());
        new.set(&["status", "replicas"], total);
        set_count(&mut new, "readyReplicas", ready);
        set_count(&mut new, "currentReplicas", on_current);
        set_count(&mut new, "updatedReplicas", on_update);
        new.set(&["status", "availableReplicas"], count(&|pod| self.is_available(pod)));
        new.set(&["status", "currentRevision"], current);
        new.set(&["status", "updateRevision"], self.update.name());
        if new.at(&["status", "collisionCount"]).is_none() {
            new.set(&["status", "collisionCount"], 0);
        }
        self.out.status_if_changed(STATEFUL_SET, self.set, new);
    }

    fn manage(&mut self, pods_of_set: &[Object]) {
        let replicas = Replicas::sort(self.set, pods_of_set);
        if self.establish(&replicas) || self.remove_condemned(&replicas) {
            return;
        }
        self.update_pods(&replicas);
    }

    /// Makes what is missing. Says whether to wait before anything else is done.
    fn establish(&mut self, replicas: &Replicas) -> bool {
        let mut wait = false;
        for (ordinal, slot) in &replicas.wanted {
            if let Some(pod) = slot {
                self.keep_claims(pod, *ordinal, false);
            }
            let stop = match slot {
                None => {
                    self.create(*ordinal);
                    true
                }
                Some(pod) if pods::is_finished(pod) => {
                    if !pod.is_deleting() {
                        self.delete(pod);
                    }
                    true
                }
                Some(pod) => pod.is_deleting() || !self.is_available(pod),
            };
            if stop && self.in_order() {
                return true;
            }
            wait |= stop && slot.is_none();
        }
        wait
    }

    /// Deletes pods beyond the wanted ones, the last first. Says whether to wait for that.
    fn remove_condemned(&mut self, replicas: &Replicas) -> bool {
        for (ordinal, pod) in &replicas.condemned {
            self.keep_claims(pod, *ordinal, true);
        }
        for (_, pod) in &replicas.condemned {
            if pod.is_deleting() {
                if self.in_order() {
                    return true;
                }
                continue;
            }
            self.delete(pod);
            if self.in_order() {
                return true;
            }
        }
        false
    }

    /// Deletes pods of an old revision, the last first, so that they are made anew.
    fn update_pods(&mut self, replicas: &Replicas) {
        let strategy = self.set.at(&["spec", "updateStrategy"]);
        if strategy.and_then(|strategy| strategy.str_at(&["type"])) == Some("OnDelete") {
            return;
        }
        let rolling = strategy.and_then(|strategy| strategy.get("rollingUpdate"));
        let partition = rolling.and_then(|rolling| rolling.int_at(&["partition"])).unwrap_or(0);
        let wanted = replicas.wanted.len() as i64;
        let most = rolling.and_then(|rolling| rolling.get("maxUnavailable"));
        let most = most.map_or(1, |most| scaled(Some(most), wanted, false).max(1));
        let existing = || replicas.wanted.iter().filter_map(|(_, slot)| slot.as_ref());
        let unavailable = existing().filter(|pod| !self.is_available(pod)).count() as i64;
        let room = usize::try_from(most - unavailable).unwrap_or(0);
        let outdated: Vec<Object> = existing()
            .skip(usize::try_from(partition).unwrap_or(0))
            .filter(|pod| pod.label(REVISION_LABEL) != Some(self.update.name()) && !pod.is_deleting())
            .cloned()
            .collect();
        outdated.iter().rev().take(room).for_each(|pod| self.delete(pod));
    }

    fn create(&mut self, ordinal: i64) {
        let revision = self.revision_for(ordinal);
        let template = history::template(revision);
        let pod = replica::pod(self.set, &template, revision.name(), ordinal);
        let retention = Retention::of(self.set);
        for mut claim in replica::claims(self.set, ordinal) {
            match self.world.get(CLAIM, claim.namespace(), claim.name()) {
                Some(there) if retention::is_stale(&there, pod.name()) => {
                    self.out.again_after(self.world.now, 1);
                    return;
                }
                Some(_) => {}
                None => {
                    let (set, name) = (self.set.name(), claim.name());
                    let message =
                        format!("Create Claim {name} Pod {} in StatefulSet {set} success", pod.name());
                    retention.apply(&mut claim, self.set, None, false);
                    let told = Announcement::normal(self.set, "SuccessfulCreate", message);
                    self.out.create_and_tell(CLAIM, claim, told);
                }
            }
        }
        let message = format!("Create Pod {} in StatefulSet {} successful", pod.name(), self.set.name());
        let told = Announcement::normal(self.set, "SuccessfulCreate", message);
        self.out.create_and_tell(POD, pod, told);
    }

    /// Says whose the claims of a pod are.
    fn keep_claims(&mut self, pod: &Object, ordinal: i64, condemned: bool) {
        let retention = Retention::of(self.set);
        for claim in replica::claims(self.set, ordinal) {
            let there = self.world.get(CLAIM, claim.namespace(), claim.name());
            let Some(mut claim) = there.filter(|claim| !claim.is_deleting()) else { continue };
            if retention.apply(&mut claim, self.set, Some(pod), condemned) {
                self.out.update(CLAIM, claim);
            }
        }
    }

    /// Pods below the partition keep the current revision; so do those that existed before the update if nothing is said of
    /// how it goes.
    fn revision_for(&self, ordinal: i64) -> &Object {
        let strategy = self.set.at(&["spec", "updateStrategy"]);
        let rolling = strategy.and_then(|strategy| strategy.str_at(&["type"])) != Some("OnDelete");
        let start = spec_int(self.set, &["ordinals", "start"], 0);
        let kept = match strategy.and_then(|strategy| strategy.get("rollingUpdate")) {
            Some(rolling) => rolling.int_at(&["partition"]).unwrap_or(0),
            None => self.set.value().int_at(&["status", "currentReplicas"]).unwrap_or(0),
        };
        if rolling && ordinal < start + kept { self.current } else { self.update }
    }

    fn delete(&mut self, pod: &Object) {
        self.out.delete(POD, pod);
        let message = format!("Delete Pod {} in StatefulSet {} successful", pod.name(), self.set.name());
        self.out.announce(Announcement::normal(self.set, "SuccessfulDelete", message));
    }
}
