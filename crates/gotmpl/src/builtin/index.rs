//! `index`, `slice` and `len`.

use super::Args;
use crate::exec::Dynamic;
use crate::types::{self, Int};
use crate::{Context, Failure, Kind, List, Str, Value};

/// `index`: an element of an element of … a list, map or string.
pub(super) fn index(item: &Value, indexes: &[Value]) -> Result<Dynamic, Failure> {
    if item.is_nil() {
        return Err(Failure::new("index of untyped nil"));
    }
    let mut item = Dynamic::concrete(item.clone());
    for index in indexes {
        item = element(&item.value.underlying(), index)?;
    }
    Ok(item)
}

fn element(item: &Value, index: &Value) -> Result<Dynamic, Failure> {
    match item {
        Value::Nil => Err(Failure::new("index of nil pointer")),
        Value::List(list) => {
            let at = position(index, list.len())?;
            let value = list.get(at).ok_or_else(|| beyond("slice"))?;
            Ok(Dynamic::of_type(value, list.element()))
        }
        Value::Str(text) => {
            let bytes = text.bytes();
            let at = position(index, bytes.len())?;
            let byte = bytes.get(at).ok_or_else(|| beyond("string"))?;
            Ok(Dynamic::concrete(Value::Int(i64::from(*byte), Int::U8)))
        }
        Value::Map(map) => {
            let key = match index.underlying() {
                Value::Str(key) => key,
                Value::Nil => return Err(Failure::new("value is nil; should be of type string")),
                _ => {
                    let message = format!("value has type {}; should be string", index.type_name());
                    return Err(Failure::new(message));
                }
            };
            let value = map.get(&key).unwrap_or_else(|| types::zero(map.element()));
            Ok(Dynamic::of_type(value, map.element()))
        }
        _ => Err(Failure::new(format!("can't index item of type {}", item.type_name()))),
    }
}

/// The position just behind the end passes Go's own check and fails in `reflect`.
fn beyond(what: &str) -> Failure {
    Failure::new(format!("reflect: {what} index out of range"))
}

/// A position that is at most `length`.
fn position(index: &Value, length: usize) -> Result<usize, Failure> {
    let Value::Int(number, _) = index.underlying() else {
        return Err(match index {
            Value::Nil => Failure::new("cannot index slice/array with nil"),
            _ => Failure::new(format!("cannot index slice/array with type {}", index.type_name())),
        });
    };
    usize::try_from(number)
        .ok()
        .filter(|&at| at <= length)
        .ok_or_else(|| Failure::new(format!("index out of range: {number}")))
}

/// `slice`: a part of a list or string.
pub(super) fn slice(context: &mut Context<'_>, item: &Value, args: &Args) -> Result<Value, Failure> {
    let indexes = args.values.get(1..).unwrap_or_default();
    let item = match item.underlying() {
        Value::Nil => return Err(Failure::new("slice of untyped nil")),
        item => item,
    };
    if indexes.len() > 3 {
        return Err(Failure::new(format!("too many slice indexes: {}", indexes.len())));
    }
    let length = match &item {
        Value::Str(_) if indexes.len() == 3 => return Err(Failure::new("cannot 3-index slice a string")),
        Value::Str(text) => text.byte_len(),
        Value::List(list) => list.len(),
        _ => return Err(Failure::new(format!("can't slice item of type {}", item.type_name()))),
    };
    let mut bounds = [0, length, length];
    for (at, index) in indexes.iter().enumerate() {
        if args.is_boxed(at + 1) {
            return Err(Failure::new("cannot index slice/array with type interface {}"));
        }
        bounds[at] = position(index, length)?;
    }
    for (low, high) in [(bounds[0], bounds[1]), (bounds[1], bounds[2])] {
        if low > high && (indexes.len() == 3 || high == bounds[1]) {
            return Err(Failure::new(format!("invalid slice index: {low} > {high}")));
        }
    }
    part(context, &item, bounds[0], bounds[1])
}

fn part(context: &mut Context<'_>, item: &Value, from: usize, to: usize) -> Result<Value, Failure> {
    Ok(match item {
        Value::List(list) => match list.as_bytes() {
            Some(bytes) => Value::List(List::bytes(&bytes[from..to])),
            None => {
                context.charge((to - from) * size_of::<Value>())?;
                let items = (from..to).filter_map(|at| list.get(at)).collect();
                Value::List(List::typed(list.go_type(), items))
            }
        },
        Value::Str(text) => Value::Str(Str::from_bytes(&text.bytes()[from..to])),
        _ => Value::Nil,
    })
}

/// `len`
pub(super) fn length(item: &Value, boxed: bool) -> Result<Value, Failure> {
    match item.underlying() {
        Value::Str(text) => Ok(Value::from(text.byte_len())),
        Value::List(list) => Ok(Value::from(list.len())),
        Value::Map(map) => Ok(Value::from(map.len())),
        Value::Nil if boxed => Err(Failure::new("len of nil pointer")),
        Value::Nil => Err(Failure::new("reflect: call of reflect.Value.Type on zero Value")),
        _ => {
            let name = item.type_name();
            let name = if item.kind() == Kind::Pointer { name.trim_start_matches('*') } else { name };
            Err(Failure::new(format!("len of type {name}")))
        }
    }
}
