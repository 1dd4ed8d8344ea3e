//! What waits for what.

use std::collections::{HashMap, HashSet};

use crate::node::Node;

/// What waits for what, over all applications: an edge leads from something that is wrong to what that may come from.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    places: HashMap<Node, usize>,
    down: Vec<Vec<usize>>,
    up: Vec<Vec<usize>>,
    edges: HashSet<(usize, usize)>,
}

impl Graph {
    /// Says that one thing is wrong because of another, if that is wrong.
    pub fn link(&mut self, from: Node, to: Node) {
        let (from, to) = (self.place(from), self.place(to));
        if from != to && self.edges.insert((from, to)) {
            self.down[from].push(to);
            self.up[to].push(from);
        }
    }

    /// The number of a thing, which it gets when it is first named.
    pub(crate) fn place(&mut self, node: Node) -> usize {
        if let Some(place) = self.places.get(&node) {
            return *place;
        }
        let place = self.nodes.len();
        self.places.insert(node.clone(), place);
        self.nodes.push(node);
        self.down.push(Vec::new());
        self.up.push(Vec::new());
        place
    }

    /// The number of a thing, if it was named.
    pub(crate) fn find(&self, node: &Node) -> Option<usize> {
        self.places.get(node).copied()
    }

    /// A thing by number.
    pub(crate) fn node(&self, place: usize) -> &Node {
        &self.nodes[place]
    }

    /// How many things were named.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Those that wait for a thing.
    pub(crate) fn waiting_for(&self, place: usize) -> &[usize] {
        &self.up[place]
    }

    /// What a thing waits for.
    pub(crate) fn waits_for(&self, place: usize) -> &[usize] {
        &self.down[place]
    }

    /// The knots of the graph: for each thing the number of its knot. Things that wait for each other are of one knot, and a
    /// knot has a higher number than all that it waits for.
    pub(crate) fn knots(&self) -> Vec<usize> {
        Knots::new(self.len()).tie(self)
    }
}

/// Tarjan's way to find strongly connected components, without recursion: chains may be long.
struct Knots {
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    knot: Vec<usize>,
    next: usize,
    knots: usize,
}

impl Knots {
    fn new(count: usize) -> Self {
        Knots {
            index: vec![None; count],
            low: vec![0; count],
            on_stack: vec![false; count],
            stack: Vec::new(),
            knot: vec![0; count],
            next: 0,
            knots: 0,
        }
    }

    fn tie(mut self, graph: &Graph) -> Vec<usize> {
        for start in 0..graph.len() {
            if self.index[start].is_none() {
                self.search(graph, start);
            }
        }
        self.knot
    }

    fn search(&mut self, graph: &Graph, start: usize) {
        let mut ways: Vec<(usize, usize)> = vec![(start, 0)];
        self.enter(start);
        while let Some((at, branch)) = ways.pop() {
            match graph.waits_for(at).get(branch) {
                Some(&to) => {
                    ways.push((at, branch + 1));
                    if self.index[to].is_none() {
                        self.enter(to);
                        ways.push((to, 0));
                    } else if self.on_stack[to] {
                        self.low[at] = self.low[at].min(self.index[to].unwrap_or_default());
                    }
                }
                None => {
                    self.leave(at);
                    if let Some((above, _)) = ways.last() {
                        self.low[*above] = self.low[*above].min(self.low[at]);
                    }
                }
            }
        }
    }

    fn enter(&mut self, at: usize) {
        self.index[at] = Some(self.next);
        self.low[at] = self.next;
        self.next += 1;
        self.stack.push(at);
        self.on_stack[at] = true;
    }

    fn leave(&mut self, at: usize) {
        if Some(self.low[at]) != self.index[at] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            self.knot[member] = self.knots;
            if member == at {
                break;
            }
        }
        self.knots += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::AppName;

    fn app(name: &str) -> Node {
        Node::Application(AppName::new("argocd", name))
    }

    #[test]
    fn what_waits_for_each_other_is_one_knot_and_comes_after_what_it_waits_for() {
        let mut graph = Graph::default();
        for (from, to) in [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "a")] {
            graph.link(app(from), app(to));
        }
        let knots = graph.knots();
        let knot = |name: &str| knots[graph.find(&app(name)).unwrap()];
        assert_eq!(knot("b"), knot("c"));
        assert!(knot("d") < knot("b") && knot("b") < knot("a") && knot("a") < knot("e"));
    }
}
