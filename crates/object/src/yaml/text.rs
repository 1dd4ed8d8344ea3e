//! Bytes to text: the encodings that go-yaml knows, and the characters that it allows.

use std::borrow::Cow;

use super::error::Error;

/// Decodes UTF-8, or UTF-16 with a byte-order mark, and refuses control characters.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Error> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(decode_utf16(rest, u16::from_le_bytes)?),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(decode_utf16(rest, u16::from_be_bytes)?),
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(decode_utf8(rest)?),
        _ => Cow::Borrowed(decode_utf8(bytes)?),
    };
    refuse_control_characters(&text)?;
    Ok(text)
}

fn decode_utf8(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (good, bad) = bytes.split_at(error.valid_up_to());
        let good = std::str::from_utf8(good).unwrap_or_default();
        Error::content(end_of(good), wrong_with(bad))
    })
}

/// What go-yaml says of bytes that do not begin with a character.
fn wrong_with(bytes: &[u8]) -> &'static str {
    let (width, first) = match bytes.first().copied().unwrap_or_default() {
        byte @ 0xc0..=0xdf => (2, byte & 0x1f),
        byte @ 0xe0..=0xef => (3, byte & 0x0f),
        byte @ 0xf0..=0xf7 => (4, byte & 0x07),
        _ => return "invalid leading UTF-8 octet",
    };
    let Some(rest) = bytes.get(1..width) else { return "incomplete UTF-8 octet sequence" };
    if rest.iter().any(|byte| byte & 0xc0 != 0x80) {
        return "invalid trailing UTF-8 octet";
    }
    let code = rest.iter().fold(u32::from(first), |code, byte| code << 6 | u32::from(byte & 0x3f));
    match (width, code) {
        (2, 0..0x80) | (3, 0..0x800) | (4, 0..0x1_0000) => "invalid length of a UTF-8 sequence",
        _ => "invalid Unicode character",
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Error> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Error::content((0, 0), "incomplete UTF-16 character"));
    }
    let mut text = String::with_capacity(bytes.len());
    for unit in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match unit {
            Ok(char) => text.push(char),
            Err(_) => return Err(Error::content(end_of(&text), "unexpected low surrogate area")),
        }
    }
    Ok(text)
}

fn refuse_control_characters(text: &str) -> Result<(), Error> {
    // Two passes: this one is a tight loop over bytes that almost always finds nothing.
    let is_control = |byte: u8| (byte & 0xe0 == 0) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    let suspicious = |byte: u8| is_control(byte) | (byte == 0x7f) | (byte == 0xc2) | (byte == 0xef);
    let has_suspect = text.bytes().fold(false, |found, byte| found | suspicious(byte));
    if !has_suspect {
        return Ok(());
    }
    match text.char_indices().find(|(_, char)| !is_allowed(*char)) {
        Some((at, _)) => Err(Error::content(end_of(&text[..at]), "control characters are not allowed")),
        None => Ok(()),
    }
}

fn is_allowed(char: char) -> bool {
    !matches!(char,
        '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\x7f'..='\u{84}' | '\u{86}'..='\u{9f}'
        | '\u{fffe}' | '\u{ffff}')
}

/// The line and column just after `text`, from 1.
fn end_of(text: &str) -> (u32, u32) {
    let line = text.bytes().filter(|byte| *byte == b'\n').count();
    let column = text.rsplit('\n').next().unwrap_or_default().chars().count();
    (line as u32 + 1, column as u32 + 1)
}
