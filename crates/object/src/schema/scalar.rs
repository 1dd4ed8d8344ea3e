//! Leaves that Go's types write in a way of their own: times, durations, quantities.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::model::Scalar;
use super::{check, shape};
use crate::quantity::Quantity;
use crate::value::{Str, Value};

/// The words that Go's `time` gives for a time that it cannot read.
pub(crate) fn time_problem(text: &str, micro: bool) -> Option<String> {
    if parse_time(text).is_some() {
        return None;
    }
    let layout = if micro { "2006-01-02T15:04:05.000000Z07:00" } else { "2006-01-02T15:04:05Z07:00" };
    Some(match misfit(text) {
        Misfit::Range(part) => format!("parsing time \"{text}\": {part} out of range"),
        Misfit::Shape(rest, element) => {
            format!("parsing time \"{text}\" as \"{layout}\": cannot parse \"{rest}\" as \"{element}\"")
        }
    })
}

/// How a text is no time.
enum Misfit<'t> {
    /// What is left of it does not look like this part of the layout.
    Shape(&'t str, &'static str),
    /// This part of it is no such number.
    Range(&'static str),
}

/// Walks the layout and says where the text leaves it.
fn misfit(text: &str) -> Misfit<'_> {
    const NO_LIMIT: u32 = 99;
    // The part of the layout, how many digits it has, its name and its largest number.
    const LAYOUT: [(&str, usize, &str, u32); 11] = [
        ("2006", 4, "year", 9999),
        ("-", 0, "", 0),
        ("01", 2, "month", 12),
        ("-", 0, "", 0),
        ("02", 2, "day", NO_LIMIT),
        ("T", 0, "", 0),
        ("15", 2, "hour", 23),
        (":", 0, "", 0),
        ("04", 2, "minute", 59),
        (":", 0, "", 0),
        ("05", 2, "second", 59),
    ];
    let mut rest = text;
    for (element, digits, name, most) in LAYOUT {
        let (part, after) = match rest.split_at_checked(digits.max(1)) {
            Some(split) => split,
            None => return Misfit::Shape(rest, element),
        };
        if digits == 0 {
            if part != element {
                return Misfit::Shape(rest, element);
            }
        } else if !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Misfit::Shape(rest, element);
        } else if part.parse().is_ok_and(|number: u32| number > most || name == "month" && number == 0) {
            return Misfit::Range(name);
        }
        rest = after;
    }
    // All the numbers look right, so that it is the day that this month does not have, or the end.
    match rest.starts_with(['Z', '+', '-', '.']) {
        true => Misfit::Range("day"),
        false => Misfit::Shape(rest, "Z07:00"),
    }
}

/// Whether a scalar is beyond doubt as Go prints it after reading it.
pub(super) fn is_settled(kind: Scalar, value: &Value) -> bool {
    match (kind, value) {
        (Scalar::String | Scalar::IntOrString, Value::Str(_))
        | (Scalar::Bool, Value::Bool(_))
        | (Scalar::Int64, Value::Int(_))
        | (Scalar::Float64, Value::Int(_) | Value::Float(_))
        | (Scalar::Raw | Scalar::Json | Scalar::Fields, _)
        | (Scalar::SchemaOrArray | Scalar::SchemaOrBool | Scalar::SchemaOrStrings, _) => true,
        (Scalar::Int32 | Scalar::IntOrString, Value::Int(number)) => i32::try_from(*number).is_ok(),
        (Scalar::Bytes, Value::Str(text)) => check::base64_problem(text).is_none(),
        (Scalar::Time, Value::Str(text)) => is_plain_time(text, "0000-00-00T00:00:00Z"),
        (Scalar::MicroTime, Value::Str(text)) => is_plain_time(text, "0000-00-00T00:00:00.000000Z"),
        (Scalar::Duration | Scalar::Quantity, Value::Str(_)) => {
            shape::usual_form(kind, value).as_ref() == Some(value)
        }
        _ => false,
    }
}

/// Whether a text is a time of a day that every month has, in the form of a pattern of digits.
fn is_plain_time(text: &str, pattern: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        _ => byte == wanted,
    };
    let within = |at: usize, least: &str, most: &str| {
        text.get(at..at + 2).is_some_and(|part| (least..=most).contains(&part))
    };
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(fits)
        && !text.starts_with("000")
        && within(5, "01", "12")
        && within(8, "01", "28")
        && within(11, "00", "23")
        && within(14, "00", "59")
        && within(17, "00", "59")
}

/// A point in time as RFC 3339 has it, with the strictness of Go.
pub(crate) fn parse_time(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || bytes[10] != b'T' || text.ends_with('z') || text.contains('[') {
        return None;
    }
    parse_plain_time(text).or_else(|| text.parse().ok())
}

/// Reads a time that is written as [`print_time`] does; other forms are for others to read.
pub fn parse_plain_time(text: &str) -> Option<Timestamp> {
    let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let marks = [bytes[4], bytes[7], bytes[10], bytes[13], bytes[16], bytes[19]];
    let digit = |at: usize| bytes[at].is_ascii_digit().then(|| (bytes[at] - b'0') as i8);
    let pair = |at: usize| Some(digit(at)? * 10 + digit(at + 1)?);
    let (century, year) = (pair(0)?, pair(2)?);
    let (month, day, hour, minute, second) = (pair(5)?, pair(8)?, pair(11)?, pair(14)?, pair(17)?);
    // A second that is none, and Go's zero time, are read by whoever knows what to do with them.
    if marks != *b"--T::Z" || second > 59 || century == 0 {
        return None;
    }
    let year = i16::from(century) * 100 + i16::from(year);
    Offset::UTC.to_timestamp(DateTime::new(year, month, day, hour, minute, second, 0).ok()?).ok()
}

