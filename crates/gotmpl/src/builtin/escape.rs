//! `html`, `js` and `urlquery`.

use std::fmt::Write as _;

use crate::text::bytes_of;
use crate::unicode::is_print;

/// `html`
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{FFFD}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(c),
        }
    }
    out
}

/// `js`
pub(super) fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let _ = match c {
            '\\' | '\'' | '"' => write!(out, "\\{c}"),
            '<' | '>' | '&' | '=' | '\0'..'\x20' => write!(out, "\\u{:04X}", u32::from(c)),
            _ if c.is_ascii() || is_print(c) => write!(out, "{c}"),
            // A byte that is not text counts as the replacement character, which is printable.
            _ if crate::held_byte(c).is_some() => write!(out, "{c}"),
            _ => write!(out, "\\u{:04X}", u32::from(c)),
        };
    }
    out
}

/// `urlquery`
pub(super) fn url_query(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in bytes_of(text).iter() {
        match byte {
            b' ' => out.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(*byte))
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
