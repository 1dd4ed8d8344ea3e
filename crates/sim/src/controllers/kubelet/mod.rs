//! What the nodes do: start the pods that are bound to them, report on them, and let them go.
//!
//! | what | files |
//! |---|---|
//! | a pod as a whole | `admission`, `status`, `stop`, `disk`, `needs`, `address` |
//! | one container | `container`, `program`, `probe`, `service`, `right`, `restart`, `backoff` |
//! | its image | `pull`, `credentials`, `registry` |

mod address;
mod admission;
mod backoff;
mod container;
mod credentials;
mod disk;
mod needs;
mod probe;
mod program;
mod pull;
mod registry;
mod restart;
mod right;
mod scene;
mod service;
mod status;
mod stop;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};

use self::address::Addresses;
use self::backoff::Memory;
use self::disk::Evictions;
use self::needs::Missing;
use self::scene::{Machines, Scene, from_kubelet};
use super::key::Key;
use super::kind::{CONFIG_MAP, ENDPOINT_SLICE, FAULT, NODE, POD, SECRET, SERVICE, is_among};
use super::steps::{Announcement, Steps};
use super::time::{self, after, stamp};
use super::volumes::attachment;
use super::world::World;
use super::{Controller, Writer, condition, faults, pods};
use crate::store::{Event, EventKind, Place};

/// How many seconds it takes to pull images and start containers.
const START_SECONDS: i64 = 1;

/// All kubelets at once.
#[derive(Default)]
pub(crate) struct Kubelets {
    addresses: Addresses,
    /// Pods that lack something, to be looked at again when it may have come.
    waiting: BTreeSet<Key>,
    /// What is remembered of each pod.
    memories: BTreeMap<Key, (Str, Memory)>,
    machines: Machines,
    evictions: Evictions,
}

impl Controller for Kubelets {
    fn component(&self) -> &'static str {
        "kubelet"
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:node:sim", manager: "kubelet" }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[CONFIG_MAP, SECRET, SERVICE, ENDPOINT_SLICE, FAULT, POD], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        if CONFIG_MAP.is(&event.place) || SECRET.is(&event.place) {
            let namespace = event.object.namespace();
            wake.extend(self.waiting.iter().filter(|key| key.namespace == namespace).cloned());
        } else if let Some(changed) = service::changed(event) {
            let needing = self.memories.iter().filter(|(_, (_, memory))| memory.needs.contains(&changed));
            wake.extend(needing.map(|(key, _)| key.clone()));
        } else if FAULT.is(&event.place) {
            self.notice_fault(event, world, wake);
        } else if POD.is(&event.place) {
            self.notice_pod(event, wake);
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(pod) = world.find(key) else { return };
        let Some(node) = world.get(NODE, "", node_of(&pod)) else { return };
        if world.local.is_down(node.name()) {
            return;
        }
        if pod.is_deleting() {
            stop::stop(&pod, &node, world, out);
        } else if !pods::is_finished(&pod) && !admission::refuse(&pod, &node, world, out) {
            self.run(&pod, &node, world, out);
        }
    }
}

impl Kubelets {
    /// Looks after the pods of nodes that something befalls, or that are well again.
    fn notice_fault(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let nodes = faults::nodes_of(event, world);
        let pods = if nodes.is_empty() { Vec::new() } else { world.list_all(POD) };
        for node in nodes {
            let here: Vec<&Object> = pods.iter().filter(|pod| node_of(pod) == node.name()).collect();
            if world.local.is_full(node.name()) {
                self.evictions.note(&here, world.now);
            }
            wake.extend(here.into_iter().map(|pod| Key::of(&POD.place(), pod)));
        }
    }

    fn notice_pod(&mut self, event: &Event, wake: &mut Vec<Key>) {
        let key = Key::of(&event.place, &event.object);
        if event.kind == EventKind::Deleted {
            self.addresses.free(event.object.uid());
            self.waiting.remove(&key);
            self.memories.remove(&key);
            self.evictions.forget(&key);
            self.wake_waiting(wake);
        } else if !node_of(&event.object).is_empty() {
            self.addresses.note(&event.object);
            // What the kubelet itself wrote needs no second look: its timers are set already.
            if !only_status_changed(event) {
                wake.push(key);
            } else if pods::is_finished(&event.object) {
                self.wake_waiting(wake);
            }
        }
    }

