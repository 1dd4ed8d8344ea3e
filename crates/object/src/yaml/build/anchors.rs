//! Named nodes, and a bound on what repeating them may cost.

use std::collections::HashMap;

use crate::limits::MAX_ALIAS_BYTES;
use crate::value::{Str, Value};

/// A node that has a name.
#[derive(Clone, Default)]
pub(super) struct Anchored {
    pub(super) value: Value,
    /// What it is as a key, if it is a scalar.
    pub(super) key: Option<Result<Str, &'static str>>,
    /// How many levels of collections it has.
    pub(super) height: usize,
    /// What it costs when all aliases in it are written out.
    pub(super) cost: Cost,
}

/// How much there is of something, with all aliases written out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    nodes: u64,
    /// The length of all scalars.
    bytes: u64,
}

impl Cost {
    /// The cost of a scalar.
    pub(super) fn scalar(text: &str) -> Self {
        Cost { nodes: 1, bytes: text.len() as u64 }
    }

    /// What has been added since `earlier`.
    pub(super) fn since(self, earlier: Cost) -> Self {
        Cost { nodes: self.nodes - earlier.nodes, bytes: self.bytes - earlier.bytes }
    }

    fn add(&mut self, other: Cost) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Why an alias stands for nothing.
pub(super) enum AliasError {
    /// There is no such anchor so far.
    Unknown,
    /// The alias is inside the node that it names.
    Open,
    /// Too much of the document would come from aliases.
    Excessive,
}

enum State {
    /// The node has begun at this depth and has not ended.
    Open(usize),
    Done(Anchored),
}

/// The anchors of a document and what it costs so far.
///
/// A value is shared, not copied, when it is repeated, so a short text may stand for a value that no
/// one can walk through. go-yaml's rule is followed: of a small document nearly all nodes may come from
/// aliases, of a large one a tenth.
#[derive(Default)]
pub(super) struct Anchors<'a> {
    named: HashMap<&'a str, State>,
    total: Cost,
    from_aliases: Cost,
}

impl<'a> Anchors<'a> {
    pub(super) fn count(&mut self, cost: Cost) {
        self.total.add(cost);
    }

    /// What the document costs so far.
    pub(super) fn total(&self) -> Cost {
        self.total
    }

    pub(super) fn open(&mut self, name: &'a str, depth: usize) {
        self.named.insert(name, State::Open(depth));
    }

    /// The node that was opened at `depth` is complete.
    pub(super) fn close(&mut self, name: &'a str, depth: usize, anchored: Anchored) {
        // A node inside may have taken the name over.
        if matches!(self.named.get(name), Some(State::Open(at)) if *at == depth) {
            self.define(name, anchored);
        }
    }

    pub(super) fn define(&mut self, name: &'a str, anchored: Anchored) {
        self.named.insert(name, State::Done(anchored));
    }

    /// The node that an alias stands for.
    pub(super) fn expand(&mut self, name: &str) -> Result<Anchored, AliasError> {
        self.total.add(Cost { nodes: 1, bytes: 0 });
        let anchored = match self.named.get(name) {
            None => return Err(AliasError::Unknown),
            Some(State::Open(_)) => return Err(AliasError::Open),
            Some(State::Done(anchored)) => anchored.clone(),
        };
        self.total.add(anchored.cost);
        self.from_aliases.add(anchored.cost);
        if self.is_excessive() {
            return Err(AliasError::Excessive);
        }
        Ok(anchored)
    }

    fn is_excessive(&self) -> bool {
        const SMALL: f64 = 400_000.0;
        const LARGE: f64 = 4_000_000.0;
        if self.from_aliases.bytes > MAX_ALIAS_BYTES {
            return true;
        }
        if self.from_aliases.nodes <= 100 || self.total.nodes <= 1000 {
            return false;
        }
        let nodes = self.total.nodes as f64;
        let progress = ((nodes - SMALL) / (LARGE - SMALL)).clamp(0.0, 1.0);
        self.from_aliases.nodes as f64 / nodes > 0.99 - 0.89 * progress
    }
}
