//! How a document is written: which bytes are which key, value and item.
//!
//! Values do not know their places, and the reader of `object` forgets where things end. So the text is read once more, by a
//! reader that gives no meaning to anything. It is only asked about documents that the real one has accepted, and what is
//! done with its answers is checked by the real one afterwards: a mistake here is a refusal, never a wrong file.

mod block;
mod cursor;
mod flow;
mod scalar;

use std::ops::Range;

use lynceus_object::{Value, yaml};

pub(super) use cursor::Cursor;

/// A value with the bytes that it takes.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where it begins, with its anchor and its tag.
    pub(super) start: usize,
    /// Where it begins without them.
    pub(super) body: usize,
    /// Where it ends, without what may follow on its last line.
    pub(super) end: usize,
    /// The name that it goes by elsewhere.
    pub(super) anchor: Option<String>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Nothing is written.
    Empty,
    /// What has this anchor.
    Alias(String),
    Scalar(Quotes),
    Map {
        /// Whether it is in braces.
        flow: bool,
        entries: Vec<Entry>,
    },
    Seq {
        /// Whether it is in brackets.
        flow: bool,
        items: Vec<Item>,
    },
}

/// The way in which a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    Plain,
    Single,
    Double,
    /// A block; how far in its lines are.
    Literal(usize),
    /// A block of paragraphs; how far in its lines are.
    Folded(usize),
}

/// A field of a map.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Where it begins, with the sign of a long key.
    pub(super) start: usize,
    pub(super) key: Node,
    /// The key as an object has it; none if it is an alias, which nobody changes by name.
    pub(super) name: Option<String>,
    /// Just behind the colon; behind the key if there is none.
    pub(super) after: usize,
    pub(super) has_colon: bool,
    pub(super) value: Node,
}

/// An item of a list.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Where it begins, with its dash.
    pub(super) start: usize,
    /// Just behind the dash.
    pub(super) after: usize,
    pub(super) value: Node,
}

/// The text is written in a way that this module does not know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unreadable;

/// Reads a document of YAML that stands in some bytes of a text.
pub(super) fn yaml(text: &str, range: Range<usize>) -> Result<Node, Unreadable> {
    let mut cursor = Cursor::new(text, range);
    cursor.skip_prologue();
    let root = cursor.root()?;
    cursor.skip_gap();
    if !cursor.is_over() {
        return Err(Unreadable);
    }
    Ok(root)
}

/// Reads a document of JSON that stands in some bytes of a text.
pub(super) fn json(text: &str, range: Range<usize>) -> Result<Node, Unreadable> {
    Cursor::new(text, range).flow_node()
}

impl Node {
    /// Something that is not written, at a place where it could be.
    fn empty(at: usize) -> Self {
        Node { start: at, body: at, end: at, anchor: None, kind: Kind::Empty }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self.kind, Kind::Empty)
    }

    /// Whether it is in braces or brackets.
    pub(super) fn is_flow(&self) -> bool {
        matches!(self.kind, Kind::Map { flow: true, .. } | Kind::Seq { flow: true, .. })
    }

    /// The field of a name. Of several the last is the one that is read.
    pub(super) fn field(&self, name: &str) -> Option<(usize, &Entry)> {
        let Kind::Map { entries, .. } = &self.kind else { return None };
        entries.iter().enumerate().rev().find(|(_, entry)| entry.name.as_deref() == Some(name))
    }

    /// Whether fields of another map are merged into this one.
    pub(super) fn merges(&self) -> bool {
        matches!(&self.kind, Kind::Map { entries, .. } if entries.iter().any(Entry::is_merge))
    }

    /// Visits this and everything in it, keys too, from the outside in.
    pub(super) fn visit<'n>(&'n self, see: &mut dyn FnMut(&'n Node)) {
        see(self);
        match &self.kind {
            Kind::Map { entries, .. } => {
                for entry in entries {
                    entry.key.visit(see);
                    entry.value.visit(see);
                }
            }
            Kind::Seq { items, .. } => items.iter().for_each(|item| item.value.visit(see)),
            Kind::Empty | Kind::Alias(_) | Kind::Scalar(_) => {}
        }
    }
}

impl Entry {
    pub(super) fn is_merge(&self) -> bool {
        self.name.as_deref() == Some("<<") && matches!(self.key.kind, Kind::Scalar(Quotes::Plain))
    }

    /// Where it ends.
    pub(super) fn end(&self) -> usize {
        if self.value.is_empty() { self.after.max(self.value.end) } else { self.value.end }
    }
}

impl Item {
    /// Where it ends.
    pub(super) fn end(&self) -> usize {
        self.after.max(self.value.end)
    }
}

/// What a key means, as objects have it: everything is a string.
fn name_of(text: &str, key: &Node) -> Option<String> {
    if matches!(key.kind, Kind::Alias(_)) {
        return None;
    }
    match yaml::parse_str(&text[key.body..key.end]).ok()? {
        Value::Str(name) => Some(name.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Null => Some("null".to_owned()),
        Value::Float(_) | Value::Seq(_) | Value::Map(_) => None,
    }
}
