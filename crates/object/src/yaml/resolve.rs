//! What a plain scalar means.

use super::go_float;
use super::timestamp::is_timestamp;
use super::{Version, error::Error};
use crate::value::{Str, Value};

/// A scalar's meaning. A string is the scalar's own text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Beyond `i64`; Kubernetes turns it into a float.
    Uint(u64),
    Float(f64),
    Str,
}

/// What `text` means when it stands there without quotes and without a tag.
#[inline]
pub(super) fn resolve(text: &str, version: Version) -> Scalar {
    match text.as_bytes().first() {
        None => Scalar::Null,
        Some(b'+' | b'-' | b'0'..=b'9') => resolve_number(text),
        Some(b'.') => resolve_dot(text),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            resolve_word(text, version)
        }
        Some(_) => Scalar::Str,
    }
}

/// Whether a plain scalar looks like a number that JSON does not have: `.inf` and `.nan`, with and without a sign.
pub(super) fn may_be_unbounded(text: &str) -> bool {
    matches!(text.as_bytes(), [b'.', b'i' | b'I' | b'n' | b'N', ..] | [b'+' | b'-', b'.', b'i' | b'I', ..])
}

fn resolve_word(text: &str, version: Version) -> Scalar {
    if text.len() > 5 {
        return Scalar::Str;
    }
    match text {
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ if version == Version::V3 => Scalar::Str,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        _ => Scalar::Str,
    }
}

fn resolve_dot(text: &str) -> Scalar {
    match text {
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" => Scalar::Float(f64::INFINITY),
        // Here, and only here, Go allows `_` between digits without ado.
        _ => match without_separators(text) {
            Some(plain) if is_float(&plain) => parse_float(&plain),
            _ => Scalar::Str,
        },
    }
}

/// The text without underscores, if each stands between two digits.
fn without_separators(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let well_placed =
        (0..bytes.len()).filter(|at| bytes[*at] == b'_').all(|at| at > 0 && digit(at - 1) && digit(at + 1));
    well_placed.then(|| text.replace('_', ""))
}

fn resolve_number(text: &str) -> Scalar {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    // Most strings that begin with a digit are names, versions or times: be quick about them.
    let can_be_number = |byte: u8| byte.is_ascii_hexdigit() || b"+-._xXoO".contains(&byte);
    if !text.bytes().all(can_be_number) {
        return Scalar::Str;
    }
    if text.contains('_') { number(&text.replace('_', "")) } else { number(text) }
}

fn number(plain: &str) -> Scalar {
    if let Some(int) = go_int(plain) {
        return int;
    }
    if is_float(plain) {
        return parse_float(plain);
    }
    // `0b` and `-0b` are read by hand after the rest, which lets a second sign through.
    let binary = plain.strip_prefix("0b").map(|digits| i64::from_str_radix(digits, 2));
    match binary {
        Some(Ok(int)) => Scalar::Int(int),
        _ => Scalar::Str,
    }
}

/// As Go's `ParseInt` and then `ParseUint` with base 0: the prefix says the base.
fn go_int(text: &str) -> Option<Scalar> {
    let (negative, signed, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, true, &text[1..]),
        b'+' => (false, true, &text[1..]),
        _ => (false, false, text),
    };
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &unsigned[2..]),
        [b'0', b'o' | b'O', ..] => (8, &unsigned[2..]),
        [b'0', b'b' | b'B', ..] => (2, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    // Rust would accept a second sign here.
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        return 0i64.checked_sub_unsigned(magnitude).map(Scalar::Int);
    }
    match i64::try_from(magnitude) {
        Ok(int) => Some(Scalar::Int(int)),
        Err(_) if !signed => Some(Scalar::Uint(magnitude)),
        Err(_) => None,
    }
}

/// Whether `text` is a sign, digits with at most one dot, and an exponent.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    mantissa_ok && exponent_ok
}

fn parse_float(text: &str) -> Scalar {
    match text.parse::<f64>() {
        // Out of range is an error to Go, so that the text stays a string.
        Ok(float) if float.is_finite() => Scalar::Float(float),
        _ => Scalar::Str,
    }
}

/// The tag of the key that merges.
pub(super) const MERGE_TAG: &str = "tag:yaml.org,2002:merge";

