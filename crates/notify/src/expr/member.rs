//! Parts of values: fields, elements, slices, methods.

use lynceus_gotmpl::{Callable, Context, Failure, Int, List, Signature, Str, Value, fit, types};

use super::compare::as_int;

/// The field or the element of a value. A map that lacks it gives nil; a list fails.
pub(super) fn fetch(of: &Value, property: &Value) -> Result<Value, String> {
    match (of, property) {
        (Value::Nil, _) => Err(format!("there is nothing to look for {} in", shown(property))),
        (Value::Map(map), Value::Str(key)) => Ok(map.get(key).unwrap_or_default()),
        (Value::Map(map), Value::Nil) => Ok(map.get("").unwrap_or_default()),
        (Value::List(list), _) => {
            let at = element(property, list.len())?;
            Ok(list.get(at).unwrap_or_default())
        }
        (Value::Str(text), _) => {
            let bytes = text.bytes();
            let at = element(property, bytes.len())?;
            Ok(Value::Int(i64::from(bytes[at]), Int::U8))
        }
        (Value::Object(object), Value::Str(name)) => {
            object.field(name).ok_or_else(|| format!("{} has no {name}", of.type_name()))
        }
        _ => Err(format!("{} has no {}", of.type_name(), shown(property))),
    }
}

/// The place of an element; negative ones count from the end.
fn element(property: &Value, length: usize) -> Result<usize, String> {
    let Some(at) = as_int(property) else {
        return Err(format!("an element is told by its number, not by {}", shown(property)));
    };
    let size = i64::try_from(length).unwrap_or(i64::MAX);
    let from_start = if at < 0 { at + size } else { at };
    match usize::try_from(from_start) {
        Ok(found) if found < length => Ok(found),
        _ => Err(format!("there is no element {at} of {length}")),
    }
}

fn shown(property: &Value) -> String {
    match property {
        Value::Str(text) => text.to_string(),
        Value::Int(number, _) => number.to_string(),
        other => other.type_name().to_owned(),
    }
}

/// What a copy of a value takes.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::List(list) => list.len() * 32,
        Value::Str(text) => text.len(),
        _ => 0,
    }
}

/// A piece of a list or of a text; what lies outside is left out.
pub(super) fn slice(of: &Value, from: Option<&Value>, to: Option<&Value>) -> Result<Value, String> {
    let length = match of {
        Value::List(list) => list.len(),
        Value::Str(text) => text.byte_len(),
        other => return Err(format!("{} has no pieces", other.type_name())),
    };
    let size = i64::try_from(length).unwrap_or(i64::MAX);
    let bound = |value: Option<&Value>, otherwise: i64| match value.map(as_int) {
        None => Ok(otherwise),
        Some(None) => Err("a piece is told by numbers".to_owned()),
        Some(Some(at)) => Ok((if at < 0 { at + size } else { at }).max(0)),
    };
    let to = bound(to, size)?.min(size);
    let from = bound(from, 0)?.min(to);
    let (from, to) = (usize::try_from(from).unwrap_or_default(), usize::try_from(to).unwrap_or_default());
    Ok(match of {
        Value::List(list) => match list.as_bytes() {
            Some(bytes) => Value::List(List::bytes(&bytes[from..to])),
            None => Value::list(list.to_vec().drain(from..to)),
        },
        Value::Str(text) => Value::Str(Str::from_bytes(&text.bytes()[from..to])),
        _ => Value::Nil,
    })
}

/// Calls what a value has under a name: a method, or a function in a map.
pub(super) fn call_method(
    context: &mut Context<'_>,
    of: &Value,
    name: &str,
    arguments: &[Value],
) -> Result<Value, Failure> {
    if let Some(method) = of.go_type().and_then(|of| of.method(name)) {
        let arguments = filled(method.signature, arguments);
        fit(method.signature, &arguments)?;
        return (method.call)(context, of, &arguments);
    }
    let function = fetch(of, &Value::str(name)).map_err(Failure::new)?;
    if function.is_nil() {
        return Err(Failure::new(format!("there is no function {name}")));
    }
    call(context, &function, arguments)
}

/// Arguments in which nil is the zero of what is asked for.
fn filled(signature: Signature, arguments: &[Value]) -> Vec<Value> {
    let mut types = signature.params.iter();
    arguments
        .iter()
        .map(|value| match (types.next(), value) {
            (Some(of), Value::Nil) => types::zero(of),
            _ => value.clone(),
        })
        .collect()
}

/// Calls a function.
pub(super) fn call(
    context: &mut Context<'_>,
    function: &Value,
    arguments: &[Value],
) -> Result<Value, Failure> {
    match function {
        Value::Object(object) if let Some(callable) = object.as_any().downcast_ref::<Callable>() => {
            callable.call(context, &filled(callable.signature(), arguments))
        }
        Value::Nil => Err(Failure::new("there is no such function")),
        other => Err(Failure::new(format!("{} is no function", other.type_name()))),
    }
}
