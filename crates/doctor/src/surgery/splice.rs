//! Changed places of a text, put together.

use std::ops::Range;

/// Some bytes of a text and what stands there instead.
pub(super) type Splice = (Range<usize>, String);

/// The text with all of them; none if two of them overlap.
pub(super) fn join(text: &str, mut splices: Vec<Splice>) -> Option<String> {
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, instead) in splices {
        out.push_str(text.get(from..range.start)?);
        out.push_str(&instead);
        from = range.end;
    }
    out.push_str(text.get(from..)?);
    Some(out)
}
