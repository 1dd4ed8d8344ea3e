//! Values to JSON.

use std::fmt::Write;
use std::ops::Deref;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::limits::VALUE_DEPTH;
use crate::stack::deep;
use crate::{Context, Failure, Json, List, Map, Str, Value, held_byte};

/// How JSON is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// On one line, with `<`, `>` and `&` as escapes: `json.Marshal`.
    Compact,
    /// On one line, with escapes only where JSON needs them.
    Raw,
    /// Indented by two spaces: `json.MarshalIndent`.
    Pretty,
}

/// Writes a value; fails for numbers that JSON does not have.
pub fn encode(value: &Value, style: Style) -> Result<String, Failure> {
    let mut text = String::new();
    Writer { text: &mut text, style, depth: 0 }.value(value)?;
    Ok(text)
}

/// Writes a value in the memory of a render, where there is room already.
pub fn encode_in(context: &mut Context<'_>, value: &Value, style: Style) -> Result<Str, Failure> {
    context.compose(|context| Writer { text: &mut context.out, style, depth: 0 }.value(value))
}

struct Writer<'o> {
    text: &'o mut String,
    style: Style,
    depth: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> Result<(), Failure> {
        match value {
            Value::Nil => self.text.push_str("null"),
            Value::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Value::Int(value, int) if int.is_signed() => self.number(value),
            Value::Int(value, _) => self.number(&value.cast_unsigned()),
            Value::Float(value) => self.float(*value)?,
            Value::Str(text) => self.string(text),
            Value::List(list) => self.list(list)?,
            Value::Map(map) => self.map(map)?,
            Value::Object(object) => match object.json() {
                Json::Value(value) => deep(|| self.value(&value))?,
                Json::Fields(fields) => self.members(&fields)?,
            },
        }
        Ok(())
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        self.depth += 1;
        if self.depth > VALUE_DEPTH {
            return Err(Failure::new(format!("json: value nests deeper than {VALUE_DEPTH}")));
        }
        deep(|| write(self))?;
        self.depth -= 1;
        Ok(())
    }

    fn number(&mut self, value: &dyn std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
    }

    fn float(&mut self, value: f64) -> Result<(), Failure> {
        if !value.is_finite() {
            let name = if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            return Err(Failure::new(format!("json: unsupported value: {name}")));
        }
        self.text.push_str(&float(value));
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        // Most texts are plain from one end to the other.
        if !text.as_bytes().iter().any(|byte| !PLAIN[usize::from(*byte)]) {
            self.text.push_str(text);
            self.text.push('"');
            return;
        }
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            if let Some(escape) = self.escape(c) {
                self.text.push_str(&text[plain..at]);
                self.text.push_str(&escape);
                plain = at + c.len_utf8();
            }
        }
        self.text.push_str(&text[plain..]);
        self.text.push('"');
    }

    fn escape(&self, c: char) -> Option<String> {
        Some(match c {
            '"' => r#"\""#.into(),
            '\\' => r"\\".into(),
            '\n' => r"\n".into(),
            '\r' => r"\r".into(),
            '\t' => r"\t".into(),
            '\u{8}' => r"\b".into(),
            '\u{c}' => r"\f".into(),
            '<' | '>' | '&' if self.style == Style::Raw => return None,
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", u32::from(c)),
            c if held_byte(c).is_some() => r"\ufffd".into(),
            _ => return None,
        })
    }

    fn list(&mut self, list: &List) -> Result<(), Failure> {
        if list.is_nil() {
            self.text.push_str("null");
            return Ok(());
        }
        if let Some(bytes) = list.as_bytes() {
            self.text.push('"');
            STANDARD.encode_string(bytes, self.text);
            self.text.push('"');
            return Ok(());
        }
        let items = list.to_vec();
        self.nested(|writer| {
            writer.text.push('[');
            for (i, item) in items.iter().enumerate() {
                writer.separate(i);
                writer.value(item)?;
            }
            writer.close(items.is_empty(), ']');
            Ok(())
        })
    }

    fn map(&mut self, map: &Map) -> Result<(), Failure> {
        if map.is_nil() {
            self.text.push_str("null");
            return Ok(());
        }
        self.members(&map.entries())
    }

    fn members(&mut self, members: &[(impl Deref<Target = str>, Value)]) -> Result<(), Failure> {
        self.nested(|writer| {
            writer.text.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                writer.separate(i);
                writer.string(key);
                writer.text.push_str(if writer.style == Style::Pretty { ": " } else { ":" });
                writer.value(value)?;
            }
            writer.close(members.is_empty(), '}');
            Ok(())
        })
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.text.push(',');
        }
        self.line(self.depth);
    }

    fn close(&mut self, empty: bool, bracket: char) {
        if !empty {
            self.line(self.depth - 1);
        }
        self.text.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if self.style == Style::Pretty {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n("  ", depth));
        }
    }
}

/// The bytes that stand for themselves in a string, however it is written.
static PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        table[byte as usize] = !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
        byte += 1;
    }
    table
};

/// A finite float as Go's JSON has it: digits in full up to 1e21 and down to 1e-6, beyond that with an exponent.
fn float(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
            _ => text,
        };
    }
    format!("{value}")
}
