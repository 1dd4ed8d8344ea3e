//! What waits for a root cause, as a tree.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::Serialize;

use crate::case::Case;
use crate::graph::Graph;
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

/// Everything that waits for something, each in the shortest way there is, and all of it as a list.
pub(super) fn of(case: &Case<'_>, graph: &Graph, subject: &Node) -> (Chain, Vec<Node>) {
    let Some(start) = graph.find(subject) else {
        let state = state(case, subject);
        let chain = Chain { node: subject.clone(), state, more: 0, applications: 0, waiting: Vec::new() };
        return (chain, Vec::new());
    };
    let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut seen = std::collections::HashSet::from([start]);
    let mut order = Vec::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        order.push(at);
        for waiting in
            graph.waiting_for(at).iter().copied().filter(|place| seen.insert(*place)).collect::<Vec<_>>()
        {
            below.entry(at).or_default().push(waiting);
            queue.push_back(waiting);
        }
    }
    let mut made: HashMap<usize, Chain> = HashMap::new();
    // Those furthest away first, so that each finds what is below it.
    for at in order.iter().rev() {
        let parts = below.remove(at).unwrap_or_default();
        let parts = parts.into_iter().filter_map(|place| made.remove(&place)).collect();
        made.insert(*at, join(case, graph.node(*at).clone(), parts));
    }
    let reached =
        order.iter().map(|place| graph.node(*place).clone()).filter(|node| node != subject).collect();
    let empty = || join(case, subject.clone(), Vec::new());
    (made.remove(&start).unwrap_or_else(empty), reached)
}

/// One thing with what waits for it: of several of one kind the one with the most below it stands for all.
fn join(case: &Case<'_>, node: Node, parts: Vec<Chain>) -> Chain {
    let own = usize::from(
        matches!(&node, Node::Application(name) if case.app(name).is_some_and(|app| !app.is_fine())),
    );
    let applications = own + parts.iter().map(|part| part.applications).sum::<usize>();
    // What an application has not made yet leads nowhere, and there is much of it.
    let leads = |part: &Chain| part.applications > 0 || !part.waiting.is_empty();
    let parts: Vec<Chain> = match applications > 0 {
        true => parts.into_iter().filter(leads).collect(),
        false => parts,
    };
    let mut groups: BTreeMap<String, Vec<Chain>> = BTreeMap::new();
    for part in parts {
        groups.entry(sort_of(&part.node)).or_default().push(part);
    }
    let mut waiting: Vec<Chain> = groups.into_values().filter_map(fold).collect();
    waiting.sort_by(|a, b| b.applications.cmp(&a.applications).then_with(|| a.node.cmp(&b.node)));
    Chain { state: state(case, &node), node, more: 0, applications, waiting }
}

fn fold(mut group: Vec<Chain>) -> Option<Chain> {
    group.sort_by(|a, b| b.applications.cmp(&a.applications).then_with(|| a.node.cmp(&b.node)));
    let applications = group.iter().map(|part| part.applications).sum();
    let more = group.len().saturating_sub(1);
    let first = group.into_iter().next()?;
    Some(Chain { more, applications, ..first })
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
        Node::Application(name) => match case.app(name) {
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
