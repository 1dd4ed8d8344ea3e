//! Values as Go's error messages print them.

use lynceus_object::Value;

/// A string in quotes, as `%q` prints it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `[]string{"a", "b"}`.
pub(crate) fn strings<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item.as_ref())).collect();
    format!("[]string{{{}}}", items.join(", "))
}

/// A structured value: the newer servers print those as JSON.
///
/// Fields come in the order of their type in Go, which differs from the order of their names only for
/// selectors among the values that are shown.
pub(crate) fn json(value: &Value) -> String {
    match value {
        Value::Map(map) => {
            let first = |name: &str| u8::from(name != "matchLabels");
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(name, _)| first(name));
            let fields = fields
                .into_iter()
                .map(|(name, value)| format!("{}:{}", scalar(&name.as_str().into()), json(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Seq(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        other => scalar(other),
    }
}

fn scalar(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A plain value: strings in quotes, the rest as it is.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Str(text) => quoted(text),
        Value::Null => "null".to_owned(),
        other => json(other),
    }
}
