//! Events to a value of which only some fields are built.
//!
//! What nobody wants is read over: the parser checks it, and of the builder's checks only those are made that
//! take no memory. Whatever is not plain enough for that has the document read again, as a whole, so that
//! there is one place that knows what is wrong with a document.

use std::borrow::Cow;

use super::super::parse::{Event, Node, Parser, Start};
use super::super::resolve::{self, Scalar};
use super::super::scan::head;
use super::super::{DuplicateKeys, Error, Fields, Options, Wanted};
use super::{Builder, build};
use crate::value::Value;

/// Reads the first document of `text`, with no more than the wanted fields.
pub(in super::super) fn build_only(
    text: &str,
    options: &Options,
    wanted: &dyn Fields,
) -> Result<Value, Error> {
    if let Some(value) = skim(text, options, wanted) {
        return Ok(value);
    }
    let mut value = build(text, options)?.value;
    prune(&mut value, wanted);
    Ok(value)
}

/// Takes the fields that are not wanted out of a value.
fn prune(value: &mut Value, wanted: &dyn Fields) {
    let mut open = vec![(value, wanted)];
    while let Some((value, fields)) = open.pop() {
        let Value::Map(map) = value else { continue };
        map.retain(|key, _| fields.wanted(key).is_some());
        open.extend(map.iter_mut().filter_map(|(key, value)| match fields.wanted(key) {
            Some(Wanted::Fields(inner)) => Some((value, inner)),
            _ => None,
        }));
    }
}

/// The wanted fields of a plain mapping; nothing if the document has to be read as a whole.
fn skim(text: &str, options: &Options, wanted: &dyn Fields) -> Option<Value> {
    // Whether a key is there twice is known only of fields that are built.
    if text.len() > options.max_bytes || options.duplicate_keys == DuplicateKeys::Error {
        return None;
    }
    if let Some(value) = head::read(text, options.max_depth, wanted) {
        return Some(value);
    }
    let mut parser = Parser::new(text, options);
    let Start::Content { explicit } = parser.start().ok()? else { return None };
    let root = parser.root(explicit).ok().filter(is_plain)?;
    if !matches!(root.event, Event::MapStart) {
        return None;
    }
    let mut builder = Builder::new(text, options);
    builder.add(root).ok()?;
    let mut skimmer = Skimmer { parser, builder, wanted: vec![wanted], passed: Vec::new() };
    skimmer.read()?;
    skimmer.parser.finish(options.version).ok()?;
    skimmer.builder.finish().ok().map(|(value, _)| value)
}

/// Whether a node means what it looks like. An anchor that no alias names changes nothing.
fn is_plain(node: &Node<'_>) -> bool {
    node.tag.is_none() && !matches!(node.event, Event::Alias(_))
}

/// What comes next in a collection that is read over.
#[derive(Clone, Copy)]
enum Next {
    Item,
    Key,
    Value,
}

/// Every method gives nothing when the document has to be read as a whole.
struct Skimmer<'a, 'o, 'w> {
    parser: Parser<'a>,
    /// Gets the events of what is wanted.
    builder: Builder<'a, 'o>,
    /// What is wanted of the open mappings of which not everything is.
    wanted: Vec<&'w dyn Fields>,
    /// The open collections of a value that is read over.
    passed: Vec<Next>,
}

impl<'a, 'w> Skimmer<'a, '_, 'w> {
    fn read(&mut self) -> Option<()> {
        while let Some(fields) = self.wanted.last().copied() {
            let node = self.next()?;
            match &node.event {
                Event::Scalar { text, plain } => match fields.wanted(&self.key(text, *plain)?) {
                    Some(wanted) => {
                        self.builder.add(node).ok()?;
                        self.build_value(wanted)?;
                    }
                    None => self.pass_value()?,
                },
                Event::MapEnd => {
                    self.builder.add(node).ok()?;
                    self.wanted.pop();
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn next(&mut self) -> Option<Node<'a>> {
        self.parser.next().ok().filter(is_plain)
    }

    /// What a scalar is as a key, if it is no more than that.
    fn key<'k>(&self, text: &'k str, plain: bool) -> Option<Cow<'k, str>> {
        if !plain {
            return Some(Cow::Borrowed(text));
        }
        if text == "<<" {
            return None;
        }
        match self.builder.untagged(Cow::Borrowed(text)) {
            (Scalar::Str, text) => Some(text),
            (found, _) => found.into_key(Default::default).ok().map(|key| Cow::Owned(key.into())),
        }
    }

    fn build_value(&mut self, wanted: Wanted<'w>) -> Option<()> {
        let depth = self.builder.open.len();
        let first = self.next()?;
        if let (Wanted::Fields(fields), Event::MapStart) = (wanted, &first.event) {
            self.wanted.push(fields);
            return self.builder.add(first).ok();
        }
        self.builder.add(first).ok()?;
        while self.builder.open.len() > depth {
            let node = self.next()?;
            self.builder.add(node).ok()?;
        }
        Some(())
    }

    fn pass_value(&mut self) -> Option<()> {
        let room = self.builder.options.max_depth.saturating_sub(self.builder.open.len());
        if self.parser.pass_value(room) {
            return Some(());
        }
        self.parser.leave_text_out();
        loop {
            let node = self.next()?;
            self.pass(&node.event)?;
            if self.passed.is_empty() {
                return self.parser.keep_text().then_some(());
            }
        }
    }

    /// Looks at an event that is not built, for what the builder would refuse or note.
    #[inline]
    fn pass(&mut self, event: &Event<'a>) -> Option<()> {
        if matches!(event, Event::SeqEnd | Event::MapEnd) {
            self.passed.pop();
            return Some(());
        }
        let mut is_key = false;
        if let Some(next) = self.passed.last_mut() {
            is_key = matches!(next, Next::Key);
            *next = match next {
                Next::Item => Next::Item,
                Next::Key => Next::Value,
                Next::Value => Next::Key,
            };
        }
        match event {
            Event::Scalar { plain: false, .. } => Some(()),
            Event::Scalar { text, .. } if is_key => self.key(text, true).map(|_| ()),
            Event::Scalar { text, .. } => (!resolve::may_be_unbounded(text)).then_some(()),
            Event::SeqStart if !is_key => self.pass_open(Next::Item),
            Event::MapStart if !is_key => self.pass_open(Next::Key),
            _ => None,
        }
    }

    fn pass_open(&mut self, next: Next) -> Option<()> {
        let depth = self.builder.open.len() + self.passed.len();
        self.passed.push(next);
        (depth < self.builder.options.max_depth).then_some(())
    }
}
