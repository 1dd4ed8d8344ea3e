//! Volumes: where those that a pod has can be reached, where those that it is still to get can be had, and how many a
//! node can hold.

use std::collections::BTreeSet;

use lynceus_object::{Object, Str, Value};

use super::load::{ClaimKey, Load, Machine, Wish, claims};
use super::node::Node;
use super::selection::Term;
use super::words::Obstacle;
use crate::controllers::kind::{CLAIM, CSI_NODE, STORAGE_CLASS, VOLUME};
use crate::controllers::nodes;
use crate::controllers::steps::Steps;
use crate::controllers::volumes::attachment::{self, Handle};
use crate::controllers::volumes::matching::{self, fits, is_reserved};
use crate::controllers::volumes::{self, BOUND_BY_CONTROLLER, SELECTED_NODE};
use crate::controllers::world::World;

/// The labels by which a volume says where it is, the old ones included.
const ZONES: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

/// A claim that waits for its pod to be placed.
#[derive(Debug)]
struct Loose {
    claim: Object,
    class: Object,
    /// The volumes that would do, wherever they are; the best first.
    candidates: Vec<Object>,
}

/// The volumes of one pod.
#[derive(Debug)]
pub(super) struct Volumes {
    /// Those that it has; none for one that is gone.
    bound: Vec<Option<Object>>,
    loose: Vec<Loose>,
    handles: BTreeSet<Handle>,
    /// Those that only one pod may have.
    alone: Vec<ClaimKey>,
}

impl Volumes {
    /// Looks at the claims of a pod. Says what has to happen before a node can be looked for.
    pub(super) fn of(pod: &Object, wish: &Wish, world: &World<'_>) -> Result<Option<Self>, String> {
        if wish.claims.is_empty() {
            return Ok(None);
        }
        let found = found(pod, world)?;
        let mut volumes =
            Volumes { bound: Vec::new(), loose: Vec::new(), handles: BTreeSet::new(), alone: Vec::new() };
        let mut immediate = false;
        for claim in found {
            let mut modes = claim.value().items_at(&["spec", "accessModes"]).iter();
            if modes.any(|mode| mode.as_str() == Some("ReadWriteOncePod")) {
                volumes.alone.push((claim.namespace().into(), claim.name().into()));
            }
            volumes.handles.extend(handle(&claim, world));
            let name = claim.value().str_at(&["spec", "volumeName"]).unwrap_or_default();
            if volumes::is_completely_bound(&claim) {
                volumes.bound.push(world.get(VOLUME, "", name));
                continue;
            }
            match volumes::class_that_waits(&claim, world).filter(|_| name.is_empty()) {
                Some(class) => {
                    volumes.loose.push(Loose { candidates: candidates(&claim, world), class, claim })
                }
                None => immediate = true,
            }
        }
        if immediate {
            return Err("pod has unbound immediate PersistentVolumeClaims".into());
        }
        // The smallest wish goes first, so that a large volume is left for a large claim.
        volumes.loose.sort_by_key(|loose| matching::wanted(&loose.claim));
        Ok(Some(volumes))
    }

    pub(super) fn obstacle(
        &self,
        load: &Load,
        machine: &Machine,
        node: &Node,
        world: &World<'_>,
    ) -> Option<Obstacle> {
        if self.alone.iter().any(|claim| load.users(claim) > 0) {
            return Some(Obstacle::passing(
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use \
                 by another pod",
            ));
        }
        if self.exceeds(machine, node, world) {
            return Some(Obstacle::passing("node(s) exceed max volume count"));
        }
        let mut reasons = Vec::new();
        if self.bound.iter().flatten().any(|volume| !reaches(volume, node)) {
            reasons.push("node(s) didn't match PersistentVolume's node affinity".into());
        }
        if self.plan(node).is_none() {
            reasons.push("node(s) didn't find available persistent volumes to bind".into());
        }
        if self.bound.iter().any(Option::is_none) {
            reasons.push("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)".into());
        }
        if !reasons.is_empty() {
            return Some(Obstacle { reasons, hopeless: true });
        }
        let elsewhere = self.bound.iter().flatten().any(|volume| !in_zone(volume, node));
        elsewhere.then(|| Obstacle::lasting("node(s) had no available volume zone"))
    }

