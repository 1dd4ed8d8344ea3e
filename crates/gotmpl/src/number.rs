//! Numbers as Go's `strconv` reads them with base 0: prefixes, underscores, hexadecimal floats.

/// Why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// It is no number.
    Syntax,
    /// It does not fit; the nearest number that does is what Go gives besides.
    Range,
}

/// `strconv.ParseInt(text, 0, 64)`
pub fn parse_int(text: &str) -> Result<i64, NumberError> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = unsigned(digits, text)?;
    if negative {
        return 0_i64.checked_sub_unsigned(value).ok_or(NumberError::Range);
    }
    i64::try_from(value).map_err(|_| NumberError::Range)
}

/// `strconv.ParseUint(text, 0, 64)`
pub fn parse_uint(text: &str) -> Result<u64, NumberError> {
    unsigned(text, text)
}

fn unsigned(digits: &str, whole: &str) -> Result<u64, NumberError> {
    let bytes = digits.as_bytes();
    let (radix, digits) = match bytes {
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    let plain = without_underscores(digits, whole)?;
    if plain.is_empty() || !plain.chars().all(|c| c.is_digit(radix)) {
        return Err(NumberError::Syntax);
    }
    u64::from_str_radix(&plain, radix).map_err(|_| NumberError::Range)
}

/// `strconv.ParseFloat(text, 64)`
pub fn parse_float(text: &str) -> Result<f64, NumberError> {
    let (negative, number) = match text.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match number.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" if number.len() == text.len() => f64::NAN,
        lower if lower.starts_with("0x") => hex_float(&without_underscores(&lower[2..], text)?)?,
        lower => decimal_float(&without_underscores(lower, text)?)?,
    };
    let value = if negative { -value } else { value };
    let named = number.starts_with(['i', 'I']);
    if value.is_infinite() && !named { Err(NumberError::Range) } else { Ok(value) }
}

fn decimal_float(text: &str) -> Result<f64, NumberError> {
    let shaped = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'+' | b'-'));
    if !shaped {
        return Err(NumberError::Syntax);
    }
    text.parse().map_err(|_| NumberError::Syntax)
}

/// Reads `1.8p-3` with hexadecimal digits and rounds half to even.
fn hex_float(text: &str) -> Result<f64, NumberError> {
    let (digits, exponent) = text.split_once('p').ok_or(NumberError::Syntax)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut mantissa = 0_u64;
    let mut shift = 0_i64;
    let mut rest = false;
    let mut count = 0;
    for (c, of_fraction) in whole.chars().map(|c| (c, false)).chain(fraction.chars().map(|c| (c, true))) {
        let digit = u64::from(c.to_digit(16).ok_or(NumberError::Syntax)?);
        count += 1;
        if mantissa >> 58 == 0 {
            mantissa = mantissa << 4 | digit;
            shift -= if of_fraction { 4 } else { 0 };
        } else {
            rest |= digit != 0;
            shift += if of_fraction { 0 } else { 4 };
        }
    }
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if count == 0 || unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberError::Syntax);
    }
    let size = unsigned.parse::<i64>().unwrap_or(100_000).min(100_000);
    let exponent = shift + if exponent.starts_with('-') { -size } else { size };
    Ok(scale(mantissa, rest, exponent))
}

/// `mantissa * 2^exponent`, with something more behind the mantissa if `rest`.
fn scale(mantissa: u64, rest: bool, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let top = 64 - i64::from(mantissa.leading_zeros());
    let lowest = (exponent + top - 53).max(-1074);
    let drop = lowest - exponent;
    if drop <= 0 {
        return mantissa as f64 * power_of_two(exponent);
    }
    if drop > 64 {
        return 0.0;
    }
    let (kept, lost, half) = if drop == 64 {
        (0, mantissa, 1_u64 << 63)
    } else {
        (mantissa >> drop, mantissa & ((1 << drop) - 1), 1 << (drop - 1))
    };
    let up = lost > half || lost == half && (rest || kept & 1 == 1);
    (kept + u64::from(up)) as f64 * power_of_two(lowest)
}

fn power_of_two(exponent: i64) -> f64 {
    if exponent > 1023 {
        return f64::INFINITY;
    }
    if exponent >= -1022 {
        return f64::from_bits(((exponent + 1023) as u64) << 52);
    }
    f64::from_bits(1_u64.checked_shl((exponent + 1074).max(0) as u32).unwrap_or(0))
}

/// Takes underscores out if they stand between digits, as Go's syntax has it.
fn without_underscores(digits: &str, whole: &str) -> Result<String, NumberError> {
    if !whole.contains('_') {
        return Ok(digits.to_owned());
    }
    let unsigned = whole.strip_prefix(['+', '-']).unwrap_or(whole).to_ascii_lowercase();
    let prefix = ["0x", "0o", "0b"].into_iter().find(|prefix| unsigned.starts_with(prefix));
    let hex = prefix == Some("0x");
    let mut before = if prefix.is_some() { '0' } else { '^' };
    for c in unsigned[prefix.map_or(0, str::len)..].chars() {
        let class = match c {
            '0'..='9' => '0',
            'a'..='f' if hex => '0',
            '_' => '_',
            _ => '!',
        };
        if class == '_' && before != '0' || class == '!' && before == '_' {
            return Err(NumberError::Syntax);
        }
        before = class;
    }
    if before == '_' { Err(NumberError::Syntax) } else { Ok(digits.replace('_', "")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_with_prefixes_and_underscores() {
        for (text, expected) in [
            ("017", Ok(15)),
            ("0o17", Ok(15)),
            ("-0x10", Ok(-16)),
            ("0b_101", Ok(5)),
            ("1_000", Ok(1000)),
            ("0_1", Ok(1)),
            ("08", Err(NumberError::Syntax)),
            ("1__0", Err(NumberError::Syntax)),
            ("0x", Err(NumberError::Syntax)),
            ("", Err(NumberError::Syntax)),
            ("-9223372036854775808", Ok(i64::MIN)),
            ("9223372036854775808", Err(NumberError::Range)),
        ] {
            assert_eq!(parse_int(text), expected, "{text}");
        }
    }

    #[test]
    fn floats_are_read_as_go_reads_them() {
        for (text, expected) in [
            ("1_000.5", Ok(1000.5)),
            ("0x1_0p-2", Ok(4.0)),
            ("0x1.8p1", Ok(3.0)),
            ("0x1p-1074", Ok(5e-324)),
            ("0x1.fffffffffffff8p0", Ok(2.0)),
            ("09e1", Ok(90.0)),
            ("1.", Ok(1.0)),
            (".5_5", Ok(0.55)),
            ("1e-400", Ok(0.0)),
            ("1e400", Err(NumberError::Range)),
            ("0x1p5000", Err(NumberError::Range)),
            ("1_.5", Err(NumberError::Syntax)),
            ("0b1.1", Err(NumberError::Syntax)),
            ("0x10", Err(NumberError::Syntax)),
        ] {
            assert_eq!(parse_float(text), expected, "{text}");
        }
    }
}
