//! The scheduler: puts each pod on the node that suits it best, as kube-scheduler does with its usual plugins, the most
//! important pod first; and makes room for it if there is none.
//!
//! | what | file |
//! |---|---|
//! | what is where, in sums that never need all pods | `load`, `crowd` |
//! | one search: obstacles in their order, marks with their weights | `fit` |
//! | one concern each | `taints`, `selection`, `ports`, `resources`, `volumes`, `spread`, `between` |
//! | making room, and keeping it | `preemption`, `nomination` |
//! | what is said | `words` |
//!
//! Where a real scheduler casts lots, this one takes the node with the fewest pods, and of those the first by name.

mod between;
mod crowd;
pub(crate) mod fit;
mod load;
mod node;
mod nomination;
pub(crate) mod objection;
mod ports;
mod preemption;
mod resources;
mod selection;
mod spread;
pub(crate) mod taints;
mod volumes;
mod words;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_object::{Object, Str, Value};

use self::fit::Search;
use self::load::{Load, priority};
use self::nomination::Nominations;
use self::preemption::{DISRUPTED, Room};
use self::words::Obstacle;
use super::key::Key;
use super::kind::{CLAIM, CSI_NODE, NAMESPACE, NODE, POD, STORAGE_CLASS, VOLUME, is_among};
use super::steps::{Announcement, Step, Steps};
use super::world::World;
use super::{Controller, Writer, condition, pods};
use crate::store::{Event, EventKind, Place};

const NAME: &str = "default-scheduler";

/// Puts pods on nodes.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    load: Load,
    nominations: Nominations,
    /// Pods that found no node, to be looked at again when something changes that matters to them.
    stuck: BTreeMap<Key, Concerns>,
}

/// What matters to a pod beside nodes and room on them.
#[derive(Clone, Copy, Debug, Default)]
struct Concerns {
    /// Where other pods are.
    pods: bool,
    /// Claims and volumes.
    volumes: bool,
}

impl Concerns {
    fn of(pod: &Object) -> Self {
        let spec = |path: &[&str]| pod.at(path).is_some_and(|value| !value.is_empty());
        Concerns {
            pods: spec(&["spec", "topologySpreadConstraints"]) || spec(&["spec", "affinity", "podAffinity"]),
            volumes: load::claims(pod).next().is_some(),
        }
    }
}

/// What became of the search for a node.
enum Choice {
    /// It goes there.
    Node(Str),
    /// It goes there as soon as it has its volumes.
    Wait(Str),
    /// It will go there when others have gone.
    Room { node: Str, victims: Vec<Object>, why: String },
    /// It stays where it is; whether it gives up a node that was promised.
    None { why: String, gives_up: bool },
}

impl Controller for Scheduler {
    fn component(&self) -> &'static str {
        NAME
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:kube-scheduler", manager: "kube-scheduler" }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[POD, NODE, NAMESPACE, CLAIM, VOLUME, STORAGE_CLASS, CSI_NODE], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        let is_gone = event.kind == EventKind::Deleted;
        let changed = |path: &[&str]| event.previous.as_ref().and_then(|old| old.at(path)) != object.at(path);
        if POD.is(&event.place) {
            self.notice_pod(event, wake);
        } else if NODE.is(&event.place) {
            if is_gone {
                self.load.forget_node(object.name());
            } else if self.load.note_node(object) {
                self.retry(wake, |_| true);
            }
        } else if NAMESPACE.is(&event.place) && changed(&["metadata", "labels"]) {
            self.retry(wake, |concerns| concerns.pods);
        } else if [CLAIM, VOLUME, STORAGE_CLASS, CSI_NODE].iter().any(|kind| kind.is(&event.place)) {
            self.retry(wake, |concerns| concerns.volumes);
        }
    }

    /// The most important pod first, and of equals the one that came first.
    fn order(&self, keys: &mut [Key], world: &World<'_>) {
        keys.sort_by_cached_key(|key| Reverse(world.find(key).map_or(0, |pod| priority(&pod))));
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        self.stuck.remove(key);
        let Some(pod) = world.find(key).filter(is_unassigned) else { return };
        self.load.forget(pod.uid());
        let choice = self.choose(&pod, world, out);
        if let Choice::Node(node) = choice {
            let message = format!("Successfully assigned {}/{} to {node}", pod.namespace(), pod.name());
            out.steps.push(Step::Bind { pod: pod.clone(), node });
            out.announce(Announcement::normal(&pod, "Scheduled", message));
            return;
        }
        self.stuck.insert(key.clone(), Concerns::of(&pod));
        match choice {
            Choice::Node(_) => {}
            Choice::Wait(node) => out.status_if_changed(POD, &pod, nominated(&pod, &node)),
            Choice::Room { node, victims, why } => {
                self.send_away(&pod, &node, &victims, world, out);
                self.nominations.note(&pod, &node);
                report(nominated(&pod, &node), &pod, &why, world, out);
            }
            Choice::None { why, gives_up } => {
                let new = if gives_up { nominated(&pod, "") } else { pod.clone() };
                report(new, &pod, &why, world, out);
            }
        }
    }
}

