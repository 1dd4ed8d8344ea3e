//! What a render notes down while it is traced.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::origin::{Origin, Origins};
use super::path::Segment;
use super::span::{Site, Span, Traced, cut};
use super::{align, yaml};
use crate::parse::{Source, Tree};
use crate::{Str, Value};

/// Functions that give one of their arguments as it is, and by the others decide which.
const CHOOSING: [&str; 3] = ["default", "coalesce", "ternary"];

/// What is noted down, shared with the traces that are given out.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) origins: Origins,
    pub(super) sites: Vec<Site>,
    pub(super) frames: Vec<Frame>,
}

/// A template that was executed.
pub(super) struct Frame {
    /// The number of the call that called it.
    pub(super) parent: Option<usize>,
    pub(super) tree: Arc<Tree>,
    /// Where the caller was.
    pub(super) from: usize,
    /// What decided that the call was reached.
    pub(super) guard: Origin,
}

/// Notes down what feeds what while templates are executed.
#[derive(Default)]
pub(crate) struct Recorder {
    notes: Rc<RefCell<Notes>>,
    /// The calls that are being executed.
    calls: Vec<usize>,
    /// The spans of the text that is being printed.
    spans: Vec<Span>,
    /// The texts of templates that were executed by the function that is being called.
    executed: Vec<Traced>,
    /// Texts that functions made of texts or values of which the pieces are known.
    texts: Vec<Traced>,
    /// Maps and lists whose origin is known. They are held so that their identity is not used again.
    known: HashMap<usize, (Value, Origin)>,
    /// What was put under a key or position of a map or list that a function made.
    entries: HashMap<(usize, Segment), Origin>,
}

impl Recorder {
    pub(super) fn notes(&self) -> Rc<RefCell<Notes>> {
        Rc::clone(&self.notes)
    }

    /// Starts with the dot of the outermost template.
    pub(crate) fn start(&mut self, dot: &Value) {
        self.known.clear();
        self.entries.clear();
        self.texts.clear();
        self.executed.clear();
        self.learn(dot, Origin::ROOT);
    }

    /// What is known of a value by its identity.
    pub(crate) fn origin_of(&self, value: &Value) -> Origin {
        identity(value).and_then(|id| self.known.get(&id)).map_or(Origin::NONE, |(_, origin)| *origin)
    }

    fn learn(&mut self, value: &Value, origin: Origin) {
        if let Some(id) = identity(value) {
            self.known.entry(id).or_insert_with(|| (value.clone(), origin));
        }
    }

    /// The origin of what is inside of a value.
    pub(crate) fn inside(&mut self, outer: &Value, from: Origin, segment: Segment, value: &Value) -> Origin {
        for from in [from, self.origin_of(outer)] {
            if self.notes.borrow().origins.is_path(from) {
                let origin = self.notes.borrow_mut().origins.step(from, segment);
                self.learn(value, origin);
                return origin;
            }
        }
        match self.origin_of(value) {
            Origin::NONE => {}
            known => return known,
        }
        let entry = identity(outer).and_then(|id| self.entries.get(&(id, segment)));
        entry.copied().unwrap_or(from)
    }

    pub(crate) fn union(&mut self, parts: impl IntoIterator<Item = Origin>) -> Origin {
        self.notes.borrow_mut().origins.union(parts)
    }

    pub(crate) fn enter(&mut self, tree: &Arc<Tree>, from: usize, guard: Origin) {
        let mut notes = self.notes.borrow_mut();
        let parent = self.calls.last().copied();
        notes.frames.push(Frame { parent, tree: Arc::clone(tree), from, guard });
        self.calls.push(notes.frames.len() - 1);
    }

    pub(crate) fn leave(&mut self) {
        self.calls.pop();
    }

