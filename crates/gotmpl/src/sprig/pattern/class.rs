//! Classes of characters.

use regex::Regex;

use super::translate::{Code, Problem, escape_at};

const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// `\d` and its kin, which mean ASCII only; in the form in which they can stand inside of brackets.
pub(super) fn perl(text: &str) -> Option<(&'static str, &str)> {
    let class = match text.as_bytes() {
        [b'\\', b'd', ..] => "[0-9]",
        [b'\\', b'D', ..] => "[^0-9]",
        [b'\\', b's', ..] => r"[\t\n\x0C\r ]",
        [b'\\', b'S', ..] => r"[^\t\n\x0C\r ]",
        [b'\\', b'w', ..] => "[0-9A-Za-z_]",
        [b'\\', b'W', ..] => "[^0-9A-Za-z_]",
        _ => return None,
    };
    Some((class, &text[2..]))
}

/// `\pL`, `\p{Greek}`, `\P{^Greek}`.
pub(super) fn unicode(text: &str) -> Result<Option<(String, &str)>, Problem> {
    let negative = text.starts_with(r"\P");
    let Some(name) = text.strip_prefix(r"\p").or_else(|| text.strip_prefix(r"\P")) else { return Ok(None) };
    let Some(first) = name.chars().next() else {
        return Err(Problem::new(Code::CharRange, text));
    };
    let (name, rest) = if first == '{' {
        name[1..].split_once('}').ok_or_else(|| Problem::new(Code::CharRange, text))?
    } else {
        name.split_at(first.len_utf8())
    };
    let (negative, bare) = match name.strip_prefix('^') {
        Some(bare) => (!negative, bare),
        None => (negative, name),
    };
    let class = format!(r"\{}{{{bare}}}", if negative { 'P' } else { 'p' });
    let plain = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !plain || Regex::new(&class).is_err() {
        return Err(Problem::new(Code::CharRange, &text[..text.len() - rest.len()]));
    }
    Ok(Some((class, rest)))
}

/// A class in brackets, and what follows it.
pub(super) fn bracketed(text: &str) -> Result<(String, &str), Problem> {
    let mut class = String::from("[");
    let mut rest = &text[1..];
    if let Some(after) = rest.strip_prefix('^') {
        class.push('^');
        rest = after;
    }
    let mut first = true;
    loop {
        // A bracket that comes first stands for itself.
        if let Some(after) = rest.strip_prefix(']').filter(|_| !first) {
            class.push(']');
            return Ok((class, after));
        }
        first = false;
        rest = item(&mut class, rest, text)?;
    }
}

/// One member of a class: a class by name, a character, or a range.
fn item<'a>(class: &mut String, text: &'a str, whole: &str) -> Result<&'a str, Problem> {
    if let Some((name, after)) = posix(text)? {
        class.push_str(&name);
        return Ok(after);
    }
    if let Some((name, after)) = unicode(text)? {
        class.push_str(&name);
        return Ok(after);
    }
    if let Some((name, after)) = perl(text) {
        class.push_str(name);
        return Ok(after);
    }
    let (low, mut rest) = character(text, whole)?;
    let mut high = low;
    if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
        (high, rest) = character(after, whole)?;
        if high < low {
            return Err(Problem::new(Code::CharRange, &text[..text.len() - rest.len()]));
        }
    }
    push_range(class, low, high);
    Ok(rest)
}

fn posix(text: &str) -> Result<Option<(String, &str)>, Problem> {
    let Some((inner, after)) = text.strip_prefix("[:").and_then(|text| text.split_once(":]")) else {
        return Ok(None);
    };
    let name = inner.strip_prefix('^').unwrap_or(inner);
    if !POSIX.contains(&name) {
        return Err(Problem::new(Code::CharRange, &text[..text.len() - after.len()]));
    }
    Ok(Some((format!("[:{inner}:]"), after)))
}

fn character<'a>(text: &'a str, whole: &str) -> Result<(u32, &'a str), Problem> {
    match text.chars().next() {
        None => Err(Problem::new(Code::MissingBracket, whole)),
        Some('\\') => escape_at(text),
        Some(c) => Ok((u32::from(c), &text[c.len_utf8()..])),
    }
}

/// Writes a range of characters, around the surrogates, which are none.
fn push_range(class: &mut String, low: u32, high: u32) {
    for (low, high) in [(low, high.min(0xD7FF)), (low.max(0xE000), high)] {
        if low <= high {
            class.push_str(&format!(r"\x{{{low:X}}}-\x{{{high:X}}}"));
        }
    }
    // A class of surrogates only matches nothing; brackets must not be empty.
    if class.ends_with('[') {
        class.push_str("a&&b");
    }
}
