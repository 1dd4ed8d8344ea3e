//! What the evaluator tells the recorder, if there is one.

use super::{Dynamic, State};
use crate::Value;
use crate::trace::{Origin, Segment};

impl State<'_, '_, '_> {
    /// Marks what was found inside of a value.
    pub(super) fn trace_inside(
        &mut self,
        outer: &Dynamic,
        segment: impl FnOnce() -> Segment,
        found: Dynamic,
    ) -> Dynamic {
        let Some(recorder) = &mut self.context.recorder else {
            return found;
        };
        let origin = recorder.inside(&outer.value, outer.origin, segment(), &found.value);
        found.from(origin)
    }

    /// Marks an element that `range` has come to, and its key.
    pub(super) fn trace_element(
        &mut self,
        over: &Dynamic,
        key: Dynamic,
        value: Dynamic,
    ) -> (Dynamic, Dynamic) {
        if self.context.recorder.is_none() {
            return (key, value);
        }
        let segment = match &key.value {
            Value::Str(name) => Segment::Key(name.clone()),
            Value::Int(at, _) => Segment::Index(usize::try_from(*at).unwrap_or(0)),
            _ => return (key, value.from(over.origin)),
        };
        let value = self.trace_inside(over, || segment, value);
        (key.from(value.origin), value)
    }

    /// The origin of a value on which another had an influence.
    pub(super) fn trace_either(&mut self, first: Origin, second: Origin) -> Origin {
        match &mut self.context.recorder {
            Some(recorder) if !first.is_none() => recorder.union([first, second]),
            _ => second,
        }
    }

    /// Notes a text node that was printed.
    pub(super) fn trace_text(&mut self, at: usize, start: usize) {
        let end = self.context.out.len();
        if let Some(recorder) = &mut self.context.recorder {
            recorder.print_text(&self.tree.source, at, start..end, self.guard);
        }
    }

    /// Notes a value that was printed.
    pub(super) fn trace_value(&mut self, value: &Dynamic, at: usize, start: usize) {
        if let Some(recorder) = &mut self.context.recorder {
            let printed = &self.context.out[start..];
            recorder.print_value(&self.tree.source, at, printed, start, (value.origin, self.guard));
        }
    }

    /// Notes what decides about the nodes that follow, and gives what decided before.
    pub(super) fn trace_guard(&mut self, origin: Origin) -> Origin {
        let before = self.guard;
        if let Some(recorder) = &mut self.context.recorder {
            self.guard = recorder.union([before, origin]);
        }
        before
    }
}
