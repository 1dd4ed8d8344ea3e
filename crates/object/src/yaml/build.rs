//! Events to a value.

mod anchors;
mod fields;
mod skim;
mod words;

pub(super) use self::skim::build_only;

use std::borrow::Cow;

use ecow::EcoVec;

use self::anchors::{AliasError, Anchored, Anchors, Cost};
use self::fields::Field;
use super::chars::{self, Mark};
use super::error::Error;
use super::parse::{Event, Node, Parser, Start};
use super::resolve::{self, Scalar};
use super::timestamp;
use super::{Duplicate, DuplicateKeys, Options, Version};
use crate::limits::MAX_DUPLICATES;
use crate::map::Map;
use crate::value::{Str, Value};

/// A document as it was read.
pub(super) struct Built {
    pub(super) value: Value,
    /// The line on which the content begins, from 1; 0 if there is none.
    pub(super) line: u32,
    pub(super) is_empty: bool,
    pub(super) duplicates: Vec<Duplicate>,
    pub(super) ignored_from: Option<u32>,
}

/// Reads the first document of `text`.
pub(super) fn build(text: &str, options: &Options) -> Result<Built, Error> {
    build_as(text, options, false)
}

/// Reads the first document of `text`, every scalar as it is written.
pub(super) fn build_written(text: &str, options: &Options) -> Result<Value, Error> {
    build_as(text, options, true).map(|built| built.value)
}

fn build_as(text: &str, options: &Options, as_written: bool) -> Result<Built, Error> {
    if text.len() > options.max_bytes {
        return Err(Error::too_large(text.len(), options.max_bytes));
    }
    let mut parser = Parser::new(text, options);
    let Start::Content { explicit } = parser.start()? else {
        let nothing =
            Built { value: Value::Null, line: 0, is_empty: true, duplicates: Vec::new(), ignored_from: None };
        return Ok(nothing);
    };
    let root = parser.root(explicit)?;
    let is_empty = root.is_omitted();
    let line = root.mark.line + 1;
    let mut builder = Builder::new(text, options);
    builder.as_written = as_written.then_some(text);
    builder.add(root)?;
    while !builder.open.is_empty() {
        builder.add(parser.next()?)?;
    }
    let ignored_from = parser.finish(options.version)?.map(|mark| mark.line + 1);
    let (value, duplicates) = builder.finish()?;
    Ok(Built { value, line, is_empty, duplicates, ignored_from })
}

impl Node<'_> {
    /// Whether the text leaves this node out altogether.
    fn is_omitted(&self) -> bool {
        let empty = matches!(&self.event, Event::Scalar { text, plain: true } if text.is_empty());
        empty && self.anchor.is_none() && self.tag.is_none()
    }
}

/// A collection that has begun and not ended.
struct Open<'a> {
    kind: Kind,
    /// Where its items or fields begin on their stack.
    base: usize,
    mark: Mark,
    anchor: Option<&'a str>,
    /// What the document cost before it.
    cost_before: Cost,
    /// The height of its highest child.
    height: usize,
}

enum Kind {
    Seq,
    Map(Expect),
}

/// What comes next in a mapping.
enum Expect {
    Key,
    Value(Str, Mark),
    Merge,
    /// The value of a key that is in error.
    Nothing,
}

/// A node that is complete.
struct Done {
    value: Value,
    /// How many levels of collections it has.
    height: usize,
    mark: Mark,
    is_alias: bool,
}

struct Builder<'a, 'o> {
    text: &'a str,
    options: &'o Options,
    /// The text, if scalars are wanted as they are written; see [`super::parse_written`].
    as_written: Option<&'a str>,
    open: Vec<Open<'a>>,
    /// The items of all open sequences, one after the other.
    items: Vec<Value>,
    /// The fields of all open mappings, one after the other.
    fields: Vec<Field>,
    anchors: Anchors<'a>,
    root: Value,
    duplicates: Vec<Duplicate>,
    /// go-yaml finds these only after the whole text is known to be well formed.
    content_error: Option<Error>,
    key_error: Option<Error>,
    /// A number that JSON does not have.
    unbounded: Option<(f64, Mark)>,
}

