//! Strings as Go prints and sorts out their characters.

/// Whether Go's `unicode.IsSpace` says so.
pub(crate) fn is_space(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\x0b' | '\x0c' | '\r' | ' ' | '\u{85}' | '\u{a0}')
        || (!char.is_ascii() && char.is_whitespace())
}

/// The text without Go's spaces at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The text without Go's spaces at its start.
pub(crate) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// Whether Go's `unicode.IsPrint` says so; for characters outside of ASCII, that is any that is neither
/// a control, a format, a private nor a separator character.
pub(crate) fn is_print(char: char) -> bool {
    match char {
        ' '..='~' => true,
        char if char.is_ascii() || char.is_control() || char.is_whitespace() => false,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => false,
        '\u{e0000}'..='\u{e007f}' | '\u{f0000}'..='\u{10ffff}' => false,
        _ => true,
    }
}

/// Spaces become blanks and what cannot be printed is left out, as Helm does with the words of a chart.
pub(crate) fn sanitize(text: &str) -> String {
    text.chars()
        .filter_map(|char| if is_space(char) { Some(' ') } else { is_print(char).then_some(char) })
        .collect()
}

/// The text in double quotes, as `%q` prints it.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            char if is_print(char) => out.push(char),
            char if (char as u32) < 0x80 => out.push_str(&format!("\\x{:02x}", char as u32)),
            char if (char as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", char as u32)),
            char => out.push_str(&format!("\\U{:08x}", char as u32)),
        }
    }
    out.push('"');
    out
}

/// Characters as `%q` prints a list of them: `['a' 'b']`.
pub(crate) fn quote_chars(text: &str) -> String {
    let chars: Vec<String> = text
        .chars()
        .map(|char| match char {
            '\'' => "'\\''".to_owned(),
            '"' => "'\"'".to_owned(),
            char => {
                let quoted = quote(char.encode_utf8(&mut [0; 4]));
                format!("'{}'", &quoted[1..quoted.len() - 1])
            }
        })
        .collect();
    format!("[{}]", chars.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_those_of_go() {
        assert_eq!(quote("a\"\\\n\u{1}é\u{200b}"), r#""a\"\\\n\x01é\u200b""#);
        assert_eq!(quote_chars("a'\""), r#"['a' '\'' '"']"#);
    }

    #[test]
    fn what_cannot_be_printed_is_left_out() {
        assert_eq!(sanitize("a\tb\u{200b}c\nd\u{7}"), "a bc d");
    }
}
