//! Values as Kubernetes prints them inside a field error.

use std::fmt::Write;

use lynceus_object::Value;

pub(crate) use crate::kinds::gofmt::quoted;

/// A value after `Invalid value: `: scalars in Go's plain form, strings quoted, the rest as JSON.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(f) => float(*f),
        Value::Str(text) => quoted(text),
        Value::Null | Value::Seq(_) | Value::Map(_) => json(value),
    }
}

/// JSON as Go's encoder writes it: `<`, `>` and `&` are escaped.
pub(crate) fn json(value: &Value) -> String {
    let plain = serde_json::to_string(value).unwrap_or_default();
    if !plain.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return plain;
    }
    let mut out = String::with_capacity(plain.len() + 8);
    for c in plain.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// A float as Go's `%v` prints it: shortest form, with an exponent from 1e+06 on and below 1e-4.
pub(crate) fn float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude) {
        let text = format!("{number:e}");
        return match text.split_once('e') {
            Some((mantissa, exponent)) => {
                let (sign, digits) = match exponent.strip_prefix('-') {
                    Some(digits) => ('-', digits),
                    None => ('+', exponent),
                };
                format!("{mantissa}e{sign}{digits:0>2}")
            }
            None => text,
        };
    }
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_look_like_go() {
        for (number, text) in [
            (1.5, "1.5"),
            (3.0, "3"),
            (1e6, "1e+06"),
            (1e-7, "1e-07"),
            (123456789.0, "1.23456789e+08"),
            (0.0, "0"),
        ] {
            assert_eq!(float(number), text);
        }
    }
}
