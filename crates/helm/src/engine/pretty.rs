//! YAML as go-yaml v3 writes it with two blanks for each level: lists are indented, and long lines stay whole.

use lynceus_gotmpl::{Map, Value};
use lynceus_object::yaml;

use crate::values::{from_template, shown};

/// How many maps and lists may stand inside each other.
const DEPTH: usize = 500;

/// Prints a value, without the line break at its end; nothing if it nests too deep.
pub(super) fn encode(value: &Value) -> String {
    let mut out = String::new();
    if node(value, 0, true, DEPTH, &mut out).is_none() {
        return String::new();
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

/// Prints a value whose first line has begun if it is a collection `in_line`.
fn node(value: &Value, indent: usize, in_line: bool, depth: usize, out: &mut String) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Map(map) if !map.is_empty() => fields(map, indent, in_line, depth, out),
        Value::List(list) if !list.is_empty() => {
            for (at, item) in list.to_vec().iter().enumerate() {
                begin(indent, at > 0 || !in_line, out);
                out.push_str("- ");
                node(item, indent + 2, true, depth, out)?;
            }
            Some(())
        }
        Value::Map(_) => end("{}", out),
        Value::List(_) => end("[]", out),
        Value::Object(object) => node(&object.json().into(), indent, in_line, depth, out),
        Value::Float(_) => end(&shown(value), out),
        value => end(&scalar(value, indent)?, out),
    }
}

fn fields(map: &Map, indent: usize, in_line: bool, depth: usize, out: &mut String) -> Option<()> {
    // The order of keys is that of the emitter for one line after the other.
    let order = yaml::to_string(&lynceus_object::Value::Map(
        map.keys().iter().map(|key| (key.as_str(), lynceus_object::Value::Null)).collect(),
    ));
    let lines = order.lines().filter_map(|line| line.strip_suffix(": null"));
    let mut keys: Vec<(String, String)> = Vec::new();
    for line in lines {
        let read = yaml::parse_str(line).ok()?;
        let key = read.as_str().map_or_else(|| line.to_owned(), str::to_owned);
        keys.push((line.to_owned(), key));
    }
    for (at, (printed, key)) in keys.iter().enumerate() {
        begin(indent, at > 0 || !in_line, out);
        out.push_str(printed);
        out.push(':');
        let value = map.get(key)?;
        let is_collection = match &value {
            Value::Map(map) => !map.is_empty(),
            Value::List(list) => !list.is_empty(),
            _ => false,
        };
        if is_collection {
            out.push('\n');
            node(&value, indent + 2, false, depth, out)?;
        } else {
            out.push(' ');
            node(&value, indent + 2, true, depth, out)?;
        }
    }
    Some(())
}

fn begin(indent: usize, on_new_line: bool, out: &mut String) {
    if on_new_line {
        out.push_str(&" ".repeat(indent));
    }
}

fn end(text: &str, out: &mut String) -> Option<()> {
    out.push_str(text);
    if !text.ends_with('\n') {
        out.push('\n');
    }
    Some(())
}

/// A scalar in the style that both versions of the library choose, unfolded.
fn scalar(value: &Value, indent: usize) -> Option<String> {
    let text = yaml::to_string(&from_template(value)?);
    let mut lines = text.lines();
    let first = lines.next()?;
    let rest: Vec<&str> = lines.collect();
    if rest.is_empty() {
        return Some(first.to_owned());
    }
    if first.starts_with('|') {
        let blanks = " ".repeat(indent);
        let lines = rest.iter().map(|line| match line.strip_prefix("  ") {
            Some(content) => format!("{blanks}{content}\n"),
            None => "\n".to_owned(),
        });
        return Some(format!("{first}\n{}", lines.collect::<String>()));
    }
    let rest = rest.iter().map(|line| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        format!(" {}", line.strip_prefix('\\').filter(|rest| rest.starts_with(' ')).unwrap_or(line))
    });
    Some(format!("{first}{}", rest.collect::<String>()))
}
