//! JSON text to a value.

use std::borrow::Cow;

use super::error::Error;
use crate::limits::{MAX_DEPTH, MAX_DUPLICATES};
use crate::map::Map;
use crate::value::{Str, Value};

/// A key that an object has twice. The last one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The path of the field, such as `spec.containers[0].name`.
    pub path: String,
    /// The line of the later key, from 1.
    pub line: u32,
    /// The column of the later key, from 1.
    pub column: u32,
}

/// A text as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The value.
    pub value: Value,
    /// The keys that were given twice, in the order of the text.
    pub duplicates: Vec<Duplicate>,
}

/// Reads one JSON value; of two fields with the same name the last one counts.
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    read(text).map(|parsed| parsed.value)
}

/// Reads one JSON value and says which keys were given twice.
pub fn read(text: &[u8]) -> Result<Parsed, Error> {
    // Go reads broken UTF-8 as replacement characters.
    let text = String::from_utf8_lossy(text);
    let mut reader = Reader::new(&text);
    let parsed = reader.next()?;
    reader.skip_space();
    if reader.pos < reader.bytes.len() {
        return Err(reader.unexpected("after top-level value"));
    }
    Ok(parsed)
}

/// Reads JSON values that stand one after the other, each with the line on which it begins.
pub fn read_stream(text: &[u8]) -> Result<Vec<(u32, Parsed)>, Error> {
    let text = String::from_utf8_lossy(text);
    let mut reader = Reader::new(&text);
    let mut all = Vec::new();
    reader.skip_space();
    while reader.pos < reader.bytes.len() {
        let line = Error::new(&text, reader.pos, String::new()).line;
        all.push((line, reader.next()?));
        reader.skip_space();
    }
    Ok(all)
}

/// A step from the root to where the reader is.
enum Step<'a> {
    Field(Cow<'a, str>),
    Index(usize),
}

