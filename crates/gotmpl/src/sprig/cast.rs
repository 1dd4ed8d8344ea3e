//! Conversions between kinds of values as the library `cast` makes them: what cannot be converted is 0.

use crate::{Int, Value};

/// A value as `int64`, and as `int` too, which has the same size.
pub(super) fn to_int(value: &Value) -> i64 {
    match value {
        Value::Int(value, _) => *value,
        Value::Float(value) => truncate(*value),
        Value::Str(text) => parse_int(without_zero_decimals(text), 0).unwrap_or_default(),
        Value::Bool(value) => i64::from(*value),
        Value::Object(_) => calendar_number(value).unwrap_or_default(),
        _ => 0,
    }
}

/// Months and weekdays are the only declared types that count as numbers.
fn calendar_number(value: &Value) -> Option<i64> {
    matches!(value.type_name(), "time.Month" | "time.Weekday").then(|| value.underlying().as_i64()).flatten()
}

/// A value as `float64`.
pub(super) fn to_float(value: &Value) -> f64 {
    match value {
        Value::Int(value, Int::U64 | Int::U) => value.cast_unsigned() as f64,
        Value::Int(value, _) => *value as f64,
        Value::Float(value) => *value,
        Value::Str(text) => parse_float(text).unwrap_or_default(),
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Object(_) => calendar_number(value).unwrap_or_default() as f64,
        _ => 0.0,
    }
}

/// Go's conversion of a float to an integer. What does not fit becomes the smallest integer, as amd64 has it.
pub(super) fn truncate(value: f64) -> i64 {
    // 2^63 is the first float that does not fit.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) {
        value as i64
    } else {
        i64::MIN
    }
}

/// Cuts zeros after the decimal point off the end, and the point with them.
fn without_zero_decimals(text: &str) -> &str {
    let mut zeros = false;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b'0' => zeros = true,
            b'.' if zeros => return &text[..at],
            b'.' => {}
            _ => break,
        }
    }
    text
}

/// Go's `strconv.ParseInt`. Base 0 reads the base from a prefix (`0x`, `0o`, `0b`, `0`) and allows `_` between digits.
pub(super) fn parse_int(text: &str, base: u32) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (base, digits) = if base == 0 { detect_base(digits)? } else { (base, digits.to_owned()) };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let magnitude = u64::from_str_radix(&digits, base).ok()?;
    match negative {
        true if magnitude <= 1 << 63 => Some(0i64.wrapping_sub_unsigned(magnitude)),
        true => None,
        false => i64::try_from(magnitude).ok(),
    }
}

fn detect_base(text: &str) -> Option<(u32, String)> {
    let lower = text.to_ascii_lowercase();
    let (base, digits) = match lower.as_bytes() {
        [b'0', b'x', _, ..] => (16, &lower[2..]),
        [b'0', b'b', _, ..] => (2, &lower[2..]),
        [b'0', b'o', _, ..] => (8, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    Some((base, without_underscores(digits, base != 10, base == 16)?))
}

/// Takes out underscores, which must stand between digits; a prefix that names the base counts as a digit.
fn without_underscores(text: &str, prefixed: bool, hexadecimal: bool) -> Option<String> {
    let mut before = if prefixed { '0' } else { ' ' };
    for c in text.chars() {
        let digit = c.is_ascii_digit() || hexadecimal && c.is_ascii_hexdigit();
        let well_placed = if c == '_' { before == '0' } else { before != '_' || digit };
        if !well_placed {
            return None;
        }
        before = if digit { '0' } else { c };
    }
    (before != '_').then(|| text.replace('_', ""))
}

/// Go's `strconv.ParseFloat`: decimal and hexadecimal numbers, infinities and NaN. None where it gives an error.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = body.to_ascii_lowercase();
    let magnitude = match lower.as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" if body.len() == text.len() => f64::NAN,
        _ => match lower.strip_prefix("0x") {
            Some(digits) => parse_hex_float(&without_underscores(digits, true, true)?)?,
            None => parse_decimal_float(&without_underscores(&lower, false, false)?)?,
        },
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn parse_decimal_float(lower: &str) -> Option<f64> {
    let member = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-');
    // The sign is gone already, and a second one is wrong.
    let plain = !lower.starts_with(['+', '-']) && lower.bytes().all(member);
    let value: f64 = if plain { lower.parse().ok()? } else { return None };
    // Go has an error for what is too large.
    value.is_finite().then_some(value)
}

/// Hexadecimal floats need an exponent of two: `0x1.8p3`.
fn parse_hex_float(digits: &str) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let figures = format!("{whole}{fraction}");
    if figures.is_empty() || !figures.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    // More figures than 128 bits hold would need rounding that nobody has asked for yet.
    let significant = figures.trim_start_matches('0');
    let value = if significant.is_empty() { 0 } else { u128::from_str_radix(significant, 16).ok()? };
    let figures_after_point = i32::try_from(fraction.len()).ok()?;
    let sign_first = exponent.starts_with(['+', '-']);
    if exponent.is_empty() || !exponent[usize::from(sign_first)..].bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let exponent: i32 = exponent.parse().ok()?;
    let scaled = value as f64 * 2f64.powi(exponent.checked_sub(figures_after_point.checked_mul(4)?)?);
    scaled.is_finite().then_some(scaled)
}