impl Scheduler {
    fn notice_pod(&mut self, event: &Event, wake: &mut Vec<Key>) {
        let pod = &event.object;
        let key = Key::of(&event.place, pod);
        let changed = |path: &[&str]| event.previous.as_ref().is_none_or(|old| old.at(path) != pod.at(path));
        if event.kind == EventKind::Deleted {
            self.nominations.forget(pod.uid());
            self.stuck.remove(&key);
            if self.load.forget(pod.uid()).is_some() {
                self.retry(wake, |_| true);
            }
            return;
        }
        if is_unassigned(pod) {
            // What was assumed for a pod that waits for its volumes is kept until it is looked at again.
            self.nominations
                .note(pod, pod.value().str_at(&["status", "nominatedNodeName"]).unwrap_or_default());
            let waits = self.stuck.contains_key(&key);
            if !waits || changed(&["spec"]) || changed(&["metadata", "labels"]) {
                wake.push(key);
            }
            return;
        }
        self.nominations.forget(pod.uid());
        let was_placed = self.load.placed(pod.uid()).is_some();
        if !self.load.note(pod) {
            if was_placed {
                self.retry(wake, |_| true);
            }
        } else if changed(&["spec", "nodeName"]) || changed(&["metadata", "labels"]) {
            self.retry(wake, |concerns| concerns.pods);
        }
    }

    fn retry(&mut self, wake: &mut Vec<Key>, concerned: impl Fn(Concerns) -> bool) {
        self.stuck.retain(|key, concerns| {
            let again = concerned(*concerns);
            if again {
                wake.push(key.clone());
            }
            !again
        });
    }

    fn choose(&mut self, pod: &Object, world: &World<'_>, out: &mut Steps) -> Choice {
        let total = self.load.nodes();
        if total == 0 {
            return Choice::None { why: "no nodes available to schedule pods".into(), gives_up: false };
        }
        let mut search = match Search::begin(pod, &self.load, world) {
            Ok(search) => search,
            Err(why) => return Choice::None { why: words::premature(total, &why), gives_up: false },
        };
        let (fitting, obstacles) = self.sift(&mut search);
        if let Some(node) = self.pick(&search, &fitting) {
            let waits = match (search.volumes(), self.load.machine(&node)) {
                (Some(volumes), Some((_, node))) => volumes.reserve(node, out),
                _ => false,
            };
            self.load.assume(pod, &node, Arc::clone(&search.wish));
            return if waits { Choice::Wait(node) } else { Choice::Node(node) };
        }
        let why = words::unavailable(total, obstacles.values());
        match preemption::make_room(&mut search, &mut self.load, &self.nominations, &obstacles) {
            Room::Made { node, victims } => Choice::Room { node, victims, why },
            Room::Barred(barred) => Choice::None { why: words::stuck(&why, barred), gives_up: false },
            Room::None(unhelpful) => Choice::None { why: words::stuck(&why, &unhelpful), gives_up: true },
        }
    }

