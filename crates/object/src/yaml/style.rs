//! How a string may be written, and which way go-yaml takes.

use super::resolve::{Scalar, resolve};
use super::timestamp::is_timestamp;
use super::{Version, chars};

/// A way to write a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// What the characters of a string allow.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    plain: bool,
    single: bool,
    literal: bool,
}

/// Whether the string has a line break in it, in the wide sense of YAML.
pub(super) fn is_multiline(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'\n' | b'\r' | 0xc2 | 0xe2))
        && (0..text.len()).any(|at| break_len(text.as_bytes(), at) > 0)
}

/// The way in which a string is written. A key that shares its line with `:` has to stay on one line.
pub(super) fn choose(text: &str, is_simple_key: bool) -> Style {
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if reads_as_string(text) {
        Style::Plain
    } else {
        Style::Double
    };
    let allowed = analyse(text);
    match wanted {
        Style::Literal if allowed.literal && !is_simple_key => Style::Literal,
        Style::Plain if allowed.plain => Style::Plain,
        Style::Plain if allowed.single => Style::Single,
        _ => Style::Double,
    }
}

/// Whether the text without quotes would be read as this very string.
fn reads_as_string(text: &str) -> bool {
    match text.as_bytes().first() {
        None => false,
        Some(b'+' | b'-' | b'0'..=b'9') => {
            resolve(text, Version::V2) == Scalar::Str && !is_timestamp(text) && !is_base_60(text)
        }
        Some(_) => resolve(text, Version::V2) == Scalar::Str,
    }
}

/// Whether old parsers would read the text as hours, minutes and seconds.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let digits_or_separators = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let first_ok = parts.next().is_some_and(|first| {
        first.starts_with(|char: char| char.is_ascii_digit()) && digits_or_separators(first)
    });
    let mut count = 0;
    let mut rest_ok = true;
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        count += 1;
        let whole = match part.split_once('.') {
            Some((whole, fraction)) if parts.peek().is_none() && digits_or_separators(fraction) => whole,
            Some(_) => return false,
            None => part,
        };
        rest_ok &= matches!(whole.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    }
    first_ok && rest_ok && count > 0
}

/// Characters that mean nothing special wherever they stand.
fn is_harmless(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./+=()$;<~^\\".contains(&byte)
}

fn analyse(text: &str) -> Allowed {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Allowed { plain: true, single: true, literal: false };
    }
    if bytes.iter().all(|byte| is_harmless(*byte)) && bytes[0] != b'.' {
        return Allowed { plain: true, single: true, literal: true };
    }
    let seen = Seen::new(text);
    let quotable = !seen.space_before_break && !seen.unprintable;
    let edges = seen.space_at_start || seen.break_at_edge || seen.space_at_end;
    let plain = quotable && !edges && !seen.space_after_break && !seen.breaks && !seen.indicators;
    Allowed { plain, single: quotable && !seen.space_after_break, literal: quotable && !seen.space_at_end }
}

/// What there is in a string that limits how it may be written.
#[derive(Default)]
struct Seen {
    indicators: bool,
    breaks: bool,
    unprintable: bool,
    space_at_start: bool,
    space_at_end: bool,
    break_at_edge: bool,
    space_after_break: bool,
    space_before_break: bool,
}

impl Seen {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut seen = Seen {
            indicators: text.starts_with("---") || text.starts_with("..."),
            space_at_start: bytes[0] == b' ',
            space_at_end: bytes[bytes.len() - 1] == b' ',
            break_at_edge: break_len(bytes, 0) > 0,
            ..Seen::default()
        };
        let (mut after_space, mut after_break, mut after_blank) = (false, false, true);
        for (at, char) in text.char_indices() {
            let next = bytes.get(at + char.len_utf8()).copied();
            let before_blank = next.is_none_or(|next| matches!(next, b' ' | b'\t'));
            seen.indicators |= is_indicator(char, at == 0, after_blank, before_blank);
            seen.unprintable |= !is_printable(char);
            let is_break = break_len(bytes, at) > 0;
            if char == ' ' {
                seen.space_after_break |= after_break;
            } else if is_break {
                seen.breaks = true;
                seen.space_before_break |= after_space;
                seen.break_at_edge |= next.is_none();
            }
            after_space = char == ' ';
            after_break = is_break;
            after_blank = is_break || matches!(char, ' ' | '\t' | '\0');
        }
        seen
    }
}

/// Whether a character would be taken for syntax in a plain scalar outside of brackets.
fn is_indicator(char: char, first: bool, after_blank: bool, before_blank: bool) -> bool {
    match char {
        ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => first,
        '?' | '-' => first && before_blank,
        ':' => before_blank,
        '#' => first || after_blank,
        _ => false,
    }
}

/// Whether go-yaml prints the character as it is. It takes nothing beyond the basic plane for printable.
pub(super) fn is_printable(char: char) -> bool {
    matches!(char,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// How many bytes the line break at `at` has, where each of CR and LF counts for itself.
pub(super) fn break_len(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        b'\n' | b'\r' => 1,
        0xc2 if bytes.get(at + 1) == Some(&0x85) => 2,
        0xe2 if bytes.get(at + 1) == Some(&0x80) && matches!(bytes.get(at + 2), Some(0xa8 | 0xa9)) => 3,
        byte => {
            debug_assert!(!chars::is(byte, chars::BREAK), "all breaks are listed");
            0
        }
    }
}