/// A time as Kubernetes prints it: UTC, whole seconds.
pub fn print_time(time: Timestamp) -> Str {
    let at = Offset::UTC.to_datetime(time);
    if !(0..=9999).contains(&at.year()) {
        return Str::from(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    // Every write has several times, and a format is read anew for each.
    let mut text = *b"0000-00-00T00:00:00Z";
    let mut put = |end: usize, mut number: i16| {
        for place in text[..end].iter_mut().rev().take_while(|place| place.is_ascii_digit()) {
            *place = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    put(4, at.year());
    for (end, number) in
        [(7, at.month()), (10, at.day()), (13, at.hour()), (16, at.minute()), (19, at.second())]
    {
        put(end, number.into());
    }
    Str::from(std::str::from_utf8(&text).unwrap_or_default())
}

/// A time with microseconds, all six digits.
pub(crate) fn print_micro_time(time: Timestamp) -> Str {
    let micros = time.subsec_nanosecond().rem_euclid(1_000_000_000) / 1_000;
    Str::from(format!("{}.{micros:06}Z", time.strftime("%Y-%m-%dT%H:%M:%S")))
}

/// Nanoseconds of a duration as Go writes it, such as `1h2m0.5s`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
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
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let scale: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        total = total.checked_add(scaled(number, scale)?)?;
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

fn scaled(number: &str, scale: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || whole.len() > 18 {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(scale)?;
    let mut unit = scale;
    for digit in fraction.bytes() {
        if !digit.is_ascii_digit() {
            return None;
        }
        unit /= 10;
        total += unit * i128::from(digit - b'0');
    }
    Some(total)
}

/// A duration as Go prints it.
pub(crate) fn print_duration(nanos: i64) -> Str {
    let magnitude = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let mut out = String::from(sign);
    let fraction = |value: u64, unit: u64| {
        let text = format!("{}.{:0width$}", value / unit, value % unit, width = unit.ilog10() as usize);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match magnitude {
        0 => out.push_str("0s"),
        1..1_000 => out.push_str(&format!("{magnitude}ns")),
        1_000..1_000_000 => out.push_str(&format!("{}µs", fraction(magnitude, 1_000))),
        1_000_000..1_000_000_000 => out.push_str(&format!("{}ms", fraction(magnitude, 1_000_000))),
        _ => {
            let (minutes, rest) = (magnitude / 60_000_000_000, magnitude % 60_000_000_000);
            // Writing to a string does not fail.
            if minutes >= 60 {
                let _ = write!(out, "{}h", minutes / 60);
            }
            if minutes > 0 {
                let _ = write!(out, "{}m", minutes % 60);
            }
            let _ = write!(out, "{}s", fraction(rest, 1_000_000_000));
        }
    }
    Str::from(out)
}

/// A quantity in its usual form, from a string or a number.
pub(crate) fn quantity_text(value: &Value) -> Option<Str> {
    match value {
        Value::Null => Some("0".into()),
        Value::Str(text) => canonical_quantity(text),
        Value::Int(number) => canonical_quantity(&number.to_string()),
        Value::Float(number) => canonical_quantity(&number.to_string()),
        _ => None,
    }
}

fn canonical_quantity(text: &str) -> Option<Str> {
    Quantity::wire_text(text.trim()).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_times_are_read_and_printed_as_the_library_does() {
        for text in [
            "1970-01-01T00:00:00Z",
            "2024-02-29T23:59:59Z",
            "1969-12-31T23:59:59Z",
            "9999-12-30T00:00:00Z",
            "0100-03-01T12:34:56Z",
        ] {
            let time: Timestamp = text.parse().unwrap();
            assert_eq!(parse_plain_time(text), Some(time));
            assert_eq!(print_time(time), text);
            assert_eq!(print_time(time), time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        }
        for text in
            ["2023-02-29T00:00:00Z", "2023-01-01T00:00:60Z", "2023-01-01t00:00:00Z", "2023-01-01T00:00:00+0"]
        {
            assert_eq!(parse_plain_time(text), None);
        }
    }

    #[test]
    fn durations_are_read_and_printed_as_go_does() {
        for (text, printed) in [
            ("90s", "1m30s"),
            ("1h", "1h0m0s"),
            ("1.5h", "1h30m0s"),
            ("0", "0s"),
            ("-250ms", "-250ms"),
            ("1500us", "1.5ms"),
            ("1m0.5s", "1m0.5s"),
        ] {
            assert_eq!(print_duration(parse_duration(text).expect(text)), printed, "{text}");
        }
        assert_eq!(parse_duration("5"), None);
        assert_eq!(parse_duration(""), None);
    }

    #[test]
    fn times_are_read_with_any_offset_and_printed_in_utc() {
        let time = parse_time("2026-01-02T03:04:05.123456+01:00").expect("time");
        assert_eq!(print_time(time), "2026-01-02T02:04:05Z");
        assert_eq!(print_micro_time(time), "2026-01-02T02:04:05.123456Z");
    }

    #[test]
    fn a_bad_time_is_described_as_go_does() {
        assert_eq!(
            time_problem("yesterday", false).as_deref(),
            Some(
                "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\""
            )
        );
        assert_eq!(time_problem("2026-01-02T03:04:05Z", false), None);
    }
}
