//! Durations: nanoseconds, written as `1h30m0.5s`.

use super::parse::quote;

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// The most nanoseconds below zero, which has no counterpart above.
const LOWEST: u64 = 1 << 63;

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", MICROSECOND),
    ("µs", MICROSECOND),
    ("μs", MICROSECOND),
    ("ms", MILLISECOND),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3_600 * SECOND),
];

/// Reads a duration; errors have Go's words.
pub(in crate::sprig) fn parse_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text.as_bytes()));
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(number_end);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (name, after) = after.split_at(unit_end);
        let value = amount(whole).ok_or_else(invalid)?;
        if name.is_empty() {
            return Err(format!("time: missing unit in duration {}", quote(text.as_bytes())));
        }
        let Some((_, unit)) = UNITS.iter().find(|(unit, _)| *unit == name) else {
            let unit = quote(name.as_bytes());
            return Err(format!("time: unknown unit {unit} in duration {}", quote(text.as_bytes())));
        };
        let nanos = value.checked_mul(*unit).filter(|&nanos| value <= LOWEST / unit && nanos <= LOWEST);
        let nanos = nanos.and_then(|nanos| nanos.checked_add(part_of(fraction, *unit)));
        total = nanos
            .and_then(|nanos| total.checked_add(nanos))
            .filter(|&sum| sum <= LOWEST)
            .ok_or_else(invalid)?;
        rest = after;
    }
    match negative {
        true => Ok(0i64.wrapping_sub_unsigned(total)),
        false => i64::try_from(total).map_err(|_| invalid()),
    }
}

fn amount(digits: &str) -> Option<u64> {
    if digits.is_empty() { Some(0) } else { digits.parse().ok().filter(|&value| value <= LOWEST) }
}

/// The nanoseconds of a decimal fraction of a unit. Digits beyond what 63 bits hold do not count.
fn part_of(fraction: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1f64);
    for digit in fraction.bytes().map(|byte| u64::from(byte - b'0')) {
        if value > (LOWEST - 1) / 10 || value * 10 + digit > LOWEST {
            break;
        }
        value = value * 10 + digit;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// A duration as Go prints it.
pub(in crate::sprig) fn show_duration(nanos: i64) -> String {
    let magnitude = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let small = |unit: u64, name: &str| format!("{sign}{}{name}", decimal(magnitude, unit));
    match magnitude {
        0 => "0s".to_owned(),
        1..MICROSECOND => small(1, "ns"),
        MICROSECOND..MILLISECOND => small(MICROSECOND, "µs"),
        MILLISECOND..SECOND => small(MILLISECOND, "ms"),
        _ => {
            let (minutes, rest) = (magnitude / (60 * SECOND), magnitude % (60 * SECOND));
            let seconds = decimal(rest, SECOND);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// A quotient with as many decimals as it has.
fn decimal(value: u64, unit: u64) -> String {
    let places = unit.ilog10() as usize;
    let fraction = format!("{:0places$}", value % unit);
    let fraction = if places == 0 { "" } else { fraction.trim_end_matches('0') };
    if fraction.is_empty() { (value / unit).to_string() } else { format!("{}.{fraction}", value / unit) }
}

/// The multiple of a step that is nearest, away from zero in the middle.
pub(in crate::sprig) fn round(nanos: i64, step: i64) -> i64 {
    if step <= 0 {
        return nanos;
    }
    let rest = nanos.unsigned_abs() % step.unsigned_abs();
    let towards_zero = i128::from(nanos) - i128::from(nanos.signum()) * i128::from(rest);
    let up = if rest * 2 >= step.unsigned_abs() { i128::from(step) * i128::from(nanos.signum()) } else { 0 };
    let rounded = towards_zero + up;
    i64::try_from(rounded).unwrap_or(if rounded < 0 { i64::MIN } else { i64::MAX })
}
