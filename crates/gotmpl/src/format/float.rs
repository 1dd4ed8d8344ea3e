//! Floating-point numbers as Go's `strconv.FormatFloat` writes them.

/// The significant digits of a number without trailing zeros: `0.d1d2d3… * 10^point`.
struct Digits {
    digits: Vec<u8>,
    point: i32,
}

/// Beyond this many digits there are only zeros in any `f64`.
const EXACT: usize = 1_100;

/// `strconv.FormatFloat(value, verb, precision, 64)`; no precision means as many digits as it takes.
pub fn format(value: f64, verb: u8, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let mut out = String::new();
    if value.is_sign_negative() {
        out.push('-');
    }
    let size = value.abs();
    match verb {
        b'b' => binary(&mut out, size),
        b'x' | b'X' => hexadecimal(&mut out, size, verb, precision),
        b'f' => {
            let digits = match precision {
                None => shortest(size),
                Some(precision) => fixed(size, precision),
            };
            let wanted = precision.unwrap_or_else(|| digits.fraction());
            plain(&mut out, &digits, wanted);
        }
        b'e' | b'E' => {
            let digits = match precision {
                None => shortest(size),
                Some(precision) => rounded(size, precision + 1),
            };
            let wanted = precision.unwrap_or_else(|| digits.len().saturating_sub(1));
            scientific(&mut out, &digits, wanted, verb);
        }
        _ => general(&mut out, size, verb, precision),
    }
    out
}

/// `%g`: scientific for small and large exponents, otherwise plain.
fn general(out: &mut String, size: f64, verb: u8, precision: Option<usize>) {
    let digits = match precision {
        None => shortest(size),
        Some(precision) => rounded(size, precision.max(1)),
    };
    let precision = precision.map(|precision| precision.max(1));
    let count = digits.len() as i64;
    let point = i64::from(digits.point);
    let threshold = match precision {
        None => 6,
        Some(precision) if precision as i64 > count && count >= point => count,
        Some(precision) => precision as i64,
    };
    if point - 1 < -4 || point > threshold {
        let wanted = precision.map_or(digits.len(), |precision| precision.min(digits.len()));
        let letter = if verb == b'G' { b'E' } else { b'e' };
        scientific(out, &digits, wanted.saturating_sub(1), letter);
    } else {
        plain(out, &digits, digits.fraction());
    }
}

impl Digits {
    /// Takes `1.2345e10` apart.
    fn read(scientific: &str) -> Self {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
        let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let point = if digits.is_empty() { 0 } else { exponent.parse::<i32>().unwrap_or(0) + 1 };
        Self { digits, point }
    }

    fn len(&self) -> usize {
        self.digits.len()
    }

    /// How many digits stand behind the point.
    fn fraction(&self) -> usize {
        usize::try_from(self.digits.len() as i64 - i64::from(self.point)).unwrap_or(0)
    }

    fn at(&self, position: i64) -> char {
        let digit = usize::try_from(position).ok().and_then(|position| self.digits.get(position));
        digit.map_or('0', |&digit| char::from(digit))
    }
}

/// The fewest digits that mean this number and no other; of those, the nearest, and at a tie the even ones.
fn shortest(size: f64) -> Digits {
    const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;
    let text = format!("{size:e}");
    let digits = Digits::read(&text);
    if digits.len() < 15 || size < EXACT_INTEGERS && size.fract() == 0.0 {
        return digits;
    }
    // The formatter of the standard library rounds up at a tie, except where it is told how many digits to give.
    let precision = digits.len() - 1;
    let nearest = format!("{size:.precision$e}");
    if nearest.parse() == Ok(size) { Digits::read(&nearest) } else { digits }
}

/// At most `count` significant digits.
fn rounded(size: f64, count: usize) -> Digits {
    let precision = count.min(EXACT) - 1;
    Digits::read(&format!("{size:.precision$e}"))
}

/// At most `places` digits behind the point.
fn fixed(size: f64, places: usize) -> Digits {
    let precision = places.min(EXACT);
    let text = format!("{size:.precision$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.trim_start_matches('0');
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let mut point = whole.len() as i32;
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros);
    point -= zeros as i32;
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    Digits { point: if digits.is_empty() { 0 } else { point }, digits }
}

fn plain(out: &mut String, digits: &Digits, places: usize) {
    let point = i64::from(digits.point);
    if point > 0 {
        (0..point).for_each(|at| out.push(digits.at(at)));
    } else {
        out.push('0');
    }
    if places > 0 {
        out.push('.');
        (0..places as i64).for_each(|place| out.push(digits.at(point + place)));
    }
}

fn scientific(out: &mut String, digits: &Digits, places: usize, verb: u8) {
    out.push(digits.at(0));
    if places > 0 {
        out.push('.');
        (1..=places as i64).for_each(|at| out.push(digits.at(at)));
    }
    let exponent = if digits.len() == 0 { 0 } else { digits.point - 1 };
    push_exponent(out, char::from(verb), exponent);
}

fn push_exponent(out: &mut String, letter: char, exponent: i32) {
    out.push(letter);
    out.push(if exponent < 0 { '-' } else { '+' });
    let digits = exponent.unsigned_abs().to_string();
    if digits.len() < 2 {
        out.push('0');
    }
    out.push_str(&digits);
}

/// The bits of the mantissa, and the exponent of two that goes with them.
fn parts(size: f64) -> (u64, i32) {
    let bits = size.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 {
        0 => (mantissa, -1074),
        exponent => (mantissa | 1 << 52, exponent - 1075),
    }
}

fn binary(out: &mut String, size: f64) {
    let (mantissa, exponent) = parts(size);
    out.push_str(&format!("{mantissa}p{exponent:+}"));
}

fn hexadecimal(out: &mut String, size: f64, verb: u8, precision: Option<usize>) {
    let (mut mantissa, mut exponent) = parts(size);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // The leading digit is 1 and stands in bit 60, so that 15 digits follow it.
        let shift = mantissa.leading_zeros() as i32 - 3;
        mantissa = if shift >= 0 { mantissa << shift } else { mantissa >> -shift };
        exponent += 60 - shift;
    }
    if let Some(precision) = precision.filter(|&precision| precision < 15) {
        let extra = 60 - 4 * precision as u32;
        let lost = mantissa & ((1 << extra) - 1);
        let half = 1_u64 << (extra - 1);
        mantissa >>= extra;
        if lost > half || lost == half && mantissa & 1 == 1 {
            mantissa += 1;
        }
        mantissa <<= extra;
        if mantissa & 1 << 61 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let text = format!("{mantissa:016x}");
    let digits = text[1..].trim_end_matches('0');
    let wanted = precision.unwrap_or(digits.len());
    let mut number = format!("0x{}", &text[..1]);
    if wanted > 0 {
        number.push('.');
        number.extend(digits.chars().chain(std::iter::repeat('0')).take(wanted));
    }
    push_exponent(&mut number, 'p', exponent);
    out.push_str(&if verb == b'X' { number.to_uppercase() } else { number });
}
