//! Keys that are no strings, with which Kustomize prints nothing.

use lynceus_object::{FieldPath, Segment, Value, yaml};

use crate::limits;
use crate::scalar::{meaning, text_of};

/// The first key of a document that is a number, a boolean or a date, with its line and column.
pub(crate) fn other_than_text(value: &Value, document: &str) -> Option<(String, u32, u32)> {
    if !document.split([':', '?']).any(|before| is_other(last_word(before)))
        && !document.split('?').any(|after| is_other(after.split_whitespace().next().unwrap_or_default()))
    {
        return None;
    }
    let mut suspects = Vec::new();
    collect(value, &FieldPath::root(), &mut suspects);
    suspects.iter().find_map(|path| {
        let (line, column) = yaml::locate(document.as_bytes(), 0, path)?;
        let text = document.split('\n').nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let from = text.char_indices().nth(usize::try_from(column).ok()?.checked_sub(1)?)?.0;
        let mut text = &text[from..];
        if text.starts_with('&') {
            text = text.split_once(' ')?.1.trim_start();
        }
        // A date has colons of its own.
        let key = text.split(": ").next()?.split([' ', ',', '}', ']']).next()?;
        let key = key.strip_suffix(':').unwrap_or(key);
        if text.starts_with(['"', '\'', '!']) {
            return None;
        }
        if is_other(key) {
            return Some((key.to_owned(), line, column));
        }
        // It is written otherwise than it is read, as `0x10` for 16, and is looked for by what it means.
        match path.segments().last() {
            Some(Segment::Field(name)) => meant(document, name),
            _ => None,
        }
    })
}

/// The first word before a colon that means a key.
fn meant(document: &str, key: &str) -> Option<(String, u32, u32)> {
    let is_meant = |word: &str| is_other(word) && *text_of(&meaning(word)) == *key;
    document.split('\n').zip(1..).find_map(|(line, number)| {
        let mut words = line.split(": ").map(|before| last_word(before.strip_suffix(':').unwrap_or(before)));
        words.find(|word| is_meant(word)).map(|word| (word.to_owned(), number, 1))
    })
}

/// The ways to the keys that would be no strings without quotes.
fn collect(value: &Value, path: &FieldPath, suspects: &mut Vec<FieldPath>) {
    if suspects.len() >= limits::MAX_SUSPECT_KEYS {
        return;
    }
    match value {
        Value::Map(map) => {
            for (key, value) in map.iter() {
                let path = path.field(key.clone());
                collect(value, &path, suspects);
                if is_other(key) {
                    suspects.push(path);
                }
            }
        }
        Value::Seq(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, &path.index(at), suspects);
            }
        }
        _ => {}
    }
}

fn last_word(text: &str) -> &str {
    text.rsplit([' ', '\n', '{', ',', '[']).next().unwrap_or_default()
}

/// Whether a word without quotes is something else than a string. Only what cannot be a string needs to be looked at.
fn is_other(word: &str) -> bool {
    let may_be = word.starts_with(|letter: char| letter.is_ascii_digit() || "+-.tfTF".contains(letter));
    may_be && (!matches!(meaning(word), Value::Str(_)) || is_date(word))
}

fn is_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 8 && bytes[4] == b'-' && bytes[..4].iter().all(u8::is_ascii_digit) && {
        let written = meaning(word);
        written.as_str() != Some(word) || word.ends_with('Z')
    }
}
