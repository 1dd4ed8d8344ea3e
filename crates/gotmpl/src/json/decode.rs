//! JSON to values.

use std::collections::BTreeMap;
use std::fmt;

use crate::limits::VALUE_DEPTH;
use crate::stack::deep;
use crate::{Map, Str, Value};

/// Why a text is no JSON, in Go's words.
#[derive(Clone)]
pub struct DecodeError {
    /// What is wrong.
    pub message: String,
    /// What was read nevertheless: with a number out of range, the rest of the value is there.
    pub partial: Value,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Reads a text as Go reads it into an `interface {}`: numbers become floats.
pub fn decode(text: &Str) -> Result<Value, DecodeError> {
    let bytes = text.bytes();
    let mut reader = Reader { bytes: &bytes, at: 0, depth: 0, out_of_range: None };
    let value = reader.document().map_err(|message| DecodeError { message, partial: Value::Nil })?;
    match reader.out_of_range {
        None => Ok(value),
        Some(message) => Err(DecodeError { message, partial: value }),
    }
}

/// Reads the first value of a text in which several may stand one after the other, and says where it ends. An error comes with
/// the place that Go gives it, the one behind the byte that is wrong; where the text ends too early, there is none.
pub fn decode_first(text: &[u8]) -> Result<(Value, usize), (String, Option<usize>)> {
    let mut reader = Reader { bytes: text, at: 0, depth: 0, out_of_range: None };
    match reader.value() {
        Ok(value) => Ok((value, reader.at)),
        Err(_) if reader.peek().is_none() => Err(("unexpected EOF".to_owned(), None)),
        Err(message) => Err((message, Some(reader.at + 1))),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// Numbers too large are only told if nothing else is wrong.
    out_of_range: Option<String>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, String> {
        let value = self.value()?;
        self.skip_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.unexpected("after top-level value")),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The complaint about the byte at the place. Between tokens, the end of the text has one of its own.
    fn unexpected(&self, context: &str) -> String {
        match self.peek() {
            None => "unexpected end of JSON input".to_owned(),
            Some(byte) => complaint(byte, context),
        }
    }

    /// The same inside a token, where Go takes the end of the text for a space.
    fn unexpected_inside(&self, context: &str) -> String {
        complaint(self.peek().unwrap_or(b' '), context)
    }

    fn value(&mut self) -> Result<Value, String> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::Str),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Nil),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.at += 1;
        self.depth += 1;
        if self.depth > VALUE_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        let value = deep(|| read(self))?;
        self.depth -= 1;
        Ok(value)
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(self.unexpected_inside(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(items.into());
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(items.into());
                }
                _ => return Err(self.unexpected("after array element")),
            }
        }
    }

    fn object(&mut self) -> Result<Value, String> {
        let mut entries = BTreeMap::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Map::new(entries).into());
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            let value = self.value()?;
            entries.insert(key, value);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Map::new(entries).into());
                }
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected_inside("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value.into()),
            _ => {
                let message =
                    || format!("json: cannot unmarshal number {text} into Go value of type float64");
                self.out_of_range.get_or_insert_with(message);
                Ok(Value::Nil)
            }
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self, context: &str) -> Result<(), String> {
        let start = self.at;
        self.digits();
        if self.at == start { Err(self.unexpected_inside(context)) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<Str, String> {
        self.at += 1;
        let mut text: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut text)?;
                }
                Some(byte) if byte >= 0x20 => {
                    text.push(byte);
                    self.at += 1;
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
        // Go puts the replacement character for each byte that is no UTF-8.
        Ok(match String::from_utf8(text) {
            Ok(text) => text.into(),
            Err(error) => replaced(error.as_bytes()).into(),
        })
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), String> {
        let byte = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let c = self.unicode_escape()?;
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.unexpected_inside("in string escape code")),
        };
        text.push(byte);
        self.at += 1;
        Ok(())
    }

    /// The character of four digits, and of four more if the first are half of a pair.
    fn unicode_escape(&mut self) -> Result<char, String> {
        let unit = self.four_digits()?;
        if let Some(c) = char::from_u32(unit) {
            return Ok(c);
        }
        let place = self.at;
        if (0xD800..0xDC00).contains(&unit) && self.bytes[place..].starts_with(b"\\u") {
            self.at += 2;
            let low = self.four_digits()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // No pair: what follows stands for itself.
            self.at = place;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected_inside("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

fn complaint(byte: u8, context: &str) -> String {
    let shown = match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => format!("'{}'", shown(char::from(byte))),
    };
    format!("invalid character {shown} {context}")
}

/// A byte as a character in Go's quotes.
fn shown(c: char) -> String {
    match c {
        '\u{7}' => r"\a".to_owned(),
        '\u{8}' => r"\b".to_owned(),
        '\u{c}' => r"\f".to_owned(),
        '\n' => r"\n".to_owned(),
        '\r' => r"\r".to_owned(),
        '\t' => r"\t".to_owned(),
        '\u{b}' => r"\v".to_owned(),
        '\\' => r"\\".to_owned(),
        '\0'..='\x1f' | '\x7f' => format!("\\x{:02x}", u32::from(c)),
        '\u{80}'..='\u{a0}' | '\u{ad}' => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    }
}

fn replaced(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
