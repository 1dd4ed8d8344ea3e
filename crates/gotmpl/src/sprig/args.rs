//! Reading arguments. The evaluator has checked them against the signature, so that a type never surprises here.

use crate::types;
use crate::{Failure, List, Map, Str, Value};

static EMPTY: Str = Str::new();
const NIL: &Value = &Value::Nil;

/// What Go says when nil is asked for its type.
pub(super) const NIL_DEREFERENCE: &str = "runtime error: invalid memory address or nil pointer dereference";

/// An argument of type `string`.
pub(super) fn text(args: &[Value], at: usize) -> &Str {
    args.get(at).and_then(Value::as_str).unwrap_or(&EMPTY)
}

/// An argument of type `int`.
pub(super) fn int(args: &[Value], at: usize) -> i64 {
    args.get(at).and_then(Value::as_i64).unwrap_or_default()
}

/// An argument of type `bool`.
pub(super) fn boolean(args: &[Value], at: usize) -> bool {
    args.get(at).and_then(Value::as_bool).unwrap_or_default()
}

/// An argument of type `interface {}`.
pub(super) fn any(args: &[Value], at: usize) -> &Value {
    args.get(at).unwrap_or(NIL)
}

/// An argument of type `map[string]interface {}`; nil becomes the nil map.
pub(super) fn map(args: &[Value], at: usize) -> Map {
    as_map(any(args, at))
}

/// A value that the signature takes for a `map[string]interface {}`.
pub(super) fn as_map(value: &Value) -> Map {
    match value {
        Value::Map(map) => map.as_type(&types::MAP),
        _ => Map::nil(&types::MAP),
    }
}

/// The arguments from a position on.
pub(super) fn rest(args: &[Value], from: usize) -> &[Value] {
    args.get(from..).unwrap_or_default()
}

/// A list of any element type that arrives as `interface {}`; `complaint` precedes the kind of what is none.
pub(super) fn list(value: &Value, complaint: &str) -> Result<List, Failure> {
    match value {
        Value::List(list) => Ok(list.clone()),
        Value::Nil => Err(Failure::new(NIL_DEREFERENCE)),
        other => match other.underlying() {
            Value::List(list) => Ok(list),
            _ => Err(Failure::new(format!("{complaint} {}", other.kind().name()))),
        },
    }
}