    /// Begins a text of its own; what was noted of the one before is given back to `end_text`.
    pub(crate) fn begin_text(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.spans)
    }

    pub(crate) fn end_text(&mut self, outer: Vec<Span>, text: &Str) {
        let spans = std::mem::replace(&mut self.spans, outer).into();
        self.executed.push(Traced { text: text.clone(), spans });
    }

    /// The outermost text, once it is complete.
    pub(super) fn finished(&mut self) -> Option<Traced> {
        self.executed.pop()
    }

    fn site(&mut self, source: &Arc<Source>, at: usize, is_text: bool, guard: Origin) -> usize {
        let frame = self.calls.last().copied().unwrap_or(0);
        let mut notes = self.notes.borrow_mut();
        notes.sites.push(Site { source: Arc::clone(source), at, is_text, frame, guard });
        notes.sites.len() - 1
    }

    /// Notes that a text node was printed.
    pub(crate) fn print_text(
        &mut self,
        source: &Arc<Source>,
        at: usize,
        out: std::ops::Range<usize>,
        guard: Origin,
    ) {
        let site = self.site(source, at, true, guard);
        self.spans.push(Span { start: out.start, end: out.end, site, skipped: 0, origin: Origin::NONE });
    }

    /// Notes that an action printed a value.
    pub(crate) fn print_value(
        &mut self,
        source: &Arc<Source>,
        at: usize,
        printed: &str,
        start: usize,
        (origin, guard): (Origin, Origin),
    ) {
        if printed.is_empty() {
            return;
        }
        let site = self.site(source, at, false, guard);
        let own = |start, end| Span { start, end, site, skipped: 0, origin };
        let end = start + printed.len();
        let mut at = start;
        let traced = self.text(origin).filter(|traced| traced.text == printed);
        for span in traced.iter().flat_map(|traced| cut(&traced.spans, 0, printed.len(), start)) {
            if span.start > at {
                self.spans.push(own(at, span.start));
            }
            at = span.end;
            // What the text was made of knows its place better, unless it is this very call's argument.
            self.spans.push(if span.site == usize::MAX { Span { site, ..span } } else { span });
        }
        if at < end {
            self.spans.push(own(at, end));
        }
    }

    fn text(&self, origin: Origin) -> Option<Traced> {
        let number = self.notes.borrow().origins.text(origin)?;
        self.texts.get(number).cloned()
    }

    /// Where the list of executed templates is before a call.
    pub(crate) fn mark(&self) -> usize {
        self.executed.len()
    }

    /// Notes what a function made of its arguments, and gives the origin of its result.
    pub(crate) fn called(
        &mut self,
        name: &str,
        (args, origins): (&[Value], &[Origin]),
        result: &Value,
        mark: usize,
    ) -> Origin {
        if let Some(origin) = self.looked_up(name, args, origins) {
            return origin;
        }
        let mut sources: Vec<Traced> = self.executed.split_off(mark.min(self.executed.len()));
        sources.extend(origins.iter().filter_map(|origin| self.text(*origin)));
        let given = self.union(origins.iter().copied());
        if let Value::Str(text) = result {
            let mut spans = self.text_spans(name, text, &sources, (args, origins));
            if let ("tpl", [Value::Str(template), ..], [origin, ..]) = (name, args, origins) {
                self.feed_by_template(&mut spans, template, *origin);
            }
            if CHOOSING.contains(&name) {
                self.feed(&mut spans, given);
            }
            if !spans.is_empty() {
                self.texts.push(Traced { text: text.clone(), spans: spans.into() });
                return self.notes.borrow_mut().origins.of_text(given, self.texts.len() - 1);
            }
        }
        let pieces = sources.iter().flat_map(|source| source.spans.iter().map(|span| span.origin));
        let origin = self.notes.borrow_mut().origins.union(pieces.chain([given]));
        if identity(result).is_some() {
            self.made_container(name, args, origins, result);
            match self.origin_of(result) {
                Origin::NONE => self.learn(result, origin),
                known => return known,
            }
        }
        origin
    }

    /// The origin of what a function found by going along keys.
    fn looked_up(&mut self, name: &str, args: &[Value], origins: &[Origin]) -> Option<Origin> {
        let (at, keys) = match name {
            "index" | "get" => (0, args.get(1..)?),
            "dig" => (args.len().checked_sub(1)?, args.get(..args.len().checked_sub(2)?)?),
            _ => return None,
        };
        let mut value = args.get(at)?.clone();
        let mut origin = origins.get(at).copied().filter(|origin| !origin.is_none())?;
        for key in keys {
            let (segment, inner) = match (&value, key) {
                (Value::Map(map), Value::Str(key)) => (Segment::Key(key.clone()), map.get(key)),
                (Value::List(list), Value::Int(at, _)) => {
                    let at = usize::try_from(*at).ok()?;
                    (Segment::Index(at), list.get(at))
                }
                _ => return None,
            };
            let inner = inner.unwrap_or_default();
            origin = self.inside(&value, origin, segment, &inner);
            value = inner;
        }
        Some(origin)
    }

    fn text_spans(
        &mut self,
        name: &str,
        text: &Str,
        sources: &[Traced],
        (args, origins): (&[Value], &[Origin]),
    ) -> Vec<Span> {
        match (name, args.first(), origins.first()) {
            ("toYaml" | "mustToYaml" | "toYamlPretty", Some(value), Some(origin)) => {
                self.yaml_spans(text, value, *origin)
            }
            _ => align::align(text, sources),
        }
    }

    /// Pieces of a text that was taken because of other values, such as one that is empty, are fed by those too.
    fn feed(&mut self, spans: &mut [Span], given: Origin) {
        let mut notes = self.notes.borrow_mut();
        for span in spans {
            span.origin = notes.origins.union([span.origin, given]);
        }
    }

    /// What a template prints that came out of a value itself is fed by that value too.
    fn feed_by_template(&mut self, spans: &mut [Span], template: &Str, origin: Origin) {
        let traced = self.text(origin).filter(|traced| traced.text == *template);
        let mut notes = self.notes.borrow_mut();
        let notes = &mut *notes;
        for span in spans {
            let Some(site) = notes.sites.get(span.site).filter(|site| site.source.text == *template) else {
                continue;
            };
            let at = site.at + if site.is_text { span.skipped } else { 0 };
            let piece = traced.as_ref().and_then(|traced| cut(&traced.spans, at, at + 1, 0).next());
            let fed_by = piece.map_or(origin, |piece| piece.origin);
            span.origin = notes.origins.union([span.origin, fed_by]);
        }
    }

    /// Each line of a value's YAML comes from the part of the value that it shows.
    fn yaml_spans(&mut self, text: &str, value: &Value, origin: Origin) -> Vec<Span> {
        let mut notes = self.notes.borrow_mut();
        if !notes.origins.is_path(origin) || identity(value).is_none() {
            return Vec::new();
        }
        let mut at = 0;
        let lines = text.split_inclusive('\n').zip(yaml::steps(text, value));
        lines
            .map(|(line, steps)| {
                let start = at;
                at += line.len();
                let origin = steps.into_iter().fold(origin, |from, step| notes.origins.step(from, step));
                Span { start, end: at, site: usize::MAX, skipped: 0, origin }
            })
            .collect()
    }

    /// Remembers what went under which key of a map or list that holds its arguments.
    fn made_container(&mut self, name: &str, args: &[Value], origins: &[Origin], result: &Value) {
        let Some(id) = identity(result) else { return };
        let origin = |at: usize| origins.get(at).copied().unwrap_or_default();
        let key = |at: usize| args.get(at).and_then(Value::as_str).cloned().map(Segment::Key);
        match name {
            "dict" => {
                for at in (0..args.len()).step_by(2) {
                    if let Some(key) = key(at) {
                        self.entries.insert((id, key), origin(at + 1));
                    }
                }
            }
            "set" => {
                if let Some(key) = key(1) {
                    self.entries.insert((id, key), origin(2));
                }
            }
            "list" | "tuple" => {
                (0..args.len()).for_each(|at| {
                    self.entries.insert((id, Segment::Index(at)), origin(at));
                });
            }
            _ => {}
        }
    }
}

fn identity(value: &Value) -> Option<usize> {
    match value {
        Value::Map(map) => Some(map.id()),
        Value::List(list) => Some(list.id()),
        _ => None,
    }
}
