//! What waits for a root cause, as a tree.
//!
//! Thousands of causes may stop the same thousand applications, so what is done for each thing that waits is kept to numbers:
//! names and states are looked up only for the few that are shown.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::Serialize;

use crate::case::{App, Case};
use crate::graph::Graph;
use crate::limits;
use crate::node::Node;

/// Something, and what waits for it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// What it is.
    pub node: Node,
    /// How it is, in a few words; empty if there is nothing to say.
    pub state: String,
    /// How many more of the same kind stand in the same place.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// How many applications stand below it, those of the others of its kind too.
    pub applications: usize,
    /// What waits for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Chain>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What the chains of all roots have in common.
pub(super) struct Chains<'c, 'a> {
    case: &'c Case<'a>,
    graph: &'c Graph,
    /// What things of one sort have in common, as a number for each.
    sorts: Vec<usize>,
    /// Which are applications that are not fine.
    troubled: Vec<Option<&'c App<'a>>>,
    /// How many things are looked at for one root.
    limit: usize,
}

/// Everything that waits for something, each in the shortest way there is.
pub(super) struct Reached<'c, 'a> {
    /// As a tree.
    pub(super) chain: Chain,
    /// How many things wait.
    pub(super) symptoms: usize,
    /// The applications among them that are not fine.
    pub(super) applications: Vec<&'c App<'a>>,
}

impl<'c, 'a> Chains<'c, 'a> {
    /// Prepares the chains of so many roots.
    pub(super) fn new(case: &'c Case<'a>, graph: &'c Graph, roots: usize) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut sorts = Vec::with_capacity(graph.len());
        let mut troubled = Vec::with_capacity(graph.len());
        for place in 0..graph.len() {
            let node = graph.node(place);
            let next = known.len();
            sorts.push(*known.entry(sort_of(node)).or_insert(next));
            troubled.push(match node {
                Node::Application(name) => case.app(name).filter(|app| !app.is_fine()),
                _ => None,
            });
        }
        let limit = (limits::REACHED / roots.max(1)).max(limits::REACHED_BY_EACH);
        Chains { case, graph, sorts, troubled, limit }
    }

    /// Everything that waits for something, as far as the limit goes.
    pub(super) fn of(&self, subject: &Node) -> Reached<'c, 'a> {
        let Some(start) = self.graph.find(subject) else {
            let chain = self.link(subject.clone(), 0, Vec::new());
            return Reached { chain, symptoms: 0, applications: Vec::new() };
        };
        let tree = Tree::grow(self, start);
        let others = tree.order.iter().skip(1);
        Reached {
            chain: tree.shown(self, 0, 0),
            symptoms: tree.order.len() - 1,
            applications: others.filter_map(|place| self.troubled[*place]).collect(),
        }
    }

    /// Which applications wait for any of some things, or for what waits for those: all at once, and without a limit.
    pub(super) fn all<'s>(&self, subjects: impl Iterator<Item = &'s Node>) -> Vec<&'c App<'a>> {
        let mut seen = vec![false; self.graph.len()];
        let mut ways: Vec<usize> = subjects.filter_map(|subject| self.graph.find(subject)).collect();
        let mut found = Vec::new();
        while let Some(at) = ways.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                found.extend(self.troubled[at]);
                ways.extend(self.graph.waiting_for(at));
            }
        }
        found
    }

    fn link(&self, node: Node, applications: usize, waiting: Vec<Chain>) -> Chain {
        Chain { state: state(self.case, &node), node, more: 0, applications, waiting }
    }
}

/// What waits for one thing, by number.
struct Tree {
    /// The things, the nearest first.
    order: Vec<usize>,
    /// For each of these those that wait for it, as places in the order.
    below: Vec<Vec<usize>>,
    /// For each of these how many applications there are with it and below it.
    applications: Vec<usize>,
}

impl Tree {
    fn grow(chains: &Chains<'_, '_>, start: usize) -> Self {
        let mut tree = Tree { order: vec![start], below: vec![Vec::new()], applications: Vec::new() };
        let mut seen = std::collections::HashSet::from([start]);
        let mut queue = VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            for waiting in chains.graph.waiting_for(tree.order[at]) {
                if tree.order.len() <= chains.limit && seen.insert(*waiting) {
                    let place = tree.order.len();
                    tree.order.push(*waiting);
                    tree.below.push(Vec::new());
                    tree.below[at].push(place);
                    queue.push_back(place);
                }
            }
        }
        tree.applications = vec![0; tree.order.len()];
        // Those furthest away first, so that each finds what is below it.
        for at in (0..tree.order.len()).rev() {
            let own = usize::from(chains.troubled[tree.order[at]].is_some());
            let below: usize = tree.below[at].iter().map(|place| tree.applications[*place]).sum();
            tree.applications[at] = own + below;
        }
        tree
    }

    /// One thing with what waits for it: of several of one sort the one with the most below it stands for all.
    fn shown(&self, chains: &Chains<'_, '_>, at: usize, depth: usize) -> Chain {
        let node = |place: usize| chains.graph.node(self.order[place]);
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        // What an application has not made yet leads nowhere, and there is much of it.
        let leads = |place: &&usize| self.applications[at] == 0 || self.applications[**place] > 0;
        if depth < limits::CHAIN {
            for place in self.below[at].iter().filter(leads) {
                groups.entry(chains.sorts[self.order[*place]]).or_default().push(*place);
            }
        }
        let stand = |group: Vec<usize>| {
            let applications = group.iter().map(|place| self.applications[*place]).sum();
            let more = group.len() - 1;
            let weight = |place: &usize| (std::cmp::Reverse(self.applications[*place]), node(*place));
            let first = group.into_iter().min_by(|a, b| weight(a).cmp(&weight(b)))?;
            Some(Chain { more, applications, ..self.shown(chains, first, depth + 1) })
        };
        let mut waiting: Vec<Chain> = groups.into_values().filter_map(stand).collect();
        waiting.sort_by(|a, b| b.applications.cmp(&a.applications).then_with(|| a.node.cmp(&b.node)));
        chains.link(node(at).clone(), self.applications[at], waiting)
    }
}

/// What things of one sort have in common.
fn sort_of(node: &Node) -> String {
    match node {
        Node::Object { key, .. } => key.group_kind().to_string(),
        Node::Application(_) => "Application".to_owned(),
        other => other.slug().split('/').next().unwrap_or_default().to_owned(),
    }
}

/// How something is, in a few words.
fn state(case: &Case<'_>, node: &Node) -> String {
    match node {
        Node::Application(name) => match case.app(name).filter(|app| !app.delivery.uncreated) {
            Some(app) => {
                let status = &app.application().status;
                format!("{} {}", status.sync.status, status.health.status)
            }
            None => "not created".to_owned(),
        },
        Node::Object { cluster, key } => match case.live(cluster, key) {
            Some(object) => case.health(object).map(|health| health.status.to_string()).unwrap_or_default(),
            None if case.is_absent(cluster, key) => "not there".to_owned(),
            None => String::new(),
        },
        Node::Kind { cluster, kind } if case.serves(cluster, kind) == Some(false) => "not served".to_owned(),
        _ => String::new(),
    }
}
