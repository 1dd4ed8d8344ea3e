//! When two values are equal, and which one is less.

use std::cmp::Ordering;

use lynceus_gotmpl::sprig::moments;
use lynceus_gotmpl::{Int, Value};

/// Numbers of all kinds are compared with each other; lists by their elements.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Str(left), Value::Str(right)) => left == right,
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len()
                && left.to_vec().iter().zip(right.to_vec()).all(|(left, right)| equal(left, &right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left
                    .entries()
                    .iter()
                    .all(|(key, item)| right.get(key).is_some_and(|other| identical(item, &other)))
        }
        (Value::Object(first), Value::Object(second)) => {
            match (moments::since_1970(left), moments::since_1970(right)) {
                (Some(left), Some(right)) => left == right,
                _ => first.equals(second.as_ref()).unwrap_or(false),
            }
        }
        (Value::Int(..) | Value::Float(_), Value::Int(..) | Value::Float(_)) => {
            order_numbers(left, right) == Some(Ordering::Equal)
        }
        _ => false,
    }
}

/// What Go's DeepEqual takes as equal: the elements of maps have to be of the same type.
fn identical(left: &Value, right: &Value) -> bool {
    let same_type = left.type_name() == right.type_name();
    same_type && equal(left, right)
}

/// Which of two values is less, if they can be ordered.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Some(left.bytes().cmp(&right.bytes())),
        (Value::Object(_), Value::Object(_)) => {
            if let (Some(left), Some(right)) = (moments::since_1970(left), moments::since_1970(right)) {
                return Some(left.cmp(&right));
            }
            Some(moments::nanos_of(left)?.cmp(&moments::nanos_of(right)?))
        }
        _ => order_numbers(left, right),
    }
}

/// The same of numbers. Two that are not both whole are compared as floats, as in Go.
fn order_numbers(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left, _), Value::Int(right, _)) => Some(left.cmp(right)),
        _ => as_float(left)?.partial_cmp(&as_float(right)?),
    }
}

/// Whether a value is a number.
pub(super) fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(..) | Value::Float(_))
}

/// A number as a float.
pub(super) fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value, Int::U64 | Int::U) => Some(value.cast_unsigned() as f64),
        Value::Int(value, _) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// A number as a whole one; what is behind the point is dropped.
pub(super) fn as_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value, _) => Some(*value),
        Value::Float(value) => Some(*value as i64),
        _ => None,
    }
}
