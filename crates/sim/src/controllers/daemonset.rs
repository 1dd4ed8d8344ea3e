//! DaemonSets: one pod on every node that it fits.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};

use super::history::{History, Style};
use super::key::Key;
use super::kind::{CONTROLLER_REVISION, DAEMON_SET, NODE, POD, is_among};
use super::pods::{self, scaled, set_count, spec_int};
use super::scheduler::fit;
use super::steps::{Announcement, Steps};
use super::time::after;
use super::world::World;
use super::{Controller, Refusal, Writer, announce_refusal, manager};
use crate::store::{Event, Place};

const HASH_LABEL: &str = "controller-revision-hash";
const STYLE: Style = Style { label: HASH_LABEL };
const GENERATION_LABEL: &str = "pod-template-generation";
const GENERATION: &str = "deprecated.daemonset.template.generation";

/// The first wait before a failed pod is replaced, in seconds; it doubles each time.
const FIRST_WAIT: i64 = 1;
/// The longest wait, in seconds. Whoever has not failed for twice as long begins anew.
const LONGEST_WAIT: i64 = 15 * 60;

/// Keeps the pods of DaemonSets.
#[derive(Default)]
pub(crate) struct DaemonSets {
    /// When a failed pod was last replaced, and how long the next one has to wait: by the set's uid and the node.
    failures: Failures,
}

impl Controller for DaemonSets {
    fn component(&self) -> &'static str {
        "daemonset-controller"
    }

    fn writer(&self) -> Writer {
        manager!("daemon-set-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[DAEMON_SET, NODE, POD, CONTROLLER_REVISION], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if DAEMON_SET.is(&event.place) {
            wake.push(Key::of(&event.place, object));
        } else if NODE.is(&event.place) {
            let all = world.list_all(DAEMON_SET);
            wake.extend(all.iter().map(|set| Key::of(&DAEMON_SET.place(), set)));
        } else if (POD.is(&event.place) || CONTROLLER_REVISION.is(&event.place))
            && let Some(name) = pods::managed_by(object, DAEMON_SET)
        {
            wake.push(Key::new(DAEMON_SET, object.namespace(), &name));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(set) = world.find(key) else { return };
        let history = History::read(&set, &STYLE, world, out);
        let Some(present) = history.present.clone() else { return };
        let hash = present.label(HASH_LABEL).unwrap_or_default().to_owned();
        let look = Look { set: &set, hash: &hash, world };
        let (placed, strays) = look.place();
        look.report(&placed, out);
        if set.is_deleting() {
            return;
        }
        self.failures.retain(|_, (last, _)| after(*last, 2 * LONGEST_WAIT) > world.now);
        look.manage(&placed, &strays, &mut self.failures, out);
        let live = |revision: &Object| {
            let hash = revision.label(HASH_LABEL);
            revision.name() == present.name()
                || placed.values().flatten().any(|pod| pod.label(HASH_LABEL) == hash)
        };
        history.truncate(&set, &live, out);
        let all: Vec<Object> = placed.into_values().flatten().collect();
        let min_ready = spec_int(&set, &["minReadySeconds"], 0);
        if let Some(at) = pods::next_available(&all, min_ready, world.now) {
            out.again_at(at);
        }
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        if let Some(set) = world.find(key) {
            announce_refusal(&set, why, out);
        }
    }
}

type Failures = BTreeMap<(Str, Str), (Timestamp, i64)>;

struct Look<'a> {
    set: &'a Object,
    hash: &'a str,
    world: &'a World<'a>,
}

