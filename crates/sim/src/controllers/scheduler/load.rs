//! What is where: nodes with the sums over their pods, kept up to date with every change, so that placing a pod never
//! means to look at all other pods.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use lynceus_object::{Object, Str};

use super::crowd::Crowd;
use super::node::Node;
use super::ports::{self, Port};
use super::resources::{self, Amount};
use crate::controllers::pods;
use crate::kinds::quality::amount_of;

/// Namespace and name of a claim.
pub(super) type ClaimKey = (Str, Str);

/// What a pod takes wherever it runs.
#[derive(Debug)]
pub(super) struct Wish {
    /// What it asks for.
    pub(super) amount: Amount,
    /// What it counts with when nodes are compared.
    pub(super) nominal: Amount,
    /// The ports of the node that it takes.
    pub(super) ports: Vec<Port>,
    /// Its claims.
    pub(super) claims: Vec<ClaimKey>,
    /// Its priority.
    pub(super) priority: i64,
}

impl Wish {
    /// Reads a pod.
    pub(super) fn of(pod: &Object) -> Self {
        let (amount, nominal) = resources::wanted(pod);
        let claim = |name: Str| (Str::from(pod.namespace()), name);
        Wish {
            amount,
            nominal,
            ports: ports::of(pod),
            claims: claims(pod).map(|(name, _)| claim(name)).collect(),
            priority: priority(pod),
        }
    }
}

/// How important a pod is.
pub(super) fn priority(pod: &Object) -> i64 {
    pod.value().int_at(&["spec", "priority"]).unwrap_or(0)
}

/// The names of a pod's claims, and whether each is made for this pod alone.
pub(super) fn claims(pod: &Object) -> impl Iterator<Item = (Str, bool)> {
    pod.value().items_at(&["spec", "volumes"]).iter().filter_map(|volume| {
        if let Some(name) = volume.str_at(&["persistentVolumeClaim", "claimName"]) {
            return Some((name.into(), false));
        }
        volume.get("ephemeral").filter(|ephemeral| !ephemeral.is_null())?;
        let name = volume.str_at(&["name"]).unwrap_or_default();
        Some((format!("{}-{name}", pod.name()).as_str().into(), true))
    })
}

/// A node and what is on it.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// The node; none if pods name one that is not there.
    pub(super) node: Option<Node>,
    /// What pods may ask for in all.
    pub(super) allocatable: Amount,
    /// How many pods there may be.
    pub(super) places: i64,
    /// What the pods ask for.
    pub(super) used: Amount,
    /// What they count with when nodes are compared.
    pub(super) nominal: Amount,
    /// The ports that are taken.
    pub(super) ports: Vec<Port>,
    /// The claims that pods use, with how many do.
    pub(super) claims: BTreeMap<ClaimKey, usize>,
    /// The pods' uids.
    pub(super) pods: BTreeSet<Str>,
    /// How many pods there are of each priority.
    pub(super) priorities: BTreeMap<i64, usize>,
}

/// A pod on a node.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    /// The pod.
    pub(super) pod: Object,
    /// The node.
    pub(super) node: Str,
    /// What it takes.
    pub(super) wish: Arc<Wish>,
    class: usize,
}

/// The cluster, as far as it matters for where pods go.
#[derive(Debug, Default)]
pub(super) struct Load {
    machines: BTreeMap<Str, Machine>,
    placed: HashMap<Str, Placed>,
    /// Pods by their labels.
    pub(super) crowd: Crowd,
    claims: HashMap<ClaimKey, usize>,
    nodes: usize,
}

impl Load {
    /// How many nodes there are.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The nodes by name.
    pub(super) fn machines(&self) -> impl Iterator<Item = (&Str, &Machine, &Node)> {
        self.machines.iter().filter_map(|(name, machine)| Some((name, machine, machine.node.as_ref()?)))
    }

    /// A node.
    pub(super) fn machine(&self, name: &str) -> Option<(&Machine, &Node)> {
        let machine = self.machines.get(name)?;
        Some((machine, machine.node.as_ref()?))
    }

    /// A pod on a node.
    pub(super) fn placed(&self, uid: &str) -> Option<&Placed> {
        self.placed.get(uid)
    }

    /// How many pods use a claim.
    pub(super) fn users(&self, claim: &ClaimKey) -> usize {
        self.claims.get(claim).copied().unwrap_or(0)
    }

