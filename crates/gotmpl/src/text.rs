//! Go's strings: cheap to clone, read as text, able to hold any bytes.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;

use ecow::EcoString;

/// A Go string.
///
/// Go's strings are bytes and nearly always UTF-8. Here they are UTF-8 always, so that functions can
/// work on `&str`: a byte which is not part of valid UTF-8 is held as one of the last 128 characters
/// of Unicode's private planes (U+10FF80 to U+10FFFF) and comes out of [`Str::bytes`] as that byte again.
/// Text that really has one of these characters is held byte by byte in the same way, so nothing is lost.
/// What counts bytes (`len`, `trunc`, digests, base64) must use [`Str::bytes`] and [`Str::from_bytes`].
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str(EcoString);

/// What the held bytes start with in UTF-8; the third byte is one of `HELD_LOW` and `HELD_HIGH`.
const HELD: [u8; 2] = [0xF4, 0x8F];
const HELD_LOW: u8 = 0xBE;
const HELD_HIGH: u8 = 0xBF;

impl Str {
    /// The empty string.
    pub const fn new() -> Self {
        Self(EcoString::new())
    }

    /// Takes any bytes, as Go does.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if !has_held(text) => Self(text.into()),
            _ => Self(hold(bytes)),
        }
    }

    /// The string as text. Bytes that are not UTF-8 show as private characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The string as the bytes that Go would have.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        bytes_of(&self.0)
    }

    /// Whether clones are on the same bytes, which then stay where they are for as long as there is one.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.len() > EcoString::INLINE_LIMIT
    }

    /// How many bytes the string has in Go.
    pub fn byte_len(&self) -> usize {
        if has_held(&self.0) { self.bytes().len() } else { self.0.len() }
    }
}

/// The bytes that Go would have for a text which may hold bytes that are not UTF-8.
pub fn bytes_of(text: &str) -> Cow<'_, [u8]> {
    if !has_held(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match held_byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// The byte that a character stands for, if it is one of the private characters that hold bytes.
pub fn held_byte(c: char) -> Option<u8> {
    let code = u32::from(c);
    (code >= 0x10_FF80).then_some((code & 0xFF) as u8)
}

fn has_held(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Two passes: this one is a tight loop over bytes that almost always finds nothing.
    bytes.iter().fold(false, |found, byte| found | (*byte == HELD[0]))
        && bytes.windows(4).any(|four| four[..2] == HELD && (four[2] == HELD_LOW || four[2] == HELD_HIGH))
}

fn hold(bytes: &[u8]) -> EcoString {
    let mut text = EcoString::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if held_byte(c).is_some() {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| text.push(holder(byte)));
            } else {
                text.push(c);
            }
        }
        chunk.invalid().iter().for_each(|&byte| text.push(holder(byte)));
    }
    text
}

/// The character that holds a byte of 0x80 and above.
fn holder(byte: u8) -> char {
    char::from_u32(0x10_FF00 | u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Str {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&String> for Str {
    fn from(text: &String) -> Self {
        Self(text.into())
    }
}

impl From<EcoString> for Str {
    fn from(text: EcoString) -> Self {
        Self(text)
    }
}

impl From<char> for Str {
    fn from(c: char) -> Self {
        Self(c.into())
    }
}

impl From<Str> for String {
    fn from(text: Str) -> Self {
        text.0.into()
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_text_come_out_as_they_went_in() {
        for bytes in [
            &b"plain"[..],
            b"\x80\xFF",
            b"caf\xC3\xA9 \xC3",
            b"\xF4\x8F\xBE\x80",
            b"\xF4\x8F\xBF\xBF\xF4",
            b"\xF4\x8F\xBE",
            b"",
        ] {
            let held = Str::from_bytes(bytes);
            assert_eq!(&*held.bytes(), bytes);
            assert_eq!(held.byte_len(), bytes.len());
        }
    }
}
