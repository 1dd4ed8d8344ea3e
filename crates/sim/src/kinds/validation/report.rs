//! Where in an object something is wrong, and the list of what is.

use std::fmt;

use lynceus_object::Value;

use crate::kinds::gofmt;
use crate::{FieldError, FieldErrorKind};

/// The way to a field, as messages print it: `spec.containers[0].image`, `data[key]`.
#[derive(Clone, Debug)]
pub(crate) struct Path(String);

impl Path {
    /// A field of the object itself.
    pub(crate) fn new(field: &str) -> Self {
        Path(field.to_owned())
    }

    /// A field of what is here.
    pub(crate) fn child(&self, field: &str) -> Self {
        if self.0.is_empty() { Path(field.to_owned()) } else { self.with(&[".", field]) }
    }

    /// An item of the list that is here.
    pub(crate) fn index(&self, at: usize) -> Self {
        Path(format!("{}[{at}]", self.0))
    }

    /// An entry of the map that is here.
    pub(crate) fn key(&self, key: &str) -> Self {
        self.with(&["[", key, "]"])
    }

    /// Paths are made for every field that is looked at, and few are ever printed.
    fn with(&self, parts: &[&str]) -> Self {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let mut path = String::with_capacity(self.0.len() + length);
        path.push_str(&self.0);
        parts.iter().for_each(|part| path.push_str(part));
        Path(path)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is wrong with an object so far.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<FieldError>);

impl Report {
    /// The findings in the order in which they were made.
    pub(crate) fn into_errors(self) -> Vec<FieldError> {
        self.0
    }

    /// How much is wrong.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a finding that is ready.
    pub(crate) fn push(&mut self, error: FieldError) {
        self.0.push(error);
    }

    pub(crate) fn required(&mut self, at: &Path, detail: &str) {
        self.push(FieldError::required(at.to_string(), detail));
    }

    pub(crate) fn forbidden(&mut self, at: &Path, detail: impl Into<String>) {
        self.push(FieldError::forbidden(at.to_string(), detail));
    }

    /// A text that may not stand there.
    pub(crate) fn invalid_text(&mut self, at: &Path, text: &str, detail: impl Into<String>) {
        self.push(FieldError::invalid(at.to_string(), gofmt::quoted(text), detail));
    }

    /// A number that may not stand there.
    pub(crate) fn invalid_number(&mut self, at: &Path, number: i64, detail: impl Into<String>) {
        self.push(FieldError::invalid(at.to_string(), number.to_string(), detail));
    }

    /// Any other value that may not stand there.
    pub(crate) fn invalid(&mut self, at: &Path, value: &Value, detail: impl Into<String>) {
        self.push(FieldError::invalid(at.to_string(), gofmt::plain(value), detail));
    }

    pub(crate) fn duplicate(&mut self, at: &Path, value: &Value) {
        self.push(FieldError::duplicate(at.to_string(), gofmt::plain(value)));
    }

    /// A text that is none of the words that may stand there.
    pub(crate) fn not_supported(&mut self, at: &Path, text: &str, words: &[&str]) {
        self.push(FieldError::not_supported(at.to_string(), gofmt::quoted(text), words));
    }

    pub(crate) fn not_found(&mut self, at: &Path, text: &str) {
        self.push(FieldError {
            kind: FieldErrorKind::NotFound,
            field: at.to_string(),
            value: gofmt::quoted(text),
            detail: String::new(),
        });
    }

    pub(crate) fn too_long(&mut self, at: &Path, most: usize) {
        let bytes = if most == 1 { "byte" } else { "bytes" };
        self.push(FieldError {
            kind: FieldErrorKind::TooLong,
            field: at.to_string(),
            value: String::new(),
            detail: format!("may not be more than {most} {bytes}"),
        });
    }

    pub(crate) fn too_many(&mut self, at: &Path, count: usize, most: usize) {
        let items = if most == 1 { "item" } else { "items" };
        self.push(FieldError {
            kind: FieldErrorKind::TooMany,
            field: at.to_string(),
            value: count.to_string(),
            detail: format!("must have at most {most} {items}"),
        });
    }

    /// A text about which `problems` are known.
    pub(crate) fn each(&mut self, at: &Path, text: &str, problems: Vec<String>) {
        for problem in problems {
            self.invalid_text(at, text, problem);
        }
    }

    /// A number that has to be zero or more.
    pub(crate) fn not_negative(&mut self, at: &Path, number: Option<i64>) {
        if let Some(number) = number.filter(|number| *number < 0) {
            self.invalid_number(at, number, "must be greater than or equal to 0");
        }
    }

    /// A text that is required and has to be one of some words.
    pub(crate) fn one_of(&mut self, at: &Path, text: &str, words: &[&str]) {
        if text.is_empty() {
            self.required(at, "");
        } else if !words.contains(&text) {
            self.not_supported(at, text, words);
        }
    }

    /// A field that may never change once it is set.
    pub(crate) fn immutable(&mut self, at: &Path, new: Option<&Value>, old: Option<&Value>) {
        if !same(new, old) {
            self.invalid(at, new.unwrap_or(&Value::Null), "field is immutable");
        }
    }
}

/// Whether two fields mean the same: absent, `null` and empty are alike, as they are to Go.
pub(crate) fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    let seen = |value: Option<&Value>| match value {
        Some(Value::Null) | None => None,
        Some(value) if value.is_empty() => None,
        Some(value) => Some(value.clone()),
    };
    seen(a) == seen(b)
}
