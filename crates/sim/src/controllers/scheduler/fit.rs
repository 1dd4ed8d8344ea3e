//! Whether a pod may run on a node, and which of the nodes that will do is the best.

use std::sync::Arc;

use lynceus_object::{Object, Str};

use super::between::{Attraction, Between};
use super::load::{Load, Machine, Wish};
use super::node::Node;
use super::selection::Selection;
use super::spread::{self, Spread};
use super::volumes::Volumes;
use super::words::Obstacle;
use super::{ports, resources, taints};
use crate::controllers::world::World;

/// The best mark that a node can get.
const BEST: i64 = 100;

/// Whether a DaemonSet's pod belongs on a node.
pub(crate) fn runs_daemon(pod: &Object, node: &Object) -> bool {
    let node = Node::of(node);
    taints::tolerated(pod, &node) && Selection::of(pod).holds(&node)
}

/// The search for a place for one pod.
pub(super) struct Search<'a> {
    /// The pod.
    pub(super) pod: &'a Object,
    /// What it takes.
    pub(super) wish: Arc<Wish>,
    /// The cluster.
    pub(super) world: &'a World<'a>,
    selection: Selection,
    volumes: Option<Volumes>,
    spread: Option<Spread>,
    between: Option<Between>,
}

impl<'a> Search<'a> {
    /// Begins a search. Says what has to happen before a node can be looked for.
    pub(super) fn begin(pod: &'a Object, load: &Load, world: &'a World<'a>) -> Result<Self, String> {
        let wish = Arc::new(Wish::of(pod));
        let selection = Selection::of(pod);
        if selection.named.as_ref().is_some_and(Vec::is_empty) {
            return Err("pod affinity terms conflict".into());
        }
        let volumes = Volumes::of(pod, &wish, world)?;
        let mut search = Search { pod, wish, world, selection, volumes, spread: None, between: None };
        search.recount(load);
        Ok(search)
    }

    /// Counts the other pods anew.
    pub(super) fn recount(&mut self, load: &Load) {
        self.spread = Spread::of(self.pod, &self.selection, load);
        self.between = Between::of(self.pod, load, self.world);
    }

    /// Whether a node is to be looked at, or the pod names others.
    pub(super) fn considers(&self, node: &str) -> bool {
        self.selection.named.as_ref().is_none_or(|names| names.iter().any(|name| name == node))
    }

    /// What keeps the pod from a node.
    pub(super) fn obstacle(&self, load: &Load, machine: &Machine, node: &Node) -> Option<Obstacle> {
        let of_volumes = || self.volumes.as_ref()?.obstacle(load, machine, node, self.world);
        taints::obstacle(self.pod, node)
            .or_else(|| self.selection.obstacle(node))
            .or_else(|| ports::obstacle(&self.wish.ports, machine))
            .or_else(|| resources::shortage(&self.wish.amount, machine))
            .or_else(of_volumes)
            .or_else(|| self.spread.as_ref()?.obstacle(node))
            .or_else(|| self.between.as_ref()?.obstacle(node))
    }

    /// The volumes that are to be had before the pod can be bound.
    pub(super) fn volumes(&self) -> Option<&Volumes> {
        self.volumes.as_ref()
    }

    /// The best of some nodes. Of equals, the one with the fewest pods; of those, the first.
    pub(super) fn best(&self, fitting: &[Str], load: &Load) -> Option<Str> {
        let [_, _, ..] = fitting else { return fitting.first().cloned() };
        let mut wanted = fitting.iter().peekable();
        // Both are in the order of names.
        let found: Vec<(&Machine, &Node)> = load
            .machines()
            .filter(|(name, _, _)| wanted.next_if(|next| next == name).is_some())
            .map(|(_, machine, node)| (machine, node))
            .collect();
        let nodes: Vec<&Node> = found.iter().map(|(_, node)| *node).collect();
        let mut marks = vec![0; nodes.len()];
        let mut add = |weight: i64, of: Vec<i64>| {
            marks.iter_mut().zip(of).for_each(|(mark, more)| *mark += weight * more);
        };
        let each = |of: &dyn Fn(&Node) -> i64| -> Vec<i64> { nodes.iter().map(|node| of(node)).collect() };
        add(3, most_is_worst(each(&|node| taints::reluctance(self.pod, node))));
        add(2, most_is_best(each(&|node| self.selection.preference(node))));
        add(1, found.iter().map(|(machine, _)| resources::emptiness(&self.wish.nominal, machine)).collect());
        add(1, found.iter().map(|(machine, _)| resources::balance(&self.wish.amount, machine)).collect());
        if let Some(spread) = spread::marks(self.pod, &self.selection, &nodes, load, self.world) {
            add(2, spread);
        }
        if let Some(attraction) = Attraction::of(self.pod, load, self.world) {
            add(2, over_range(each(&|node| attraction.to(node))));
        }
        let rank = |at: &usize| (-marks[*at], found[*at].0.pods.len());
        let best = (0..nodes.len()).min_by_key(rank)?;
        Some(nodes[best].name.clone())
    }
}

fn most_is_best(raw: Vec<i64>) -> Vec<i64> {
    let most = raw.iter().copied().max().unwrap_or(0);
    raw.into_iter().map(|raw| if most == 0 { raw } else { BEST * raw / most }).collect()
}

fn most_is_worst(raw: Vec<i64>) -> Vec<i64> {
    most_is_best(raw).into_iter().map(|mark| BEST - mark).collect()
}

/// From the least to the most.
fn over_range(raw: Vec<i64>) -> Vec<i64> {
    let least = raw.iter().copied().min().unwrap_or(0);
    let range = raw.iter().copied().max().unwrap_or(0) - least;
    let mark = |raw: i64| if range == 0 { 0.0 } else { BEST as f64 * ((raw - least) as f64 / range as f64) };
    raw.into_iter().map(|raw| mark(raw) as i64).collect()
}
