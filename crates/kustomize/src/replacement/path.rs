//! The paths of replacements: `spec.containers.[name=web].image`, with indexes and `*`.

use lynceus_object::{Map, Seq, Str, Value, yaml};

use crate::error::KustomizeError;
use crate::scalar::{meaning, text_of, wrong_node};
use crate::selector::expression;
use crate::written::Step;

/// Splits a path at its dots, but not at `\.` and not inside of brackets. Brackets without `=` are taken off.
pub(super) fn split(path: &str) -> Vec<Str> {
    let mut parts = split_escaped(path).into_iter();
    let mut out = Vec::new();
    while let Some(part) = parts.next() {
        if !part.starts_with('[') || part.ends_with(']') {
            out.push(part.into());
            continue;
        }
        let mut whole = part;
        for next in parts.by_ref() {
            whole.push('.');
            whole.push_str(&next);
            if next.ends_with(']') {
                break;
            }
        }
        let keeps_brackets = whole.contains('=');
        out.push(if keeps_brackets { whole.into() } else { whole.trim_matches(['[', ']']).into() });
    }
    out
}

fn split_escaped(path: &str) -> Vec<String> {
    let mut parts = path.split('.').peekable();
    let mut out: Vec<String> = Vec::new();
    let first = parts.next().unwrap_or_default();
    // A dot in front of everything is read over.
    if !first.is_empty() || parts.peek().is_none() {
        out.push(first.to_owned());
    }
    for part in parts {
        match out.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('.');
                last.push_str(part);
            }
            _ => out.push(part.to_owned()),
        }
    }
    out
}

/// One part of a path.
enum Part<'p> {
    Index(usize),
    Item(&'p str, &'p str),
    Every,
    Field(&'p str),
}

impl<'p> Part<'p> {
    fn read(text: &'p str) -> Result<Self, KustomizeError> {
        if let Some(index) = index(text) {
            return Ok(Part::Index(index));
        }
        if text.starts_with('[') && text.ends_with(']') {
            let inner = text.strip_suffix(']').unwrap_or(text);
            let inner = inner.strip_prefix('[').unwrap_or(inner);
            return match inner.split_once('=') {
                Some((key, value)) => Ok(Part::Item(key, value)),
                None => Err(KustomizeError::new(
                    "list path element must contain fieldName=fieldValue for element to match",
                )),
            };
        }
        Ok(if text == "*" { Part::Every } else { Part::Field(text) })
    }
}

fn index(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The value at the path of a source, and the way to it. Only the first item of a list counts.
pub(super) fn look_up<'v>(
    value: &'v Value,
    path: &[Str],
) -> Result<Option<(&'v Value, Vec<Step>)>, KustomizeError> {
    let mut here = value;
    let mut steps = Vec::new();
    for part in path.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        if part.strip_prefix('-').is_some_and(|digits| index(digits).is_some_and(|index| index > 0)) {
            return Err(KustomizeError::new(format!("array index {part} cannot be negative")));
        }
        let found = match if part == "-" { Part::Index(usize::MAX) } else { Part::read(part)? } {
            Part::Every => return Err(KustomizeError::new("wildcard is not supported in PathGetter")),
            Part::Index(at) => {
                let items = list(here)?;
                let at = if at == usize::MAX { items.len().wrapping_sub(1) } else { at };
                items.get(at).map(|item| (item, Step::Index(at)))
            }
            Part::Item(key, text) => {
                let is_meant = |item: &&Value| match key {
                    "" => text_of(item) == text,
                    key => item.get(key).is_some_and(|value| text_of(value) == text),
                };
                let position = list(here)?.iter().position(|item| is_meant(&item));
                position.map(|at| (&list_items(here)[at], Step::Index(at)))
            }
            Part::Field(name) => {
                map(here)?.and_then(|fields| fields.get(name)).map(|value| (value, Step::Field(name.into())))
            }
        };
        let Some((next, step)) = found else { return Ok(None) };
        here = next;
        steps.push(step);
    }
    Ok(Some((here, steps)))
}

fn list(value: &Value) -> Result<&[Value], KustomizeError> {
    match value {
        Value::Seq(items) => Ok(items),
        Value::Null => Ok(&[]),
        other => Err(wrong_node("SequenceNode", other)),
    }
}