    /// Whether a node cannot hold as many volumes of a driver.
    fn exceeds(&self, machine: &Machine, node: &Node, world: &World<'_>) -> bool {
        if self.handles.is_empty() {
            return false;
        }
        let known = world.get(CSI_NODE, "", &node.name);
        let drivers = known.as_ref().map_or(&[][..], |known| known.value().items_at(&["spec", "drivers"]));
        let mut limits: Vec<(Str, usize)> = drivers
            .iter()
            .filter_map(|driver| {
                let count = driver.int_at(&["allocatable", "count"])?;
                Some((driver.str_at(&["name"])?.into(), usize::try_from(count).unwrap_or(0)))
            })
            .collect();
        for (class, most) in nodes::limits_of_classes(&node.name, world) {
            if !limits.iter().any(|(driver, _)| *driver == class) {
                limits.push((class, most));
            }
        }
        if limits.is_empty() {
            return false;
        }
        let claim = |(namespace, name): &ClaimKey| world.get(CLAIM, namespace, name);
        let used: BTreeSet<Handle> =
            machine.claims.keys().filter_map(claim).filter_map(|claim| handle(&claim, world)).collect();
        limits.into_iter().any(|(driver, most)| {
            let of_driver =
                |handles: &BTreeSet<Handle>| handles.iter().filter(|(name, _)| *name == driver).count();
            let more = self.handles.difference(&used).filter(|(name, _)| *name == driver).count();
            more > 0 && of_driver(&used) + more > most
        })
    }

    /// Which volume each loose claim would get on a node: one that is there, or a new one. Nothing if one gets none.
    fn plan(&self, node: &Node) -> Option<Vec<(&Loose, Option<&Object>)>> {
        let mut plan: Vec<(&Loose, Option<&Object>)> = Vec::new();
        for loose in &self.loose {
            let here = match loose.claim.annotation(SELECTED_NODE) {
                Some(selected) if selected != node.name => return None,
                Some(_) => None,
                None => loose.candidates.iter().find(|volume| {
                    reaches(volume, node)
                        && !plan
                            .iter()
                            .any(|(_, taken)| taken.is_some_and(|taken| taken.name() == volume.name()))
                }),
            };
            if here.is_none() && !can_be_made(&loose.class, node) {
                return None;
            }
            plan.push((loose, here));
        }
        Some(plan)
    }

    /// Asks for what is missing on the chosen node. Says whether there is anything to wait for.
    pub(super) fn reserve(&self, node: &Node, out: &mut Steps) -> bool {
        for (loose, volume) in self.plan(node).unwrap_or_default() {
            match volume {
                Some(volume) if volume.at(&["spec", "claimRef"]).is_none() => {
                    let mut volume = volume.clone();
                    volume.set_annotation(BOUND_BY_CONTROLLER, "yes");
                    volume.set(&["spec", "claimRef"], volumes::claim_ref(&loose.claim));
                    out.update(VOLUME, volume);
                }
                Some(_) => {}
                None if loose.claim.annotation(SELECTED_NODE).is_none() => {
                    let mut claim = loose.claim.clone();
                    claim.set_annotation(SELECTED_NODE, node.name.clone());
                    out.update(CLAIM, claim);
                }
                None => {}
            }
        }
        !self.loose.is_empty()
    }
}

