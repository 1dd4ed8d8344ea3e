//! From a line and a column back to a field.

use lynceus_object::{FieldPath, Segment, Value, yaml};

use super::anatomy::{Kind, Node, Quotes};
use super::page::Page;
use super::site::{self, Slot};

/// The field at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Which document it is in, from 0.
    pub document: usize,
    /// The field, by names and positions.
    pub path: FieldPath,
    /// If the field is a block of text that is YAML itself: the field of that text.
    pub inside: Option<Box<Found>>,
}

/// The field whose key, or the item whose value, is at a line and a column from 1, or else the innermost that the line is
/// part of. A column of 0 stands for the first of the line.
pub fn path_at(text: &str, line: u32, column: u32) -> Option<Found> {
    let page = Page::new(text);
    let start: usize =
        text.split_inclusive('\n').take(usize::try_from(line).ok()?.checked_sub(1)?).map(str::len).sum();
    let own = text.get(start..)?.split('\n').next()?;
    let before = match usize::try_from(column).ok()? {
        0 => own.len() - own.trim_start().len(),
        column => own.chars().take(column - 1).map(char::len_utf8).sum(),
    };
    let pos = start + before;
    let document = page.documents.iter().rposition(|range| range.start <= pos && pos <= range.end)?;
    let root = page.anatomy(document).ok()?;
    let mut path = FieldPath::root();
    let last = descend(&root, pos, &mut path);
    let inside = block_at(&page, last, line, column, pos);
    Some(Found { document, path, inside: inside.map(Box::new) })
}

/// The line, from 1, that a field of a document is on.
pub fn line_of(text: &str, document: usize, path: &FieldPath) -> Option<u32> {
    let page = Page::new(text);
    let root = page.anatomy(document).ok()?;
    let site = site::find(&page, &root, path).ok()?;
    // Behind the key, since the value may begin further down.
    let at = match site.slot {
        Slot::Root => site.node.start,
        Slot::Key { after, .. } | Slot::Dash { after, .. } | Slot::Flow { after, .. } => {
            after.saturating_sub(1)
        }
    };
    Some(page.line(at))
}

/// What is written as a field of a document, where that is a scalar without quotes.
pub fn plain_at(text: &str, document: usize, path: &FieldPath) -> Option<String> {
    let page = Page::new(text);
    let root = page.anatomy(document).ok()?;
    let site = site::find(&page, &root, path).ok()?;
    let own = text.get(site.node.body..site.node.end)?.trim();
    let is_plain = matches!(site.node.kind, Kind::Scalar(Quotes::Plain)) && !own.contains("{{");
    is_plain.then(|| own.to_owned())
}

/// Follows a position as far down as it leads.
fn descend<'n>(node: &'n Node, pos: usize, path: &mut FieldPath) -> &'n Node {
    match &node.kind {
        Kind::Map { entries, .. } => {
            let entry = entries.iter().rfind(|entry| entry.start <= pos && pos <= entry.end());
            let Some((entry, name)) = entry.and_then(|entry| Some((entry, entry.name.clone()?))) else {
                return node;
            };
            path.push(Segment::Field(name.into()));
            if pos < entry.after { &entry.value } else { descend(&entry.value, pos, path) }
        }
        Kind::Seq { items, .. } => {
            let Some(at) = items.iter().rposition(|item| item.start <= pos && pos <= item.end()) else {
                return node;
            };
            path.push(Segment::Index(at));
            let value = &items[at].value;
            // The value of an item is where the item is; what it has inside is asked for by a column further in.
            if pos <= value.start && !matches!(value.kind, Kind::Map { flow: false, .. }) {
                value
            } else {
                descend(value, pos, path)
            }
        }
        Kind::Empty | Kind::Alias(_) | Kind::Scalar(_) => node,
    }
}

/// The field inside of a block of text, if the place is in one and the text can be read.
fn block_at(page: &Page<'_>, node: &Node, line: u32, column: u32, pos: usize) -> Option<Found> {
    let Kind::Scalar(Quotes::Literal(indent)) = node.kind else { return None };
    let first = page.line(node.body) + 1;
    if pos < node.body || line < first {
        return None;
    }
    let text = match yaml::parse_str(&page.text[node.body..node.end]).ok()? {
        Value::Str(text) => text,
        _ => return None,
    };
    path_at(&text, line - first + 1, column.saturating_sub(u32::try_from(indent).ok()?))
}
