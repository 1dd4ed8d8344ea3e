//! Numbers and texts of them, as Go writes and reads them.

/// A number in a message: whole ones without a point, others with as many digits as tell them from their neighbours.
pub(super) fn text(number: f64) -> String {
    let whole = truncated(number);
    if whole as f64 == number { whole.to_string() } else { general(number, None) }
}

/// The whole part; what does not fit is the least number there is, as the processor has it.
pub(super) fn truncated(number: f64) -> i64 {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if number > -BOUND && number < BOUND { number as i64 } else { i64::MIN }
}

/// `%g`: with an exponent if that is very small or not below the precision, which is 6 if there is none.
pub(super) fn general(number: f64, precision: Option<usize>) -> String {
    if let Some(text) = endless(number) {
        return text;
    }
    let digits = precision.map(|digits| digits.max(1));
    let scientific = match digits {
        Some(digits) => format!("{number:.*e}", digits.min(MOST_DIGITS) - 1),
        None => format!("{number:e}"),
    };
    let (mantissa, exponent) = split(&scientific);
    let mantissa =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let count = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    let bound = match digits.map(|digits| i32::try_from(digits).unwrap_or(i32::MAX)) {
        // All digits are before the point: that many are enough.
        Some(digits) if digits > count && count > exponent => count,
        Some(digits) => digits,
        None => 6,
    };
    if exponent < -4 || exponent >= bound {
        return format!("{mantissa}e{}", power(exponent));
    }
    let behind = usize::try_from(count - 1 - exponent).unwrap_or_default();
    format!("{number:.behind$}")
}

/// No number has more digits than this.
const MOST_DIGITS: usize = 1_100;

/// `%f`.
pub(super) fn fixed(number: f64, precision: usize) -> String {
    endless(number).unwrap_or_else(|| {
        let text = format!("{number:.*}", precision.min(MOST_DIGITS));
        text + &"0".repeat(precision.saturating_sub(MOST_DIGITS))
    })
}

/// `%e`.
pub(super) fn scientific(number: f64, precision: usize) -> String {
    endless(number).unwrap_or_else(|| {
        let text = format!("{number:.*e}", precision.min(MOST_DIGITS));
        let (mantissa, exponent) = split(&text);
        let zeros = "0".repeat(precision.saturating_sub(MOST_DIGITS));
        format!("{mantissa}{zeros}e{}", power(exponent))
    })
}

fn endless(number: f64) -> Option<String> {
    match number {
        number if number.is_nan() => Some("NaN".to_owned()),
        f64::INFINITY => Some("+Inf".to_owned()),
        f64::NEG_INFINITY => Some("-Inf".to_owned()),
        _ => None,
    }
}

fn split(scientific: &str) -> (&str, i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    (mantissa, exponent.parse().unwrap_or_default())
}

fn power(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{:02}", exponent.unsigned_abs())
}

/// What `tonumber` makes of a text. Without a point it is whole, so that `1e5` is none.
pub(super) fn read(text: &str, base: Option<u32>) -> Option<f64> {
    let text = text.trim_matches([' ', '\n', '\t']);
    if text.contains('.') {
        return fraction(text);
    }
    let (text, base) = match (text.get(..2), base) {
        (Some("0x" | "0X"), None) => (&text[2..], 16),
        (_, base) => (text, base.unwrap_or(10)),
    };
    if !(2..=36).contains(&base) {
        return None;
    }
    i64::from_str_radix(text, base).ok().map(|number| number as f64)
}

fn fraction(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// What a text is worth where a number is wanted. A zero in front makes it octal, and `0x` hexadecimal.
pub(super) fn coerced(text: &str) -> Option<f64> {
    let text = text.trim_matches([' ', '\n', '\t']);
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let whole = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => i64::from_str_radix(&digits[2..], 16),
        Some("0b") => i64::from_str_radix(&digits[2..], 2),
        Some("0o") => i64::from_str_radix(&digits[2..], 8),
        Some(start) if start.starts_with('0') => i64::from_str_radix(digits, 8),
        _ => digits.parse(),
    };
    match whole {
        Ok(number) if !digits.starts_with(['-', '+']) => {
            Some(if minus { -(number as f64) } else { number as f64 })
        }
        _ => fraction(text),
    }
}
