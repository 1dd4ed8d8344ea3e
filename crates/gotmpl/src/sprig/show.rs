//! Turning values into text as sprig does.

use crate::{Context, Failure, Str, Value};

/// What `toString` gives: text as it is, bytes as text, errors and Stringers by their own words, all else as `%v`.
pub(super) fn text_of(context: &mut Context<'_>, value: &Value) -> Result<Str, Failure> {
    match value {
        Value::Str(text) => Ok(text.clone()),
        Value::List(list) => match list.as_bytes() {
            Some(bytes) => Ok(Str::from_bytes(bytes)),
            None => context.text(value),
        },
        Value::Object(object) => object.text().map_or_else(|| context.text(value), Ok),
        _ => context.text(value),
    }
}

/// What `toStrings` and `join` make of anything: the texts of a list's elements but nil, or of a single value.
pub(super) fn texts_of(context: &mut Context<'_>, value: &Value) -> Result<Vec<Str>, Failure> {
    match value.underlying() {
        Value::Nil => Ok(Vec::new()),
        Value::List(list) => {
            list.to_vec().iter().filter(|item| !item.is_nil()).map(|item| text_of(context, item)).collect()
        }
        _ => Ok(vec![text_of(context, value)?]),
    }
}
