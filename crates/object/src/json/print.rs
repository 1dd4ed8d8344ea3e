//! A value to JSON text, as Go prints it.

use std::fmt::Write as _;

use crate::schema::{Shape, TypeRef};
use crate::value::Value;
use crate::yaml::go_float;

/// Prints without spaces.
pub fn to_string(value: &Value) -> String {
    print(value, Style { escape_html: false, indent: None })
}

/// Prints without spaces behind what a text has already.
pub fn append(text: &mut String, value: &Value) {
    let style = Style { escape_html: false, indent: None };
    let mut printer = Printer { out: std::mem::take(text), style, depth: 0 };
    printer.value(value);
    *text = printer.out;
}

/// Prints without spaces, as bytes.
pub fn to_vec(value: &Value) -> Vec<u8> {
    to_string(value).into_bytes()
}

/// Prints as Go's `json.Marshal` does, which also escapes `<`, `>` and `&`: what an API server sends,
/// and what is hashed or kept as the last applied configuration.
pub fn go_string(value: &Value) -> String {
    print(value, Style { escape_html: true, indent: None })
}

/// [`go_string`] as bytes.
pub fn go_vec(value: &Value) -> Vec<u8> {
    go_string(value).into_bytes()
}

/// Prints as Go prints a value of a type: as [`go_string`], but the fields of a struct in the order in
/// which Go declares them. What the type does not name comes last.
pub fn typed_string(value: &Value, ty: TypeRef<'_>) -> String {
    let mut printer = Printer::new(Style { escape_html: true, indent: None });
    printer.typed(value, ty);
    printer.out
}

/// Prints on many lines as Go's `json.MarshalIndent` does, each level `indent` spaces further in:
/// 4 for `kubectl`, 2 for `argocd`.
pub fn to_string_pretty(value: &Value, indent: usize) -> String {
    print(value, Style { escape_html: true, indent: Some(indent) })
}

#[derive(Clone, Copy)]
struct Style {
    escape_html: bool,
    indent: Option<usize>,
}

fn print(value: &Value, style: Style) -> String {
    let mut printer = Printer::new(style);
    printer.value(value);
    printer.out
}

struct Printer {
    out: String,
    style: Style,
    depth: usize,
}

impl Printer {
    fn new(style: Style) -> Self {
        Printer { out: String::with_capacity(256), style, depth: 0 }
    }

    fn typed(&mut self, value: &Value, ty: TypeRef<'_>) {
        match (ty.shape(), value) {
            (Shape::Struct, Value::Map(map)) => {
                let mut fields: Vec<_> = map
                    .iter()
                    .map(|(key, value)| {
                        let field = ty.field(key);
                        let inner = field.map(|field| field.ty()).or_else(|| ty.rest());
                        (field.map_or(u32::MAX, |field| field.place()), key, value, inner)
                    })
                    .collect();
                fields.sort_by_key(|(place, ..)| *place);
                self.all('{', '}', fields.into_iter(), |printer, (_, key, value, ty)| {
                    printer.key(key);
                    printer.typed(value, ty.unwrap_or(TypeRef::untyped()));
                });
            }
            (Shape::Map(inner), Value::Map(map)) => {
                self.all('{', '}', map.iter(), |printer, (key, value)| {
                    printer.key(key);
                    printer.typed(value, inner);
                })
            }
            (Shape::List(inner, _), Value::Seq(items)) => {
                self.all('[', ']', items.iter(), |printer, item| printer.typed(item, inner));
            }
            _ => self.value(value),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Int(int) => {
                // Writing to a string cannot fail.
                let _ = write!(self.out, "{int}");
            }
            Value::Float(float) if float.is_finite() => self.out.push_str(&go_float::json(*float)),
            // JSON has no word for it; nothing that is read can hold one.
            Value::Float(_) => self.out.push_str("null"),
            Value::Str(text) => self.string(text),
            Value::Seq(items) => {
                self.all('[', ']', items.iter(), |printer, item| printer.value(item));
            }
            Value::Map(map) => self.all('{', '}', map.iter(), |printer, (key, value)| {
                printer.key(key);
                printer.value(value);
            }),
        }
    }

    fn key(&mut self, key: &str) {
        self.string(key);
        self.out.push(':');
        if self.style.indent.is_some() {
            self.out.push(' ');
        }
    }

    fn all<T>(
        &mut self,
        open: char,
        close: char,
        items: impl ExactSizeIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.out.push(open);
        if items.len() > 0 {
            self.depth += 1;
            for (at, item) in items.enumerate() {
                if at > 0 {
                    self.out.push(',');
                }
                self.start_line();
                each(self, item);
            }
            self.depth -= 1;
            self.start_line();
        }
        self.out.push(close);
    }

