//! Amounts of resources: `500m`, `1.5Gi`, `2e3`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};

/// The suffixes of powers of ten, by exponent.
const DECIMAL: [(&str, u32); 10] =
    [("n", 0), ("u", 3), ("m", 6), ("", 9), ("k", 12), ("M", 15), ("G", 18), ("T", 21), ("P", 24), ("E", 27)];
/// The suffixes of powers of 1024, smallest first.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO: i128 = 1_000_000_000;
/// Larger amounts with a binary suffix are cut to this, as in Kubernetes' library.
const MAX_BINARY: i128 = i64::MAX as i128 * NANO;
/// Other amounts are cut where they would not fit: at a hundred thousand million million million million.
const MAX: i128 = 10_i128.pow(29) * NANO;

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
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

impl Quantity {
    /// No amount at all.
    pub const ZERO: Quantity = Quantity { nanos: 0, format: Format::DecimalSi };

    /// Reads a quantity. Digits beyond a billionth are rounded up, away from zero.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let parts = Parts::of(text)?;
        let nanos = scaled(parts.whole, parts.fraction, parts.scale);
        let (nanos, format) = match parts.format {
            // What is less than one has no binary form.
            Format::BinarySi if (1..NANO).contains(&nanos) => (nanos, Format::DecimalSi),
            Format::BinarySi => (nanos.min(MAX_BINARY), Format::BinarySi),
            other => (nanos, other),
        };
        Ok(Quantity { nanos: if parts.negative { -nanos } else { nanos }, format })
    }

    /// What an API server answers when it is given this text: the canonical form, except that it hands
    /// on what it takes to be canonical already.
    pub fn wire_text(text: &str) -> Result<Cow<'_, str>, QuantityError> {
        let quantity = Quantity::parse(text)?;
        let parts = Parts::of(text)?;
        if parts.is_kept_as_written() {
            Ok(Cow::Borrowed(text))
        } else {
            Ok(Cow::Owned(quantity.to_string()))
        }
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

#[derive(Clone, Copy)]
enum Scale {
    /// A power of ten.
    Ten(i32),
    /// A power of two.
    Two(u32),
}

/// A quantity's text, taken apart.
struct Parts<'a> {
    negative: bool,
    /// The digits before the dot, without zeros at the start.
    whole: &'a str,
    fraction: &'a str,
    format: Format,
    scale: Scale,
}

impl<'a> Parts<'a> {
    /// Kubernetes is lenient here: digits may be missing altogether, which is zero.
    fn of(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let (negative, unsigned) = match text.strip_prefix(['+', '-']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let (whole, rest) = digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        let (format, scale) = read_suffix(suffix)?;
        Ok(Parts { negative, whole: whole.trim_start_matches('0'), fraction, format, scale })
    }

    /// Whether Kubernetes does not look further, because the number is short and looks canonical.
    fn is_kept_as_written(&self) -> bool {
        const MAX_DIGITS: usize = 18;
        let whole = if self.whole.is_empty() { "0" } else { self.whole };
        let len = whole.len() + self.fraction.len();
        match self.scale {
            Scale::Ten(exponent) => {
                let exponent = i64::from(exponent) - self.fraction.len() as i64;
                let all = format!("{whole}{}", self.fraction);
                len <= MAX_DIGITS
                    && exponent >= -9
                    && exponent % 3 == 0
                    && !all.ends_with("000")
                    && !all.starts_with('0')
            }
            Scale::Two(bits) => {
                let room = 14_i64 - whole.len() as i64 - i64::from(bits) * 3 / 10;
                let last_bits = whole.parse::<i64>().unwrap_or_default() & 7;
                self.fraction.is_empty() && room >= 0 && last_bits != 0
            }
        }
    }
}

/// Splits after the digits at the start.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn read_suffix(suffix: &str) -> Result<(Format, Scale), QuantityError> {
    if let Some(at) = DECIMAL.iter().position(|(known, _)| *known == suffix) {
        return Ok((Format::DecimalSi, Scale::Ten(DECIMAL[at].1 as i32 - 9)));
    }
    if let Some(at) = BINARY.iter().position(|known| *known == suffix) {
        return Ok((Format::BinarySi, Scale::Two(10 * (at as u32 + 1))));
    }
    let shape = suffix.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let exponent = shape.strip_prefix(['+', '-']).unwrap_or(shape);
    if !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
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
            ("12E", "12E"),
            ("1e28", "10e27"),
            ("9Ei", "9223372036854775807"),
            (".", "0"),
            ("m", "0"),
        ] {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn the_wire_keeps_what_looks_canonical() {
        for (text, wire) in [
            ("1000m", "1"),
            ("500m", "500m"),
            ("+5", "+5"),
            ("007", "007"),
            ("1024Ki", "1Mi"),
            ("41.Ki", "41.Ki"),
            ("5e0", "5e0"),
            ("0.5", "500m"),
            ("2000", "2k"),
        ] {
            assert_eq!(Quantity::wire_text(text).unwrap(), wire, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_says_why() {
        for (text, why) in [
            ("", QuantityError::Format),
            ("abc", QuantityError::Format),
            ("1 Gi", QuantityError::Format),
            ("1.2.3", QuantityError::Format),
            ("--1", QuantityError::Suffix),
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
