//! Random text and numbers. The bytes come from the caller.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::args::{int, text};
use super::runes::runes;
use crate::{Context, Failure, Functions, Str, Value, signature};

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

pub(super) fn register(to: &mut Functions) {
    letters(to, "randAlphaNum", || [UPPER, LOWER, DIGITS].concat());
    letters(to, "randAlpha", || [UPPER, LOWER].concat());
    letters(to, "randNumeric", || DIGITS.to_owned());
    letters(to, "randAscii", || (' '..='~').collect());
    to.add("randInt", signature!((INT, INT) -> INT), |context, args| {
        let (least, end) = (int(args, 0), int(args, 1));
        let width = u64::try_from(end.wrapping_sub(least)).ok().filter(|width| *width > 0);
        let width = width.ok_or_else(|| Failure::new("invalid argument to Intn"))?;
        Ok(Value::int(least.wrapping_add_unsigned(below(context, width))))
    });
    to.add("randBytes", signature!((INT) -> STRING), |context, args| {
        let count = usize::try_from(int(args, 0))
            .map_err(|_| Failure::new("runtime error: makeslice: len out of range"))?;
        context.charge(count.saturating_mul(3))?;
        let mut bytes = vec![0; count];
        context.random(&mut bytes);
        Ok(STANDARD.encode(bytes).into())
    });
    to.add("uuidv4", signature!(() -> STRING), |context, _| Ok(uuid(context).into()));
    to.add("shuffle", signature!((STRING) -> STRING), |context, args| {
        Ok(shuffle(context, text(args, 0)).into())
    });
}

/// Adds a function that gives so many characters of an alphabet; none if the number is negative.
fn letters(to: &mut Functions, name: &'static str, alphabet: fn() -> String) {
    to.add(name, signature!((INT) -> STRING), move |context, args| {
        let count = usize::try_from(int(args, 0)).unwrap_or_default();
        context.charge(count)?;
        let alphabet = alphabet().into_bytes();
        let letter = |_| char::from(alphabet[below(context, alphabet.len() as u64) as usize]);
        Ok((0..count).map(letter).collect::<String>().into())
    });
}

/// A number below a bound, each as likely as any other.
pub(super) fn below(context: &mut Context<'_>, bound: u64) -> u64 {
    // Numbers beyond the last multiple of the bound would favour small results.
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let mut bytes = [0; 8];
        context.random(&mut bytes);
        let number = u64::from_le_bytes(bytes);
        if number < fair {
            return number % bound;
        }
    }
}

/// A random UUID: 122 bits of chance, and what says so.
fn uuid(context: &mut Context<'_>) -> String {
    let mut bytes = [0; 16];
    context.random(&mut bytes);
    let bits = u128::from_be_bytes(bytes) & !(0xF << 76 | 0b11 << 62) | 0x4 << 76 | 0b10 << 62;
    let digits = format!("{bits:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn shuffle(context: &mut Context<'_>, text: &str) -> Str {
    let mut chars: Vec<char> = runes(text).collect();
    for last in (1..chars.len()).rev() {
        let other = below(context, last as u64 + 1) as usize;
        chars.swap(last, other);
    }
    chars.into_iter().collect::<String>().into()
}