fn list_items(value: &Value) -> &[Value] {
    value.as_seq().unwrap_or_default()
}

fn map(value: &Value) -> Result<Option<&Map>, KustomizeError> {
    match value {
        Value::Map(fields) => Ok(Some(fields)),
        Value::Null => Ok(None),
        other => Err(wrong_node("MappingNode", other)),
    }
}

/// What is made where a path leads to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Create {
    No,
    Scalar,
    Map,
    List,
}

impl Create {
    /// Makes what can hold such a value.
    pub(super) fn like(value: &Value, is_scalar: bool) -> Self {
        match value {
            _ if is_scalar => Create::Scalar,
            Value::Seq(_) => Create::List,
            _ => Create::Map,
        }
    }

    /// What stands before `next` on a path that is made.
    fn before(self, next: Option<&Str>) -> Value {
        match next {
            Some(next) if next.starts_with('[') && next.ends_with(']') || index(next).is_some() => {
                Value::Seq(Seq::new())
            }
            Some(_) => Value::Map(Map::new()),
            None => match self {
                Create::List => Value::Seq(Seq::new()),
                Create::Map => Value::Map(Map::new()),
                Create::Scalar | Create::No => Value::Null,
            },
        }
    }
}

/// Why a field was not set.
pub(super) enum Problem {
    /// The path does not fit.
    Path(KustomizeError),
    /// The value does not fit.
    Value(KustomizeError),
}

/// A walk to all fields that a path leads to.
pub(super) struct Walk<'w> {
    pub(super) create: Create,
    /// How many fields have been found.
    pub(super) found: usize,
    /// What is done with each.
    pub(super) set: &'w mut dyn FnMut(&mut Value, Found<'_>) -> Result<(), KustomizeError>,
    /// The way to where the walk is.
    trail: Vec<Step>,
}

/// How a field was found.
#[derive(Clone, Copy)]
pub(super) struct Found<'t> {
    /// Whether it was made on the way.
    pub(super) is_new: bool,
    /// The way to the map that was there and empty and in which it was made; that can only be written as `{}`.
    pub(super) in_empty: Option<&'t [Step]>,
    /// The way to it.
    pub(super) trail: &'t [Step],
}

