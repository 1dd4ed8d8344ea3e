//! What Go prints of a key that cannot be one, and of its value (`%#v`).
//!
//! A document in error is read once more for it, so that one without pays nothing.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

use super::super::parse::{Event, Node, Parser, Start};
use super::super::resolve::{self, Scalar};
use super::super::{Options, Version, go_float};
use super::{may_merge, untagged};

/// The first map or list that stands where a key does.
pub(super) fn collection_as_key(text: &str, options: &Options) -> Option<String> {
    let (key, _) = Reader::new(text, options).read(Wanted::Collection)?;
    Some(key.words(options.version))
}

/// The first key of a kind that JSON does not have, with its value.
pub(super) fn scalar_as_key(text: &str, options: &Options) -> Option<String> {
    let (key, value) = Reader::new(text, options).read(Wanted::Scalar)?;
    let (kind, key) = match key {
        Shown::Scalar(Scalar::Null, _) => ("%!s(<nil>)", "<nil>".to_owned()),
        key => ("uint64", key.words(options.version)),
    };
    let value = match value {
        Shown::Scalar(Scalar::Null, _) => "<nil>".to_owned(),
        value => value.words(options.version),
    };
    Some(format!("{kind}, key: {key}, value: {value}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Collection,
    Scalar,
}

/// A node as go-yaml makes a value of it.
#[derive(Clone)]
enum Shown {
    Scalar(Scalar, Rc<str>),
    Seq(Rc<[Shown]>),
    Map(Rc<[(Shown, Shown)]>),
}

/// A collection that has begun and not ended.
struct Open<'a> {
    anchor: Option<&'a str>,
    inner: Inner,
}

enum Inner {
    Seq(Vec<Shown>),
    Map { fields: Vec<(Shown, Shown)>, key: Option<Key> },
}

enum Key {
    Plain(Shown),
    Merge,
}

struct Reader<'a, 'o> {
    parser: Parser<'a>,
    options: &'o Options,
    open: Vec<Open<'a>>,
    anchors: HashMap<&'a str, Shown>,
}

impl<'a, 'o> Reader<'a, 'o> {
    fn new(text: &'a str, options: &'o Options) -> Self {
        let parser = Parser::new(text, options);
        Reader { parser, options, open: Vec::new(), anchors: HashMap::new() }
    }

    /// The key that is wanted, with its value if it is a scalar. The builder has found all else in order up to there.
    fn read(mut self, wanted: Wanted) -> Option<(Shown, Shown)> {
        let Ok(Start::Content { explicit }) = self.parser.start() else { return None };
        let mut node = self.parser.root(explicit).ok()?;
        loop {
            if let Some(shown) = self.add(node)?
                && let Some(found) = self.attach(shown, wanted)
            {
                return Some(found);
            }
            if self.open.is_empty() {
                return None;
            }
            node = self.parser.next().ok()?;
        }
    }

    /// The node that an event ends, if it ends one. Nothing at all where the document cannot be read on.
    fn add(&mut self, node: Node<'a>) -> Option<Option<Shown>> {
        let inner = match node.event {
            Event::SeqStart => Inner::Seq(Vec::new()),
            Event::MapStart => Inner::Map { fields: Vec::new(), key: None },
            Event::SeqEnd | Event::MapEnd => {
                let open = self.open.pop()?;
                let shown = match open.inner {
                    Inner::Seq(items) => Shown::Seq(items.into()),
                    Inner::Map { fields, .. } => Shown::Map(collected(fields).into()),
                };
                return Some(Some(self.named(open.anchor, shown)));
            }
            Event::Alias(name) => return self.anchors.get(name).cloned().map(Some),
            Event::Scalar { ref text, plain }
                if text == "<<" && may_merge(plain, node.tag.as_deref()) && self.at_key() =>
            {
                if let Some(Inner::Map { key, .. }) = self.open.last_mut().map(|open| &mut open.inner) {
                    *key = Some(Key::Merge);
                }
                return Some(None);
            }
            Event::Scalar { text, plain } => {
                let version = self.options.version;
                let (found, text) = match node.tag.as_deref() {
                    None if plain => untagged(text, version),
                    None => (Scalar::Str, text),
                    Some(tag) => match resolve::resolve_tagged(tag, &text, version).ok()? {
                        (found, Some(other)) => (found, other.into()),
                        (found, None) => (found, text),
                    },
                };
                return Some(Some(self.named(node.anchor, Shown::Scalar(found, text.into()))));
            }
        };
        self.open.push(Open { anchor: node.anchor, inner });
        Some(None)
    }

    fn at_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { inner: Inner::Map { key: None, .. }, .. }))
    }

    fn named(&mut self, anchor: Option<&'a str>, shown: Shown) -> Shown {
        if let Some(name) = anchor {
            self.anchors.insert(name, shown.clone());
        }
        shown
    }

    /// Puts a node where it belongs; gives what was looked for, if that is it.
    fn attach(&mut self, shown: Shown, wanted: Wanted) -> Option<(Shown, Shown)> {
        match &mut self.open.last_mut()?.inner {
            Inner::Seq(items) => items.push(shown),
            Inner::Map { fields, key } => match key.take() {
                Some(Key::Merge) => merge(fields, &shown),
                Some(Key::Plain(refused)) if wanted == Wanted::Scalar && !refused.is_key() => {
                    return Some((refused, shown));
                }
                Some(Key::Plain(key)) => fields.push((key, shown)),
                None if wanted == Wanted::Collection && !matches!(shown, Shown::Scalar(..)) => {
                    return Some((shown, Shown::Scalar(Scalar::Null, "".into())));
                }
                None => *key = Some(Key::Plain(shown)),
            },
        }
        None
    }
}

