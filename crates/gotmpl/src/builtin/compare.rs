//! `eq` and its kin, with Go's rules of what can be compared.

use std::cmp::Ordering;

use crate::complex::Complex;
use crate::{Failure, Value};

/// The sorts of values between which there is an order or at least equality.
enum Basic {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Complex(Complex),
    Str(crate::Str),
}

impl Basic {
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value, int) if int.is_signed() => Self::Int(*value),
            Value::Int(bits, _) => Self::Uint(bits.cast_unsigned()),
            Value::Float(value) => Self::Float(*value),
            Value::Str(text) => Self::Str(text.clone()),
            Value::Object(object) => match object.as_any().downcast_ref::<Complex>() {
                Some(number) => Self::Complex(*number),
                None => return Self::of(&object.underlying()?),
            },
            Value::Nil | Value::List(_) | Value::Map(_) => return None,
        })
    }
}

/// `eq`: whether the first equals any of the others.
pub(super) fn equal(first: &Value, others: &[Value]) -> Result<bool, Failure> {
    if others.is_empty() {
        return Err(Failure::new("missing argument for comparison"));
    }
    for other in others {
        if equal_to(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal_to(left: &Value, right: &Value) -> Result<bool, Failure> {
    Ok(match (Basic::of(left), Basic::of(right)) {
        (Some(Basic::Bool(left)), Some(Basic::Bool(right))) => left == right,
        (Some(Basic::Int(left)), Some(Basic::Int(right))) => left == right,
        (Some(Basic::Uint(left)), Some(Basic::Uint(right))) => left == right,
        (Some(Basic::Int(signed)), Some(Basic::Uint(unsigned)))
        | (Some(Basic::Uint(unsigned)), Some(Basic::Int(signed))) => u64::try_from(signed) == Ok(unsigned),
        (Some(Basic::Float(left)), Some(Basic::Float(right))) => left == right,
        (Some(Basic::Complex(left)), Some(Basic::Complex(right))) => left == right,
        (Some(Basic::Str(left)), Some(Basic::Str(right))) => left == right,
        (None, None) => return equal_compound(left, right),
        _ if left.is_nil() || right.is_nil() => false,
        _ => return Err(incompatible(left, right)),
    })
}

/// Values that have no order: nil, lists, maps and structs.
fn equal_compound(left: &Value, right: &Value) -> Result<bool, Failure> {
    let comparable = left.is_nil() || right.is_nil() || left.kind() == right.kind();
    if !comparable {
        return Err(Failure::new(format!(
            "non-comparable types {}: {}, {}: {}",
            shown("%s", left),
            left.type_name(),
            right.type_name(),
            shown("%v", right)
        )));
    }
    if is_nil(left) || is_nil(right) {
        return Ok(is_nil(left) == is_nil(right));
    }
    if let (Value::Object(left), Value::Object(right)) = (left, right) {
        let same_type = left.go_type() == right.go_type();
        match left.equals(right.as_ref()) {
            Some(equal) => return Ok(same_type && equal),
            None if matches!(right.go_type().shape, crate::Shape::Pointer) => {
                return Ok(std::rc::Rc::ptr_eq(left, right));
            }
            None => {}
        }
    }
    Err(Failure::new(format!("non-comparable type {}: {}", shown("%s", right), right.type_name())))
}

fn is_nil(value: &Value) -> bool {
    match value {
        Value::Nil => true,
        Value::List(list) => list.is_nil(),
        Value::Map(map) => map.is_nil(),
        _ => false,
    }
}

/// How the errors show a value: here and there Go asks for a string, whatever the value is.
fn shown(verb: &str, value: &Value) -> String {
    const ENOUGH: usize = 1 << 16;
    crate::format::sprintf(verb, std::slice::from_ref(value), ENOUGH).unwrap_or_default()
}

/// `lt`
pub(super) fn less(left: &Value, right: &Value) -> Result<bool, Failure> {
    let invalid = || Failure::new("invalid type for comparison");
    let first = Basic::of(left).ok_or_else(invalid)?;
    let second = Basic::of(right).ok_or_else(invalid)?;
    Ok(match (first, second) {
        (Basic::Int(left), Basic::Int(right)) => left < right,
        (Basic::Uint(left), Basic::Uint(right)) => left < right,
        (Basic::Int(left), Basic::Uint(right)) => u64::try_from(left).map_or(true, |left| left < right),
        (Basic::Uint(left), Basic::Int(right)) => u64::try_from(right).is_ok_and(|right| left < right),
        (Basic::Float(left), Basic::Float(right)) => left.partial_cmp(&right) == Some(Ordering::Less),
        (Basic::Str(left), Basic::Str(right)) => left < right,
        (Basic::Bool(_), Basic::Bool(_)) | (Basic::Complex(_), Basic::Complex(_)) => return Err(invalid()),
        _ => return Err(incompatible(left, right)),
    })
}

/// `le`
pub(super) fn less_or_equal(left: &Value, right: &Value) -> Result<bool, Failure> {
    Ok(less(left, right)? || equal_to(left, right)?)
}

fn incompatible(left: &Value, right: &Value) -> Failure {
    Failure::new(format!("incompatible types for comparison: {} and {}", left.type_name(), right.type_name()))
}
