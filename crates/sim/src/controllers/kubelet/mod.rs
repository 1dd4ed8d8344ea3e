//! What the nodes do: start the pods that are bound to them, report on them, and let them go.

mod address;
mod life;
mod needs;
mod program;
mod status;

use std::collections::BTreeSet;

use jiff::Timestamp;
use lynceus_object::{Object, Str, value};

use self::address::Addresses;
use self::needs::Missing;
use self::status::{Happened, News};
use super::key::Key;
use super::kind::{CONFIG_MAP, NODE, POD, SECRET};
use super::steps::{Announcement, Deletion, Steps};
use super::time::{self, after, stamp};
use super::world::World;
use super::{Controller, Writer, pods};
use crate::store::{Event, EventKind};

/// How many seconds it takes to pull images and start containers.
const START_SECONDS: i64 = 1;
/// How many seconds containers take to stop, if they are given that long.
const STOP_SECONDS: i64 = 1;

/// All kubelets at once.
#[derive(Default)]
pub(crate) struct Kubelets {
    addresses: Addresses,
    /// Pods that lack something, to be looked at again when it may have come.
    waiting: BTreeSet<Key>,
}

impl Controller for Kubelets {
    fn component(&self) -> &'static str {
        "kubelet"
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:node:sim", manager: "kubelet" }
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if CONFIG_MAP.is(&event.place) || SECRET.is(&event.place) {
            let namespace = event.object.namespace();
            wake.extend(self.waiting.iter().filter(|key| key.namespace == namespace).cloned());
            return;
        }
        if !POD.is(&event.place) {
            return;
        }
        if event.kind == EventKind::Deleted {
            self.addresses.free(event.object.uid());
            self.waiting.remove(&Key::of(&event.place, &event.object));
        } else if !node_of(&event.object).is_empty() {
            self.addresses.note(&event.object);
            // What the kubelet itself wrote needs no second look: its timers are set already.
            if !only_status_changed(event) {
                wake.push(Key::of(&event.place, &event.object));
            }
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(pod) = world.find(key) else { return };
        let Some(node) = world.get(NODE, "", node_of(&pod)) else { return };
        if pod.is_deleting() {
            stop(&pod, &node, world, out);
        } else if !pods::is_finished(&pod) {
            self.run(&pod, &node, world, out);
        }
    }
}

impl Kubelets {
    fn run(&mut self, stored: &Object, node: &Object, world: &World<'_>, out: &mut Steps) {
        let key = Key::of(&POD.place(), stored);
        let mut pod = stored.clone();
        let mut begun = time::read(pod.at(&["status", "startTime"])).unwrap_or(world.now);
        if stored.at(&["status", "podIP"]).is_none() {
            if let Some(missing) = needs::missing(stored, world) {
                self.fill_in(&mut pod, node, begun);
                let blocked = status::blocked(&pod, &missing, world.now);
                if blocked.value() != stored.value() {
                    report_missing(stored, node, &missing, out);
                }
                out.status_if_changed(POD, stored, blocked);
                self.waiting.insert(key);
                return;
            }
            // What was missing has come: the pod starts now, and not when it was bound.
            if self.waiting.remove(&key) {
                begun = world.now;
            }
        }
        self.fill_in(&mut pod, node, begun);
        let start = after(begun, START_SECONDS);
        let mut assessed = status::assess(&pod, start, world.now);
        if world.now >= start {
            let ip = self.addresses.of(&pod, node);
            set_address(&mut assessed.pod, &ip);
        }
        for news in &assessed.news {
            report(stored, node, news, out);
        }
        out.status_if_changed(POD, stored, assessed.pod);
        if let Some(next) = assessed.next {
            out.again_at(next);
        }
    }

    fn fill_in(&self, pod: &mut Object, node: &Object, begun: Timestamp) {
        pod.set(&["status", "startTime"], stamp(begun));
        if pod.generation() > 0 {
            pod.set(&["status", "observedGeneration"], pod.generation());
        }
        let host = address::internal_ip(node);
        pod.set(&["status", "hostIP"], host.clone());
        pod.set(&["status", "hostIPs"], value!([{"ip": host}]));
        let class = pod.value().str_at(&["status", "qosClass"]).is_none();
        if class {
            pod.set(&["status", "qosClass"], crate::kinds::quality::class(pod.value()));
        }
    }
}