/// Adds the fields of a map, or of each map of a list, of which the first counts most.
fn merge(fields: &mut Vec<(Shown, Shown)>, merged: &Shown) {
    match merged {
        Shown::Map(more) => fields.extend(more.iter().cloned()),
        Shown::Seq(maps) => maps.iter().rev().for_each(|map| merge(fields, map)),
        Shown::Scalar(..) => {}
    }
}

/// The fields in Go's order, of which the last counts where there are several of one key.
fn collected(mut fields: Vec<(Shown, Shown)>) -> Vec<(Shown, Shown)> {
    fields.reverse();
    fields.sort_by(|one, other| one.0.order(&other.0));
    fields.dedup_by(|later, first| later.0.order(&first.0).is_eq());
    fields
}

impl Shown {
    fn is_key(&self) -> bool {
        !matches!(self, Shown::Scalar(Scalar::Null | Scalar::Uint(_), _))
    }

    /// Keys of several kinds stand in the order of Go's types in memory.
    fn order(&self, other: &Shown) -> Ordering {
        let rank = |shown: &Shown| match shown {
            Shown::Scalar(Scalar::Null, _) => 0,
            Shown::Scalar(Scalar::Str, _) => 1,
            Shown::Scalar(Scalar::Uint(_), _) => 2,
            Shown::Scalar(Scalar::Int(_), _) => 3,
            Shown::Scalar(Scalar::Float(_), _) => 4,
            _ => 5,
        };
        match (self, other) {
            (Shown::Scalar(Scalar::Int(one), _), Shown::Scalar(Scalar::Int(other), _)) => one.cmp(other),
            (Shown::Scalar(Scalar::Uint(one), _), Shown::Scalar(Scalar::Uint(other), _)) => one.cmp(other),
            (Shown::Scalar(Scalar::Bool(one), _), Shown::Scalar(Scalar::Bool(other), _)) => one.cmp(other),
            (Shown::Scalar(Scalar::Float(one), _), Shown::Scalar(Scalar::Float(other), _)) => {
                one.total_cmp(other)
            }
            (Shown::Scalar(Scalar::Str, one), Shown::Scalar(Scalar::Str, other)) => one.cmp(other),
            _ => rank(self).cmp(&rank(other)),
        }
    }

    fn words(&self, version: Version) -> String {
        let mut out = String::new();
        self.print(version, &mut out);
        out
    }

    /// The depth is that of the document, which has been bounded.
    fn print(&self, version: Version, out: &mut String) {
        match self {
            Shown::Scalar(found, text) => print_scalar(*found, text, out),
            Shown::Seq(items) => {
                out.push_str("[]interface {}{");
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    item.print(version, out);
                }
                out.push('}');
            }
            Shown::Map(fields) => {
                let is_text = |(key, _): &(Shown, Shown)| matches!(key, Shown::Scalar(Scalar::Str, _));
                let texts = version == Version::V3 && fields.iter().all(is_text);
                out.push_str(if texts { "map[string]" } else { "map[interface {}]" });
                out.push_str("interface {}{");
                for (at, (key, value)) in fields.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    key.print(version, out);
                    out.push(':');
                    value.print(version, out);
                }
                out.push('}');
            }
        }
    }
}

fn print_scalar(found: Scalar, text: &str, out: &mut String) {
    let words = match found {
        Scalar::Null => "interface {}(nil)".to_owned(),
        Scalar::Bool(bool) => bool.to_string(),
        Scalar::Int(int) => int.to_string(),
        Scalar::Uint(uint) => format!("{uint:#x}"),
        Scalar::Float(float) if float.is_nan() => "NaN".to_owned(),
        Scalar::Float(f64::INFINITY) => "+Inf".to_owned(),
        Scalar::Float(f64::NEG_INFINITY) => "-Inf".to_owned(),
        Scalar::Float(float) => go_float::general(float),
        Scalar::Str => return print_quoted(text, out),
    };
    out.push_str(&words);
}

/// The text in double quotes, with Go's escapes.
fn print_quoted(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        let escape = match char {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\x07' => "\\a",
            '\x08' => "\\b",
            '\x0c' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\x0b' => "\\v",
            '\0'..='\x1f' | '\x7f' => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\x{:02x}", u32::from(char));
                continue;
            }
            '\u{80}'..='\u{a0}' | '\u{ad}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
                continue;
            }
            char => {
                out.push(char);
                continue;
            }
        };
        out.push_str(escape);
    }
    out.push('"');
}
