//! Another scalar in the place of one, in the same quotes.

use lynceus_object::path::FieldPath;
use lynceus_object::{Segment, Str, Value, json, yaml};

use super::Change;
use crate::replacement::tag;
use crate::scalar::meaning;

/// What is printed for a mark.
pub(super) struct Token {
    mark: Str,
    text: String,
    /// Whether it is a block, which begins on this line and goes on in the next ones.
    is_block: bool,
}

/// Puts a mark in the place of the scalar at a path, and notes what is printed there.
pub(super) fn replace(
    text: &str,
    path: &FieldPath,
    old: &Value,
    mark: &str,
    word: &Str,
    tokens: &mut Vec<Token>,
) -> Option<String> {
    let key = offset(text, path)?;
    let is_item = matches!(path.segments().last(), Some(Segment::Index(_)));
    let mut start = if is_item { key } else { key + after_key(&text[key..])? };
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let is_in_flow = text[line_start..start].contains(['{', '[']);
    let mut is_tagged = false;
    while text[start..].starts_with(['&', '!']) {
        is_tagged |= text[start..].starts_with('!');
        let rest = &text[start..];
        let end = rest.find([' ', '\n', ',', ']', '}']).unwrap_or(rest.len());
        start += rest.len() - rest[end..].trim_start_matches(' ').len();
    }
    let (length, token) = match text.as_bytes().get(start) {
        Some(b'"') => {
            (quoted_length(&text[start..])?, line(mark, json::to_string(&Value::Str(word.clone()))))
        }
        Some(b'\'') => (quoted_length(&text[start..])?, line(mark, format!("'{}'", word.replace("'", "''")))),
        Some(sign @ (b'|' | b'>')) => (block_length(text, start), block(mark, char::from(*sign), word)),
        Some(b'*') => {
            let rest = &text[start..];
            let end = rest.find([' ', '\n', ',', ']', '}']).unwrap_or(rest.len());
            (end, plain(mark, word, "", is_in_flow))
        }
        _ => {
            let length = plain_length(&text[start..], is_in_flow);
            let token = if is_tagged {
                plain(mark, word, "", is_in_flow)
            } else {
                typed(mark, word, old, is_in_flow)
            };
            (length, token)
        }
    };
    tokens.push(token);
    let space = if text[..start].ends_with([' ', '[', '{']) || start == line_start { "" } else { " " };
    let rest = &text[start + length..];
    let space_after = if length == 0 && !rest.is_empty() && !rest.starts_with(['\n', ' ', ',', ']', '}']) {
        " "
    } else {
        ""
    };
    Some(format!("{}{space}{mark}{space_after}{rest}", &text[..start]))
}

/// What is printed for a scalar where nothing of the text is kept.
pub(super) fn token(change: &Change<'_>, word: &Str) -> Option<Token> {
    Some(typed(change.new.as_str()?, word, change.old?, false))
}

/// The text with what is printed for the marks; new scalars are written as they are.
pub(super) fn fill(text: &str, base: &str, tokens: &[Token], word: &Str) -> String {
    let mut out = String::with_capacity(text.len() + word.len());
    let mut rest = text;
    while let Some(at) = rest.find(base) {
        let length = rest[at..].find('z').map_or(rest.len() - at, |length| length + 1);
        let mark = &rest[at..at + length];
        out.push_str(&rest[..at]);
        rest = &rest[at + length..];
        let own = tokens.iter().find(|token| *token.mark == *mark);
        let new = || plain(mark, word, "", false);
        let made;
        let token = match own {
            Some(token) => token,
            None => {
                made = new();
                &made
            }
        };
        put(&mut out, token);
    }
    out.push_str(rest);
    out
}

fn put(out: &mut String, token: &Token) {
    if !token.is_block {
        // Nothing is left of a space before nothing.
        out.push_str(token.text.trim_end());
        return;
    }
    let line = out[out.rfind('\n').map_or(0, |at| at + 1)..].to_owned();
    let lead = line.len() - line.trim_start_matches([' ', '-']).len();
    let is_item = line[lead..].split(' ').all(|word| word.is_empty() || word.starts_with(['!', '&']));
    let indent = if is_item { lead } else { lead + 2 };
    for (at, line) in token.text.split('\n').enumerate() {
        match (at, line) {
            (0, line) => out.push_str(line),
            (_, "") => out.push('\n'),
            (_, line) => out.push_str(&format!("\n{:indent$}{line}", "")),
        }
    }
}

