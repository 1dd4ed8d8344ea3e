//! Go's `reflect.DeepEqual`.

use std::rc::Rc;

use crate::limits::VALUE_DEPTH;
use crate::stack::deep;
use crate::{Failure, List, Map, Object, Value};

/// Whether two values have the same types and contents throughout. Nil and empty differ.
pub(super) fn deep_equal(one: &Value, other: &Value) -> Result<bool, Failure> {
    equal(one, other, VALUE_DEPTH)
}

fn equal(one: &Value, other: &Value, depth: usize) -> Result<bool, Failure> {
    let deeper =
        || depth.checked_sub(1).ok_or_else(|| Failure::new(format!("value nests deeper than {VALUE_DEPTH}")));
    Ok(match (one, other) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a, of), Value::Int(b, as_)) => a == b && of == as_,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            let depth = deeper()?;
            deep(|| lists_equal(a, b, depth))?
        }
        (Value::Map(a), Value::Map(b)) => {
            let depth = deeper()?;
            deep(|| maps_equal(a, b, depth))?
        }
        (Value::Object(a), Value::Object(b)) => objects_equal(a, b, deeper()?)?,
        _ => false,
    })
}

fn lists_equal(a: &List, b: &List, depth: usize) -> Result<bool, Failure> {
    if a.go_type() != b.go_type() || a.is_nil() != b.is_nil() || a.len() != b.len() {
        return Ok(false);
    }
    if a.is(b) {
        return Ok(true);
    }
    if let (Some(a), Some(b)) = (a.as_bytes(), b.as_bytes()) {
        return Ok(a == b);
    }
    for (one, other) in a.to_vec().iter().zip(&b.to_vec()) {
        if !equal(one, other, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps_equal(a: &Map, b: &Map, depth: usize) -> Result<bool, Failure> {
    if a.go_type() != b.go_type() || a.is_nil() != b.is_nil() || a.len() != b.len() {
        return Ok(false);
    }
    if a.is(b) {
        return Ok(true);
    }
    for ((key, one), (other_key, other)) in a.entries().iter().zip(&b.entries()) {
        if key != other_key || !equal(one, other, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn objects_equal(a: &Rc<dyn Object>, b: &Rc<dyn Object>, depth: usize) -> Result<bool, Failure> {
    if Rc::ptr_eq(a, b) {
        return Ok(true);
    }
    if a.go_type() != b.go_type() {
        return Ok(false);
    }
    match (a.equals(b.as_ref()), a.underlying(), b.underlying()) {
        (Some(true), ..) => Ok(true),
        (_, Some(a), Some(b)) => equal(&a, &b, depth),
        // Two pointers differ and what they point to may still be the same.
        _ => {
            let fields = |object: &Rc<dyn Object>| Value::map(object.fields());
            Ok(a.text() == b.text() && equal(&fields(a), &fields(b), depth)?)
        }
    }
}