impl Look<'_> {
    /// The pods of the set by the node that they are meant for; and those on nodes where none should be.
    fn place(&self) -> (BTreeMap<String, Vec<Object>>, Vec<Object>) {
        let template = self.template();
        let mut placed: BTreeMap<String, Vec<Object>> = self
            .world
            .list_all(NODE)
            .into_iter()
            .filter(|node| fit::runs_daemon(&template, node))
            .map(|node| (node.name().to_owned(), Vec::new()))
            .collect();
        let mut strays = Vec::new();
        for pod in self.world.managed(self.set, POD) {
            match placed.get_mut(&node_of(&pod)) {
                Some(pods) => pods.push(pod),
                None => strays.push(pod),
            }
        }
        (placed, strays)
    }

    /// A pod as it would be made, for asking which nodes it fits.
    fn template(&self) -> Object {
        let template = self.set.at(&["spec", "template"]).cloned().unwrap_or_default();
        let mut pod = pods::from_template(self.set, &template);
        tolerate_trouble(&mut pod);
        pod
    }

    fn is_new(&self, pod: &Object) -> bool {
        pod.label(HASH_LABEL) == Some(self.hash)
    }

    fn is_available(&self, pod: &Object) -> bool {
        pods::is_available(pod, spec_int(self.set, &["minReadySeconds"], 0), self.world.now)
    }

    fn manage(
        &self,
        placed: &BTreeMap<String, Vec<Object>>,
        strays: &[Object],
        failures: &mut Failures,
        out: &mut Steps,
    ) {
        for pod in strays.iter().filter(|pod| !pod.is_deleting()) {
            self.delete(pod, out);
        }
        let surge = self.rolling("maxSurge", placed.len(), true);
        for (node, pods_there) in placed {
            let mut alive: Vec<&Object> = pods_there.iter().filter(|pod| !pod.is_deleting()).collect();
            alive.retain(|pod| {
                let failed = pods::is_finished(pod);
                if failed && self.may_replace(node, failures, out) {
                    let message = format!(
                        "Found failed daemon pod {}/{} on node {node}, will try to kill it",
                        pod.namespace(),
                        pod.name()
                    );
                    out.announce(Announcement::warning(self.set, "FailedDaemonPod", message));
                    self.delete(pod, out);
                }
                !failed
            });
            if alive.is_empty() && pods_there.is_empty() {
                self.create(node, out);
            }
            // More than one on a node: the oldest stays, unless a newer template is taking over beside it.
            if alive.len() > 1 && surge == 0 {
                let mut sorted: Vec<Object> = alive.into_iter().cloned().collect();
                pods::by_age(&mut sorted);
                sorted.iter().skip(1).for_each(|pod| self.delete(pod, out));
            }
        }
        self.roll(placed, surge, out);
    }

    /// Whether a failed pod may be replaced now: the more often it fails, the longer that takes.
    fn may_replace(&self, node: &str, failures: &mut Failures, out: &mut Steps) -> bool {
        let now = self.world.now;
        let key = (self.set.uid().into(), node.into());
        let wait = match failures.get(&key) {
            Some((last, wait)) if after(*last, *wait) > now => {
                out.again_at(after(*last, *wait));
                return false;
            }
            Some((_, wait)) => (wait * 2).min(LONGEST_WAIT),
            None => FIRST_WAIT,
        };
        failures.insert(key, (now, wait));
        true
    }

    fn rolling(&self, field: &str, total: usize, round_up: bool) -> i64 {
        let value = self.set.at(&["spec", "updateStrategy", "rollingUpdate", field]);
        scaled(value, total as i64, round_up)
    }

    /// Replaces pods of an old template, as many at a time as may be missing or may be too many.
    fn roll(&self, placed: &BTreeMap<String, Vec<Object>>, surge: i64, out: &mut Steps) {
        if self.set.value().str_at(&["spec", "updateStrategy", "type"]) == Some("OnDelete") {
            return;
        }
        let mut allowed = self.rolling("maxUnavailable", placed.len(), true);
        if surge > 0 {
            self.roll_beside(placed, surge, out);
            return;
        }
        let mut candidates = Vec::new();
        for pods_there in placed.values() {
            let old = pods_there.iter().find(|pod| !pod.is_deleting() && !self.is_new(pod));
            let available = pods_there.iter().any(|pod| !pod.is_deleting() && self.is_available(pod));
            match old {
                // A broken old pod is replaced whatever else is missing.
                Some(old) if !available => self.delete(old, out),
                Some(old) => candidates.push(old.clone()),
                None => {}
            }
            if !available {
                allowed -= 1;
            }
        }
        let room = usize::try_from(allowed.max(0)).unwrap_or(0);
        candidates.iter().take(room).for_each(|pod| self.delete(pod, out));
    }

    fn roll_beside(&self, placed: &BTreeMap<String, Vec<Object>>, surge: i64, out: &mut Steps) {
        let mut room = surge;
        for (node, pods_there) in placed {
            let alive = || pods_there.iter().filter(|pod| !pod.is_deleting());
            let old = alive().find(|pod| !self.is_new(pod));
            let new = alive().find(|pod| self.is_new(pod));
            match (old, new) {
                (Some(old), Some(new)) if self.is_available(new) => self.delete(old, out),
                (Some(_), Some(_)) => room -= 1,
                (Some(_), None) if room > 0 => {
                    room -= 1;
                    self.create(node, out);
                }
                _ => {}
            }
        }
    }

    fn create(&self, node: &str, out: &mut Steps) {
        let mut pod = self.template();
        pod.set_label(HASH_LABEL, self.hash);
        pod.set_label(GENERATION_LABEL, self.set.annotation(GENERATION).unwrap_or("1"));
        let terms = value!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]);
        let path = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
        pod.set(&[&path[..], &["nodeSelectorTerms"]].concat(), terms);
        let told = Announcement::normal(self.set, "SuccessfulCreate", "Created pod: {name}");
        out.create_and_tell(POD, pod, told);
    }

    fn delete(&self, pod: &Object, out: &mut Steps) {
        out.delete(POD, pod);
        let message = format!("Deleted pod: {}", pod.name());
        out.announce(Announcement::normal(self.set, "SuccessfulDelete", message));
    }

    fn report(&self, placed: &BTreeMap<String, Vec<Object>>, out: &mut Steps) {
        let count = |test: &dyn Fn(&Object) -> bool| {
            let on = |pods: &&Vec<Object>| pods.iter().any(|pod| !pod.is_deleting() && test(pod));
            placed.values().filter(on).count() as i64
        };
        let desired = placed.len() as i64;
        let available = count(&|pod| self.is_available(pod));
        let mut new = self.set.clone();
        new.set(&["status", "observedGeneration"], self.set.generation());
        new.set(&["status", "desiredNumberScheduled"], desired);
        new.set(&["status", "currentNumberScheduled"], count(&|_| true));
        new.set(&["status", "numberMisscheduled"], 0);
        new.set(&["status", "numberReady"], count(&pods::is_ready));
        set_count(&mut new, "numberAvailable", available);
        set_count(&mut new, "updatedNumberScheduled", count(&|pod| self.is_new(pod)));
        set_count(&mut new, "numberUnavailable", desired - available);
        out.status_if_changed(DAEMON_SET, self.set, new);
    }
}

/// The node that a pod is on, or is meant for.
fn node_of(pod: &Object) -> String {
    if let Some(node) = pod.value().str_at(&["spec", "nodeName"]).filter(|node| !node.is_empty()) {
        return node.to_owned();
    }
    let path = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = pod.at(&path).map(|required| required.items_at(&["nodeSelectorTerms"])).unwrap_or_default();
    let field = terms.first().and_then(|term| term.items_at(&["matchFields"]).first());
    let node = field.and_then(|field| field.items_at(&["values"]).first()).and_then(Value::as_str);
    node.unwrap_or_default().to_owned()
}

/// Daemons stay on nodes that are in trouble.
fn tolerate_trouble(pod: &mut Object) {
    let mut tolerations = pod.value().items_at(&["spec", "tolerations"]).to_vec();
    for (key, effect) in [
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ] {
        tolerations.push(value!({"key": key, "operator": "Exists", "effect": effect}));
    }
    if pod.value().bool_at(&["spec", "hostNetwork"]) == Some(true) {
        let key = "node.kubernetes.io/network-unavailable";
        tolerations.push(value!({"key": key, "operator": "Exists", "effect": "NoSchedule"}));
    }
    pod.set(&["spec", "tolerations"], tolerations);
}
