//! Scalars as Kustomize sees them: the text that stands in the file, and what a text means when it is written back.
//!
//! Kustomize changes the text of a scalar, keeps its quotes and resolves it anew when it prints. A value has no quotes;
//! a string that would mean something else without them must have had them, and keeps being a string.

use std::borrow::Cow;

use lynceus_object::yaml::{self, Version};
use lynceus_object::{Str, Value};

use crate::error::KustomizeError;

/// The text of a scalar; nothing if it is a list or a map. `null` is the empty text.
pub(crate) fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => Some(Cow::Borrowed("")),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Int(number) => Some(Cow::Owned(number.to_string())),
        Value::Float(_) => Some(Cow::Owned(yaml::to_string(value).trim_end().to_owned())),
        Value::Str(text) => Some(Cow::Borrowed(text)),
        Value::Seq(_) | Value::Map(_) => None,
    }
}

/// The text of a scalar; the empty one for a list or a map.
pub(crate) fn text_of(value: &Value) -> Str {
    match value {
        Value::Str(text) => text.clone(),
        other => text(other).unwrap_or_default().into(),
    }
}

/// A number as Go prints it by default: large and small ones with an exponent.
pub(crate) fn float_text(number: f64) -> String {
    if number == 0.0 || (1e-4..1e6).contains(&number.abs()) || !number.is_finite() {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// What a text means that Kustomize writes without quotes and without saying what it is.
pub(crate) fn meaning(text: &str) -> Value {
    yaml::meaning(text, Version::V3)
}

/// Whether a text is something else than a string without quotes.
fn needs_quotes(text: &str) -> bool {
    !matches!(meaning(text), Value::Str(_))
}

/// What a scalar becomes when its text is replaced.
pub(crate) fn rewritten(old: &Value, text: &str) -> Value {
    match old {
        Value::Str(before) if needs_quotes(before) => Value::Str(text.into()),
        _ => meaning(text),
    }
}

/// The error for a node that is of another sort than needed; `expected` is Kustomize's word for it. What is in the node is
/// not told: it may be of a Secret.
pub(crate) fn wrong_node(expected: &str, value: &Value) -> KustomizeError {
    let found = match value {
        Value::Seq(_) => "SequenceNode",
        Value::Map(_) => "MappingNode",
        _ => "ScalarNode",
    };
    KustomizeError::new(format!("wrong node kind: expected {expected} but got {found}"))
}

/// Sets a scalar to a string that stays one whatever it looks like; a list or a map is an error.
pub(crate) fn set_text(value: &mut Value, text: &Str) -> Result<(), KustomizeError> {
    if matches!(value, Value::Seq(_) | Value::Map(_)) {
        return Err(wrong_node("ScalarNode", value));
    }
    *value = Value::Str(text.clone());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_quotes_is_what_it_looks_like() {
        let cases =
            [("12", Value::Int(12)), ("true", Value::Bool(true)), ("null", Value::Null), ("~", Value::Null)];
        for (text, expected) in cases {
            assert_eq!(meaning(text), expected, "{text}");
        }
        for text in ["web", "yes", "1.2.3", "10.0.0.1", "nginx:1.2", "a: b", "- x", "n", "2-x"] {
            assert_eq!(meaning(text), Value::from(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_printed_as_go_prints_them() {
        let cases =
            [(100.5, "100.5"), (1234567.5, "1.2345675e+06"), (1e30, "1e+30"), (0.00001, "1e-05"), (0.0, "0")];
        for (number, text) in cases {
            assert_eq!(float_text(number), text);
        }
    }

    #[test]
    fn quotes_are_kept_where_there_must_have_been_some() {
        assert_eq!(rewritten(&Value::from("7"), "17"), Value::from("17"));
        assert_eq!(rewritten(&Value::from("e5"), "15"), Value::Int(15));
        assert_eq!(rewritten(&Value::Int(3), "5"), Value::Int(5));
        assert_eq!(rewritten(&Value::from(""), "5"), Value::from("5"));
    }
}
