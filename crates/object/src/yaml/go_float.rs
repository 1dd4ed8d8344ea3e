//! Floating-point numbers as Go prints them.

/// The shortest decimal digits that give `value` back, and the exponent of the first of them.
struct Digits {
    negative: bool,
    digits: String,
    /// The power of ten of the first digit.
    exponent: i32,
}

fn shortest(scientific: &str) -> Digits {
    // Rust's `{:e}` prints the shortest digits: `-1.25e-7`.
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    Digits { negative, digits: mantissa.replace('.', ""), exponent: exponent.parse().unwrap_or(0) }
}

impl Digits {
    /// Like `%f`: `1250` or `0.0125`.
    fn plain(&self) -> String {
        let mut out = String::with_capacity(24);
        if self.negative {
            out.push('-');
        }
        let len = self.digits.len() as i32;
        if self.exponent < 0 {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', (-self.exponent - 1) as usize));
            out.push_str(&self.digits);
        } else if len <= self.exponent + 1 {
            out.push_str(&self.digits);
            out.extend(std::iter::repeat_n('0', (self.exponent + 1 - len) as usize));
        } else {
            let (whole, fraction) = self.digits.split_at((self.exponent + 1) as usize);
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        out
    }

    /// Like `%e`: `1.25e+07`, with at least `exponent_digits` digits in the exponent.
    fn scientific(&self, exponent_digits: usize) -> String {
        let sign = if self.negative { "-" } else { "" };
        let (first, rest) = self.digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let exponent_sign = if self.exponent < 0 { '-' } else { '+' };
        format!("{sign}{first}{dot}{rest}e{exponent_sign}{:0exponent_digits$}", self.exponent.unsigned_abs())
    }
}

/// As `strconv.FormatFloat(value, 'g', -1, 64)`; the words are YAML's.
pub(crate) fn general(value: f64) -> String {
    match word(value) {
        Some(word) => word.to_owned(),
        None => general_digits(&shortest(&format!("{value:e}"))),
    }
}

/// As `strconv.FormatFloat(value, 'g', -1, 32)`, which is how a number becomes a key.
pub(crate) fn general_as_key(value: f64) -> String {
    match word(f64::from(value as f32)) {
        Some(word) => word.to_owned(),
        None => general_digits(&shortest(&format!("{:e}", value as f32))),
    }
}

fn general_digits(digits: &Digits) -> String {
    // Without a precision, Go decides as if it were 6.
    if (-4..6).contains(&digits.exponent) { digits.plain() } else { digits.scientific(2) }
}

fn word(value: f64) -> Option<&'static str> {
    match value {
        f64::INFINITY => Some(".inf"),
        f64::NEG_INFINITY => Some("-.inf"),
        value if value.is_nan() => Some(".nan"),
        _ => None,
    }
}

/// As `encoding/json` prints a float: `%f`, or `%e` when very small or very large.
pub(crate) fn json(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0".to_owned() } else { "0".to_owned() };
    }
    // Whole numbers up to here are told exactly, and are nearly all that there are.
    const EXACT: f64 = (1_u64 << 53) as f64;
    if value.abs() < EXACT && value.trunc() == value {
        return (value as i64).to_string();
    }
    let digits = shortest(&format!("{value:e}"));
    if value.abs() < 1e-6 || value.abs() >= 1e21 { digits.scientific(1) } else { digits.plain() }
}
