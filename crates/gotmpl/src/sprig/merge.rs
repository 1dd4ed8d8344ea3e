//! Merging dictionaries as the library `mergo` does.

use super::args::as_map;
use crate::limits::VALUE_DEPTH;
use crate::stack::deep;
use crate::types;
use crate::{Failure, Kind, Map, Str, Value};

/// What happens to a key that both sides have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The first dictionary wins unless its value is empty.
    Fill,
    /// The later dictionary wins, also with an empty value.
    Overwrite,
}

/// Why a merge stops.
pub(super) enum Problem {
    /// Values of two types cannot be brought together.
    Types,
    /// Go would panic.
    Panic(String),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Types => Self::new("src and dst must be of same type"),
            Problem::Panic(message) => Self::new(message),
        }
    }
}

/// Merges the later arguments into the first, which is changed. Nil becomes a new dictionary.
pub(super) fn all(args: &[Value], mode: Mode) -> Result<Map, Problem> {
    let mut maps = args.iter().map(as_map);
    let mut target = maps.next().unwrap_or_else(|| Map::nil(&types::MAP));
    for source in maps {
        if target.is_nil() && !source.is_nil() {
            target = Map::default();
        }
        merge(&target, &source, mode, VALUE_DEPTH)?;
    }
    Ok(target)
}

fn merge(target: &Map, source: &Map, mode: Mode, depth: usize) -> Result<(), Problem> {
    for (key, value) in source.entries() {
        if value.is_nil() {
            if mode == Mode::Overwrite {
                insert(target, key, value)?;
            }
            continue;
        }
        let existing = target.get(&key);
        match value.kind() {
            Kind::Map | Kind::Struct | Kind::Pointer => {
                merge_inner(existing.as_ref().unwrap_or(&Value::Nil), &value, mode, depth)?;
            }
            _ => {}
        }
        // Asked only now: merging may have filled what was empty.
        let keeps = existing.as_ref().is_some_and(|existing| {
            existing.truth()
                && match (value.kind(), existing.kind()) {
                    (Kind::Map, Kind::Map) => true,
                    _ => mode == Mode::Fill,
                }
        });
        if !keeps {
            insert(target, key, value)?;
        }
    }
    Ok(())
}

/// Merges a value into the one under the same key, where that can be done in place.
fn merge_inner(existing: &Value, value: &Value, mode: Mode, depth: usize) -> Result<(), Problem> {
    match (existing, value) {
        (Value::Map(target), Value::Map(source)) if !target.is_nil() => {
            let depth = depth
                .checked_sub(1)
                .ok_or_else(|| Problem::Panic(format!("value nests deeper than {VALUE_DEPTH}")))?;
            deep(|| merge(target, source, mode, depth))
        }
        (Value::Object(object), Value::Map(_)) => match existing.kind() {
            Kind::Pointer if mode == Mode::Fill => Err(Problem::Types),
            Kind::Struct if !object.fields().is_empty() => {
                Err(Problem::Panic("reflect: call of reflect.Value.Field on map Value".to_owned()))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn insert(target: &Map, key: Str, value: Value) -> Result<(), Problem> {
    let element = target.element();
    let fits = element.name == types::ANY.name || value.go_type().is_some_and(|of| of == element);
    if !fits {
        // A list is unpacked before it is put in, anything else is not.
        let of = if value.kind() == Kind::List { value.type_name() } else { types::ANY.name };
        return Err(Problem::Panic(format!(
            "reflect.Value.SetMapIndex: value of type {of} is not assignable to type {element}"
        )));
    }
    target.insert(key, value);
    Ok(())
}
