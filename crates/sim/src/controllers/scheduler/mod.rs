//! The scheduler, at first depth: a node that is ready, selected, tolerated and large enough; among those
//! the one with the fewest pods.
//!
//! Affinity between pods, spreading, priorities and preemption are for a scheduler of more depth, which
//! takes the place of `choose`.

pub(crate) mod fit;
mod load;

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{Object, Str, Value};

use self::load::Load;
use super::key::Key;
use super::kind::{CLAIM, NODE, POD, STORAGE_CLASS};
use super::steps::{Announcement, Step, Steps};
use super::world::World;
use super::{Controller, Writer, condition, pods};
use crate::store::{Event, EventKind};

const NAME: &str = "default-scheduler";
/// Tells the provisioner of a claim that waits for its first pod where that pod will run.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Puts pods on nodes.
#[derive(Default)]
pub(crate) struct Scheduler {
    load: Load,
    /// Pods that found no node, to be looked at again when something changes.
    stuck: BTreeSet<Key>,
}

/// What became of the search for a node.
enum Choice {
    Node(Str),
    /// A claim has to be bound first; its node was written down.
    Wait,
    None(String),
}

impl Controller for Scheduler {
    fn component(&self) -> &'static str {
        NAME
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:kube-scheduler", manager: "kube-scheduler" }
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if POD.is(&event.place) {
            let key = Key::of(&event.place, object);
            if event.kind == EventKind::Deleted {
                self.load.forget(object.uid());
                self.stuck.remove(&key);
                self.retry(wake);
            } else {
                self.load.note(object);
                if is_unassigned(object) {
                    wake.push(key);
                }
            }
        } else if NODE.is(&event.place) || CLAIM.is(&event.place) {
            self.retry(wake);
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        self.stuck.remove(key);
        let Some(pod) = world.find(key).filter(is_unassigned) else { return };
        match self.choose(&pod, world, out) {
            Choice::Node(node) => {
                self.load.assume(&pod, &node);
                let message = format!("Successfully assigned {}/{} to {node}", pod.namespace(), pod.name());
                out.steps.push(Step::Bind { pod: pod.clone(), node });
                out.announce(Announcement::normal(&pod, "Scheduled", message));
            }
            Choice::Wait => {
                self.stuck.insert(key.clone());
            }
            Choice::None(why) => {
                self.stuck.insert(key.clone());
                report_unschedulable(&pod, &why, world, out);
            }
        }
    }
}

impl Scheduler {
    fn retry(&mut self, wake: &mut Vec<Key>) {
        wake.extend(std::mem::take(&mut self.stuck));
    }

    fn choose(&self, pod: &Object, world: &World<'_>, out: &mut Steps) -> Choice {
        let claims = match claims_of(pod, world) {
            Ok(claims) => claims,
            Err(why) => return Choice::None(why),
        };
        let nodes = world.list_all(NODE);
        if nodes.is_empty() {
            return Choice::None("no nodes available to schedule pods".into());
        }
        let mut obstacles: BTreeMap<String, usize> = BTreeMap::new();
        let mut best: Option<(i64, &Object)> = None;
        for node in &nodes {
            let shortage = || self.load.shortage(pod, node).map(str::to_owned);
            if let Some(obstacle) = fit::obstacle(pod, node).or_else(shortage) {
                *obstacles.entry(obstacle).or_default() += 1;
                continue;
            }
            let crowd = self.load.of(node.name()).pods;
            if best.is_none_or(|(least, _)| crowd < least) {
                best = Some((crowd, node));
            }
        }
        let Some((_, node)) = best else {
            return Choice::None(explain(nodes.len(), &obstacles));
        };
        let unbound: Vec<&Object> = claims.iter().filter(|claim| !is_bound(claim)).collect();
        if unbound.is_empty() {
            return Choice::Node(node.name().into());
        }
        for claim in unbound.into_iter().filter(|claim| claim.annotation(SELECTED_NODE).is_none()) {
            let mut claim = claim.clone();
            claim.set_annotation(SELECTED_NODE, node.name());
            out.update(CLAIM, claim);
        }
        Choice::Wait
    }
}

fn is_unassigned(pod: &Object) -> bool {
    let text = |field| pod.value().str_at(&["spec", field]).unwrap_or_default();
    text("nodeName").is_empty()
        && matches!(text("schedulerName"), "" | NAME)
        && pod.value().items_at(&["spec", "schedulingGates"]).is_empty()
        && pods::is_active(pod)
}

fn is_bound(claim: &Object) -> bool {
    claim.value().str_at(&["status", "phase"]) == Some("Bound")
}

/// The claims of a pod, if it can be scheduled as far as they are concerned.
fn claims_of(pod: &Object, world: &World<'_>) -> Result<Vec<Object>, String> {
    let names = pod
        .value()
        .items_at(&["spec", "volumes"])
        .iter()
        .filter_map(|volume| volume.str_at(&["persistentVolumeClaim", "claimName"]));
    let mut claims = Vec::new();
    for name in names {
        let Some(claim) = world.get(CLAIM, pod.namespace(), name) else {
            return Err(format!("persistentvolumeclaim {name:?} not found"));
        };
        if claim.is_deleting() {
            return Err(format!("persistentvolumeclaim {name:?} is being deleted"));
        }
        if !is_bound(&claim) && !waits_for_consumer(&claim, world) {
            return Err("pod has unbound immediate PersistentVolumeClaims".into());
        }
        claims.push(claim);
    }
    Ok(claims)
}

/// Whether a claim is bound only once a pod that uses it is scheduled.
pub(crate) fn waits_for_consumer(claim: &Object, world: &World<'_>) -> bool {
    let class = claim.value().str_at(&["spec", "storageClassName"]).unwrap_or_default();
    let class = world.get(STORAGE_CLASS, "", class);
    class.is_some_and(|class| class.value().str_at(&["volumeBindingMode"]) == Some("WaitForFirstConsumer"))
}

fn explain(nodes: usize, obstacles: &BTreeMap<String, usize>) -> String {
    let reasons: Vec<String> = obstacles.iter().map(|(why, count)| format!("{count} {why}")).collect();
    format!(
        "0/{nodes} nodes are available: {}. preemption: 0/{nodes} nodes are available: {nodes} Preemption is not helpful for scheduling.",
        reasons.join(", ")
    )
}

fn report_unschedulable(pod: &Object, why: &str, world: &World<'_>, out: &mut Steps) {
    let mut condition = condition::new("PodScheduled", "False", "Unschedulable", why, world.now);
    condition.set(&["lastProbeTime"], Value::Null);
    if pod.generation() > 0 {
        condition.set(&["observedGeneration"], pod.generation());
    }
    let mut new = pod.clone();
    condition::replace(&mut new, condition);
    if new.value() != pod.value() {
        out.announce(Announcement::warning(pod, "FailedScheduling", why));
        out.status(POD, new);
    }
}
