//! Scalars and keys in the quotes that they had, that the author likes, or that they need.

use std::fmt::Write as _;

use lynceus_object::yaml::{self, Version};
use lynceus_object::{Str, Value, json};

use super::Printer;
use crate::surgery::anatomy::Quotes;

impl Printer<'_> {
    /// A scalar, or a collection with nothing in it. A block is `step` further in than `column`.
    pub(super) fn scalar(&self, value: &Value, was: Option<Quotes>, column: usize, step: usize) -> String {
        let Value::Str(text) = value else { return unquoted(value) };
        if let Some(block) = self.block(text, was, column, step) {
            return block;
        }
        self.string(text, was, false)
    }

    /// A key.
    pub(super) fn key(&self, name: &str, in_flow: bool) -> String {
        if name == "<<" { double(name) } else { self.string(name, None, in_flow) }
    }

    /// A string on one line.
    pub(super) fn string(&self, text: &str, was: Option<Quotes>, in_flow: bool) -> String {
        match was {
            Some(Quotes::Double) => double(text),
            Some(Quotes::Single) if is_single(text) => single(text),
            _ if is_plain(text, in_flow) => text.to_owned(),
            _ if self.habits.quote == '\'' && is_single(text) => single(text),
            _ => double(text),
        }
    }

    /// A string of several lines, or one that takes the place of such, as a block.
    fn block(&self, text: &str, was: Option<Quotes>, column: usize, step: usize) -> Option<String> {
        let indent = match was {
            Some(Quotes::Literal(indent) | Quotes::Folded(indent)) => indent,
            Some(Quotes::Single | Quotes::Double) => return None,
            _ if !text.trim_end_matches('\n').contains('\n') => return None,
            _ => column + step,
        };
        let body = text.strip_suffix('\n').unwrap_or(text);
        let sign = if body.len() < text.len() { "" } else { "-" };
        let is_odd = |letter: char| letter != '\n' && letter != '\t' && !is_printable(letter);
        if body.is_empty() || body.ends_with('\n') || text.contains(is_odd) {
            return None;
        }
        if matches!(was, Some(Quotes::Folded(_))) && is_foldable(body) {
            return Some(self.lines(&format!(">{sign}"), &body.replace('\n', "\n\n"), indent));
        }
        // Without the hint the blanks would be taken for indentation.
        let needs_hint = body.starts_with([' ', '\n', '\t']);
        let hint = indent.checked_sub(column).filter(|_| needs_hint);
        match (needs_hint, hint) {
            (true, Some(hint @ 1..=9)) => Some(self.lines(&format!("|{hint}{sign}"), body, indent)),
            (true, _) => None,
            (false, _) => Some(self.lines(&format!("|{sign}"), body, indent)),
        }
    }

    fn lines(&self, head: &str, body: &str, indent: usize) -> String {
        let mut out = head.to_owned();
        for line in body.split('\n') {
            let lead = if line.is_empty() { 0 } else { indent };
            out.push_str(&self.line(lead));
            out.push_str(line);
        }
        out
    }
}

/// What is not a string.
pub(super) fn unquoted(value: &Value) -> String {
    match value {
        Value::Float(_) => yaml::to_string(value).trim_end().to_owned(),
        other => json::to_string(other),
    }
}

/// A string in double quotes, as YAML and JSON both read it.
pub(super) fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if is_printable(letter) => out.push(letter),
            letter => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04X}");
                }
            }
        }
    }
    out.push('"');
    out
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn is_single(text: &str) -> bool {
    text.chars().all(is_printable)
}

/// Whether a character may stand in the text as it is, and is no line break of any kind.
fn is_printable(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether every reader takes the text without quotes for this very string.
fn is_plain(text: &str, in_flow: bool) -> bool {
    let is_said = |version| matches!(yaml::meaning(text, version), Value::Str(said) if said == text);
    let printed = yaml::to_string(&Value::Str(Str::from(text)));
    let breaks_flow = |letter: char| matches!(letter, ',' | '[' | ']' | '{' | '}' | '?' | ':');
    !printed.starts_with(['"', '\'', '|'])
        && is_single(text)
        && is_said(Version::V2)
        && is_said(Version::V3)
        && !(in_flow && (text.contains(breaks_flow) || text.starts_with(['-', '#'])))
}

/// Whether lines can be written as paragraphs.
fn is_foldable(body: &str) -> bool {
    body.split('\n').all(|line| !line.is_empty() && !line.starts_with([' ', '\t']) && !line.ends_with(' '))
}
