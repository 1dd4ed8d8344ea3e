//! What waits for one thing, by number.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use super::chain::{Chain, Chains};
use crate::limits;
use crate::node::AppName;

/// What waits for one thing, each in the shortest way there is.
pub(super) struct Tree {
    /// The things, the nearest first.
    pub(super) order: Vec<usize>,
    /// For each of these those that wait for it, as places in the order.
    below: Vec<Vec<usize>>,
    /// For each of these how many applications there are with it and below it.
    applications: Vec<usize>,
    /// What the way leads through at the end, if it is one thing that leads to much: the rest stands there.
    pub(super) gate: Option<Rc<Gate>>,
}

/// A thing through which the ways of many causes lead, as an application that others are part of: what waits for it is the same for
/// all of these, and is looked up once.
pub(super) struct Gate {
    /// The thing and what waits for it.
    members: HashSet<usize>,
    /// What is shown of it.
    chain: Chain,
    /// The applications that are not fine among what waits, in order.
    pub(super) stopped: Arc<[AppName]>,
}

impl Gate {
    pub(super) fn new(chains: &Chains<'_, '_>, place: usize, limit: usize) -> Self {
        let tree = Tree::grow(chains, place, limit, |_| None);
        let stopped = tree.order.iter().skip(1).filter_map(|place| chains.troubled[*place]);
        let mut stopped: Vec<AppName> = stopped.map(|app| app.name.clone()).collect();
        stopped.sort();
        Gate {
            chain: tree.shown(chains, 0, 0),
            members: tree.order.into_iter().collect(),
            stopped: stopped.into(),
        }
    }

    /// How many things wait for it.
    pub(super) fn waiting(&self) -> usize {
        self.members.len() - 1
    }
}

