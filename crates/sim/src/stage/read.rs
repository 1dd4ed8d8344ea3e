//! Reading a stage's fields, so that whatever is wrong is told with its file, line and field.

use std::fmt;

use jiff::SignedDuration;
use lynceus_api::Glob;
use lynceus_object::{FieldPath, Segment, Str, Value, yaml};

use super::keys;

/// How every stage begins.
pub(super) const BEGINNING: &str = "a stage begins with\napiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage";

/// What is wrong with a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The field, such as `nodePools[0].count`; empty if it is not about one.
    pub field: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.field.is_empty() {
            write!(f, "{} ", self.field)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for StageError {}

/// The text that is read.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    pub(super) fn at_line(&self, line: u32, problem: &str, hint: &str) -> StageError {
        let (file, field) = (self.file.to_owned(), String::new());
        StageError { file, line, field, problem: problem.to_owned(), hint: hint.to_owned() }
    }

    pub(super) fn unreadable(&self, error: &yaml::Error) -> StageError {
        let hint = error.hint.unwrap_or("it has to be YAML, with each key only once");
        self.at_line(error.line.max(1), &error.problem, hint)
    }
}

/// A value of the stage, with the place where it stands.
#[derive(Clone)]
pub(super) struct Field<'a> {
    source: &'a Source<'a>,
    document: usize,
    path: FieldPath,
    value: &'a Value,
}

impl<'a> Field<'a> {
    pub(super) fn root(source: &'a Source<'a>, document: usize, value: &'a Value) -> Self {
        Field { source, document, path: FieldPath::root(), value }
    }

    /// A value that stands at a place of a text that is not at hand.
    pub(super) fn at(source: &'a Source<'a>, path: FieldPath, value: &'a Value) -> Self {
        Field { source, document: 0, path, value }
    }

