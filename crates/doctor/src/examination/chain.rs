//! What waits for a root cause, as a tree.
//!
//! Thousands of causes may stop the same thousand applications, so what is done for each thing that waits is kept to numbers:
//! names and states are looked up only for the few that are shown.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;

use super::stopped::Stopped;
use super::tree::{Gate, Tree};
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

impl Chain {
    /// The same with so many levels below it at most.
    pub(super) fn to_depth(&self, depth: usize) -> Chain {
        let waiting = if depth == 0 { &[] } else { self.waiting.as_slice() };
        let waiting = waiting.iter().map(|one| one.to_depth(depth - 1)).collect();
        Chain { node: self.node.clone(), state: self.state.clone(), waiting, ..*self }
    }
}

/// What the chains of all roots have in common.
pub(super) struct Chains<'c, 'a> {
    case: &'c Case<'a>,
    pub(super) graph: &'c Graph,
    /// What things of one sort have in common, as a number for each.
    pub(super) sorts: Vec<usize>,
    /// Which are applications that are not fine.
    pub(super) troubled: Vec<Option<&'c App<'a>>>,
    /// How many things are looked at for one root.
    limit: usize,
    /// What many ways lead through, as far as it was asked for.
    gates: RefCell<HashMap<usize, Rc<Gate>>>,
    /// How many things may still be looked at for gates.
    left: Cell<usize>,
}

/// Everything that waits for something, each in the shortest way there is.
pub(super) struct Reached {
    /// As a tree.
    pub(super) chain: Chain,
    /// How many things wait.
    pub(super) symptoms: usize,
    /// The applications among them that are not fine.
    pub(super) applications: Stopped,
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
        let (gates, left) = (RefCell::default(), Cell::new(limits::REACHED));
        Chains { case, graph, sorts, troubled, limit, gates, left }
    }

    /// Everything that waits for something, as far as the limit goes.
    pub(super) fn of(&self, subject: &Node) -> Reached {
        let Some(start) = self.graph.find(subject) else {
            let chain = self.link(subject.clone(), 0, Vec::new());
            return Reached { chain, symptoms: 0, applications: Stopped::default() };
        };
        let tree = Tree::grow(self, start, self.limit, |place| self.gate(place));
        let own = tree.order.iter().skip(1).filter_map(|place| self.troubled[*place]);
        let shared = tree.gate.as_ref().map(|gate| Arc::clone(&gate.stopped)).unwrap_or_default();
        Reached {
            chain: tree.shown(self, 0, 0),
            symptoms: tree.order.len() - 1 + tree.gate.as_ref().map_or(0, |gate| gate.waiting()),
            applications: Stopped::new(own.map(|app| app.name.clone()), shared),
        }
    }

    /// What waits for a thing, if it is so much that it is worth to be kept.
    pub(super) fn gate(&self, place: usize) -> Option<Rc<Gate>> {
        if self.graph.waiting_for(place).len() < limits::GATE {
            return None;
        }
        if let Some(gate) = self.gates.borrow().get(&place) {
            return Some(Rc::clone(gate));
        }
        let gate = Rc::new(Gate::new(self, place, self.left.get().max(limits::REACHED_BY_EACH)));
        self.left.set(self.left.get().saturating_sub(gate.waiting()));
        self.gates.borrow_mut().insert(place, Rc::clone(&gate));
        Some(gate)
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

    /// A thing with what waits for it.
    pub(super) fn link(&self, node: Node, applications: usize, waiting: Vec<Chain>) -> Chain {
        Chain { state: state(self.case, &node), node, more: 0, applications, waiting }
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