struct Field {
    key: Str,
    value: Value,
    pos: usize,
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    /// The items of all open arrays, one after the other.
    items: Vec<Value>,
    /// The fields of all open objects, one after the other.
    fields: Vec<Field>,
    path: Vec<Step<'a>>,
    duplicates: Vec<Duplicate>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Reader {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            items: Vec::new(),
            fields: Vec::new(),
            path: Vec::new(),
            duplicates: Vec::new(),
        }
    }

    /// Reads the next value.
    fn next(&mut self) -> Result<Parsed, Error> {
        self.skip_space();
        let value = self.value()?;
        let mut duplicates = std::mem::take(&mut self.duplicates);
        duplicates.sort_by_key(|found| (found.line, found.column));
        Ok(Parsed { value, duplicates })
    }

    fn byte(&self) -> u8 {
        self.bytes.get(self.pos).copied().unwrap_or(0)
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.pos += 1;
        }
    }

    fn error(&self, problem: impl Into<String>) -> Error {
        Error::new(self.text, self.pos, problem.into())
    }

    #[cold]
    fn unexpected(&self, context: &str) -> Error {
        match self.bytes.get(self.pos) {
            None => self.error("unexpected end of JSON input"),
            Some(byte) => self.error(format!("invalid character {} {context}", quoted(*byte))),
        }
    }

    /// Reads the value that begins here.
    fn value(&mut self) -> Result<Value, Error> {
        match self.byte() {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => self.string().map(|text| Value::Str(text.as_ref().into())),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Error> {
        for expected in word.bytes() {
            if self.byte() != expected {
                let context = format!("in literal {word} (expecting {})", quoted(expected));
                return Err(self.unexpected(&context));
            }
            self.pos += 1;
        }
        Ok(value)
    }

    fn enter(&mut self, step: Step<'a>) -> Result<(), Error> {
        if self.path.len() >= MAX_DEPTH {
            return Err(self.error("exceeded max depth"));
        }
        self.path.push(step);
        self.pos += 1;
        self.skip_space();
        Ok(())
    }

    fn array(&mut self) -> Result<Value, Error> {
        let base = self.items.len();
        self.enter(Step::Index(0))?;
        if self.byte() != b']' {
            loop {
                let item = self.value()?;
                self.items.push(item);
                self.skip_space();
                match self.byte() {
                    b',' => self.pos += 1,
                    b']' => break,
                    _ => return Err(self.unexpected("after array element")),
                }
                self.skip_space();
                if let Some(Step::Index(index)) = self.path.last_mut() {
                    *index += 1;
                }
            }
        }
        self.pos += 1;
        self.path.pop();
        Ok(Value::Seq(self.items.drain(base..).collect()))
    }

    fn object(&mut self) -> Result<Value, Error> {
        let base = self.fields.len();
        self.enter(Step::Field(Cow::Borrowed("")))?;
        if self.byte() != b'}' {
            loop {
                let field = self.field()?;
                self.fields.push(field);
                self.skip_space();
                match self.byte() {
                    b',' => self.pos += 1,
                    b'}' => break,
                    _ => return Err(self.unexpected("after object key:value pair")),
                }
                self.skip_space();
            }
        }
        self.pos += 1;
        self.path.pop();
        Ok(Value::Map(self.collect(base)))
    }

    fn field(&mut self) -> Result<Field, Error> {
        let pos = self.pos;
        if self.byte() != b'"' {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.byte() != b':' {
            return Err(self.unexpected("after object key"));
        }
        self.pos += 1;
        self.skip_space();
        let name: Str = key.as_ref().into();
        if let Some(Step::Field(last)) = self.path.last_mut() {
            *last = key;
        }
        let value = self.value()?;
        Ok(Field { key: name, value, pos })
    }

    /// Makes a map of the fields from `base` on.
    fn collect(&mut self, base: usize) -> Map {
        let ascending = self.fields[base..].windows(2).all(|pair| pair[0].key < pair[1].key);
        if !ascending {
            // Stable, so that fields of the same name keep the order of the text.
            self.fields[base..].sort_by(|a, b| a.key.cmp(&b.key));
            if self.fields[base..].windows(2).any(|pair| pair[0].key == pair[1].key) {
                self.drop_duplicates(base);
            }
        }
        Map::from_sorted(self.fields.drain(base..).map(|field| (field.key, field.value)))
    }

    #[cold]
    fn drop_duplicates(&mut self, base: usize) {
        let sorted: Vec<Field> = self.fields.drain(base..).collect();
        for field in sorted {
            match self.fields[base..].last_mut() {
                Some(last) if last.key == field.key => {
                    if self.duplicates.len() >= MAX_DUPLICATES {
                        *last = field;
                        continue;
                    }
                    let place = Error::new(self.text, field.pos, String::new());
                    let path = path_text(&self.path, &field.key);
                    self.duplicates.push(Duplicate { path, line: place.line, column: place.column });
                    *last = field;
                }
                _ => self.fields.push(field),
            }
        }
    }

    fn number(&mut self) -> Result<Value, Error> {
        let from = self.pos;
        let mut is_int = true;
        if self.byte() == b'-' {
            self.pos += 1;
        }
        match self.byte() {
            b'0' => self.pos += 1,
            b'1'..=b'9' => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.byte() == b'.' {
            is_int = false;
            self.pos += 1;
            if !self.byte().is_ascii_digit() {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.byte(), b'e' | b'E') {
            is_int = false;
            self.pos += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.pos += 1;
            }
            if !self.byte().is_ascii_digit() {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
            self.digits();
        }
        let text = &self.text[from..self.pos];
        if is_int && let Ok(int) = text.parse::<i64>() {
            return Ok(Value::Int(int));
        }
        match text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Value::Float(float)),
            _ => {
                let problem = format!("json: cannot unmarshal number {text} into Go value of type float64");
                Err(self.error(problem))
            }
        }
    }

    fn digits(&mut self) {
        while self.byte().is_ascii_digit() {
            self.pos += 1;
        }
    }

    /// Reads the string that begins here; borrowed from the text if there are no escapes in it.
    fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.pos += 1;
        let from = self.pos;
        self.skip_ordinary();
        if self.byte() == b'"' {
            self.pos += 1;
            return Ok(Cow::Borrowed(&self.text[from..self.pos - 1]));
        }
        let mut out = String::from(&self.text[from..self.pos]);
        loop {
            match self.byte() {
                b'"' => {
                    self.pos += 1;
                    return Ok(Cow::Owned(out));
                }
                b'\\' => out.push(self.escape()?),
                _ => return Err(self.unexpected("in string literal")),
            }
            let run = self.pos;
            self.skip_ordinary();
            out.push_str(&self.text[run..self.pos]);
        }
    }

    /// Steps over characters that stand for themselves.
    fn skip_ordinary(&mut self) {
        while let Some(byte) = self.bytes.get(self.pos)
            && *byte >= 0x20
            && *byte != b'"'
            && *byte != b'\\'
        {
            self.pos += 1;
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        self.pos += 1;
        let found = match self.byte() {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.pos += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.pos += 1;
        Ok(found)
    }

    /// Reads four hexadecimal digits, and four more if they are the first half of a pair.
    fn unicode_escape(&mut self) -> Result<char, Error> {
        let high = self.hex4()?;
        if (0xd800..0xdc00).contains(&high) && self.bytes[self.pos..].starts_with(b"\\u") {
            let back = self.pos;
            self.pos += 2;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.pos = back;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, Error> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.byte()).to_digit(16) else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code << 4 | digit;
            self.pos += 1;
        }
        Ok(code)
    }
}

/// The path of the field `key` below `steps`.
fn path_text(steps: &[Step<'_>], key: &str) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            Step::Field(name) if out.is_empty() => out.push_str(name),
            Step::Field(name) => {
                out.push('.');
                out.push_str(name);
            }
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    if !out.is_empty() {
        out.push('.');
    }
    out.push_str(key);
    out
}

/// A byte as Go quotes it in messages: as the character of that number.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        0x07 => "'\\a'".to_owned(),
        0x08 => "'\\b'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        0x0b => "'\\v'".to_owned(),
        0x0c => "'\\f'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        0..0x20 | 0x7f => format!("'\\x{byte:02x}'"),
        0x80..=0xa0 | 0xad => format!("'\\u{byte:04x}'"),
        byte => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn check(text: &str, expected: Value) {
        assert_eq!(parse(text.as_bytes()).unwrap(), expected, "{text}");
    }

    fn check_error(text: &str, expected: &str) {
        let error = parse(text.as_bytes()).unwrap_err();
        assert_eq!(format!("{}:{}: {error}", error.line, error.column), expected, "{text}");
    }

    #[test]
    fn reads_every_kind_of_value() {
        check(
            r#" {"a": [1, -2.5, true, false, null, "x"], "b": {}, "c": []} "#,
            value!({"a": [1, -2.5, true, false, null, "x"], "b": {}, "c": []}),
        );
    }

    #[test]
    fn integers_stay_integers_while_they_fit() {
        assert!(matches!(parse(b"9223372036854775807").unwrap(), Value::Int(i64::MAX)));
        assert!(matches!(parse(b"9223372036854775808").unwrap(), Value::Float(_)));
        assert!(matches!(parse(b"1.0").unwrap(), Value::Float(_)));
        assert!(matches!(parse(b"-0").unwrap(), Value::Int(0)));
    }

    #[test]
    fn reads_escapes() {
        check(r#""a\"\\\/\b\f\n\r\té😀""#, value!("a\"\\/\x08\x0c\n\r\té😀"));
        check(r#""\ud800x""#, value!("\u{fffd}x"));
    }

    #[test]
    fn errors_are_gos_and_have_a_place() {
        check_error("", "1:1: unexpected end of JSON input");
        check_error("{\n  \"a\": tru}", "2:11: invalid character '}' in literal true (expecting 'e')");
        check_error("{a: 1}", "1:2: invalid character 'a' looking for beginning of object key string");
        check_error("{\"a\" 1}", "1:6: invalid character '1' after object key");
        check_error("{\"a\": 1 \"b\"}", "1:9: invalid character '\"' after object key:value pair");
        check_error("[1 2]", "1:4: invalid character '2' after array element");
        check_error("01", "1:2: invalid character '1' after top-level value");
        check_error("\"a\nb\"", "1:3: invalid character '\\n' in string literal");
        check_error("[1,]", "1:4: invalid character ']' looking for beginning of value");
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let text = "[".repeat(100_000);
        assert_eq!(parse(text.as_bytes()).unwrap_err().to_string(), "exceeded max depth");
    }

    #[test]
    fn the_last_duplicate_wins_and_is_reported() {
        let parsed = read(b"{\"spec\": {\"c\": [{}, {\"x\": 1, \"x\": 2}]}, \"spec2\": 0}").unwrap();
        assert_eq!(parsed.value, value!({"spec": {"c": [{}, {"x": 2}]}, "spec2": 0}));
        let found: Vec<&str> = parsed.duplicates.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(found, ["spec.c[1].x"]);
    }
}