    /// Takes a node in, as it is now. Says whether anything changed that pods may have waited for.
    pub(super) fn note_node(&mut self, node: &Object) -> bool {
        let machine = self.machines.entry(node.name().into()).or_default();
        let changed = machine.node.as_ref().is_none_or(|Node { object: old, .. }| {
            [&["spec"][..], &["metadata", "labels"], &["status", "allocatable"]]
                .into_iter()
                .any(|path| old.at(path) != node.at(path))
        });
        if machine.node.is_none() {
            self.nodes += 1;
        }
        if changed {
            let has = node.at(&["status", "allocatable"]);
            machine.allocatable = Amount::of(has);
            machine.places = has.and_then(|has| amount_of(has.get("pods")?)).map_or(0, |pods| pods.value());
        }
        machine.node = Some(Node::of(node));
        changed
    }

    /// Takes a node out.
    pub(super) fn forget_node(&mut self, name: &str) {
        let Some(machine) = self.machines.get_mut(name) else { return };
        if machine.node.take().is_some() {
            self.nodes -= 1;
        }
        if machine.pods.is_empty() {
            self.machines.remove(name);
        }
    }

    /// Takes a pod in, as it is now. Says whether it is on a node.
    pub(super) fn note(&mut self, pod: &Object) -> bool {
        let node = pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default();
        if node.is_empty() || pods::is_finished(pod) {
            self.forget(pod.uid());
            return false;
        }
        let wish = match self.placed.get(pod.uid()) {
            // What is seen again in the same place counts as before, unless its spec or its labels changed.
            Some(known) if known.node == node && is_alike(&known.pod, pod) => {
                if let Some(known) = self.placed.get_mut(pod.uid()) {
                    known.pod = pod.clone();
                }
                return true;
            }
            _ => Arc::new(Wish::of(pod)),
        };
        self.forget(pod.uid());
        self.put(pod, node, wish);
        true
    }

    /// Takes a pod in that is about to be on a node.
    pub(super) fn assume(&mut self, pod: &Object, node: &str, wish: Arc<Wish>) {
        self.forget(pod.uid());
        self.put(pod, node, wish);
    }

    fn put(&mut self, pod: &Object, node: &str, wish: Arc<Wish>) {
        let uid = Str::from(pod.uid());
        let machine = self.machines.entry(node.into()).or_default();
        machine.used.add(&wish.amount, 1);
        machine.nominal.add(&wish.nominal, 1);
        machine.ports.extend(wish.ports.iter().cloned());
        for claim in &wish.claims {
            *machine.claims.entry(claim.clone()).or_default() += 1;
            *self.claims.entry(claim.clone()).or_default() += 1;
        }
        *machine.priorities.entry(wish.priority).or_default() += 1;
        machine.pods.insert(uid.clone());
        let class = self.crowd.add(pod, node);
        self.placed.insert(uid, Placed { pod: pod.clone(), node: node.into(), wish, class });
    }

    /// Takes a pod out.
    pub(super) fn forget(&mut self, uid: &str) -> Option<Placed> {
        let gone = self.placed.remove(uid)?;
        self.crowd.remove(gone.class, &gone.node);
        let Some(machine) = self.machines.get_mut(&gone.node) else { return Some(gone) };
        machine.used.add(&gone.wish.amount, -1);
        machine.nominal.add(&gone.wish.nominal, -1);
        for port in &gone.wish.ports {
            if let Some(at) = machine.ports.iter().position(|other| other == port) {
                machine.ports.swap_remove(at);
            }
        }
        for claim in &gone.wish.claims {
            less(machine.claims.get_mut(claim));
            less(self.claims.get_mut(claim));
        }
        machine.claims.retain(|_, count| *count > 0);
        for claim in &gone.wish.claims {
            if self.claims.get(claim) == Some(&0) {
                self.claims.remove(claim);
            }
        }
        less(machine.priorities.get_mut(&gone.wish.priority));
        machine.priorities.retain(|_, count| *count > 0);
        machine.pods.remove(uid);
        if machine.node.is_none() && machine.pods.is_empty() {
            self.machines.remove(&gone.node);
        }
        Some(gone)
    }

    /// Puts a pod back that was taken out for a trial.
    pub(super) fn restore(&mut self, placed: &Placed) {
        self.put(&placed.pod, &placed.node, Arc::clone(&placed.wish));
    }
}

fn less(count: Option<&mut usize>) {
    if let Some(count) = count {
        *count = count.saturating_sub(1);
    }
}

/// Whether nothing that counts has changed.
fn is_alike(old: &Object, new: &Object) -> bool {
    old.is_deleting() == new.is_deleting()
        && old.at(&["spec"]) == new.at(&["spec"])
        && old.at(&["metadata", "labels"]) == new.at(&["metadata", "labels"])
}
