//! Which part of a template made which piece of text.

use std::rc::Rc;
use std::sync::Arc;

use super::origin::Origin;
use crate::Str;
use crate::parse::Source;

/// A piece of text, and where it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of its [`Site`].
    pub(super) site: usize,
    /// How many bytes of what the site printed stand before this piece.
    pub(super) skipped: usize,
    /// What fed it.
    pub(super) origin: Origin,
}

impl Span {
    /// The part of it between two places, moved to another text.
    pub(super) fn cut(&self, from: usize, to: usize, target: usize) -> Option<Self> {
        let start = self.start.max(from);
        let end = self.end.min(to);
        (start < end).then(|| Self {
            start: start - from + target,
            end: end - from + target,
            skipped: self.skipped + (start - self.start),
            ..self.clone()
        })
    }
}

/// A node of a template that printed.
pub(super) struct Site {
    pub(super) source: Arc<Source>,
    /// Where it is in the source, in bytes.
    pub(super) at: usize,
    /// Whether it is text, which is printed byte by byte as it is written.
    pub(super) is_text: bool,
    /// The number of the call that it was part of.
    pub(super) frame: usize,
    /// What decided that it was reached.
    pub(super) guard: Origin,
}

/// A text with the places where it was made.
#[derive(Clone)]
pub(super) struct Traced {
    pub(super) text: Str,
    pub(super) spans: Rc<[Span]>,
}

/// The parts of spans between two places of a text, moved to another text.
pub(super) fn cut(spans: &[Span], from: usize, to: usize, target: usize) -> impl Iterator<Item = Span> + '_ {
    let first = spans.partition_point(|span| span.end <= from);
    spans[first..]
        .iter()
        .take_while(move |span| span.start < to)
        .filter_map(move |span| span.cut(from, to, target))
}
