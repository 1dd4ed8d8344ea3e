//! The verbs on numbers, strings and bytes.

use super::flags::{Flags, Output};
use super::{float, quote};
use crate::Str;
use crate::text::bytes_of;
use crate::unicode::is_print;

/// Writes an integer in a base.
pub(super) fn integer(out: &mut Output, flags: Flags, bits: u64, signed: bool, verb: char) {
    let negative = signed && bits.cast_signed() < 0;
    let size = if negative { bits.wrapping_neg() } else { bits };
    let mut digits = match verb {
        'b' => format!("{size:b}"),
        'o' | 'O' => format!("{size:o}"),
        'x' => format!("{size:x}"),
        'X' => format!("{size:X}"),
        _ => size.to_string(),
    };
    let spaced = Flags { zero: false, ..flags };
    let mut wanted = 0;
    if let Some(precision) = flags.precision {
        wanted = precision;
        if precision == 0 && size == 0 {
            return out.padding(spaced, flags.width.unwrap_or(0));
        }
    } else if flags.zero
        && !flags.minus
        && let Some(width) = flags.width
    {
        wanted = width.saturating_sub(usize::from(negative || flags.plus || flags.space));
    }
    if digits.len() < wanted {
        digits.insert_str(0, &"0".repeat(wanted - digits.len()));
    }
    if flags.sharp {
        match verb {
            'b' => digits.insert_str(0, "0b"),
            'o' | 'O' if !digits.starts_with('0') => digits.insert(0, '0'),
            'x' => digits.insert_str(0, "0x"),
            'X' => digits.insert_str(0, "0X"),
            _ => {}
        }
    }
    if verb == 'O' {
        digits.insert_str(0, "0o");
    }
    if negative {
        digits.insert(0, '-');
    } else if flags.plus {
        digits.insert(0, '+');
    } else if flags.space {
        digits.insert(0, ' ');
    }
    out.pad(spaced, &digits);
}

/// `%c`
pub(super) fn character(out: &mut Output, flags: Flags, bits: u64) {
    let text = Str::from_bytes(rune(bits).encode_utf8(&mut [0; 4]).as_bytes());
    // It is one character wide even if it is held byte by byte.
    let width = flags.width.map(|width| width + text.chars().count() - 1);
    out.pad(Flags { width, ..flags }, &text);
}

/// `%q` of a number
pub(super) fn quoted_character(out: &mut Output, flags: Flags, bits: u64) {
    out.pad(flags, &quote::single(rune(bits), flags.plus));
}

/// `%U`
pub(super) fn code_point(out: &mut Output, flags: Flags, bits: u64) {
    let digits = format!("{bits:04X}");
    let zeros = flags.precision.unwrap_or(0).saturating_sub(digits.len());
    let mut text = format!("U+{}{digits}", "0".repeat(zeros));
    let c = u32::try_from(bits).ok().and_then(char::from_u32);
    if let Some(c) = c.filter(|&c| flags.sharp && is_print(c)) {
        text.extend([' ', '\'', c, '\'']);
    }
    out.pad(Flags { zero: false, ..flags }, &text);
}

fn rune(bits: u64) -> char {
    u32::try_from(bits).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Writes a float; `precision` is what the verb has if none is given.
pub(super) fn number(out: &mut Output, flags: Flags, value: f64, verb: char, precision: Option<usize>) {
    let precision = flags.precision.or(precision);
    let text = float::format(value, verb as u8, precision);
    let (mut sign, mut digits) = match text.as_bytes().first() {
        Some(b'-') => ('-', text[1..].to_owned()),
        Some(b'+') => ('+', text[1..].to_owned()),
        _ => ('+', text),
    };
    if flags.space && sign == '+' && !flags.plus {
        sign = ' ';
    }
    if digits.starts_with(['I', 'N']) {
        if digits != "NaN" || flags.space || flags.plus {
            digits.insert(0, sign);
        }
        return out.pad(Flags { zero: false, ..flags }, &digits);
    }
    if flags.sharp && verb != 'b' {
        digits = with_point(&digits, verb, precision);
    }
    if !flags.plus && sign == '+' {
        return out.pad(flags, &digits);
    }
    let length = digits.len() + 1;
    match flags.width {
        Some(width) if flags.zero && !flags.minus && width > length => {
            out.push(sign);
            out.padding(flags, width - length);
            out.push_str(&digits);
        }
        _ => {
            digits.insert(0, sign);
            out.pad(flags, &digits);
        }
    }
}

/// `%#g`: always a point, and trailing zeros up to the precision.
fn with_point(number: &str, verb: char, precision: Option<usize>) -> String {
    let hex = matches!(verb, 'x' | 'X');
    let tail_at = number.find(|c: char| matches!(c, 'p' | 'P') || !hex && matches!(c, 'e' | 'E'));
    let (mantissa, tail) = number.split_at(tail_at.unwrap_or(number.len()));
    let mut missing = match verb {
        'v' | 'g' | 'G' | 'x' => precision.unwrap_or(6),
        _ => 0,
    };
    let significant = mantissa.chars().filter(|&c| c != '.').skip_while(|&c| c == '0').count();
    missing = missing.saturating_sub(significant);
    let mut out = mantissa.to_owned();
    if !mantissa.contains('.') {
        if mantissa == "0" {
            missing = missing.saturating_sub(1);
        }
        out.push('.');
    }
    out.push_str(&"0".repeat(missing));
    out + tail
}

/// `%s`
pub(super) fn string(out: &mut Output, flags: Flags, text: &str) {
    out.pad(flags, truncated(flags, text));
}

/// `%q`
pub(super) fn quoted(out: &mut Output, flags: Flags, text: &str) {
    let text = truncated(flags, text);
    if flags.sharp && quote::can_backquote(text) {
        out.pad(flags, &format!("`{text}`"));
    } else if flags.plus {
        out.pad(flags, &quote::ascii(text));
    } else {
        out.pad(flags, &quote::double(text));
    }
}

fn truncated(flags: Flags, text: &str) -> &str {
    match flags.precision.and_then(|precision| text.char_indices().nth(precision)) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// `%x` of a string
pub(super) fn hex(out: &mut Output, flags: Flags, text: &str, upper: bool) {
    hex_bytes(out, flags, &bytes_of(text), upper);
}

/// `%x` of bytes
pub(super) fn hex_bytes(out: &mut Output, flags: Flags, bytes: &[u8], upper: bool) {
    let bytes = &bytes[..flags.precision.unwrap_or(bytes.len()).min(bytes.len())];
    if bytes.is_empty() {
        return out.padding(flags, flags.width.unwrap_or(0));
    }
    let prefix = if upper { "0X" } else { "0x" };
    let mut text = String::with_capacity(bytes.len() * 2 + 2);
    for (at, byte) in bytes.iter().enumerate() {
        if flags.space && at > 0 {
            text.push(' ');
        }
        if flags.sharp && (flags.space || at == 0) {
            text.push_str(prefix);
        }
        text.push_str(&if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
    }
    out.pad(flags, &text);
}
