//! Amounts of resources: `500m`, `1.5Gi`, `2e3`.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};

/// The suffixes of powers of ten, by exponent.
const DECIMAL: [(&str, u32); 10] =
    [("n", 0), ("u", 3), ("m", 6), ("", 9), ("k", 12), ("M", 15), ("G", 18), ("T", 21), ("P", 24), ("E", 27)];
/// The suffixes of powers of 1024, smallest first.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO: i128 = 1_000_000_000;
/// Larger amounts are cut to this many, as in Kubernetes' library.
const MAX: i128 = i64::MAX as i128 * NANO;

/// How an amount was written, which is how it is printed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `1500m`, `2k`
    DecimalSi,
    /// `15e2`
    DecimalExponent,
    /// `2Ki`
    BinarySi,
}

/// An amount of something, exact to a billionth.
///
/// Two quantities are equal when their amounts are, however they were written.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

/// Why a text is no quantity, in the words of Kubernetes' library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The shape is wrong.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// The number is no number.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

impl Quantity {
    /// No amount at all.
    pub const ZERO: Quantity = Quantity { nanos: 0, format: Format::DecimalSi };

    /// Reads a quantity. Digits beyond a billionth are rounded up, away from zero.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let split = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)).unwrap_or(text.len());
        let (number, suffix) = text.split_at(split);
        let (negative, digits) = match number.strip_prefix(['+', '-']) {
            Some(rest) => (number.starts_with('-'), rest),
            None => (false, number),
        };
        if digits.is_empty() || digits.contains(['+', '-']) {
            return Err(QuantityError::Format);
        }
        let (format, scale) = read_suffix(suffix)?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(QuantityError::Number);
        }
        let nanos = scaled(whole, fraction, scale).min(MAX);
        Ok(Quantity { nanos: if negative { -nanos } else { nanos }, format })
    }

    /// The amount, rounded up to a whole number.
    pub fn value(&self) -> i64 {
        self.rounded_up(NANO)
    }

    /// The amount in thousandths, rounded up.
    pub fn milli_value(&self) -> i64 {
        self.rounded_up(NANO / 1000)
    }

    /// Whether it is nothing.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// Whether it is less than nothing.
    pub fn is_negative(&self) -> bool {
        self.nanos < 0
    }

    /// The same amount rounded up to whole thousandths, the finest that resources of pods may have.
    #[must_use]
    pub fn rounded_to_milli(self) -> Self {
        Quantity { nanos: ceiling(self.nanos, NANO / 1000) * (NANO / 1000), ..self }
    }

    /// Whether the amount is a whole number of thousandths.
    pub fn is_whole_milli(&self) -> bool {
        self.nanos % (NANO / 1000) == 0
    }

    /// Whether the amount is a whole number.
    pub fn is_whole(&self) -> bool {
        self.nanos % NANO == 0
    }

    fn rounded_up(&self, unit: i128) -> i64 {
        let value = ceiling(self.nanos, unit);
        i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
    }
}

/// Division that rounds away from zero.
fn ceiling(nanos: i128, unit: i128) -> i128 {
    let whole = nanos / unit;
    if nanos % unit == 0 { whole } else { whole + nanos.signum() }
}

enum Scale {
    /// A power of ten.
    Ten(i32),
    /// A power of two.
    Two(u32),
}

fn read_suffix(suffix: &str) -> Result<(Format, Scale), QuantityError> {
    if let Some(at) = DECIMAL.iter().position(|(known, _)| *known == suffix) {
        return Ok((Format::DecimalSi, Scale::Ten(DECIMAL[at].1 as i32 - 9)));
    }
    if let Some(at) = BINARY.iter().position(|known| *known == suffix) {
        return Ok((Format::BinarySi, Scale::Two(10 * (at as u32 + 1))));
    }
    let shape = suffix.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let digits = shape.strip_prefix(['+', '-']).unwrap_or(shape);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(QuantityError::Format);
    }
    match suffix.strip_prefix(['e', 'E']).map(str::parse::<i32>) {
        Some(Ok(exponent)) => Ok((Format::DecimalExponent, Scale::Ten(exponent))),
        _ => Err(QuantityError::Suffix),
    }
}