/// Whether what the walk comes to was there.
#[derive(Clone, Copy, Default)]
struct State {
    is_new: bool,
    /// How long the way is to the map that was empty.
    in_empty: Option<usize>,
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        create: Create,
        set: &'w mut dyn FnMut(&mut Value, Found<'_>) -> Result<(), KustomizeError>,
    ) -> Self {
        Walk { create, found: 0, set, trail: Vec::new() }
    }

    pub(super) fn step(&mut self, here: &mut Value, path: &[Str]) -> Result<(), Problem> {
        self.go(here, path, State::default())
    }

    /// Goes on one step further down.
    fn enter(&mut self, step: Step, here: &mut Value, path: &[Str], state: State) -> Result<(), Problem> {
        self.trail.push(step);
        let gone = self.go(here, path, state);
        self.trail.pop();
        gone
    }

    fn go(&mut self, here: &mut Value, path: &[Str], state: State) -> Result<(), Problem> {
        let Some((part, rest)) = path.split_first() else {
            self.found += 1;
            let in_empty = state.in_empty.and_then(|length| self.trail.get(..length));
            let found = Found { is_new: state.is_new, in_empty, trail: &self.trail };
            return (self.set)(here, found).map_err(Problem::Value);
        };
        match Part::read(part).map_err(Problem::Path)? {
            Part::Index(at) => self.go_to_index(here, at, rest),
            Part::Item(key, text) => self.go_to_items(here, key, text, rest),
            Part::Every => {
                for (at, item) in items_mut(here)?.iter_mut().enumerate() {
                    self.enter(Step::Index(at), item, rest, State::default())?;
                }
                Ok(())
            }
            Part::Field(name) => self.go_to_field(here, name, rest, state),
        }
    }

    fn go_to_field(
        &mut self,
        here: &mut Value,
        name: &str,
        rest: &[Str],
        state: State,
    ) -> Result<(), Problem> {
        let fields = match here {
            Value::Map(fields) => fields,
            Value::Null => return Ok(()),
            other => return Err(Problem::Path(wrong_node("MappingNode", other))),
        };
        let is_new = !fields.contains(name);
        let in_empty = match state.in_empty {
            None if is_new && !state.is_new && fields.is_empty() => Some(self.trail.len()),
            found => found.filter(|_| is_new),
        };
        if is_new {
            if self.create == Create::No {
                return Ok(());
            }
            fields.insert(name, self.create.before(rest.first()));
        }
        let Some(field) = fields.get_mut(name) else { return Ok(()) };
        if !rest.is_empty() && !matches!(field, Value::Map(_) | Value::Seq(_)) {
            // What is found inside of a text is a copy, and what is set there is lost.
            let options = yaml::Options::default().version(yaml::Version::V3);
            let mut inner = yaml::parse_with(text_of(field).as_bytes(), &options)
                .map_err(|error| Problem::Path(KustomizeError::new(error.to_string())))?;
            return match self.enter(Step::Field(name.into()), &mut inner, rest, State::default()) {
                Err(Problem::Value(_)) => Ok(()),
                other => other,
            };
        }
        self.enter(Step::Field(name.into()), field, rest, State { is_new, in_empty })
    }

    fn go_to_index(&mut self, here: &mut Value, at: usize, rest: &[Str]) -> Result<(), Problem> {
        let length = items_mut(here)?.len();
        let is_new = at == length && self.create != Create::No;
        if is_new {
            here.as_seq_or_insert().push(self.create.before(rest.first()));
        }
        match items_mut(here)?.get_mut(at) {
            Some(item) => self.enter(Step::Index(at), item, rest, State { is_new, in_empty: None }),
            None => Err(Problem::Path(KustomizeError::new(format!(
                "index {at} specified but only {length} elements found"
            )))),
        }
    }

    /// The items whose key, or which themselves, match an expression; it need not be for the whole text.
    fn go_to_items(&mut self, here: &mut Value, key: &str, text: &str, rest: &[Str]) -> Result<(), Problem> {
        let expression = expression(text).map_err(Problem::Path)?;
        let before = self.found;
        for (at, item) in items_mut(here)?.iter_mut().enumerate() {
            let step = Step::Index(at);
            if key.is_empty() {
                if expression.is_match(&printed(item)) {
                    self.enter(step, item, &[], State::default())?;
                }
            } else if item.get(key).is_some_and(|value| expression.is_match(&printed(value))) {
                self.enter(step, item, rest, State::default())?;
            }
        }
        if self.found > before || self.create == Create::No {
            return Ok(());
        }
        let new = match key {
            "" => meaning(text),
            key => Value::Map(Map::from_iter([(key, meaning(text))])),
        };
        let items = here.as_seq_or_insert();
        let step = Step::Index(items.len());
        items.push(new);
        match items.make_mut().last_mut() {
            Some(item) => {
                let rest = if key.is_empty() { &[] } else { rest };
                self.enter(step, item, rest, State::default())
            }
            None => Ok(()),
        }
    }
}

fn items_mut(value: &mut Value) -> Result<&mut [Value], Problem> {
    match value {
        Value::Seq(items) => Ok(items.make_mut()),
        Value::Null => Ok(&mut []),
        other => Err(Problem::Path(wrong_node("SequenceNode", other))),
    }
}

/// A value as it is printed, which is what expressions are matched with.
fn printed(value: &Value) -> Str {
    match value {
        Value::Str(text) if !text.is_empty() && !text.contains(['\n', '\'', '"']) => text.clone(),
        other => yaml::to_string(other).trim().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_at_dots_outside_of_brackets() {
        let check = |path: &str, expected: &[&str]| {
            assert_eq!(split(path), expected, "{path}");
        };
        check("a.b.c", &["a", "b", "c"]);
        check(".a", &["a"]);
        check(r"metadata.annotations.example\.com/x", &["metadata", "annotations", "example.com/x"]);
        check("metadata.annotations.[example.com/x]", &["metadata", "annotations", "example.com/x"]);
        check("c.[name=com.foo.app].image", &["c", "[name=com.foo.app]", "image"]);
        check("c.[name=a].image", &["c", "[name=a]", "image"]);
        check("c.[one].image", &["c", "[one]", "image"]);
        check("data.config\\.json.a", &["data", "config.json", "a"]);
    }
}
