//! The formats that a schema may ask of strings and numbers; any other is ignored, as in Kubernetes.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine;

/// A format whose values are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// 32-bit whole numbers.
    Int32,
    /// 64-bit whole numbers.
    Int64,
    /// Single-precision numbers.
    Float,
    /// Double-precision numbers.
    Double,
    /// Strings, by the name in the schema.
    Text(&'static str),
}

const TEXTS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

impl Format {
    /// Reads the word beside a `type`. Formats that do not go with the type, and unknown ones, are none.
    pub(crate) fn parse(word: &str, ty: &str) -> Option<Self> {
        match (ty, word) {
            ("integer", "int32") => Some(Format::Int32),
            ("integer", "int64") => Some(Format::Int64),
            ("number", "float") => Some(Format::Float),
            ("number", "double") => Some(Format::Double),
            ("" | "string", _) => TEXTS.iter().find(|known| **known == word).map(|known| Format::Text(known)),
            _ => None,
        }
    }

    /// The word in the schema.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Format::Int32 => "int32",
            Format::Int64 => "int64",
            Format::Float => "float",
            Format::Double => "double",
            Format::Text(word) => word,
        }
    }
}

/// Whether a string has a text format.
pub(crate) fn is_valid(format: &str, text: &str) -> bool {
    match format {
        "bsonobjectid" => text.len() == 24 && all_hex(text),
        "byte" => base64::engine::general_purpose::STANDARD.decode(text).is_ok(),
        "cidr" => is_cidr(text),
        "creditcard" => is_credit_card(text),
        "date" => is_date(text),
        "date-time" | "datetime" => is_date_time(text),
        "duration" => is_duration(text),
        "email" => is_email(text),
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && all_hex(digits)
        }
        "hostname" => is_hostname(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "k8s-long-name" => text.len() <= 253 && text.split('.').all(is_name_part),
        "k8s-short-name" => text.len() <= 63 && is_name_part(text),
        "mac" => is_mac(text),
        "rgbcolor" => is_rgb(text),
        "ssn" => is_ssn(text),
        "uri" => is_uri(text),
        "uuid" => is_uuid(text, None, false),
        "uuid3" => is_uuid(text, Some(b'3'), false),
        "uuid4" => is_uuid(text, Some(b'4'), true),
        "uuid5" => is_uuid(text, Some(b'5'), true),
        _ => true,
    }
}

fn all_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_name_part(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(first), Some(last)) if inner(*first) && inner(*last))
        && bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let bits_ok = |max: u8| bits.parse::<u8>().is_ok_and(|n| n <= max) && !bits.starts_with('+');
    (address.parse::<Ipv4Addr>().is_ok() && bits_ok(32))
        || (address.parse::<Ipv6Addr>().is_ok() && bits_ok(128))
}

fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    if !(13..=16).contains(&digits.len()) {
        return false;
    }
    luhn(&digits)
}

fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (0, _) => *digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// `2014-12-15T19:30:20.000Z`, with the range checks that the original makes on the fields.
fn is_date_time(text: &str) -> bool {
    if text.len() < 4 {
        return false;
    }
    let upper = text.to_ascii_uppercase();
    let Some((date, time)) = upper.split_once('T') else { return false };
    let zone_at = time.find(['Z', '+', '-']);
    is_date(date) && zone_at.is_some() && upper.parse::<jiff::Timestamp>().is_ok()
}

/// A duration as Go or Scala write it: `1h30m`, `22 ns`, `3 days`.
fn is_duration(text: &str) -> bool {
    go_duration(text).is_some() || scala_duration(text)
}

/// Go's `time.ParseDuration`, in nanoseconds.
pub(crate) fn go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: f64 = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit_len = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let scale = match &rest[..unit_len] {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        total += number * scale;
        rest = &rest[unit_len..];
    }
    if total > i64::MAX as f64 {
        return None;
    }
    let nanos = total.round() as i64;
    Some(if negative { -nanos } else { nanos })
}

fn scala_duration(text: &str) -> bool {
    const UNITS: &[&str] = &[
        "ns",
        "nano",
        "us",
        "micro",
        "µs",
        "ms",
        "milli",
        "s",
        "sec",
        "m",
        "min",
        "h",
        "hr",
        "hour",
        "d",
        "day",
        "w",
        "wk",
        "week",
        "nanosecond",
        "microsecond",
        "millisecond",
        "second",
        "minute",
    ];
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let unit = unit.trim_start();
    !number.is_empty() && UNITS.iter().any(|known| unit == *known || unit.strip_suffix('s') == Some(known))
}

/// An address, alone or after a name: `Ann <ann@example.com>`.
fn is_email(text: &str) -> bool {
    if let Some((_, address)) = text.strip_suffix('>').and_then(|text| text.split_once('<')) {
        return is_email(address);
    }
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let word = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"()<>[]:;@\\,\"".contains(c))
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.contains("..")
    };
    word(local) && word(domain)
}

