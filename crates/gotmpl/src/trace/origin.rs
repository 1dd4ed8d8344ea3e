//! Which paths fed a value.

use std::collections::HashMap;

use super::path::{Path, Segment};

/// What fed a value: a number in the table of [`Origins`]. Nothing is known of the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin(u32);

impl Origin {
    pub(crate) const NONE: Self = Self(0);
    /// Dot of the outermost template.
    pub(crate) const ROOT: Self = Self(1);

    pub(crate) fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// How many paths are told of one value. More would say that everything depends on everything.
const MOST: usize = 32;

enum Node {
    None,
    Root,
    /// The value at a step from another.
    Step(Origin, Segment),
    /// A value that was made of others; their paths, sorted, none of them made of others itself.
    Union(Box<[Origin]>),
    /// A text whose pieces have origins of their own: that of the whole, and the number of the text.
    Text(Origin, usize),
}

/// All origins of a render, each once.
pub(super) struct Origins {
    nodes: Vec<Node>,
    steps: HashMap<(Origin, Segment), Origin>,
    unions: HashMap<Box<[Origin]>, Origin>,
}

impl Default for Origins {
    fn default() -> Self {
        Self { nodes: vec![Node::None, Node::Root], steps: HashMap::new(), unions: HashMap::new() }
    }
}

impl Origins {
    fn node(&self, origin: Origin) -> &Node {
        self.nodes.get(origin.0 as usize).unwrap_or(&Node::None)
    }

    fn add(&mut self, node: Node) -> Origin {
        let Ok(number) = u32::try_from(self.nodes.len()) else {
            return Origin::NONE;
        };
        self.nodes.push(node);
        Origin(number)
    }

    /// The number of a text whose pieces have origins of their own.
    pub(super) fn text(&self, origin: Origin) -> Option<usize> {
        match self.node(origin) {
            Node::Text(_, text) => Some(*text),
            _ => None,
        }
    }

    /// The origin of a text whose pieces have origins of their own.
    pub(super) fn of_text(&mut self, whole: Origin, text: usize) -> Origin {
        self.add(Node::Text(whole, text))
    }

    /// The origin without the pieces.
    fn bare(&self, origin: Origin) -> Origin {
        match self.node(origin) {
            Node::Text(whole, _) => *whole,
            _ => origin,
        }
    }

    /// Whether the value was read as it is, so that what is inside of it has paths of its own.
    pub(super) fn is_path(&self, origin: Origin) -> bool {
        matches!(self.node(origin), Node::Root | Node::Step(..))
    }

    /// The origin of what is inside of a value that was read.
    pub(super) fn step(&mut self, from: Origin, segment: Segment) -> Origin {
        if let Some(known) = self.steps.get(&(from, segment.clone())) {
            return *known;
        }
        let origin = self.add(Node::Step(from, segment.clone()));
        self.steps.insert((from, segment), origin);
        origin
    }

    /// The origin of a value that was made of others. Dot itself says nothing and is left out.
    pub(super) fn union(&mut self, parts: impl IntoIterator<Item = Origin>) -> Origin {
        let mut all = Vec::new();
        for part in parts {
            let part = self.bare(part);
            match self.node(part) {
                Node::None | Node::Root | Node::Text(..) => {}
                Node::Step(..) => all.push(part),
                Node::Union(inner) => all.extend_from_slice(inner),
            }
        }
        all.sort_unstable();
        all.dedup();
        all.truncate(MOST);
        if all.is_empty() {
            return Origin::NONE;
        }
        // Even one part alone is not the value itself: `dict "a" .Values.x` has no `.Values.x.a`.
        let all = all.into_boxed_slice();
        if let Some(known) = self.unions.get(&all) {
            return *known;
        }
        let origin = self.add(Node::Union(all.clone()));
        self.unions.insert(all, origin);
        origin
    }

    /// The paths of an origin, without those that only lead to others.
    pub(super) fn paths(&self, origin: Origin) -> Vec<Path> {
        let origin = self.bare(origin);
        let mut paths: Vec<Path> = match self.node(origin) {
            Node::None | Node::Root | Node::Text(..) => Vec::new(),
            Node::Step(..) => vec![self.path(origin)],
            Node::Union(parts) => parts.iter().map(|part| self.path(*part)).collect(),
        };
        paths.sort_unstable();
        let longer = paths.clone();
        paths.retain(|path| !longer.iter().any(|other| leads_to(path, other)));
        paths
    }

    fn path(&self, mut origin: Origin) -> Path {
        let mut segments = Vec::new();
        while let Node::Step(from, segment) = self.node(origin) {
            segments.push(segment.clone());
            origin = *from;
        }
        segments.reverse();
        Path(segments)
    }
}

fn leads_to(path: &Path, other: &Path) -> bool {
    path.0.len() < other.0.len() && other.0.starts_with(&path.0)
}