    /// Looks again at the pods that lack something: a pod that is over may have had a volume that they wait for.
    fn wake_waiting(&self, wake: &mut Vec<Key>) {
        wake.extend(self.waiting.iter().cloned());
    }

    fn run(&mut self, stored: &Object, node: &Object, world: &World<'_>, out: &mut Steps) {
        let key = Key::of(&POD.place(), stored);
        let mut pod = stored.clone();
        let mut begun = time::read(pod.at(&["status", "startTime"])).unwrap_or(world.now);
        if stored.at(&["status", "podIP"]).is_none() {
            let held = attachment::held(stored, world).is_some();
            let missing = needs::missing(stored, world).filter(|_| !held);
            if held || missing.is_some() {
                self.fill_in(&mut pod, node, begun);
                let blocked = status::creating(&pod, world.now);
                if let Some(missing) = missing.filter(|_| blocked.value() != stored.value()) {
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
        // One that was started elsewhere keeps the address that it has.
        if world.now >= start && stored.at(&["status", "podIP"]).is_none() {
            let ip = self.addresses.of(&pod, node);
            set_address(&mut pod, &ip);
        }
        let due = self.evictions.due(&key, stored, world);
        let memory = self.memories.entry(key.clone()).or_default();
        if memory.0 != stored.uid() {
            *memory = (stored.uid().into(), Memory::default());
        }
        let (memory, machines) = (&mut memory.1, &mut self.machines);
        let mut scene = Scene { pod: &pod, node, world, memory, machines, next: None, news: Vec::new() };
        let over = stop::overdue(&mut scene, begun).or_else(|| disk::evicted(&mut scene, due));
        let assessed = match over {
            Some(over) => over,
            None => status::assess(&mut scene, start),
        };
        let lacks = scene.memory.lacks;
        let Scene { next, news, .. } = scene;
        if lacks {
            self.waiting.insert(key);
        } else {
            self.waiting.remove(&key);
        }
        // A status that is refused is worked out again: nothing is told of it before it is there.
        out.status_if_changed(POD, stored, assessed);
        news.into_iter().for_each(|news| out.announce(news));
        if let Some(next) = next {
            out.again_at(next);
        }
    }

    fn fill_in(&self, pod: &mut Object, node: &Object, begun: Timestamp) {
        // A pod that named its node was never scheduled by anybody, and counts as if it had been.
        if !condition::is_true(pod, "PodScheduled") {
            let mut scheduled = condition::new("PodScheduled", "True", "", "", begun);
            scheduled.set(&["lastProbeTime"], Value::Null);
            if pod.generation() > 0 {
                scheduled.set(&["observedGeneration"], pod.generation());
            }
            condition::replace(pod, scheduled);
        }
        pod.set(&["status", "startTime"], stamp(begun));
        if pod.generation() > 0 {
            pod.set(&["status", "observedGeneration"], pod.generation());
        }
        let host = address::internal_ip(node);
        set(pod, "hostIPs", value!([{"ip": host}]));
        set(pod, "hostIP", host.into());
        let class = pod.value().str_at(&["status", "qosClass"]).is_none();
        if class {
            pod.set(&["status", "qosClass"], crate::kinds::quality::class(pod.value()));
        }
    }
}

/// Sets a field of the status. What is there already stays shared with the stored pod, and is not looked at by those who
/// write it.
fn set(pod: &mut Object, field: &str, value: Value) {
    let path = ["status", field];
    if pod.at(&path) != Some(&value) {
        pod.set(&path, value);
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

fn report_missing(pod: &Object, node: &Object, missing: &Missing, out: &mut Steps) {
    let Missing { volume, what } = missing;
    let message = format!("MountVolume.SetUp failed for volume {volume:?} : {what}");
    out.announce(from_kubelet(Announcement::warning(pod, "FailedMount", message), node, ""));
}
