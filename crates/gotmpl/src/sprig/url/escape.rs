//! Percent signs.

use crate::Str;
use crate::format::quote::double;

/// A part of a URL, which says what must be escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Userinfo,
    Host,
    /// The zone of an IPv6 address.
    Zone,
    Fragment,
}

/// Whether a byte must be escaped.
pub(super) fn must_escape(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    let plain: &[u8] = match part {
        Part::Path => b"$&+,/:;=@",
        Part::Userinfo => b"$&+,;=",
        Part::Host | Part::Zone => b"!$&'()*+,;=:[]<>\"",
        Part::Fragment => b"$&+,/:;=?@!()*",
    };
    !plain.contains(&byte)
}

pub(super) fn escape(bytes: &[u8], part: Part) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if must_escape(byte, part) {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            text.push(byte);
        }
    }
    text
}

pub(super) fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let quoted = |bytes: &[u8]| double(&Str::from_bytes(bytes));
    let in_host = matches!(part, Part::Host | Part::Zone);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            if in_host && first < 0x80 && must_escape(first, part) {
                return Err(format!("invalid character {} in host name", quoted(&[first])));
            }
            bytes.push(first);
            rest = after;
            continue;
        }
        let shown = &rest[..rest.len().min(3)];
        let invalid = || format!("invalid URL escape {}", quoted(shown));
        let byte = hexadecimal(after).ok_or_else(invalid)?;
        let allowed = match part {
            _ if byte == b'%' => true,
            // In a host only what is not ASCII may be escaped, in a zone also what needs no escape.
            Part::Host => byte >= 0x80,
            Part::Zone => byte == b' ' || !must_escape(byte, Part::Host),
            _ => true,
        };
        if !allowed {
            return Err(invalid());
        }
        bytes.push(byte);
        rest = &rest[3..];
    }
    Ok(bytes)
}

fn hexadecimal(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}
