//! Values that are left out in flow style: `{a: }`.
//!
//! Kustomize prints what it has read and reads that again before it is done. What prints for it cannot leave a value out
//! in flow style and writes `''`, so that a null becomes an empty text there; in block style it stays a null.

use lynceus_object::Value;
use lynceus_object::yaml::{self, Options, Version};

/// The document with empty texts for the values that it leaves out in flow style; none if there are no such.
pub(crate) fn filled(document: &str) -> Option<Value> {
    if !document.contains(['{', '[']) {
        return None;
    }
    // The text is read once more with quotes in the places that may be such: what becomes an empty text by that, was one.
    let options = Options::default().version(Version::V3);
    let read = |text: String| yaml::parse_with(text.as_bytes(), &options).ok();
    quoted(document, true).and_then(read).or_else(|| quoted(document, false).and_then(read))
}

/// Whether the value after a key begins in flow style; `text` begins with the key, or with the value if there is no key.
pub(crate) fn begins(text: &str, key: Option<&str>) -> bool {
    let after = match key {
        None => Some(text),
        Some(key) => {
            let text = text.strip_prefix(['"', '\'']).unwrap_or(text);
            let text = text.strip_prefix(key).map(|text| text.strip_prefix(['"', '\'']).unwrap_or(text));
            text.and_then(|text| text.trim_start_matches(' ').strip_prefix(':'))
        }
    };
    after.is_some_and(|value| value.trim_start().starts_with(['{', '[']))
}

/// Whether there is a null in it.
pub(crate) fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Map(map) => map.values().any(has_null),
        Value::Seq(items) => items.iter().any(has_null),
        _ => false,
    }
}

/// Takes the empty texts of a filled document for the nulls of a value.
pub(crate) fn take(value: &mut Value, filled: &Value) {
    match (value, filled) {
        (value @ Value::Null, Value::Str(text)) if text.is_empty() => *value = Value::Str(text.clone()),
        (Value::Map(map), Value::Map(filled)) => {
            for (key, value) in map.iter_mut() {
                if let Some(filled) = filled.get(key) {
                    take(value, filled);
                }
            }
        }
        (Value::Seq(items), Value::Seq(filled)) => {
            for (value, filled) in items.make_mut().iter_mut().zip(filled) {
                take(value, filled);
            }
        }
        _ => {}
    }
}

/// The text with quotes after every colon that may have nothing behind it, and after keys without a colon if `bare` says
/// so. Texts change by that too, and are not looked at. None if there is no such place.
fn quoted(document: &str, bare: bool) -> Option<String> {
    let mut out = String::with_capacity(document.len() + 16);
    let mut copied = 0;
    // The bracket that was opened last, and where the entry after it or after a comma begins.
    let mut entry: Option<(bool, usize)> = None;
    for (at, letter) in document.char_indices() {
        match letter {
            '{' | '[' => entry = Some((letter == '{', at + 1)),
            ',' | '}' | ']' => {
                let before = without_comment(&document[copied..at]);
                let is_bare = entry.is_some_and(|(in_map, from)| {
                    in_map && letter != ']' && is_bare_key(document.get(from..at).unwrap_or_default())
                });
                // A colon right before a bracket or comma is part of a plain key.
                let all = &document[..at];
                let is_in_key = all.ends_with(':') && !all.ends_with("\":") && !all.ends_with("':");
                if before.ends_with(':') && !is_in_key {
                    out.push_str(&document[copied..at]);
                    out.push_str(" ''");
                    copied = at;
                } else if bare && (is_bare || is_in_key) {
                    out.push_str(&document[copied..at]);
                    out.push_str(": ''");
                    copied = at;
                }
                entry = match letter {
                    ',' => entry.map(|(in_map, _)| (in_map, at + 1)),
                    _ => None,
                };
            }
            _ => {}
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&document[copied..]);
    Some(out)
}

/// What stands before the end of a text, without comments and spaces.
fn without_comment(text: &str) -> &str {
    let mut text = text.trim_end();
    // Comments end with their line, so that only those of whole lines before the last can be passed.
    while let Some(at) = text.rfind(['\n', '#'])
        && text[at..].starts_with('#')
        && text[..at].ends_with([' ', '\t', '\n'])
    {
        text = text[..at].trim_end();
    }
    text
}

fn is_bare_key(entry: &str) -> bool {
    let key = entry.trim().trim_start_matches("? ").trim();
    !key.is_empty() && !key.contains([':', '\n', '#', '"', '\'', '{', '}', '[', ']', '&', '*', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::json;

    fn check(document: &str, expected: &str) {
        let mut value =
            yaml::parse_with(document.as_bytes(), &Options::default().version(Version::V3)).unwrap();
        if let Some(filled) = filled(document) {
            take(&mut value, &filled);
        }
        assert_eq!(json::to_string(&value), expected, "{document}");
    }

    #[test]
    fn what_is_left_out_in_flow_style_is_an_empty_text() {
        check("a: {b: , c: ~, d:}\ne:\n", r#"{"a":{"b":"","c":null,"d:":""},"e":null}"#);
        check("a: {b, c: 1}\ne: [b: ]\nf: {? c}\n", r#"{"a":{"b":"","c":1},"e":[{"b":""}],"f":{"c":""}}"#);
        check("a: {\n  b: # why\n}\nc: [x, y]\n", r#"{"a":{"b":""},"c":["x","y"]}"#);
    }

    #[test]
    fn texts_and_block_style_stay() {
        check(
            "a: 'x: ,'\nb: |\n  {c: }\nd:\ne: {f: \"y: }\"}\n",
            "{\"a\":\"x: ,\",\"b\":\"{c: }\\n\",\"d\":null,\"e\":{\"f\":\"y: }\"}}",
        );
        check("a: {b: http://x, c: }\n", r#"{"a":{"b":"http://x","c":""}}"#);
    }

    #[test]
    fn a_value_in_flow_style_is_known_by_its_first_letter() {
        assert!(begins("a: {b: c}", Some("a")) && begins("'a' : [", Some("a")) && begins("{a: b}", None));
        assert!(!begins("a: b", Some("a")) && !begins("b: {", Some("a")));
    }
}
