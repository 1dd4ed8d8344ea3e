//! Whether a text says what a value says, found out without making a value of the text.
//!
//! What was last applied stands as JSON in an annotation of nearly every object, and is nearly always what is desired
//! now. To read it for that would cost more than the whole rest of a comparison.

use crate::map::Map;
use crate::value::{Str, Value};

/// Whether `text` is the JSON of `value`.
///
/// Keys have to stand in byte order, as in all that Kubernetes and its clients write; a text with another order, or that
/// is no JSON, is told not to be the same.
pub fn says(text: &str, value: &Value) -> bool {
    let mut cursor = Cursor { text, pos: 0 };
    cursor.value(value) && cursor.ends()
}

/// Whether `map` has every field that the JSON object `text` has, with the same value.
pub fn covers(text: &str, map: &Map) -> bool {
    let mut cursor = Cursor { text, pos: 0 };
    cursor.fields_of(map) && cursor.ends()
}

struct Cursor<'t> {
    text: &'t str,
    pos: usize,
}

impl Cursor<'_> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.pos += 1;
        }
    }

    fn ends(&mut self) -> bool {
        self.skip_space();
        self.pos == self.text.len()
    }

    /// Steps over a sign, with the space before it.
    fn sign(&mut self, sign: u8) -> bool {
        self.skip_space();
        let found = self.byte() == sign;
        self.pos += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.pos..].starts_with(word.as_bytes());
        self.pos += if found { word.len() } else { 0 };
        found
    }

    fn value(&mut self, value: &Value) -> bool {
        self.skip_space();
        match value {
            Value::Null => self.word("null"),
            Value::Bool(true) => self.word("true"),
            Value::Bool(false) => self.word("false"),
            Value::Int(_) | Value::Float(_) => self.number(value),
            Value::Str(text) => self.string(text),
            Value::Seq(items) => self.items(items),
            Value::Map(map) => self.fields(map),
        }
    }

    fn number(&mut self, value: &Value) -> bool {
        let rest = &self.text.as_bytes()[self.pos..];
        let sign = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.iter().position(sign).unwrap_or(rest.len());
        let digits = &self.text[self.pos..self.pos + length];
        self.pos += length;
        match digits.parse::<i64>() {
            Ok(number) => Value::Int(number) == *value,
            Err(_) => digits.parse::<f64>().is_ok_and(|number| Value::Float(number) == *value),
        }
    }

    fn items(&mut self, items: &[Value]) -> bool {
        self.sign(b'[')
            && items.iter().enumerate().all(|(at, item)| (at == 0 || self.sign(b',')) && self.value(item))
            && self.sign(b']')
    }

    fn fields(&mut self, map: &Map) -> bool {
        self.sign(b'{')
            && map
                .iter()
                .enumerate()
                .all(|(at, (key, value))| (at == 0 || self.sign(b',')) && self.field(key, value))
            && self.sign(b'}')
    }

    fn field(&mut self, key: &Str, value: &Value) -> bool {
        self.skip_space();
        self.string(key) && self.sign(b':') && self.value(value)
    }

    fn fields_of(&mut self, map: &Map) -> bool {
        if !self.sign(b'{') {
            return false;
        }
        let mut first = true;
        loop {
            if self.sign(b'}') {
                return true;
            }
            if !first && !self.sign(b',') {
                return false;
            }
            first = false;
            let here = self.pos;
            let found = map.iter().any(|(key, value)| {
                self.pos = here;
                self.field(key, value)
            });
            if !found {
                return false;
            }
        }
    }

    fn string(&mut self, wanted: &str) -> bool {
        if self.byte() != b'"' {
            return false;
        }
        self.pos += 1;
        let plain = |byte: u8| byte != b'"' && byte != b'\\' && byte >= b' ';
        let rest = &self.text.as_bytes()[self.pos..];
        if rest.get(wanted.len()) == Some(&b'"')
            && rest.starts_with(wanted.as_bytes())
            && wanted.bytes().all(plain)
        {
            self.pos += wanted.len() + 1;
            return true;
        }
        self.escaped(wanted)
    }

    /// The same with what is written by its code.
    fn escaped(&mut self, wanted: &str) -> bool {
        let mut wanted = wanted.chars();
        loop {
            let Some(next) = self.text[self.pos..].chars().next() else { return false };
            self.pos += next.len_utf8();
            match next {
                '"' => return wanted.next().is_none(),
                '\\' => match self.code() {
                    Some(meant) if wanted.next() == Some(meant) => {}
                    _ => return false,
                },
                '\0'..' ' => return false,
                plain if wanted.next() == Some(plain) => {}
                _ => return false,
            }
        }
    }

    /// What a backslash and what follows it mean.
    fn code(&mut self) -> Option<char> {
        let letter = self.byte();
        self.pos += 1;
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first);
                }
                if !self.word("\\u") {
                    return None;
                }
                let second = self.hex()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + second);
            }
            _ => return None,
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.pos..self.pos + 4)?;
        self.pos += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json, value};

    #[test]
    fn what_is_printed_says_what_was_meant() {
        let value = value!({
            "a": null, "b": [true, false, {}, []], "c": {"d": "x<y>&\"\\\n\u{1}\u{2028}", "e": "ü😀"}, "f": 1.5,
            "g": -12, "h": 1e300, "i": "",
        });
        assert!(says(&json::to_string(&value), &value));
        assert!(says(&json::go_string(&value), &value));
        assert!(says(&format!(" {}\n", json::to_string_pretty(&value, 2)), &value));
        assert!(says(r#"{"x":"\ud83d\ude00"}"#, &value!({"x": "😀"})));
        assert!(says("1.0", &value!(1)));
    }

    #[test]
    fn whatever_else_is_written_does_not() {
        let value = value!({"a": "x\",\"b", "b": [1, 2]});
        for text in [
            "",
            "{",
            r#"{"a":"x","b":[1,2]}"#,
            r#"{"a":"x\",\"b","b":[1,2],"c":1}"#,
            r#"{"a":"x\",\"b","b":[1,2]} x"#,
            r#"{"a":"x\",\"b","b":[1]}"#,
            r#"{"a":"x\",\"b","b":[1,2,3]}"#,
            r#"{"b":[1,2],"a":"x\",\"b"}"#,
            r#"{"a":"x\",\"b","b":[1,"2"]}"#,
            r#"{"a":"\ud83d","b":[1,2]}"#,
            "{\"a\":\"x",
            r#"{"a":"\u00"#,
        ] {
            assert!(!says(text, &value), "{text}");
        }
        assert!(!says("nul", &Value::Null));
        assert!(!says("\"a\nb\"", &value!("a\nb")));
        assert!(!says(r#""a\nb""#, &value!("a\\nb")));
    }

    #[test]
    fn a_key_covers_what_it_names() {
        let item = value!({"containerPort": 80, "name": "http", "protocol": "TCP"});
        let covers = |text: &str| covers(text, item.as_map().unwrap());
        assert!(covers(r#"{"containerPort":80,"protocol":"TCP"}"#));
        assert!(covers("{}"));
        assert!(!covers(r#"{"containerPort":81,"protocol":"TCP"}"#));
        assert!(!covers(r#"{"other":80}"#));
        assert!(!covers(r#"{"containerPort":80"#));
    }
}