    /// The value itself.
    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// Refuses what is no map, and keys that no stage has.
    pub(super) fn check_keys(&self) -> Result<(), StageError> {
        let place = pattern(&self.path);
        let known: Vec<&str> = keys::below(&place).collect();
        let hint = format!("it may have: {}", known.join(", "));
        let Some(map) = self.value.as_map() else { return Err(self.wrong("has to be a map", hint)) };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(self.child(key, self.value).wrong("is no key of a stage", hint)),
            None => Ok(()),
        }
    }

    fn child(&self, key: &str, value: &'a Value) -> Self {
        Field { path: self.path.field(key), value, ..self.clone() }
    }

    /// A field that may be there.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.value.get(key).filter(|value| !value.is_null()).map(|value| self.child(key, value))
    }

    /// A field that has to be there.
    pub(super) fn need(&self, key: &str) -> Result<Self, StageError> {
        self.get(key).ok_or_else(|| {
            let place = if self.path.is_root() { String::new() } else { format!("{}.", pattern(&self.path)) };
            let meaning = keys::KEYS.iter().find(|(path, _)| **path == format!("{place}{key}"));
            let hint = format!("{key}: {}", meaning.map_or("", |(_, meaning)| meaning));
            self.wrong(format!("lacks {key}"), hint)
        })
    }

    /// The items of a list, each read by `read`; none if it is not there.
    pub(super) fn list<T>(
        &self,
        key: &str,
        read: impl Fn(&Field<'a>) -> Result<T, StageError>,
    ) -> Result<Vec<T>, StageError> {
        self.get(key).map_or_else(|| Ok(Vec::new()), |list| list.items()?.iter().map(read).collect())
    }

    /// The items of this list.
    pub(super) fn items(&self) -> Result<Vec<Self>, StageError> {
        let items =
            self.value.as_seq().ok_or_else(|| self.wrong("has to be a list", "begin each item with -"))?;
        let item = |(at, value)| Field { path: self.path.index(at), value, ..self.clone() };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The entries of this map, whatever their keys are.
    pub(super) fn entries(&self) -> Result<Vec<(Str, Self)>, StageError> {
        let map =
            self.value.as_map().ok_or_else(|| self.wrong("has to be a map", "write it as {key: value}"))?;
        Ok(map.iter().map(|(key, value)| (key.clone(), self.child(key, value))).collect())
    }

    /// A text.
    pub(super) fn text(&self) -> Result<&'a str, StageError> {
        self.value.as_str().ok_or_else(|| self.wrong("has to be a text", "put it into quotes"))
    }

    /// A text that has to be of a form, which `check` says what is wrong with.
    pub(super) fn name(&self, check: fn(&str) -> Vec<String>) -> Result<&'a str, StageError> {
        let text = self.text()?;
        self.refuse(text, check(text))?;
        Ok(text)
    }

    /// The key under which this stands has to be of a form.
    pub(super) fn check_key(&self, key: &str, check: fn(&str) -> Vec<String>) -> Result<(), StageError> {
        self.refuse(key, check(key))
    }

    fn refuse(&self, text: &str, problems: Vec<String>) -> Result<(), StageError> {
        match problems.is_empty() {
            true => Ok(()),
            false => Err(self.wrong(format!("cannot be {text:?}"), problems.join("; "))),
        }
    }

    /// A text or a number, as amounts are written.
    pub(super) fn amount(&self) -> Result<String, StageError> {
        let text = match self.value {
            Value::Int(number) => number.to_string(),
            _ => self.text()?.to_owned(),
        };
        match lynceus_object::Quantity::parse(&text) {
            Ok(amount) if !amount.is_negative() => Ok(text),
            _ => Err(self.wrong("is no amount", "write it as 8, 500m or 32Gi")),
        }
    }

    /// A whole number within bounds.
    pub(super) fn number(&self, least: i64, most: i64) -> Result<i64, StageError> {
        let number = self.value.as_int().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            self.wrong("is out of bounds", format!("it has to be a whole number from {least} to {most}"))
        })
    }

    /// A part of a whole.
    pub(super) fn part(&self) -> Result<f64, StageError> {
        let part = self.value.as_float().filter(|part| (0.0..=1.0).contains(part));
        part.ok_or_else(|| {
            self.wrong("is no part of a whole", "it has to be a number from 0 to 1, such as 0.3")
        })
    }

    /// True or false.
    pub(super) fn flag(&self) -> Result<bool, StageError> {
        self.value.as_bool().ok_or_else(|| self.wrong("has to be true or false", "write it without quotes"))
    }

    /// A time.
    pub(super) fn duration(&self) -> Result<SignedDuration, StageError> {
        let text = match self.value {
            Value::Int(number) => number.to_string(),
            _ => self.text()?.to_owned(),
        };
        match lynceus_api::parse_duration(&text) {
            Ok(time) if !time.is_negative() => Ok(time),
            _ => Err(self.wrong("is no duration", "write it as 5s, 2m or 1h30m")),
        }
    }

    /// A pattern.
    pub(super) fn glob(&self) -> Result<Glob, StageError> {
        Glob::new(self.text()?)
            .map_err(|error| self.wrong(format!("is no pattern: {error}"), "* stands for any characters"))
    }

    /// One of a few words.
    pub(super) fn word(&self, words: &[&'static str]) -> Result<&'static str, StageError> {
        let text = self.text()?;
        let known = words.iter().find(|word| **word == text);
        known.copied().ok_or_else(|| {
            self.wrong(format!("cannot be {text:?}"), format!("it has to be one of: {}", words.join(", ")))
        })
    }

    /// Says what is wrong with this field.
    pub(super) fn wrong(&self, problem: impl Into<String>, hint: impl Into<String>) -> StageError {
        let place = yaml::locate(self.source.text.as_bytes(), self.document, &self.path);
        let field = if self.path.is_root() { "the stage".to_owned() } else { self.path.to_string() };
        StageError {
            file: self.source.file.to_owned(),
            line: place.map_or(1, |(line, _)| line),
            field,
            problem: problem.into(),
            hint: hint.into(),
        }
    }
}

/// A path as the table of keys has it.
fn pattern(path: &FieldPath) -> String {
    let mut out = String::new();
    for segment in path.segments() {
        match segment {
            Segment::Field(name) if out.is_empty() => out.push_str(name),
            Segment::Field(name) => {
                out.push('.');
                out.push_str(name);
            }
            _ => out.push_str("[]"),
        }
    }
    out
}
