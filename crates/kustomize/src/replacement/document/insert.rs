//! A new field or item at the end of a map or a list.

use lynceus_object::path::FieldPath;
use lynceus_object::{Map, Segment, Value, json, yaml};

use super::replace::{after_key, offset, quoted_length};

/// Adds what is new at a path to the map or the list that it belongs to. `before` is what the text was first.
pub(super) fn insert(text: &str, before: &Value, path: &FieldPath, new: &Value) -> Option<String> {
    let (last, way) = path.segments().split_last()?;
    let parent: FieldPath = way.iter().cloned().collect();
    let start = match way.last() {
        None => text.len() - text.trim_start().len(),
        Some(Segment::Index(_)) => offset(text, &parent)?,
        Some(_) => {
            let key = offset(text, &parent)?;
            key + after_key(&text[key..])?
        }
    };
    if text[start..].starts_with(['{', '[']) {
        return insert_in_flow(text, start, last, new);
    }
    let holder = if way.is_empty() { before } else { parent.get(before)? };
    let (column, added) = match (last, holder) {
        (Segment::Field(name), Value::Map(map)) => {
            let sibling = offset(text, &parent.field(map.keys().next()?.clone()))?;
            let added = yaml::to_string(&Value::Map(Map::from_iter([(name.clone(), new.clone())])));
            (sibling - line_start(text, sibling), added)
        }
        (Segment::Index(_), Value::Seq(items)) => {
            let sibling = offset(text, &parent.index(items.len().checked_sub(1)?))?;
            let added = yaml::to_string(&Value::Seq([new.clone()].into_iter().collect()));
            (text[line_start(text, sibling)..sibling].rfind('-')?, added)
        }
        _ => return None,
    };
    let is_list = matches!(last, Segment::Index(_));
    let from = match (last, holder) {
        (Segment::Field(_), Value::Map(map)) => offset(text, &parent.field(map.keys().next()?.clone()))?,
        (_, holder) => offset(text, &parent.index(holder.as_seq()?.len().checked_sub(1)?))?,
    };
    let end = block_end(text, from, column, is_list);
    let added: String = added.lines().map(|line| format!("\n{:column$}{line}", "")).collect();
    Some(format!("{}{added}{}", &text[..end], &text[end..]))
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// Where the last line of a map or a list ends that stands in a column and that `from` is in.
fn block_end(text: &str, from: usize, column: usize, is_list: bool) -> usize {
    let mut end = text[from..].find('\n').map_or(text.len(), |length| from + length);
    let mut at = end;
    for line in text[end..].split('\n').skip(1) {
        at += 1 + line.len();
        let content = line.trim_start_matches(' ');
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let indent = line.len() - content.len();
        let is_inside = indent > column || indent == column && (!is_list || content.starts_with('-'));
        if !is_inside {
            break;
        }
        end = at;
    }
    end
}

/// Adds to a map or a list between brackets.
fn insert_in_flow(text: &str, start: usize, last: &Segment, new: &Value) -> Option<String> {
    let end = start + closing(&text[start..])?;
    let is_empty = text[start + 1..end].trim().is_empty();
    let comma = if is_empty { "" } else { ", " };
    let before = if is_empty { &text[..=start] } else { text[..end].trim_end() };
    let added = match last {
        Segment::Field(name) => {
            format!("{}: {}", yaml::to_string(&Value::Str(name.clone())).trim_end(), flow(new))
        }
        _ => flow(new),
    };
    Some(format!("{before}{comma}{added}{}", &text[end..]))
}

/// Where the bracket closes that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0usize);
    while let Some(letter) = text[at..].chars().next() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            '"' | '\'' if text[..at].ends_with([' ', ',', '{', '[', ':']) => {
                at += quoted_length(&text[at..])? - 1
            }
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += letter.len_utf8();
    }
    None
}

fn flow(value: &Value) -> String {
    match value {
        Value::Map(map) => {
            let fields: Vec<String> = map
                .iter()
                .map(|(key, value)| {
                    format!("{}: {}", yaml::to_string(&Value::Str(key.clone())).trim_end(), flow(value))
                })
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Seq(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Str(text) => yaml::to_string(&Value::Str(text.clone())).trim_end().to_owned(),
        other => json::to_string(other),
    }
}