/// The amount in billionths: cut where it is too large, rounded up where it is too fine.
fn scaled(whole: &str, fraction: &str, scale: Scale) -> i128 {
    let digits = whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0');
    let mut number: i128 = 0;
    let mut dropped = 0_i64;
    let mut rest = false;
    for digit in digits {
        // 27 digits leave room for every factor below.
        if number < 10_i128.pow(26) {
            number = number * 10 + i128::from(digit - b'0');
        } else {
            dropped += 1;
            rest |= digit != b'0';
        }
    }
    let (ten, two) = match scale {
        Scale::Ten(ten) => (i64::from(ten), 0),
        Scale::Two(two) => (0, two),
    };
    let exponent = ten + 9 - fraction.len() as i64 + dropped;
    if number == 0 {
        return 0;
    }
    let shifted = number.checked_mul(1 << two.min(60));
    match (shifted, exponent) {
        (None, 0..) => MAX,
        (None, _) => divided(number, exponent).saturating_mul(1 << two.min(60)),
        (Some(number), 0..) => u32::try_from(exponent)
            .ok()
            .and_then(|exponent| 10_i128.checked_pow(exponent))
            .and_then(|factor| number.checked_mul(factor))
            .unwrap_or(MAX),
        (Some(number), _) => {
            let exact = divided(number, exponent);
            if rest && number % 10 == 0 { exact.saturating_add(1) } else { exact }
        }
    }
}

/// Divides by a power of ten, rounding up.
fn divided(number: i128, exponent: i64) -> i128 {
    let divisor = u32::try_from(-exponent).ok().and_then(|power| 10_i128.checked_pow(power));
    divisor.map_or(1, |divisor| ceiling(number, divisor))
}

/// Prints the canonical form: no fraction, the largest suffix that allows it.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        if self.format == Format::BinarySi && self.is_whole() && self.nanos.abs() >= 1024 * NANO {
            let mut number = self.nanos / NANO;
            let mut suffix = "";
            for larger in BINARY {
                if number % 1024 != 0 {
                    break;
                }
                number /= 1024;
                suffix = larger;
            }
            return write!(f, "{number}{suffix}");
        }
        let mut number = self.nanos;
        let mut exponent = -9;
        while number % 1000 == 0 {
            number /= 1000;
            exponent += 3;
        }
        match (self.format, exponent) {
            (_, 0) => write!(f, "{number}"),
            (Format::DecimalExponent, _) => write!(f, "{number}e{exponent}"),
            _ => {
                let suffix = DECIMAL.iter().find(|(_, at)| *at as i32 - 9 == exponent).map_or("", |(s, _)| s);
                write!(f, "{number}{suffix}")
            }
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// The sum is printed as the left side was, unless that is nothing.
impl Add for Quantity {
    type Output = Quantity;

    fn add(self, other: Quantity) -> Quantity {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Quantity { nanos: self.nanos.saturating_add(other.nanos), format }
    }
}

impl Sub for Quantity {
    type Output = Quantity;

    fn sub(self, other: Quantity) -> Quantity {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Quantity { nanos: self.nanos.saturating_sub(other.nanos), format }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_print_in_canonical_form() {
        for (text, canonical) in [
            ("0", "0"),
            ("0Gi", "0"),
            ("1000m", "1"),
            ("0.5", "500m"),
            (".5", "500m"),
            ("1.", "1"),
            ("1500m", "1500m"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000Mi", "1000Mi"),
            ("512", "512"),
            ("0.5Ki", "512"),
            ("2k", "2k"),
            ("2000", "2k"),
            ("100e3", "100e3"),
            ("1e3", "1e3"),
            ("12e2", "1200"),
            ("1E", "1E"),
            ("5E-3", "5e-3"),
            ("1n", "1n"),
            ("0.1n", "1n"),
            ("-1.5", "-1500m"),
            ("+3", "3"),
            ("9223372036854775807", "9223372036854775807"),
            ("1e30", "9223372036854775807"),
        ] {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_says_why() {
        for (text, why) in [
            ("", QuantityError::Format),
            ("abc", QuantityError::Format),
            ("1 Gi", QuantityError::Format),
            ("1.2.3", QuantityError::Number),
            (".", QuantityError::Number),
            ("1GiB", QuantityError::Format),
            ("1K", QuantityError::Suffix),
            ("1e", QuantityError::Suffix),
        ] {
            assert_eq!(Quantity::parse(text), Err(why), "{text}");
        }
    }

    #[test]
    fn amounts_compare_add_and_round() {
        let of = |text| Quantity::parse(text).unwrap();
        assert!(of("1Gi") > of("1G"));
        assert_eq!(of("1000m"), of("1"));
        assert_eq!((of("1Gi") + of("512Mi")).to_string(), "1536Mi");
        assert_eq!((of("1") - of("250m")).to_string(), "750m");
        assert_eq!(of("1.1").value(), 2);
        assert_eq!(of("1.0001").milli_value(), 1001);
        assert_eq!(of("100u").rounded_to_milli().to_string(), "1m");
    }
}