fn set_address(pod: &mut Object, ip: &Str) {
    pod.set(&["status", "podIP"], ip.clone());
    pod.set(&["status", "podIPs"], value!([{"ip": ip}]));
}

fn node_of(pod: &Object) -> &str {
    pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default()
}

fn only_status_changed(event: &Event) -> bool {
    let Some(before) = &event.previous else { return false };
    before.at(&["spec"]) == event.object.at(&["spec"])
        && before.is_deleting() == event.object.is_deleting()
        && before.at(&["metadata", "annotations"]) == event.object.at(&["metadata", "annotations"])
        && before.at(&["metadata", "finalizers"]) == event.object.at(&["metadata", "finalizers"])
        && event.object.value().items_at(&["spec", "readinessGates"]).is_empty()
}

/// Stops a pod's containers and, when they have stopped, lets the pod go.
fn stop(pod: &Object, node: &Object, world: &World<'_>, out: &mut Steps) {
    let grace = pod.value().int_at(&["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0);
    let deadline = time::read(pod.at(&["metadata", "deletionTimestamp"])).unwrap_or(world.now);
    let asked = after(deadline, -grace);
    let stopped = after(asked, grace.min(STOP_SECONDS));
    let running = !pods::is_finished(pod) && pods::phase(pod) == "Running";
    if world.now < stopped && running {
        for container in pod.value().items_at(&["spec", "containers"]) {
            let name = container.str_at(&["name"]).unwrap_or_default();
            let told = Announcement::normal(pod, "Killing", format!("Stopping container {name}"));
            out.announce(from_kubelet(told, node, &format!("spec.containers{{{name}}}")));
        }
        out.again_at(stopped);
        return;
    }
    if pod.finalizers().next().is_some() {
        finish(pod, world, out);
    }
    out.delete_how(POD, pod, Deletion { grace: Some(0), propagation: None });
}

/// A stopped pod that something else still holds on to has to be seen as stopped.
fn finish(pod: &Object, world: &World<'_>, out: &mut Steps) {
    if pods::is_finished(pod) {
        return;
    }
    let mut new = pod.clone();
    new.set(&["status", "phase"], "Failed");
    for type_ in ["Ready", "ContainersReady"] {
        let mut condition = super::condition::new(type_, "False", "PodFailed", "", world.now);
        condition.set(&["lastProbeTime"], lynceus_object::Value::Null);
        super::condition::replace(&mut new, condition);
    }
    out.status(POD, new);
}

fn report_missing(pod: &Object, node: &Object, missing: &Missing, out: &mut Steps) {
    let (reason, message, field) = match missing {
        Missing::Volume { volume, what } => {
            ("FailedMount", format!("MountVolume.SetUp failed for volume {volume:?} : {what}"), String::new())
        }
        Missing::Environment { container, what } => {
            ("Failed", format!("Error: {what}"), format!("spec.containers{{{container}}}"))
        }
    };
    out.announce(from_kubelet(Announcement::warning(pod, reason, message), node, &field));
}

fn report(pod: &Object, node: &Object, news: &News, out: &mut Steps) {
    let name = &news.container;
    let list = if news.init { "initContainers" } else { "containers" };
    let field = format!("spec.{list}{{{name}}}");
    let mut tell = |warning: bool, reason: &'static str, message: String| {
        let told = Announcement { warning, ..Announcement::normal(pod, reason, message) };
        out.announce(from_kubelet(told, node, &field));
    };
    match &news.what {
        Happened::Started { image } => {
            tell(false, "Pulled", format!("Container image {image:?} already present on machine"));
            tell(false, "Created", "Container created".to_owned());
            tell(false, "Started", "Container started".to_owned());
        }
        Happened::BackOff => {
            let pod_name = format!("{}_{}({})", pod.name(), pod.namespace(), pod.uid());
            let message = format!("Back-off restarting failed container {name} in pod {pod_name}");
            tell(true, "BackOff", message);
        }
    }
}

fn from_kubelet(told: Announcement, node: &Object, field: &str) -> Announcement {
    Announcement { host: node.name().into(), field: field.to_owned(), ..told }
}