impl<'a, 'o> Builder<'a, 'o> {
    fn new(text: &'a str, options: &'o Options) -> Self {
        Builder {
            text,
            options,
            as_written: None,
            open: Vec::new(),
            items: Vec::new(),
            fields: Vec::new(),
            anchors: Anchors::default(),
            root: Value::Null,
            duplicates: Vec::new(),
            content_error: None,
            key_error: None,
            unbounded: None,
        }
    }

    fn place(&self, mark: Mark) -> (u32, u32) {
        chars::place(self.text, mark)
    }

    fn fail_later(&mut self, mark: Mark, problem: impl Into<Cow<'static, str>>) {
        if self.content_error.is_none() {
            self.content_error = Some(Error::content(self.place(mark), problem));
        }
    }

    fn add(&mut self, node: Node<'a>) -> Result<(), Error> {
        match node.event {
            Event::Scalar { text, plain } => {
                self.anchors.count(Cost::scalar(&text));
                let may_merge = may_merge(plain, node.tag.as_deref());
                let version = self.options.version;
                let (found, text) = match node.tag {
                    None if plain => self.untagged(text),
                    // Version 3 reads over a tag that says nothing.
                    Some(tag) if plain && &*tag == "!" && version == Version::V3 => self.untagged(text),
                    None => (Scalar::Str, text),
                    Some(tag) => self.tagged(&tag, text, node.mark),
                };
                self.add_scalar(found, &text, may_merge, node.mark, node.anchor);
                Ok(())
            }
            Event::Alias(name) => self.add_alias(name, node.mark),
            Event::SeqStart => self.open(Kind::Seq, node.mark, node.anchor),
            Event::MapStart => self.open(Kind::Map(Expect::Key), node.mark, node.anchor),
            Event::SeqEnd => {
                self.close_seq();
                Ok(())
            }
            Event::MapEnd => {
                self.close_map();
                Ok(())
            }
        }
    }