impl Tree {
    /// What waits for a thing, up to a limit; what waits for a gate is not followed.
    pub(super) fn grow(
        chains: &Chains<'_, '_>,
        start: usize,
        limit: usize,
        gate: impl Fn(usize) -> Option<Rc<Gate>>,
    ) -> Self {
        let mut tree =
            Tree { order: vec![start], below: vec![Vec::new()], applications: Vec::new(), gate: None };
        let mut seen = HashSet::from([start]);
        let mut queue = VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            // Everything else that waits does so through this one; unless the way leads back, it is the same for all who come here.
            if at > 0 && queue.is_empty() {
                let gate = gate(tree.order[at]);
                tree.gate =
                    gate.filter(|gate| tree.order[..at].iter().all(|one| !gate.members.contains(one)));
                if tree.gate.is_some() {
                    break;
                }
            }
            for waiting in chains.graph.waiting_for(tree.order[at]) {
                if tree.order.len() <= limit && seen.insert(*waiting) {
                    let place = tree.order.len();
                    tree.order.push(*waiting);
                    tree.below.push(Vec::new());
                    tree.below[at].push(place);
                    queue.push_back(place);
                }
            }
        }
        tree.count(chains);
        tree
    }

    /// Counts the applications, those furthest away first, so that each finds what is below it.
    fn count(&mut self, chains: &Chains<'_, '_>) {
        self.applications = vec![0; self.order.len()];
        if let (Some(gate), Some(last)) = (&self.gate, self.applications.last_mut()) {
            *last = gate.stopped.len();
        }
        for at in (0..self.order.len()).rev() {
            let own = usize::from(chains.troubled[self.order[at]].is_some());
            let below: usize = self.below[at].iter().map(|place| self.applications[*place]).sum();
            self.applications[at] += own + below;
        }
    }

    /// One thing with what waits for it: of several of one sort the one with the most below it stands for all.
    pub(super) fn shown(&self, chains: &Chains<'_, '_>, at: usize, depth: usize) -> Chain {
        if let Some(gate) = self.gate.as_ref().filter(|_| at + 1 == self.order.len()) {
            return gate.chain.to_depth(limits::CHAIN.saturating_sub(depth));
        }
        let node = |place: usize| chains.graph.node(self.order[place]);
        let stand = |group: Vec<usize>| {
            let applications = group.iter().map(|place| self.applications[*place]).sum();
            let more = group.len() - 1;
            let weight = |place: &usize| (std::cmp::Reverse(self.applications[*place]), node(*place));
            let first = group.into_iter().min_by(|a, b| weight(a).cmp(&weight(b)))?;
            Some(Chain { more, applications, ..self.shown(chains, first, depth + 1) })
        };
        let groups = if depth < limits::CHAIN { self.groups(chains, at) } else { BTreeMap::new() };
        let mut waiting: Vec<Chain> = groups.into_values().filter_map(stand).collect();
        waiting.sort_by(|a, b| b.applications.cmp(&a.applications).then_with(|| a.node.cmp(&b.node)));
        chains.link(node(at).clone(), self.applications[at], waiting)
    }

    /// What waits for a thing, by sort.
    fn groups(&self, chains: &Chains<'_, '_>, at: usize) -> BTreeMap<usize, Vec<usize>> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        // What an application has not made yet leads nowhere, and there is much of it.
        let leads = |place: &&usize| self.applications[at] == 0 || self.applications[**place] > 0;
        for place in self.below[at].iter().filter(leads) {
            groups.entry(chains.sorts[self.order[*place]]).or_default().push(*place);
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use crate::case::Case;
    use crate::examination::chain::Chains;
    use crate::graph::Graph;
    use crate::node::{AppName, Node};
    use crate::snapshot::Snapshot;
    use crate::tests::snapshot;

    fn app(name: &str) -> Node {
        Node::Application(AppName::new("argocd", name))
    }

    /// Two causes with an application each, whose parent waits for both, and twenty that wait behind the parent.
    fn fleet() -> (Snapshot, Graph) {
        let mut text = "@app fleet OutOfSync Degraded\n".to_owned();
        let mut graph = Graph::default();
        for one in 0..2 {
            text.push_str(&format!("@app ill-{one} Synced Degraded\n"));
            graph.link(app(&format!("ill-{one}")), Node::Image(format!("image-{one}").into()));
            graph.link(app("fleet"), app(&format!("ill-{one}")));
        }
        for one in 10..30 {
            text.push_str(&format!("@app late-{one} OutOfSync Missing\n"));
            graph.link(app(&format!("late-{one}")), app("fleet"));
        }
        (snapshot(&text), graph)
    }

    #[test]
    fn what_waits_behind_a_gate_is_the_same_with_it_and_without() {
        let (snapshot, graph) = fleet();
        let case = Case::new(&snapshot);
        let chains = Chains::new(&case, &graph, 2);
        let start = graph.find(&Node::Image("image-1".into())).unwrap();
        let with = Tree::grow(&chains, start, 1_000, |place| chains.gate(place));
        let without = Tree::grow(&chains, start, 1_000, |_| None);
        let gate = with.gate.as_ref().unwrap();
        assert_eq!((with.order.len(), gate.waiting(), without.order.len()), (3, 20, 23));
        assert_eq!((with.applications[0], without.applications[0]), (22, 22));
        let shown = |tree: &Tree| serde_json::to_string(&tree.shown(&chains, 0, 0)).unwrap();
        assert_eq!(shown(&with), shown(&without));
    }

    #[test]
    fn each_cause_stops_what_waits_behind_the_parent_of_its_application() {
        let (snapshot, graph) = fleet();
        let case = Case::new(&snapshot);
        let chains = Chains::new(&case, &graph, 2);
        for one in 0..2 {
            let reached = chains.of(&Node::Image(format!("image-{one}").into()));
            let names: Vec<&str> = reached.applications.iter().map(|name| name.name.as_str()).collect();
            assert_eq!(names[..3], ["fleet", &format!("ill-{one}"), "late-10"]);
            assert_eq!((names.len(), reached.symptoms), (22, 22));
        }
    }

    #[test]
    fn a_way_that_leads_back_has_no_gate() {
        let (snapshot, mut graph) = fleet();
        graph.link(Node::Image("image-1".into()), app("late-17"));
        let case = Case::new(&snapshot);
        let chains = Chains::new(&case, &graph, 1);
        let start = graph.find(&Node::Image("image-1".into())).unwrap();
        let tree = Tree::grow(&chains, start, 1_000, |place| chains.gate(place));
        assert!(tree.gate.is_none());
        assert_eq!(tree.order.len(), 23);
    }
}
