//! Turning values into text as sprig does.

use crate::{Failure, List, Str, Value};

/// What `%v` prints.
pub(super) fn sprint(value: &Value) -> Result<Str, Failure> {
    Ok(match value {
        Value::Nil => "<nil>".into(),
        Value::Bool(b) => b.to_string().into(),
        Value::Int(i, _) => i.to_string().into(),
        Value::Float(f) => f.to_string().into(),
        Value::Str(s) => s.clone(),
        _ => "?".into(),
    })
}

pub(crate) fn double(text: &str) -> String {
    format!("{text:?}")
}

/// What `toString` gives: text as it is, bytes as text, errors and Stringers by their own words, all else as `%v`.
pub(super) fn text_of(value: &Value) -> Result<Str, Failure> {
    match value {
        Value::Str(text) => Ok(text.clone()),
        Value::List(list) => match list.as_bytes() {
            Some(bytes) => Ok(Str::from_bytes(bytes)),
            None => sprint(value),
        },
        Value::Object(object) => object.text().map_or_else(|| sprint(value), Ok),
        _ => sprint(value),
    }
}

/// What `toStrings` and `join` make of anything: the texts of a list's elements but nil, or of a single value.
pub(super) fn texts_of(value: &Value) -> Result<Vec<Str>, Failure> {
    match value.underlying() {
        Value::Nil => Ok(Vec::new()),
        Value::List(list) => elements(&list),
        _ => Ok(vec![text_of(value)?]),
    }
}

fn elements(list: &List) -> Result<Vec<Str>, Failure> {
    list.to_vec().iter().filter(|item| !item.is_nil()).map(text_of).collect()
}