    fn start_line(&mut self) {
        if let Some(indent) = self.style.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * self.depth));
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        if is_plain(text.as_bytes(), self.style.escape_html) {
            self.out.push_str(text);
            self.out.push('"');
            return;
        }
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate() {
            if !is_special(byte, self.style.escape_html) {
                continue;
            }
            let len = match byte {
                // LS and PS break scripts, so Go escapes them.
                0xe2 if text[at..].starts_with(['\u{2028}', '\u{2029}']) => 3,
                0xe2 => continue,
                _ => 1,
            };
            self.out.push_str(&text[from..at]);
            self.escape(&text[at..at + len]);
            from = at + len;
        }
        self.out.push_str(&text[from..]);
        self.out.push('"');
    }

    fn escape(&mut self, char: &str) {
        match char {
            "\"" => self.out.push_str("\\\""),
            "\\" => self.out.push_str("\\\\"),
            "\n" => self.out.push_str("\\n"),
            "\r" => self.out.push_str("\\r"),
            "\t" => self.out.push_str("\\t"),
            "\x08" => self.out.push_str("\\b"),
            "\x0c" => self.out.push_str("\\f"),
            other => {
                for char in other.chars() {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(char));
                }
            }
        }
    }
}

/// Whether a byte may have to be escaped.
fn is_special(byte: u8, html: bool) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0xe2) || (html && matches!(byte, b'<' | b'>' | b'&'))
}

/// Whether there is no such byte, as in most texts. Eight are looked at at once.
fn is_plain(bytes: &[u8], html: bool) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let plain = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        let special = below(word, 0x20) | same(word, b'"') | same(word, b'\\') | same(word, 0xe2);
        let markup = if html { same(word, b'<') | same(word, b'>') | same(word, b'&') } else { 0 };
        special | markup == 0
    };
    words.iter().all(plain) && !rest.iter().any(|byte| is_special(*byte, html))
}

/// The same byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Not zero if a byte of a word is below another one, which is at most 128.
fn below(word: u64, byte: u8) -> u64 {
    word.wrapping_sub(eight(byte)) & !word & eight(0x80)
}

/// Not zero if a byte of a word is this one.
fn same(word: u64, byte: u8) -> u64 {
    below(word ^ eight(byte), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[test]
    fn prints_compactly_with_keys_in_order() {
        let value = value!({"b": [1, 2.5, null], "a": {"y": true, "x": "é"}});
        assert_eq!(to_string(&value), r#"{"a":{"x":"é","y":true},"b":[1,2.5,null]}"#);
    }

    #[test]
    fn a_typed_value_has_its_fields_in_the_order_of_their_declaration() {
        let pod = value!({
            "status": {}, "spec": {"containers": [{"image": "i", "name": "n", "extra": 1}], "volumes": []},
            "metadata": {"namespace": "b", "name": "a", "labels": {"z": "1", "a": "2"}},
            "kind": "Pod", "apiVersion": "v1",
        });
        let ty = crate::schema::builtin().of_manifest("v1", "Pod").expect("kind");
        assert_eq!(
            typed_string(&pod, ty),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"b","labels":{"a":"2","z":"1"}},"#
                .to_owned()
                + r#""spec":{"volumes":[],"containers":[{"name":"n","image":"i","extra":1}]},"status":{}}"#
        );
    }

    #[test]
    fn floats_look_as_in_go() {
        let value = value!([1.0, 1e21, 1e-7, 1e20, 0.000001, 123456789.125]);
        assert_eq!(to_string(&value), "[1,1e+21,1e-7,100000000000000000000,0.000001,123456789.125]");
    }

    #[test]
    fn go_escapes_markup() {
        let value = value!("<a & b>\u{2028}\x01\n\"");
        assert_eq!(to_string(&value), "\"<a & b>\\u2028\\u0001\\n\\\"\"");
        assert_eq!(go_string(&value), "\"\\u003ca \\u0026 b\\u003e\\u2028\\u0001\\n\\\"\"");
    }

    #[test]
    fn what_is_escaped_is_found_at_every_place() {
        for byte in 0..=0xff_u8 {
            for at in 0..20 {
                let mut bytes = [b'a'; 20];
                bytes[at] = byte;
                for html in [false, true] {
                    assert_eq!(is_plain(&bytes, html), !is_special(byte, html), "{byte:#x} at {at}");
                }
            }
        }
    }

    #[test]
    fn a_text_can_be_gone_on_with() {
        let mut text = "[".to_owned();
        append(&mut text, &value!({"a": 1}));
        assert_eq!(text, "[{\"a\":1}");
    }

    #[test]
    fn pretty_output_has_empty_collections_on_one_line() {
        let value = value!({"a": [], "b": {}, "c": [1]});
        assert_eq!(to_string_pretty(&value, 2), "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1\n  ]\n}");
    }
}
