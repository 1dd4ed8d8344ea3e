//! Another value in the place of one.

use lynceus_object::Value;

use super::anatomy::{Cursor, Kind, Node, Quotes};
use super::page::Page;
use super::print::Printer;
use super::site::{Site, Slot};
use super::splice::Splice;

/// What has to be written where so that another value stands at a site.
pub(super) fn replace(page: &Page<'_>, printer: &Printer<'_>, site: &Site<'_>, value: &Value) -> Vec<Splice> {
    let node = site.node;
    let was = match node.kind {
        Kind::Scalar(quotes) => Some(quotes),
        _ => None,
    };
    match site.slot {
        _ if page.is_json => vec![in_brackets(page, printer, node, value, was)],
        Slot::Root => root(page, printer, node, value),
        Slot::Flow { after, has_colon } if node.is_empty() => {
            let colon = if has_colon { " " } else { ": " };
            vec![(after..after, format!("{colon}{}", printer.flow(value, None, None)))]
        }
        Slot::Flow { .. } => vec![in_brackets(page, printer, node, value, was)],
        Slot::Key { after, column } => hung(page, node, after, &printer.after_key(value, column, was)),
        Slot::Dash { after, column } => hung(page, node, after, &printer.after_dash(value, column, was)),
    }
}

fn in_brackets(
    page: &Page<'_>,
    printer: &Printer<'_>,
    node: &Node,
    value: &Value,
    was: Option<Quotes>,
) -> Splice {
    let line = &page.text[page.line_start(node.start)..node.start];
    let lead = &line[..line.len() - line.trim_start().len()];
    let lead = printer.habits.flow.unit.as_ref().map(|_| lead);
    (node.start..node.end, format!("{}{}", anchored(node, " "), printer.flow(value, was, lead)))
}

/// The anchor of a node, which stays with whatever stands there.
fn anchored(node: &Node, behind: &str) -> String {
    node.anchor.as_ref().map_or(String::new(), |name| format!("&{name}{behind}"))
}

fn root(page: &Page<'_>, printer: &Printer<'_>, node: &Node, value: &Value) -> Vec<Splice> {
    let newline = printer.habits.newline;
    let text = printer.document(value);
    if !node.is_empty() {
        let behind = if text.contains('\n') { newline } else { " " };
        let (head, tail) = split(&text);
        let rest = page.line_end(node.end);
        // A comment stays behind the first line: behind the last it could become part of a block.
        let head = format!("{}{head}", anchored(node, behind));
        return vec![(node.start..node.end, head), (rest..rest, tail.to_owned())];
    }
    // Behind the comments of a document that has nothing else.
    let mut cursor = Cursor::new(page.text, node.start..page.text.len());
    cursor.skip_gap();
    while !cursor.is_over() {
        cursor.pos += 1;
        cursor.skip_gap();
    }
    let at = cursor.pos;
    let before = &page.text[..at];
    let is_fresh = before.is_empty() || before.ends_with('\n') || before == "\u{feff}";
    let lead = if is_fresh { "" } else { newline };
    vec![(at..at, format!("{lead}{text}{newline}"))]
}

/// The value of a key or a dash. What is written begins on that line; a comment there stays.
fn hung(page: &Page<'_>, node: &Node, after: usize, text: &str) -> Vec<Splice> {
    let (head, tail) = split(text);
    let anchor = node.anchor.as_ref().map_or(String::new(), |name| format!(" &{name}"));
    let head = format!("{anchor}{head}");
    let tail = tail.to_owned();
    if node.is_empty() || page.line_start(node.body) == page.line_start(after) {
        let end = node.end.max(after);
        let rest = page.line_end(end);
        return vec![(after..end, head), (rest..rest, tail)];
    }
    // Lines of comments before the old value would become lines of a block.
    let is_block =
        !tail.is_empty() && head.split(' ').next_back().is_some_and(|sign| sign.starts_with(['|', '>']));
    let from = if is_block { page.line_end(after) } else { break_before(page, node.body) };
    let behind = if node.start < node.body { properties_end(page, node, after) } else { after };
    vec![(after..behind, head), (from..page.line_end(node.end), tail)]
}

/// The first line of a text, and the others with the line breaks before them.
fn split(text: &str) -> (&str, &str) {
    text.find(['\r', '\n']).map_or((text, ""), |at| text.split_at(at))
}

/// Where the line before that of a position ends.
fn break_before(page: &Page<'_>, pos: usize) -> usize {
    let start = page.line_start(pos);
    let before = page.text[..start].strip_suffix('\n').unwrap_or(&page.text[..start]);
    before.strip_suffix('\r').unwrap_or(before).len()
}

/// Where the anchor and the tag on the line of a key end.
fn properties_end(page: &Page<'_>, node: &Node, after: usize) -> usize {
    let line = &page.text[node.start..page.line_end(after).max(node.start)];
    let code = line.split(" #").next().unwrap_or(line);
    node.start + code.trim_end().len()
}