fn is_hostname(text: &str) -> bool {
    if text.len() > 255 {
        return false;
    }
    let symbol = |c: char| c.is_alphanumeric() || (!c.is_ascii() && !c.is_whitespace());
    let labels: Vec<&str> = text.split('.').collect();
    let part = |label: &&str| {
        let count = label.chars().count();
        (1..=63).contains(&count)
            && label.chars().all(|c| symbol(c) || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last_ok = labels.len() < 2
        || labels
            .last()
            .is_some_and(|last| last.chars().count() >= 2 && last.chars().all(char::is_alphabetic));
    labels.iter().all(part) && last_ok
}

fn is_isbn10(text: &str) -> bool {
    let compact: Vec<char> = text.chars().filter(|c| *c != '-' && *c != ' ').collect();
    if compact.len() != 10 {
        return false;
    }
    let mut sum = 0;
    for (at, c) in compact.iter().enumerate() {
        let value = match c.to_digit(10) {
            Some(digit) => digit,
            None if at == 9 && *c == 'X' => 10,
            None => return false,
        };
        sum += (at as u32 + 1) * value;
    }
    sum.is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits: Option<Vec<u32>> =
        text.chars().filter(|c| *c != '-' && *c != ' ').map(|c| c.to_digit(10)).collect();
    digits.is_some_and(|digits| {
        digits.len() == 13
            && digits
                .iter()
                .enumerate()
                .map(|(at, digit)| digit * if at % 2 == 0 { 1 } else { 3 })
                .sum::<u32>()
                .is_multiple_of(10)
    })
}

fn is_mac(text: &str) -> bool {
    let pairs = |sep: char, width: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(sep).collect();
        counts.contains(&parts.len()) && parts.iter().all(|part| part.len() == width && all_hex(part))
    };
    pairs(':', 2, &[6, 8, 20]) || pairs('-', 2, &[6, 8, 20]) || pairs('.', 4, &[3, 4, 10])
}

fn is_rgb(text: &str) -> bool {
    text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')).is_some_and(|inner| {
        let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
        parts.len() == 3 && parts.iter().all(|part| part.parse::<u8>().is_ok())
    })
}

fn is_ssn(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| *c != '-' && *c != ' ').collect();
    digits.len() == 9 && digits.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 11
}

/// An absolute URI or an absolute path, as Go's `url.ParseRequestURI` takes them.
pub(crate) fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.chars().any(|c| c.is_ascii_control() || c == ' ') {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_ok = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    scheme_ok && !rest.is_empty()
}

fn is_uuid(text: &str, version: Option<u8>, variant: bool) -> bool {
    let compact: String = match text.len() {
        36 => {
            let dashes = [8, 13, 18, 23];
            if !dashes.iter().all(|at| text.as_bytes().get(*at) == Some(&b'-')) {
                return false;
            }
            text.chars().filter(|c| *c != '-').collect()
        }
        32 => text.to_owned(),
        _ => return false,
    };
    let bytes = compact.as_bytes();
    bytes.len() == 32
        && all_hex(&compact)
        && version.is_none_or(|version| bytes.get(12) == Some(&version))
        && (!variant || bytes.get(16).is_some_and(|byte| b"89abAB".contains(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_formats_accept_and_refuse() {
        let cases = [
            ("ipv4", "10.0.0.1", true),
            ("ipv4", "10.0.0.256", false),
            ("ipv6", "fe80::1", true),
            ("cidr", "10.0.0.0/8", true),
            ("cidr", "10.0.0.0/33", false),
            ("date", "2024-02-30", false),
            ("date", "2024-02-29", true),
            ("date-time", "2014-12-15T19:30:20.000Z", true),
            ("date-time", "2014-12-15 19:30", false),
            ("duration", "1h30m", true),
            ("duration", "22 ns", true),
            ("duration", "soon", false),
            ("email", "a@example.com", true),
            ("email", "a.example.com", false),
            ("hostname", "a-b.example.com", true),
            ("hostname", "-a.example.com", false),
            ("uri", "https://example.com/x", true),
            ("uri", "example", false),
            ("uuid", "7a6c3b32-0f1d-4a7e-9d7f-5d2a4a1f8a11", true),
            ("uuid3", "7a6c3b32-0f1d-4a7e-9d7f-5d2a4a1f8a11", false),
            ("byte", "aGVsbG8=", true),
            ("byte", "%%%", false),
            ("k8s-short-name", "a-b", true),
            ("k8s-short-name", "A", false),
            ("isbn10", "0321751043", true),
            ("isbn13", "978-0321751041", true),
            ("mac", "00:1a:2b:3c:4d:5e", true),
        ];
        for (format, text, valid) in cases {
            assert_eq!(is_valid(format, text), valid, "{format} {text}");
        }
    }
}
