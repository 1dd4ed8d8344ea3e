//! Which part of which template, and which values, made a piece of the output.

mod align;
mod origin;
mod path;
mod recorder;
mod span;
mod yaml;

use std::cell::RefCell;
use std::rc::Rc;

pub(crate) use origin::Origin;
pub use path::{Path, Segment};
pub(crate) use recorder::Recorder;
pub(crate) use span::Span;

use crate::{Call, Location, Str};
use recorder::Notes;
use span::cut;

/// The trace of one output.
#[derive(Clone)]
pub struct Trace {
    text: Str,
    spans: Rc<[Span]>,
    notes: Rc<RefCell<Notes>>,
}

/// What made a piece of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The text or action of the innermost template that printed it.
    pub location: Location,
    /// Whether it is text of the template rather than the result of an action.
    pub is_text: bool,
    /// The templates that were being executed, outermost first.
    pub calls: Vec<Call>,
    /// The values that fed it, as paths from the dot of the outermost template.
    pub paths: Vec<Path>,
    /// The values on which it depended that this part was reached: those of `if`, `with` and `range`.
    pub conditions: Vec<Path>,
}

impl Trace {
    /// Takes the trace of the outermost template's output out of a recorder.
    pub(crate) fn take(recorder: &mut Recorder) -> Option<Self> {
        let traced = recorder.finished()?;
        Some(Self { text: traced.text, spans: traced.spans, notes: recorder.notes() })
    }

    /// The output that is traced.
    pub fn text(&self) -> &Str {
        &self.text
    }

    /// What made the byte at an offset of the output.
    pub fn at(&self, offset: usize) -> Option<Made> {
        let found = self.spans.partition_point(|span| span.end <= offset);
        let span = self.spans.get(found).filter(|span| span.start <= offset)?;
        let notes = self.notes.borrow();
        let site = notes.sites.get(span.site)?;
        let within = if site.is_text { span.skipped + (offset - span.start) } else { 0 };
        let mut calls = Vec::new();
        let mut guards = vec![site.guard];
        let mut next = Some(site.frame);
        while let Some(frame) = next.and_then(|number| notes.frames.get(number)) {
            let caller = frame.parent.and_then(|number| notes.frames.get(number));
            calls.push(Call {
                template: frame.tree.name.to_string(),
                from: caller.map(|caller| caller.tree.source.location(frame.from)),
            });
            guards.push(frame.guard);
            next = frame.parent;
        }
        calls.reverse();
        let mut conditions: Vec<Path> =
            guards.into_iter().flat_map(|guard| notes.origins.paths(guard)).collect();
        conditions.sort_unstable();
        conditions.dedup();
        Some(Made {
            location: site.source.location(site.at + within),
            is_text: site.is_text,
            calls,
            paths: notes.origins.paths(span.origin),
            conditions,
        })
    }

    /// What made the character at a line and a column of the output, counted from 1 and from 0 in bytes.
    pub fn at_line(&self, line: usize, column: usize) -> Option<Made> {
        let start = match line.checked_sub(2) {
            None => 0,
            Some(newline) => self.text.match_indices('\n').nth(newline)?.0 + 1,
        };
        self.at(start + column)
    }

    /// The trace of the output without a text that was taken out everywhere, such as `<no value>`.
    #[must_use]
    pub fn without(&self, removed: &str) -> Self {
        if removed.is_empty() || !self.text.contains(removed) {
            return self.clone();
        }
        let mut text = String::with_capacity(self.text.len());
        let mut spans = Vec::with_capacity(self.spans.len());
        let mut from = 0;
        let ends = self.text.match_indices(removed).map(|(at, _)| at).chain([self.text.len()]);
        for end in ends {
            spans.extend(cut(&self.spans, from, end, text.len()));
            text.push_str(&self.text[from..end]);
            from = end + removed.len();
        }
        Self { text: text.into(), spans: spans.into(), notes: Rc::clone(&self.notes) }
    }
}
