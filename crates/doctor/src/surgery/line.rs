//! A change of one line of a template.
//!
//! A template is not YAML, so that no path leads to its lines. But the trace of a rendering knows the line that printed a
//! field, and where that line is nothing but a key and a value, it can be changed by itself.

use lynceus_files::FilePath;
use lynceus_object::{FieldPath, Value};

use super::anatomy::{Kind, Node};
use super::error::{Problem, SurgeryError};
use super::page::Page;
use super::{Change, Cut};

/// The text with the value on a line, from 1, set to another or removed. The line has to be `key: value`, with at most a
/// dash before it and a comment behind it, and without template actions.
pub fn operate_line(
    file: &FilePath,
    text: &str,
    line: u32,
    key: &str,
    change: &Change,
) -> Result<String, SurgeryError> {
    let field = FieldPath::fields([key]);
    changed(text, line, key, change).map_err(|problem| SurgeryError {
        file: file.clone(),
        line,
        field,
        problem,
    })
}

fn changed(text: &str, line: u32, key: &str, change: &Change) -> Result<String, Problem> {
    let (from, to) = bounds(text, line)?;
    let own = &text[from..to];
    if own.contains("{{") || own.contains("}}") {
        return Err(Problem::Action);
    }
    let lead = own.len() - own.trim_start_matches([' ', '-']).len();
    let (lead, rest) = own.split_at(lead);
    let other = || Problem::OtherLine(key.to_owned());
    if !is_single(rest, key).unwrap_or(false) {
        return Err(other());
    }
    if goes_on(&text[to..], lead.len()) {
        return Err(Problem::GoesOn);
    }
    let instead = match change {
        Change::Set(value) => format!("{lead}{}", set(rest, key, value)?),
        Change::Remove if lead.contains('-') => return Err(other()),
        Change::Remove => String::new(),
        Change::Append(_) | Change::Merge(_) => return Err(other()),
    };
    let to = if instead.is_empty() { to + line_break(&text[to..]) } else { to };
    Ok(format!("{}{instead}{}", &text[..from], &text[to..]))
}

/// Where a line begins and ends, without its line break.
fn bounds(text: &str, line: u32) -> Result<(usize, usize), Problem> {
    let missing = Problem::NoLine(line);
    let before = usize::try_from(line).ok().and_then(|line| line.checked_sub(1)).ok_or(missing.clone())?;
    let mut lines = text.split_inclusive('\n');
    let from: usize = lines.by_ref().take(before).map(str::len).sum();
    let own = lines.next().ok_or(missing)?;
    Ok((from, from + own.trim_end_matches(['\n', '\r']).len()))
}

fn line_break(rest: &str) -> usize {
    rest.len() - rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(rest).len()
}

/// Whether a line is a map of one key with a value that ends on it.
fn is_single(line: &str, key: &str) -> Option<bool> {
    let page = Page::new(line);
    let Node { kind: Kind::Map { flow: false, entries }, .. } = page.anatomy(0).ok()? else { return None };
    let [entry] = entries.as_slice() else { return None };
    let value = &entry.value;
    let stands_alone = value.anchor.is_none() && !matches!(value.kind, Kind::Empty | Kind::Alias(_));
    let is_block = matches!(line.as_bytes().get(value.body), Some(b'|' | b'>'));
    Some(entry.name.as_deref() == Some(key) && stands_alone && !is_block)
}

/// Whether the next line that says something is further in: it may be more of the value.
fn goes_on(rest: &str, column: usize) -> bool {
    let next = rest.lines().skip(1).find(|line| !line.trim().is_empty());
    let Some(next) = next else { return false };
    let text = next.trim_start_matches(' ');
    next.len() - text.len() > column && !text.starts_with(['#', '{'])
}

fn set(line: &str, key: &str, value: &Value) -> Result<String, Problem> {
    let path = FieldPath::fields([key]);
    // A line has no room for more than one.
    let is_flat = match value {
        Value::Map(map) => map.is_empty(),
        Value::Seq(items) => items.is_empty(),
        Value::Str(text) => !text.contains('\n') && !text.contains("{{"),
        _ => true,
    };
    if !is_flat {
        return Err(Problem::Layout);
    }
    let cut = Cut { document: 0, path, change: Change::Set(value.clone()) };
    super::one(line, &cut).map_err(|(_, problem)| problem)
}