/// The claims of a pod, if they are there and stay.
fn found(pod: &Object, world: &World<'_>) -> Result<Vec<Object>, String> {
    let find = |(name, ephemeral): (Str, bool)| {
        let Some(claim) = world.get(CLAIM, pod.namespace(), &name) else {
            return Err(match ephemeral {
                true => format!(
                    "waiting for ephemeral volume controller to create the persistentvolumeclaim {:?}",
                    name.as_str()
                ),
                false => format!("persistentvolumeclaim {:?} not found", name.as_str()),
            });
        };
        let text = |path: &[&str]| claim.value().str_at(path).unwrap_or_default();
        if text(&["status", "phase"]) == "Lost" {
            let volume = text(&["spec", "volumeName"]);
            return Err(format!(
                "persistentvolumeclaim {:?} bound to non-existent persistentvolume {volume:?}",
                name.as_str()
            ));
        }
        if claim.is_deleting() {
            return Err(format!("persistentvolumeclaim {:?} is being deleted", name.as_str()));
        }
        if ephemeral && claim.controller().is_none_or(|owner| owner.uid != pod.uid()) {
            let whose =
                format!("PVC {}/{} was not created for pod {0}/{}", pod.namespace(), name, pod.name());
            return Err(format!("{whose} (pod is not owner)"));
        }
        Ok(claim)
    };
    claims(pod).map(find).collect()
}

/// The volumes that would do for a claim, the best first.
fn candidates(claim: &Object, world: &World<'_>) -> Vec<Object> {
    let mut fitting: Vec<Object> =
        world.list_all(VOLUME).into_iter().filter(|volume| fits(claim, volume)).collect();
    fitting.sort_by_key(|volume| (!is_reserved(volume, claim), matching::capacity(volume)));
    fitting
}

/// The driver of a claim's volume and its name there; a volume that is still to be made has its claim's name.
fn handle(claim: &Object, world: &World<'_>) -> Option<Handle> {
    let name = claim.value().str_at(&["spec", "volumeName"]).unwrap_or_default();
    if name.is_empty() {
        let class = claim.value().str_at(&["spec", "storageClassName"])?;
        let class = world.get(STORAGE_CLASS, "", class)?;
        let driver = class.value().str_at(&["provisioner"])?.into();
        return Some((driver, ecow::eco_format!("{}/{}", claim.namespace(), claim.name())));
    }
    attachment::handle(&world.get(VOLUME, "", name)?)
}

/// Whether a volume can be had on a node.
fn reaches(volume: &Object, node: &Node) -> bool {
    let Some(required) = volume.at(&["spec", "nodeAffinity", "required"]) else { return true };
    required.items_at(&["nodeSelectorTerms"]).iter().any(|term| Term::read(term).holds(node))
}

/// Whether a volume's labels agree with those of a node that has any of the kind.
fn in_zone(volume: &Object, node: &Node) -> bool {
    if !ZONES.iter().any(|key| node.label(key).is_some()) {
        return true;
    }
    ZONES.iter().filter_map(|key| Some((key, volume.label(key)?))).all(|(key, zones)| {
        // The old names are those of the new ones too.
        let now = match *key {
            "failure-domain.beta.kubernetes.io/zone" => ZONES[0],
            "failure-domain.beta.kubernetes.io/region" => ZONES[1],
            key => key,
        };
        let here = node.label(key).or_else(|| node.label(now));
        here.is_some_and(|here| zones.split("__").any(|zone| zone == here))
    })
}

/// Whether a volume of a class can be made for a node.
fn can_be_made(class: &Object, node: &Node) -> bool {
    if matches!(class.value().str_at(&["provisioner"]), None | Some("" | "kubernetes.io/no-provisioner")) {
        return false;
    }
    let topologies = class.value().items_at(&["allowedTopologies"]);
    let holds = |wish: &Value| {
        let here = node.label(wish.str_at(&["key"]).unwrap_or_default());
        here.is_some_and(|here| wish.items_at(&["values"]).iter().any(|value| value.as_str() == Some(here)))
    };
    topologies.is_empty()
        || topologies.iter().any(|term| term.items_at(&["matchLabelExpressions"]).iter().all(holds))
}