fn line(mark: &str, text: String) -> Token {
    Token { mark: mark.into(), text, is_block: false }
}

fn block(mark: &str, sign: char, word: &Str) -> Token {
    let chomp = match word.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.ends_with('\n') => "+",
        Some(_) => "",
    };
    Token {
        mark: mark.into(),
        text: format!("{sign}{chomp}\n{}", word.trim_end_matches('\n')),
        is_block: true,
    }
}

/// A scalar without quotes that keeps its type: what is no such any more says what it was.
fn typed(mark: &str, word: &Str, old: &Value, is_in_flow: bool) -> Token {
    let new = meaning(word);
    match old {
        old if std::mem::discriminant(old) == std::mem::discriminant(&new) => {
            plain(mark, word, "", is_in_flow)
        }
        Value::Str(_) => line(mark, json::to_string(&Value::Str(word.clone()))),
        old => plain(mark, word, &format!("{} ", tag(old)), is_in_flow),
    }
}

/// A scalar without quotes, or with some where it cannot do without.
fn plain(mark: &str, word: &Str, tag: &str, is_in_flow: bool) -> Token {
    if word.contains('\n') && !is_in_flow {
        let block = block(mark, '|', word);
        return Token { text: format!("{tag}{}", block.text), ..block };
    }
    let is_open = word
        .starts_with(['#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`'])
        || ["- ", "? ", ": "].iter().any(|sign| word.starts_with(sign))
        || word.contains(": ")
        || word.contains(" #")
        || word.ends_with(':')
        || word.trim() != word.as_str()
        || matches!(word.as_str(), "-" | "?")
        || is_in_flow && word.contains([',', '[', ']', '{', '}', '\n']);
    let text = match is_open {
        false => word.to_string(),
        true if word.contains(|letter: char| letter.is_control()) => {
            json::to_string(&Value::Str(word.clone()))
        }
        true => format!("'{}'", word.replace("'", "''")),
    };
    line(mark, format!("{tag}{text}"))
}

/// Where in a text a field begins.
pub(super) fn offset(text: &str, path: &FieldPath) -> Option<usize> {
    let (line, column) = yaml::locate(text.as_bytes(), 0, path)?;
    let before: usize =
        text.split_inclusive('\n').take(usize::try_from(line).ok()?.checked_sub(1)?).map(str::len).sum();
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let rest = text.get(before..)?;
    Some(before + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at))
}

/// How many bytes a key takes with its colon and the spaces after it.
pub(super) fn after_key(text: &str) -> Option<usize> {
    let key = match text.as_bytes().first()? {
        b'"' | b'\'' => quoted_length(text)?,
        _ => {
            let line = text.split('\n').next()?;
            line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len))?
        }
    };
    let rest = text[key..].strip_prefix(':')?;
    Some(text.len() - rest.trim_start_matches(' ').len())
}

/// How many bytes the quoted scalar at the start of a text takes.
pub(super) fn quoted_length(text: &str) -> Option<usize> {
    if let Some(inner) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = inner.find(|char| {
            let ends = char == '"' && !escaped;
            escaped = char == '\\' && !escaped;
            ends
        })?;
        return Some(end + 2);
    }
    let mut at = 1;
    loop {
        at += text[at..].find('\'')? + 1;
        match text[at..].strip_prefix('\'') {
            Some(_) => at += 1,
            None => return Some(at),
        }
    }
}

/// How many bytes a scalar without quotes takes, which has to end on the same line.
fn plain_length(text: &str, is_in_flow: bool) -> usize {
    let line = text.split('\n').next().unwrap_or_default();
    let end = if line.starts_with('#') { 0 } else { line.find(" #").unwrap_or(line.len()) };
    let end = if is_in_flow { line[..end].find([',', ']', '}']).unwrap_or(end) } else { end };
    line[..end].trim_end().len()
}

/// How many bytes a block takes without the line break at its end.
fn block_length(text: &str, start: usize) -> usize {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[line_start..];
    let outer = line.len() - line.trim_start_matches([' ', '-']).len();
    let header = text[start..].find('\n').unwrap_or(text.len() - start);
    let mut end = header;
    let mut at = header;
    for line in text[start + header..].split('\n').skip(1) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line.trim().is_empty();
        if !is_blank
            && indent <= outer
            && !(indent == outer && text[line_start..start].trim_end().ends_with('-'))
        {
            break;
        }
        at += 1 + line.len();
        if !is_blank {
            end = at;
        }
    }
    end
}
