//! Text in quotes, with Go's escapes.

/// The text between the quotes; `None` if an escape is wrong or the quote itself stands in it bare.
pub(super) fn unquoted(text: &str, quote: char) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        if char == quote {
            return None;
        }
        if char == '\\' {
            rest = escape(rest, quote, &mut out)?;
        } else {
            push(&mut out, char);
        }
    }
    Some(out)
}

/// Reads what follows a backslash and returns what comes after it.
fn escape<'t>(text: &'t str, quote: char, out: &mut Vec<u8>) -> Option<&'t str> {
    let kind = text.chars().next()?;
    let rest = &text[kind.len_utf8()..];
    let byte = match kind {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '"' if quote == '"' => b'"',
        '\'' if quote == '\'' => b'\'',
        'x' => {
            let (code, rest) = digits(rest, 2, 16)?;
            out.push(u8::try_from(code).ok()?);
            return Some(rest);
        }
        '0'..='7' => {
            let (code, rest) = digits(text, 3, 8)?;
            out.push(u8::try_from(code).ok()?);
            return Some(rest);
        }
        'u' | 'U' => {
            let (code, rest) = digits(rest, if kind == 'u' { 4 } else { 8 }, 16)?;
            push(out, char::from_u32(code)?);
            return Some(rest);
        }
        _ => return None,
    };
    out.push(byte);
    Some(rest)
}

fn digits(text: &str, count: usize, radix: u32) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    // Rust would also take a sign.
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some((u32::from_str_radix(digits, radix).ok()?, rest))
}

fn push(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_go() {
        for (text, expected) in [
            (r"a\tb\n", Some(&b"a\tb\n"[..])),
            (r"\x41\101\u00e9\U0001F600", Some("AA\u{e9}\u{1F600}".as_bytes())),
            (r"\xff\377", Some(b"\xff\xff")),
            (r#"\"\\"#, Some(br#""\"#)),
            (r"\'", None),
            (r"\400", None),
            (r"\x+1", None),
            (r"\ud800", None),
            (r"\x4", None),
            (r"\q", None),
            ("a\"b", None),
        ] {
            assert_eq!(unquoted(text, '"').as_deref(), expected, "{text}");
        }
    }
}
