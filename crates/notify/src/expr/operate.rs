//! What operators make of two values.

use std::cmp::Ordering;

use lynceus_gotmpl::sprig::{self, moments};
use lynceus_gotmpl::{Context, Failure, Str, Value};

use super::compare::{as_float, as_int, equal, is_number, order};
use super::node::Binary;
use crate::limits;

/// Applies an operator to values of which both are needed.
pub(super) fn apply(
    context: &mut Context<'_>,
    operator: Binary,
    left: &Value,
    right: &Value,
) -> Result<Value, Failure> {
    let value = match operator {
        Binary::Equal | Binary::NotEqual => {
            context.step(elements(left))?;
            Value::Bool(equal(left, right) == (operator == Binary::Equal))
        }
        Binary::Less => compared(operator, left, right, Ordering::is_lt)?,
        Binary::LessOrEqual => compared(operator, left, right, Ordering::is_le)?,
        Binary::More => compared(operator, left, right, Ordering::is_gt)?,
        Binary::MoreOrEqual => compared(operator, left, right, Ordering::is_ge)?,
        Binary::In => {
            context.step(elements(right))?;
            Value::Bool(is_in(left, right)?)
        }
        Binary::Matches | Binary::Contains | Binary::StartsWith | Binary::EndsWith => {
            search(context, operator, left, right)?
        }
        Binary::Range => range(context, left, right)?,
        Binary::Add => add(context, left, right)?,
        Binary::Subtract => subtract(left, right)?,
        Binary::Multiply => multiply(left, right)?,
        Binary::Divide => floats(operator, left, right, |left, right| left / right)?,
        Binary::Power => floats(operator, left, right, f64::powf)?,
        Binary::Remainder => remainder(left, right)?,
        Binary::And | Binary::Or | Binary::Coalesce => right.clone(),
    };
    Ok(value)
}

/// Minus a number.
pub(super) fn negate(value: &Value) -> Result<Value, String> {
    match value {
        Value::Int(value, int) => Ok(Value::Int(int.wrap(value.wrapping_neg()), *int)),
        Value::Float(value) => Ok(Value::Float(-value)),
        other => Err(format!("- takes a number, not {}", other.type_name())),
    }
}

fn mismatch(operator: Binary, left: &Value, right: &Value) -> Failure {
    let word = operator.word();
    Failure::new(format!("{word} does not take {} and {}", left.type_name(), right.type_name()))
}

fn elements(value: &Value) -> usize {
    match value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    }
}

fn compared(
    operator: Binary,
    left: &Value,
    right: &Value,
    is: fn(Ordering) -> bool,
) -> Result<Value, Failure> {
    match order(left, right) {
        Some(order) => Ok(Value::Bool(is(order))),
        // Nothing is less than what is not a number.
        None if is_number(left) && is_number(right) => Ok(Value::Bool(false)),
        None => Err(mismatch(operator, left, right)),
    }
}

fn is_in(left: &Value, right: &Value) -> Result<bool, Failure> {
    match (left, right) {
        (_, Value::Nil) => Ok(false),
        (_, Value::List(list)) => Ok(list.to_vec().iter().any(|item| equal(item, left))),
        (Value::Str(key), Value::Map(map)) => Ok(map.contains(key)),
        // The zero of the key.
        (Value::Nil, Value::Map(map)) => Ok(map.contains("")),
        _ => Err(mismatch(Binary::In, left, right)),
    }
}

fn search(
    context: &mut Context<'_>,
    operator: Binary,
    left: &Value,
    right: &Value,
) -> Result<Value, Failure> {
    let (text, wanted) = match (left, right) {
        // Where there is nothing, nothing is found.
        (Value::Nil, _) | (_, Value::Nil) => return Ok(Value::Bool(false)),
        (Value::Str(text), Value::Str(wanted)) => (text.clone(), wanted),
        (Value::List(list), Value::Str(wanted)) if operator == Binary::Matches => match list.as_bytes() {
            Some(bytes) => (Str::from_bytes(bytes), wanted),
            None => return Err(mismatch(operator, left, right)),
        },
        _ => return Err(mismatch(operator, left, right)),
    };
    context.step(text.len() / 64)?;
    Ok(Value::Bool(match operator {
        Binary::Matches => sprig::matches(context, wanted, &text)?,
        Binary::Contains => text.contains(wanted.as_str()),
        Binary::StartsWith => text.starts_with(wanted.as_str()),
        _ => text.ends_with(wanted.as_str()),
    }))
}

