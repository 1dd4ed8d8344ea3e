//! Go's quoting, both ways.

use std::fmt::Write as _;

use crate::Str;
use crate::text::held_byte;
use crate::unicode::is_print;

/// `strconv.Quote`
pub fn double(text: &str) -> String {
    quoted(text, '"', false)
}

/// `strconv.Quote`, at the end of another text.
pub(crate) fn push_double(out: &mut String, text: &str) {
    push_quoted(out, text, '"', false);
}

/// `strconv.QuoteToASCII`
pub fn ascii(text: &str) -> String {
    quoted(text, '"', true)
}

/// `strconv.QuoteRune`, or `strconv.QuoteRuneToASCII`
pub fn single(c: char, ascii_only: bool) -> String {
    let mut out = String::from("'");
    match held_byte(c) {
        // Here it is a number that was given, so it stands for itself.
        Some(_) => push_code(&mut out, c),
        None => escape(&mut out, c, '\'', ascii_only),
    }
    out.push('\'');
    out
}

/// `%#U`: `U+0040 '@'`
pub fn code_point(c: char) -> String {
    let mut out = format!("U+{:04X}", u32::from(c));
    if is_print(c) {
        let _ = write!(out, " '{c}'");
    }
    out
}

fn quoted(text: &str, quote: char, ascii_only: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text, quote, ascii_only);
    out
}

fn push_quoted(out: &mut String, text: &str, quote: char, ascii_only: bool) {
    out.push(quote);
    let mut rest = text;
    loop {
        // Most texts are plain from one end to the other.
        let plain = rest.as_bytes().iter().position(|byte| !is_plain(*byte, quote)).unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        let mut others = rest[plain..].chars();
        match others.next() {
            Some(c) if c == '\\' || c == quote => out.extend(['\\', c]),
            Some(c) => escape(out, c, quote, ascii_only),
            None => break,
        }
        rest = others.as_str();
    }
    out.push(quote);
}

/// Whether a byte is a character that stands for itself between quotes.
fn is_plain(byte: u8, quote: char) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'\\' && char::from(byte) != quote
}

fn escape(out: &mut String, c: char, quote: char, ascii_only: bool) {
    if c == '\\' || c == quote {
        out.push('\\');
        out.push(c);
        return;
    }
    let _ = match c {
        _ if is_print(c) && (c.is_ascii() || !ascii_only) => write!(out, "{c}"),
        '\x07' => write!(out, "\\a"),
        '\x08' => write!(out, "\\b"),
        '\x0C' => write!(out, "\\f"),
        '\n' => write!(out, "\\n"),
        '\r' => write!(out, "\\r"),
        '\t' => write!(out, "\\t"),
        '\x0B' => write!(out, "\\v"),
        '\0'..='\x1F' | '\x7F' => write!(out, "\\x{:02x}", u32::from(c)),
        _ => match held_byte(c) {
            Some(byte) => write!(out, "\\x{byte:02x}"),
            None => {
                push_code(out, c);
                Ok(())
            }
        },
    };
}

fn push_code(out: &mut String, c: char) {
    let code = u32::from(c);
    let _ = if code < 0x1_0000 { write!(out, "\\u{code:04x}") } else { write!(out, "\\U{code:08x}") };
}

/// `strconv.CanBackquote`
pub fn can_backquote(text: &str) -> bool {
    text.chars().all(|c| match c {
        '\t' => true,
        '`' | '\u{FEFF}' | '\x7F' => false,
        _ => c >= ' ' && held_byte(c).is_none(),
    })
}

/// `strconv.Unquote` of a text between double quotes or backquotes.
pub fn unquote(text: &str) -> Option<Str> {
    let quote = text.chars().next()?;
    let inner = text.get(1..text.len().checked_sub(1)?)?;
    if !text.ends_with(quote) {
        return None;
    }
    match quote {
        '`' => (!inner.contains('`')).then(|| inner.replace('\r', "").into()),
        '"' if !inner.contains(['\\', '\n', '"']) => Some(inner.into()),
        '"' => unescape(inner),
        _ => None,
    }
}

fn unescape(inner: &str) -> Option<Str> {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while !rest.is_empty() {
        let unquoted;
        (unquoted, rest) = unquote_char(rest, '"')?;
        match unquoted {
            Unquoted::Char(c) => match held_byte(c) {
                Some(byte) => bytes.push(byte),
                None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            },
            Unquoted::Byte(byte) => bytes.push(byte),
        }
    }
    Some(Str::from_bytes(&bytes))
}

/// What one character or escape stands for.
pub enum Unquoted {
    /// A character.
    Char(char),
    /// A byte, written as `\xFF` or `\377`.
    Byte(u8),
}

/// `strconv.UnquoteChar`: what the first character or escape stands for, and what follows.
pub fn unquote_char(text: &str, quote: char) -> Option<(Unquoted, &str)> {
    let mut chars = text.chars();
    let c = chars.next()?;
    if c == quote && matches!(quote, '\'' | '"') || c == '\n' {
        return None;
    }
    if c != '\\' {
        return Some((Unquoted::Char(c), chars.as_str()));
    }
    let escape = chars.next()?;
    let rest = chars.as_str();
    let simple = |c| Some((Unquoted::Char(c), rest));
    match escape {
        'a' => simple('\x07'),
        'b' => simple('\x08'),
        'f' => simple('\x0C'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'v' => simple('\x0B'),
        '\\' => simple('\\'),
        '\'' | '"' if escape == quote => simple(escape),
        'x' => byte(rest, 2, 16),
        '0'..='7' => byte(&text[1..], 3, 8),
        'u' => wide(rest, 4),
        'U' => wide(rest, 8),
        _ => None,
    }
}

fn digits(text: &str, count: usize, radix: u32) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some((u32::from_str_radix(digits, radix).ok()?, rest))
}

fn byte(text: &str, count: usize, radix: u32) -> Option<(Unquoted, &str)> {
    let (code, rest) = digits(text, count, radix)?;
    Some((Unquoted::Byte(u8::try_from(code).ok()?), rest))
}

fn wide(text: &str, count: usize) -> Option<(Unquoted, &str)> {
    let (code, rest) = digits(text, count, 16)?;
    Some((Unquoted::Char(char::from_u32(code)?), rest))
}
