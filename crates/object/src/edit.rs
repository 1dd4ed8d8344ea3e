//! Filling in fields that a client left out.
//!
//! Go tells a pointer that is absent from a value that is zero; the object as a value does not. Each
//! function here names one of the three meanings of "left out" that the kinds use.

use crate::{Map, Value};

/// Sets an optional field that is absent.
pub fn fill(at: &mut Value, key: &str, value: impl Into<Value>) {
    if at.get(key).is_none_or(Value::is_null) {
        at.set(&[key], value);
    }
}

/// Sets a text that is absent or empty.
pub fn fill_text(at: &mut Value, key: &str, text: &str) {
    if at.str_at(&[key]).unwrap_or_default().is_empty() {
        at.set(&[key], text);
    }
}

/// Sets a number that is absent or zero.
pub fn fill_number(at: &mut Value, key: &str, number: i64) {
    if at.int_at(&[key]).unwrap_or_default() == 0 {
        at.set(&[key], number);
    }
}

/// Whether an optional field is there.
pub fn has(at: &Value, key: &str) -> bool {
    at.get(key).is_some_and(|value| !value.is_null())
}

/// The map at a path, if it is there, to change.
pub fn part<'a>(at: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    at.at_mut(path).filter(|value| matches!(value, Value::Map(_)))
}

/// The map in a field, made if it is absent.
pub fn part_or_new<'a>(at: &'a mut Value, key: &str) -> &'a mut Value {
    let field = at.as_map_or_insert().entry(key);
    if !matches!(field, Value::Map(_)) {
        *field = Value::Map(Map::new());
    }
    field
}

/// The items of the list at a path, to change.
pub fn each<'a>(at: &'a mut Value, path: &[&str]) -> impl Iterator<Item = &'a mut Value> {
    at.at_mut(path).and_then(Value::as_seq_mut).into_iter().flat_map(|items| items.make_mut().iter_mut())
}

/// Copies the fields of `from` that `to` lacks.
pub fn fill_from(to: &mut Value, from: &Map) {
    for (key, value) in from.iter() {
        if !has(to, key) {
            to.set(&[key], value.clone());
        }
    }
}