    /// The nodes that will do, and what is wrong with the others.
    fn sift(&mut self, search: &mut Search<'_>) -> (Vec<Str>, BTreeMap<Str, Obstacle>) {
        let (mut fitting, mut obstacles) = (Vec::new(), BTreeMap::new());
        for (name, machine, node) in self.load.machines() {
            if !search.considers(name) {
                continue;
            }
            match search.obstacle(&self.load, machine, node) {
                Some(obstacle) => {
                    obstacles.insert(name.clone(), obstacle);
                }
                None => fitting.push(name.clone()),
            }
        }
        fitting.retain(|name| {
            let obstacle = match self.nominations.concern(name) {
                true => self.nominations.obstacle(search, &mut self.load, name),
                false => None,
            };
            obstacle.map(|obstacle| obstacles.insert(name.clone(), obstacle)).is_none()
        });
        (fitting, obstacles)
    }

    /// The node that was promised if it will do, and else the best.
    fn pick(&self, search: &Search<'_>, fitting: &[Str]) -> Option<Str> {
        let promised = search.pod.value().str_at(&["status", "nominatedNodeName"]);
        let kept = fitting.iter().find(|name| Some(name.as_str()) == promised);
        kept.cloned().or_else(|| search.best(fitting, &self.load))
    }

    /// Deletes those who have to go, and takes the node from those to whom it was promised.
    fn send_away(&self, pod: &Object, node: &str, victims: &[Object], world: &World<'_>, out: &mut Steps) {
        for passed_over in self.nominations.lower(node, priority(pod)) {
            if let Some(current) = world.get(POD, passed_over.namespace(), passed_over.name()) {
                out.status_if_changed(POD, &current, nominated(&current, ""));
            }
        }
        for victim in victims {
            let current = world.get(POD, victim.namespace(), victim.name());
            let Some(current) =
                current.filter(|current| current.uid() == victim.uid() && !current.is_deleting())
            else {
                continue;
            };
            let message = format!("{NAME}: preempting to accommodate a higher priority pod");
            let mut disrupted = condition::new(DISRUPTED.0, "True", DISRUPTED.1, &message, world.now);
            dress(&mut disrupted, &current);
            let mut marked = current.clone();
            condition::replace(&mut marked, disrupted);
            out.status(POD, marked);
            out.delete(POD, &current);
            let message = format!("Preempted by pod {} on node {node}", pod.uid());
            out.announce(Announcement::normal(&current, "Preempted", message));
        }
    }
}

fn is_unassigned(pod: &Object) -> bool {
    let text = |field| pod.value().str_at(&["spec", field]).unwrap_or_default();
    text("nodeName").is_empty()
        && matches!(text("schedulerName"), "" | NAME)
        && pod.value().items_at(&["spec", "schedulingGates"]).is_empty()
        && pods::is_active(pod)
}

/// The pod with a node that it is to get, or none.
fn nominated(pod: &Object, node: &str) -> Object {
    let mut new = pod.clone();
    if node.is_empty() {
        new.remove(&["status", "nominatedNodeName"]);
    } else {
        new.set(&["status", "nominatedNodeName"], node);
    }
    new
}

/// What a pod's conditions have beside the usual.
fn dress(condition: &mut Value, pod: &Object) {
    condition.set(&["lastProbeTime"], Value::Null);
    if pod.generation() > 0 {
        condition.set(&["observedGeneration"], pod.generation());
    }
}

/// Says why a pod has no node, once.
fn report(mut new: Object, pod: &Object, why: &str, world: &World<'_>, out: &mut Steps) {
    let mut condition = condition::new("PodScheduled", "False", "Unschedulable", why, world.now);
    dress(&mut condition, pod);
    condition::replace(&mut new, condition);
    if new.value() != pod.value() {
        out.announce(Announcement::warning(pod, "FailedScheduling", why));
        out.status(POD, new);
    }
}
