//! Finding a text again after a function changed it.
//!
//! `nindent`, `trim`, `quote`, `printf` and their like keep the lines of a text or most of each.

use super::span::{Span, Traced, cut};

/// How many lines may be missing from the result before its next line is found.
const LOOKAHEAD: usize = 200;

/// The spans of a text that was made of others which have spans.
pub(super) fn align(result: &str, sources: &[Traced]) -> Vec<Span> {
    if let [source] = sources
        && let Some(spans) = whole(result, source)
    {
        return spans;
    }
    by_line(result, sources)
}

/// The one text is part of the other.
fn whole(result: &str, source: &Traced) -> Option<Vec<Span>> {
    let text = source.text.as_str();
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    if let Some(at) = result.find(text) {
        return Some(cut(&source.spans, 0, text.len(), at).collect());
    }
    let trimmed = result.trim();
    if trimmed.is_empty() {
        return Some(Vec::new());
    }
    let lead = result.len() - result.trim_start().len();
    let at = text.find(trimmed)?;
    Some(cut(&source.spans, at, at + trimmed.len(), lead).collect())
}

/// A line of a source: which source, and from where to where without the spaces around it.
struct Line<'s> {
    source: &'s Traced,
    start: usize,
    text: &'s str,
}

fn lines(source: &Traced) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    source.text.split_inclusive('\n').filter_map(move |line| {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        let text = line.trim();
        (!text.is_empty()).then_some(Line { source, start, text })
    })
}

fn by_line(result: &str, sources: &[Traced]) -> Vec<Span> {
    let all: Vec<Line<'_>> = sources.iter().flat_map(lines).collect();
    let mut next = 0;
    let mut spans = Vec::new();
    let mut at = 0;
    for line in result.split_inclusive('\n') {
        let trimmed = line.trim();
        let waiting = all[next..].iter().take(LOOKAHEAD);
        let found = if trimmed.is_empty() {
            None
        } else {
            waiting.enumerate().find_map(|(skipped, line)| Some((skipped, line, within(trimmed, line)?)))
        };
        if let Some((skipped, source, (from_result, from_source, length))) = found {
            let lead = line.len() - line.trim_start().len();
            let from = source.start + from_source;
            spans.extend(cut(&source.source.spans, from, from + length, at + lead + from_result));
            next += skipped + 1;
        }
        at += line.len();
    }
    spans
}

/// Where the lines agree: from where in the one, from where in the other, and how long.
fn within(result: &str, line: &Line<'_>) -> Option<(usize, usize, usize)> {
    if let Some(at) = result.find(line.text) {
        return Some((at, 0, line.text.len()));
    }
    line.text.find(result).map(|at| (0, at, result.len()))
}