const PREFIX: &str = "tag:yaml.org,2002:";

/// Why a text does not mean what its tag says.
pub(super) struct Mismatch {
    /// The value is not repeated here: it may be a secret.
    pub(super) problem: &'static str,
    /// What go-yaml says, value and all.
    pub(super) full: Option<String>,
}

impl Mismatch {
    fn new(problem: &'static str, found: Scalar, text: &str, wanted: &str) -> Self {
        let found = match found {
            Scalar::Null => "null",
            Scalar::Bool(_) => "bool",
            Scalar::Int(_) | Scalar::Uint(_) => "int",
            Scalar::Float(_) => "float",
            Scalar::Str => "str",
        };
        Mismatch { problem, full: Some(format!("cannot decode !!{found} `{text}` as a !!{wanted}")) }
    }
}

/// What `text` means under an explicit tag; the string is given where it is not the text itself.
pub(super) fn resolve_tagged(
    tag: &str,
    text: &str,
    version: Version,
) -> Result<(Scalar, Option<String>), Mismatch> {
    let kind = tag.strip_prefix(PREFIX).unwrap_or_default();
    let found = match kind {
        "binary" => {
            let problem = |problem| Mismatch { problem, full: None };
            return decode_binary(text).map(|text| (Scalar::Str, Some(text))).map_err(problem);
        }
        "bool" | "int" | "float" | "null" => resolve(text, version),
        "timestamp" if !is_timestamp(text) => resolve(text, version),
        _ => return Ok((Scalar::Str, None)),
    };
    let problem = match (kind, found) {
        ("bool", Scalar::Bool(_))
        | ("int", Scalar::Int(_) | Scalar::Uint(_))
        | ("float", Scalar::Float(_))
        | ("null", Scalar::Null) => return Ok((found, None)),
        ("float", Scalar::Int(int)) => return Ok((Scalar::Float(int as f64), None)),
        ("bool", _) => "cannot decode the value as a !!bool",
        ("int", _) => "cannot decode the value as a !!int",
        ("float", _) => "cannot decode the value as a !!float",
        ("null", _) => "cannot decode the value as a !!null",
        _ => "cannot decode the value as a !!timestamp",
    };
    Err(Mismatch::new(problem, found, text, kind))
}

fn decode_binary(text: &str) -> Result<String, &'static str> {
    use base64::Engine as _;
    let compact: String = text.chars().filter(|char| !matches!(char, '\r' | '\n')).collect();
    match base64::engine::general_purpose::STANDARD.decode(compact) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(_) => Err("!!binary value contains invalid base64 data"),
    }
}

impl Scalar {
    /// The value that Kubernetes gets, after the way through JSON.
    #[inline]
    pub(super) fn into_value(self, text: impl FnOnce() -> Str) -> Value {
        match self {
            Scalar::Str => Value::Str(text()),
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Int(int) => Value::Int(int),
            Scalar::Uint(uint) => Value::Float(uint as f64),
            Scalar::Float(float) => float_value(float),
        }
    }

    /// The string that the scalar is as a key.
    pub(super) fn into_key(self, text: impl FnOnce() -> Str) -> Result<Str, &'static str> {
        match self {
            Scalar::Str => Ok(text()),
            Scalar::Null => Err("unsupported map key of type: null"),
            Scalar::Bool(bool) => Ok(if bool { "true".into() } else { "false".into() }),
            Scalar::Int(int) => Ok(ecow::eco_format!("{int}")),
            Scalar::Uint(_) => Err("unsupported map key of type: uint64"),
            Scalar::Float(float) => Ok(go_float::general_as_key(float).into()),
        }
    }
}

/// A float that JSON would print without a dot comes back from there as an integer.
fn float_value(float: f64) -> Value {
    if float.fract() == 0.0
        && float.abs() < 1e19
        && let Ok(int) = go_float::json(float).parse::<i64>()
    {
        return Value::Int(int);
    }
    Value::Float(float)
}

/// The error for a number that JSON does not have.
pub(super) fn not_json(float: f64, place: (u32, u32)) -> Error {
    let name = match float {
        f64::INFINITY => "+Inf",
        f64::NEG_INFINITY => "-Inf",
        _ => "NaN",
    };
    Error::json(place, format!("json: unsupported value: {name}"))
}