fn range(context: &mut Context<'_>, left: &Value, right: &Value) -> Result<Value, Failure> {
    let (Some(from), Some(to)) = (as_int(left), as_int(right)) else {
        return Err(mismatch(Binary::Range, left, right));
    };
    let size = to.saturating_sub(from).saturating_add(1).max(0);
    if size > limits::RANGE {
        return Err(Failure::limit(format!("a range has at most {} numbers", limits::RANGE)));
    }
    context.charge(usize::try_from(size).unwrap_or_default().saturating_mul(32))?;
    Ok(Value::list((from..from.saturating_add(size)).map(Value::int)))
}

pub(super) fn add(context: &mut Context<'_>, left: &Value, right: &Value) -> Result<Value, Failure> {
    if let (Value::Str(left), Value::Str(right)) = (left, right) {
        context.charge(left.len() + right.len())?;
        let mut text = String::with_capacity(left.len() + right.len());
        text.push_str(left);
        text.push_str(right);
        return Ok(Value::Str(Str::from(text)));
    }
    let wrong = || mismatch(Binary::Add, left, right);
    match (moments::nanos_of(left), moments::nanos_of(right)) {
        (Some(left), Some(right)) => Ok(moments::of_nanos(left.wrapping_add(right))),
        (Some(nanos), None) => moments::plus(right, nanos).ok_or_else(wrong),
        (None, Some(nanos)) => moments::plus(left, nanos).ok_or_else(wrong),
        (None, None) => numbers(Binary::Add, left, right, i64::wrapping_add, |left, right| left + right),
    }
}

fn subtract(left: &Value, right: &Value) -> Result<Value, Failure> {
    if let Some(nanos) = moments::between(left, right) {
        return Ok(moments::of_nanos(nanos));
    }
    let wrong = || mismatch(Binary::Subtract, left, right);
    match (moments::nanos_of(left), moments::nanos_of(right)) {
        (Some(left), Some(right)) => Ok(moments::of_nanos(left.wrapping_sub(right))),
        (None, Some(nanos)) => moments::plus(left, nanos.wrapping_neg()).ok_or_else(wrong),
        (Some(_), None) => Err(wrong()),
        (None, None) => numbers(Binary::Subtract, left, right, i64::wrapping_sub, |left, right| left - right),
    }
}

fn multiply(left: &Value, right: &Value) -> Result<Value, Failure> {
    let product = |nanos: i64, by: &Value| match by {
        Value::Int(by, _) => Ok(moments::of_nanos(nanos.wrapping_mul(*by))),
        Value::Float(by) => Ok(Value::Float(nanos as f64 * by)),
        _ => Err(mismatch(Binary::Multiply, left, right)),
    };
    match (moments::nanos_of(left), moments::nanos_of(right)) {
        (Some(left), Some(right)) => Ok(moments::of_nanos(left.wrapping_mul(right))),
        (Some(nanos), None) => product(nanos, right),
        (None, Some(nanos)) => product(nanos, left),
        (None, None) => numbers(Binary::Multiply, left, right, i64::wrapping_mul, |left, right| left * right),
    }
}

/// Whole numbers stay whole; with a float both become floats.
fn numbers(
    operator: Binary,
    left: &Value,
    right: &Value,
    whole: fn(i64, i64) -> i64,
    float: fn(f64, f64) -> f64,
) -> Result<Value, Failure> {
    match (left, right) {
        (Value::Int(left, _), Value::Int(right, _)) => Ok(Value::int(whole(*left, *right))),
        _ => floats(operator, left, right, float),
    }
}

fn floats(
    operator: Binary,
    left: &Value,
    right: &Value,
    float: fn(f64, f64) -> f64,
) -> Result<Value, Failure> {
    match (as_float(left), as_float(right)) {
        (Some(left), Some(right)) => Ok(Value::Float(float(left, right))),
        _ => Err(mismatch(operator, left, right)),
    }
}

fn remainder(left: &Value, right: &Value) -> Result<Value, Failure> {
    match (left, right) {
        (Value::Int(_, _), Value::Int(0, _)) => Err(Failure::new("nothing can be divided by zero")),
        (Value::Int(left, _), Value::Int(right, _)) => Ok(Value::int(left.wrapping_rem(*right))),
        _ => Err(mismatch(Binary::Remainder, left, right)),
    }
}