    /// What a plain scalar means by itself.
    #[inline]
    fn untagged<'t>(&self, text: Cow<'t, str>) -> (Scalar, Cow<'t, str>) {
        if self.as_written.is_some() {
            return (resolve::resolve(&text, self.options.version), text);
        }
        untagged(text, self.options.version)
    }

    #[cold]
    fn tagged(&mut self, tag: &str, text: Cow<'a, str>, mark: Mark) -> (Scalar, Cow<'a, str>) {
        match resolve::resolve_tagged(tag, &text, self.options.version) {
            Ok((found, Some(other))) => (found, Cow::Owned(other)),
            Ok((found, None)) => (found, text),
            Err(mismatch) => {
                if self.content_error.is_none() {
                    let error = Error::content(self.place(mark), mismatch.problem);
                    self.content_error = Some(match mismatch.full {
                        Some(full) => error.in_full(full),
                        None => error,
                    });
                }
                (Scalar::Null, text)
            }
        }
    }

    fn add_scalar(
        &mut self,
        found: Scalar,
        text: &str,
        may_merge: bool,
        mark: Mark,
        anchor: Option<&'a str>,
    ) {
        let as_written = self.as_written;
        let into_value = |found: Scalar| match as_written {
            Some(source) => {
                let first = source.as_bytes().get(mark.pos).copied();
                let sign = if may_merge {
                    '='
                } else if first == Some(b'>') {
                    '>'
                } else {
                    '"'
                };
                Value::Str(written(text, sign))
            }
            None => found.into_value(|| text.into()),
        };
        if let Some(name) = anchor {
            let value = into_value(found);
            let key = found.into_key(|| text.into());
            self.anchors
                .define(name, Anchored { value, key: Some(key), height: 0, cost: Cost::scalar(text) });
        }
        if let Some(Kind::Map(expect @ Expect::Key)) = self.open.last_mut().map(|open| &mut open.kind) {
            *expect = if may_merge && text == "<<" {
                Expect::Merge
            } else {
                match found.into_key(|| text.into()) {
                    Ok(key) => Expect::Value(key, mark),
                    Err(problem) => {
                        self.refuse_key(mark, problem);
                        return;
                    }
                }
            };
            return;
        }
        let value = into_value(found);
        if let Scalar::Float(float) = found
            && !float.is_finite()
        {
            self.unbounded = Some((float, mark));
        }
        self.attach(Done { value, height: 0, mark, is_alias: false });
    }

    fn add_alias(&mut self, name: &'a str, mark: Mark) -> Result<(), Error> {
        let anchored = match self.anchors.expand(name) {
            Ok(anchored) => anchored,
            Err(AliasError::Unknown) => {
                let problem = format!("unknown anchor '{name}' referenced");
                return Err(Error::content(self.place(mark), problem));
            }
            Err(AliasError::Excessive) => {
                return Err(Error::content(self.place(mark), "document contains excessive aliasing"));
            }
            Err(AliasError::Open) => {
                self.fail_later(mark, format!("anchor '{name}' value contains itself"));
                Anchored::default()
            }
        };
        if self.open.len() + anchored.height > self.options.max_depth {
            let problem = format!("exceeded max depth of {}", self.options.max_depth);
            return Err(Error::content(self.place(mark), problem));
        }
        if let Some(Kind::Map(expect @ Expect::Key)) = self.open.last_mut().map(|open| &mut open.kind)
            && let Some(key) = anchored.key
        {
            match key {
                Ok(key) => *expect = Expect::Value(key, mark),
                Err(problem) => self.refuse_key(mark, problem),
            }
            return Ok(());
        }
        self.attach(Done { value: anchored.value, height: anchored.height, mark, is_alias: true });
        Ok(())
    }

    fn open(&mut self, kind: Kind, mark: Mark, anchor: Option<&'a str>) -> Result<(), Error> {
        // The scanner bounds what it can see; a sequence in the column of its key has no indent of its own.
        if self.open.len() >= self.options.max_depth {
            let problem = format!("exceeded max depth of {}", self.options.max_depth);
            return Err(Error::syntax(self.place(mark), mark.line + 1, problem));
        }
        let cost_before = self.anchors.total();
        self.anchors.count(Cost::scalar(""));
        if let Some(name) = anchor {
            self.anchors.open(name, self.open.len());
        }
        let base = match kind {
            Kind::Seq => self.items.len(),
            Kind::Map(_) => self.fields.len(),
        };
        self.open.push(Open { kind, base, mark, anchor, cost_before, height: 0 });
        Ok(())
    }

    fn close_seq(&mut self) {
        if let Some(open) = self.open.pop() {
            let items: EcoVec<Value> = self.items.drain(open.base..).collect();
            self.close(open, Value::Seq(items));
        }
    }

    fn close_map(&mut self) {
        if let Some(open) = self.open.pop() {
            let found = fields::collect(&mut self.fields, open.base, self.options);
            // The place of each costs a look at its line, which may be the whole document.
            let room = MAX_DUPLICATES - self.duplicates.len();
            for (key, first, last) in found.duplicates.into_iter().take(room) {
                let (line, column) = self.place(last);
                let first_line = first.line + 1;
                self.duplicates.push(Duplicate { key: key.into(), first_line, line, column });
            }
            self.close(open, Value::Map(found.map));
        }
    }

    fn close(&mut self, open: Open<'a>, value: Value) {
        let height = open.height + 1;
        if let Some(name) = open.anchor {
            let cost = self.anchors.total().since(open.cost_before);
            let anchored = Anchored { value: value.clone(), key: None, height, cost };
            self.anchors.close(name, self.open.len(), anchored);
        }
        self.attach(Done { value, height, mark: open.mark, is_alias: false });
    }

    /// Puts a complete node into the collection that it belongs to.
    fn attach(&mut self, done: Done) {
        let Some(open) = self.open.last_mut() else {
            self.root = done.value;
            return;
        };
        open.height = open.height.max(done.height);
        let Kind::Map(expect) = &mut open.kind else {
            self.items.push(done.value);
            return;
        };
        match std::mem::replace(expect, Expect::Key) {
            Expect::Value(key, key_mark) => {
                let mark = match self.options.version {
                    Version::V2 => done.mark,
                    Version::V3 => key_mark,
                };
                self.fields.push(Field { key, value: done.value, mark, merged: false });
            }
            Expect::Merge => self.merge(done),
            Expect::Nothing => {}
            Expect::Key => {
                *expect = Expect::Nothing;
                if self.content_error.is_none() {
                    let kind = if matches!(done.value, Value::Seq(_)) { "sequence" } else { "mapping" };
                    let error = Error::content(self.place(done.mark), format!("invalid map key: a {kind}"));
                    self.content_error = Some(match words::collection_as_key(self.text, self.options) {
                        Some(key) => error.in_full(format!("invalid map key: {key}")),
                        None => error,
                    });
                }
            }
        }
    }

    /// Notes that a key cannot be one; the value that follows is dropped.
    #[cold]
    fn refuse_key(&mut self, mark: Mark, problem: &'static str) {
        if let Some(Open { kind: Kind::Map(expect), .. }) = self.open.last_mut() {
            *expect = Expect::Nothing;
        }
        if self.key_error.is_none() {
            self.key_error = Some(Error::json(self.place(mark), problem));
        }
    }

    /// Puts the fields of the map, or of each map of the list, after `<<` into the current mapping.
    #[cold]
    fn merge(&mut self, done: Done) {
        let add = |fields: &mut Vec<Field>, map: Map| {
            fields.extend(map.into_iter().map(|(key, value)| Field {
                key,
                value,
                mark: done.mark,
                merged: true,
            }));
        };
        match done.value {
            Value::Map(map) => add(&mut self.fields, map),
            Value::Seq(maps) if !done.is_alias && maps.iter().all(|map| matches!(map, Value::Map(_))) => {
                // The first map counts most, and what comes last wins.
                for map in maps.into_iter().rev() {
                    if let Value::Map(map) = map {
                        add(&mut self.fields, map);
                    }
                }
            }
            _ => self.fail_later(done.mark, "map merge requires map or sequence of maps as the value"),
        }
    }

    fn finish(mut self) -> Result<(Value, Vec<Duplicate>), Error> {
        if let Some(error) = self.content_error {
            return Err(error);
        }
        self.duplicates.sort_by_key(|found| (found.line, found.column));
        if self.options.duplicate_keys == DuplicateKeys::Error
            && let Some(error) = Error::duplicates(&self.duplicates, self.options.version)
        {
            return Err(error);
        }
        if let Some(error) = self.key_error {
            return Err(match words::scalar_as_key(self.text, self.options) {
                Some(found) => error.in_full(format!("unsupported map key of type: {found}")),
                None => error,
            });
        }
        // A later duplicate may have replaced the number, so that the result decides.
        if let Some((float, mark)) = self.unbounded
            && has_unbounded(&self.root)
        {
            return Err(resolve::not_json(float, chars::place(self.text, mark)));
        }
        Ok((self.root, self.duplicates))
    }
}

