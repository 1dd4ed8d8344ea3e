//! Arithmetic: integers wrap around as in Go, floats go through decimals.

use super::args::{any, int, rest, text};
use super::cast::{parse_int, to_float, to_int};
use super::decimal::Decimal;
use crate::format::float;
use crate::limits::LIST_LENGTH;
use crate::{Context, Failure, Functions, List, Value, signature, types};

pub(super) fn register(to: &mut Functions) {
    conversions(to);
    integers(to);
    floats(to);
    extremes(to);
    sequences(to);
}

fn conversions(to: &mut Functions) {
    to.add("atoi", signature!((STRING) -> INT), |_, args| Ok(Value::int(atoi(text(args, 0)))));
    to.add("int64", signature!((ANY) -> INT64), |_, args| Ok(Value::int64(to_int(any(args, 0)))));
    to.add("int", signature!((ANY) -> INT), |_, args| Ok(Value::int(to_int(any(args, 0)))));
    to.add("float64", signature!((ANY) -> FLOAT64), |_, args| Ok(to_float(any(args, 0)).into()));
    to.add("toDecimal", signature!((ANY) -> INT64), |context, args| {
        Ok(Value::int64(parse_int(&context.text(any(args, 0))?, 8).unwrap_or_default()))
    });
}

/// Reads a decimal number; out of range it is the nearest one that fits, and anything else is 0.
fn atoi(text: &str) -> i64 {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

fn integers(to: &mut Functions) {
    to.add("add1", signature!((ANY) -> INT64), |_, args| {
        Ok(Value::int64(to_int(any(args, 0)).wrapping_add(1)))
    });
    to.add("add", signature!((...ANY) -> INT64), |_, args| {
        Ok(Value::int64(args.iter().map(to_int).fold(0, i64::wrapping_add)))
    });
    to.add("sub", signature!((ANY, ANY) -> INT64), |_, args| {
        Ok(Value::int64(to_int(any(args, 0)).wrapping_sub(to_int(any(args, 1)))))
    });
    to.add("mul", signature!((ANY, ...ANY) -> INT64), |_, args| {
        Ok(Value::int64(args.iter().map(to_int).fold(1, i64::wrapping_mul)))
    });
    to.add("div", signature!((ANY, ANY) -> INT64), |_, args| divide(args, i64::wrapping_div));
    to.add("mod", signature!((ANY, ANY) -> INT64), |_, args| divide(args, i64::wrapping_rem));
}

fn divide(args: &[Value], operation: fn(i64, i64) -> i64) -> Result<Value, Failure> {
    match to_int(any(args, 1)) {
        0 => Err(Failure::new("runtime error: integer divide by zero")),
        divisor => Ok(Value::int64(operation(to_int(any(args, 0)), divisor))),
    }
}

fn floats(to: &mut Functions) {
    to.add("add1f", signature!((ANY) -> FLOAT64), |context, args| {
        decimals(context, &[any(args, 0).clone(), Value::int(1)], |a, b| Ok(a.add(&b)))
    });
    to.add("addf", signature!((...ANY) -> FLOAT64), |context, args| {
        let from_zero: Vec<Value> = [Value::int(0)].into_iter().chain(args.iter().cloned()).collect();
        decimals(context, &from_zero, |a, b| Ok(a.add(&b)))
    });
    to.add("subf", signature!((ANY, ...ANY) -> FLOAT64), |context, args| {
        decimals(context, args, |a, b| Ok(a.subtract(&b)))
    });
    to.add("mulf", signature!((ANY, ...ANY) -> FLOAT64), |context, args| {
        decimals(context, args, |a, b| Ok(a.multiply(&b)))
    });
    to.add("divf", signature!((ANY, ...ANY) -> FLOAT64), |context, args| {
        decimals(context, args, |a, b| a.divide(&b).ok_or_else(|| Failure::new("decimal division by 0")))
    });
    to.add("ceil", signature!((ANY) -> FLOAT64), |_, args| Ok(to_float(any(args, 0)).ceil().into()));
    to.add("floor", signature!((ANY) -> FLOAT64), |_, args| Ok(to_float(any(args, 0)).floor().into()));
    to.add("round", signature!((ANY, INT, ...FLOAT64) -> FLOAT64), |_, args| {
        Ok(round(to_float(any(args, 0)), int(args, 1), any(args, 2).as_f64().unwrap_or(0.5)).into())
    });
}

/// Folds an operation over the arguments as decimals.
fn decimals(
    context: &mut Context<'_>,
    args: &[Value],
    operation: fn(Decimal, Decimal) -> Result<Decimal, Failure>,
) -> Result<Value, Failure> {
    let mut numbers = args.iter().map(|arg| {
        let float = to_float(arg);
        let complaint = || format!("Cannot create a Decimal from {}", float::format(float, b'g', None));
        Decimal::from_float(float).ok_or_else(|| Failure::new(complaint()))
    });
    let mut result = numbers.next().unwrap_or_else(|| Ok(Decimal::default()))?;
    for number in numbers {
        context.step(result.cost())?;
        result = operation(result, number?)?;
    }
    Ok(result.to_float().into())
}

/// Rounds to a number of places; `limit` is the fraction from which it goes up.
fn round(value: f64, places: i64, limit: f64) -> f64 {
    let power = power_of_ten(places);
    let scaled = power * value;
    let rounded = if scaled - scaled.trunc() >= limit { scaled.ceil() } else { scaled.floor() };
    rounded / power
}

/// A power of ten as Go has it: by squaring a fraction, with the error that this leaves in high powers.
fn power_of_ten(places: i64) -> f64 {
    // 10 is 0.625 times 2 to the 4th.
    let (mut square, mut square_exponent) = (0.625, 4_i32);
    let (mut product, mut exponent) = (1.0, 0_i32);
    let mut left = places.unsigned_abs();
    while left != 0 {
        if square_exponent > 1 << 12 {
            // No number is as large, whatever else there is to multiply.
            exponent += square_exponent;
            break;
        }
        if left & 1 == 1 {
            product *= square;
            exponent += square_exponent;
        }
        square *= square;
        square_exponent *= 2;
        if square < 0.5 {
            square += square;
            square_exponent -= 1;
        }
        left >>= 1;
    }
    if places < 0 {
        (product, exponent) = (1.0 / product, -exponent);
    }
    // In two steps, for the whole of it may be too large where the product is not.
    product * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

fn extremes(to: &mut Functions) {
    for name in ["max", "biggest"] {
        to.add(name, signature!((ANY, ...ANY) -> INT64), |_, args| {
            Ok(Value::int64(args.iter().map(to_int).max().unwrap_or_default()))
        });
    }
    to.add("min", signature!((ANY, ...ANY) -> INT64), |_, args| {
        Ok(Value::int64(args.iter().map(to_int).min().unwrap_or_default()))
    });
    to.add("maxf", signature!((ANY, ...ANY) -> FLOAT64), |_, args| Ok(extreme(args, f64::INFINITY)));
    to.add("minf", signature!((ANY, ...ANY) -> FLOAT64), |_, args| Ok(extreme(args, f64::NEG_INFINITY)));
}

/// The largest or smallest number: infinity in that direction wins over NaN, NaN over all others.
fn extreme(args: &[Value], end: f64) -> Value {
    let better = |a: f64, b: f64| {
        if a == end || b == end {
            end
        } else if a.is_nan() || b.is_nan() {
            f64::NAN
        } else if end > 0.0 {
            // Zeros have a sign, which shows in `-0`.
            if a > b || a == b && a.is_sign_positive() { a } else { b }
        } else if a < b || a == b && a.is_sign_negative() {
            a
        } else {
            b
        }
    };
    args.iter().map(to_float).reduce(better).unwrap_or_default().into()
}

fn sequences(to: &mut Functions) {
    to.add("until", signature!((INT) -> INTS), |context, args| {
        let stop = int(args, 0);
        integer_list(context, 0, stop, if stop < 0 { -1 } else { 1 })
    });
    to.add("untilStep", signature!((INT, INT, INT) -> INTS), |context, args| {
        integer_list(context, int(args, 0), int(args, 1), int(args, 2))
    });
    to.add("seq", signature!((...INT) -> STRING), |context, args| {
        let numbers = match rest(args, 0) {
            [_] => sequence(context, 1, None, int(args, 0))?,
            [_, _] => sequence(context, int(args, 0), None, int(args, 1))?,
            [_, _, _] => sequence(context, int(args, 0), Some(int(args, 1)), int(args, 2))?,
            _ => Vec::new(),
        };
        let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
        Ok(texts.join(" ").into())
    });
}

fn integer_list(context: &mut Context<'_>, start: i64, stop: i64, step: i64) -> Result<Value, Failure> {
    let items = range(context, start, stop, step)?.into_iter().map(Value::int).collect();
    Ok(List::typed(&types::INTS, items).into())
}

/// The numbers of `seq`: the end is part of it.
fn sequence(context: &mut Context<'_>, start: i64, step: Option<i64>, end: i64) -> Result<Vec<i64>, Failure> {
    let direction = if end < start { -1 } else { 1 };
    if step.is_some_and(|step| direction < 0 && step > 0) {
        return Ok(Vec::new());
    }
    range(context, start, end.wrapping_add(direction), step.unwrap_or(direction))
}

/// The numbers from `start` until before `stop`; none if the step leads away from it.
fn range(context: &mut Context<'_>, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Failure> {
    if step == 0 || (stop < start) != (step < 0) {
        return Ok(Vec::new());
    }
    let count = start.abs_diff(stop).div_ceil(step.unsigned_abs());
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > LIST_LENGTH {
        return Err(Failure::new(format!("a list of {count} numbers is longer than {LIST_LENGTH}")));
    }
    context.charge(count.saturating_mul(32))?;
    Ok((0..count as i64).map(|i| start.wrapping_add(i.wrapping_mul(step))).collect())
}
