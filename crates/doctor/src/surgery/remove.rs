//! One field or item less; there are others.

use std::ops::Range;

use super::anatomy::Node;
use super::error::Problem;
use super::habits::children;
use super::insert::block_end;
use super::page::Page;
use super::splice::Splice;

/// What has to go so that the part at a position is not in its map or list any more.
pub(super) fn remove(page: &Page<'_>, node: &Node, position: usize) -> Result<Vec<Splice>, Problem> {
    let parts = children(node);
    let (start, end) = *parts.get(position).ok_or(Problem::Layout)?;
    let next = parts.get(position + 1).map(|(next, _)| *next);
    let before = position.checked_sub(1).and_then(|before| parts.get(before)).map(|(_, end)| *end);
    let gone = match (node.is_flow(), next, before) {
        (true, Some(next), _) => from_brackets(page, start, end, next),
        (true, None, Some(before)) => return last_of_brackets(page, before, start, end),
        (false, _, _) if page.starts_line(start) => lines(page, start, end),
        (false, Some(next), _) => behind_dash(page, start, end, next),
        _ => return Err(Problem::Layout),
    };
    Ok(vec![(gone, String::new())])
}

/// The lines of a part, with the comments that hang on it. The last of a file takes the line break before it.
fn lines(page: &Page<'_>, start: usize, end: usize) -> Range<usize> {
    let from = page.line_start(start);
    let to = page.next_line(block_end(page, end, page.column(start)));
    if to == page.text.len() && !page.text.ends_with('\n') {
        let before = page.text[..from].strip_suffix('\n').unwrap_or(&page.text[..from]);
        return before.strip_suffix('\r').unwrap_or(before).len()..to;
    }
    from..to
}

/// The first part, on the line of a dash: the next moves up, unless there are comments in between.
fn behind_dash(page: &Page<'_>, start: usize, end: usize, next: usize) -> Range<usize> {
    let line_end = page.line_end(end).min(next);
    if page.text[line_end..next].contains('#') {
        let dash = page.text[..start].trim_end_matches(' ').len();
        return dash..line_end;
    }
    start..next
}

fn from_brackets(page: &Page<'_>, start: usize, end: usize, next: usize) -> Range<usize> {
    let line = page.next_line(end);
    let has_own_lines = page.starts_line(start) && page.starts_line(next) && line <= next;
    // A comment on a line of its own belongs to what follows.
    if has_own_lines && page.text[end..line].contains(',') {
        page.line_start(start)..line
    } else {
        start..next
    }
}

fn last_of_brackets(
    page: &Page<'_>,
    before: usize,
    start: usize,
    end: usize,
) -> Result<Vec<Splice>, Problem> {
    if !page.text[before..start].contains('#') {
        return Ok(vec![(before..end, String::new())]);
    }
    let comma = super::insert::trailing_comma(page, before).ok_or(Problem::Layout)?;
    Ok(vec![(comma..comma + 1, String::new()), (lines(page, start, end), String::new())])
}