/// Whether a scalar that says `<<` merges.
#[inline]
fn may_merge(plain: bool, tag: Option<&str>) -> bool {
    match tag {
        None => plain,
        Some(tag) => tag == "!" || tag == resolve::MERGE_TAG,
    }
}

/// What a plain scalar means by itself.
#[inline]
fn untagged(text: Cow<'_, str>, version: Version) -> (Scalar, Cow<'_, str>) {
    let found = resolve::resolve(&text, version);
    if found == Scalar::Str && version == Version::V3 {
        // Version 3 reads times, which JSON has as text again.
        return (found, timestamp::to_rfc3339(&text).map_or(text, Cow::Owned));
    }
    (found, text)
}

/// What a plain scalar without a tag means by itself.
pub(super) fn meaning(text: &str, version: Version) -> Value {
    let (found, text) = untagged(Cow::Borrowed(text), version);
    found.into_value(|| text.as_ref().into())
}

/// A scalar's text after a sign of how it is written.
fn written(text: &str, sign: char) -> Str {
    let mut out = Str::with_capacity(text.len() + 1);
    out.push(sign);
    out.push_str(text);
    out
}

/// Whether there is a number in it that JSON does not have. The depth has been bounded.
fn has_unbounded(value: &Value) -> bool {
    match value {
        Value::Float(float) => !float.is_finite(),
        Value::Seq(items) => items.iter().any(has_unbounded),
        Value::Map(map) => map.values().any(has_unbounded),
        _ => false,
    }
}
