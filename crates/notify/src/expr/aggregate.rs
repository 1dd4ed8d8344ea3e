//! What is said of many numbers at once.

use std::cmp::Ordering;

use lynceus_gotmpl::{Context, Failure, Value};

use super::builtin::types;
use super::compare::{as_float, is_number, order};

/// `max`, `min`, `mean` and `median` of numbers and of lists of numbers.
pub(super) fn call(context: &mut Context<'_>, name: &str, arguments: &[Value]) -> Result<Value, Failure> {
    let wrong = || Failure::new(format!("{name} does not take {}", types(arguments)));
    if arguments.is_empty() {
        return Err(wrong());
    }
    // One thing alone is the greatest and the least of all.
    if let ([only], "max" | "min") = (arguments, name)
        && !is_number(only)
        && !matches!(only, Value::List(_))
    {
        return Ok(only.clone());
    }
    let mut numbers = Vec::new();
    collect(context, arguments, &mut numbers)?.then_some(()).ok_or_else(wrong)?;
    match name {
        "max" => Ok(extreme(&numbers, Ordering::Greater)),
        "min" => Ok(extreme(&numbers, Ordering::Less)),
        _ if numbers.is_empty() => Ok(Value::Float(0.0)),
        "mean" => {
            let sum: f64 = numbers.iter().filter_map(as_float).sum();
            Ok(Value::Float(sum / numbers.len() as f64))
        }
        _ => Ok(median(&numbers)),
    }
}

/// Gathers the numbers, and says whether there is nothing else.
fn collect(context: &mut Context<'_>, values: &[Value], numbers: &mut Vec<Value>) -> Result<bool, Failure> {
    context.step(values.len())?;
    let mut waiting: Vec<Value> = values.iter().rev().cloned().collect();
    while let Some(value) = waiting.pop() {
        match value {
            Value::List(list) => {
                context.step(list.len())?;
                context.charge(list.len() * 32)?;
                waiting.extend(list.to_vec().into_iter().rev());
            }
            value if is_number(&value) => numbers.push(value),
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn extreme(numbers: &[Value], wanted: Ordering) -> Value {
    let mut found: Option<&Value> = None;
    for number in numbers {
        if found.is_none_or(|found| order(number, found) == Some(wanted)) {
            found = Some(number);
        }
    }
    found.cloned().unwrap_or_default()
}

fn median(numbers: &[Value]) -> Value {
    let mut floats: Vec<f64> = numbers.iter().filter_map(as_float).collect();
    floats.sort_by(f64::total_cmp);
    let middle = floats.len() / 2;
    let at = |index: usize| floats.get(index).copied().unwrap_or_default();
    Value::Float(if floats.len() % 2 == 1 {
        at(middle)
    } else {
        (at(middle.saturating_sub(1)) + at(middle)) / 2.0
    })
}
