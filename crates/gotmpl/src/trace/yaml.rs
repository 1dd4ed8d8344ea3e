//! Which part of a value each line of its YAML shows.

use super::path::Segment;
use crate::Value;

/// For each line of the YAML of a value, the steps that lead to what it shows.
///
/// The text is not parsed as YAML but followed along the value: a line whose key the value does not
/// have belongs to what came before, as the lines of a long string do.
pub(super) fn steps(text: &str, value: &Value) -> Vec<Vec<Segment>> {
    let mut open: Vec<Open> = vec![Open { indent: 0, value: value.clone(), steps: Vec::new(), next: 0 }];
    let mut last = Vec::new();
    text.lines()
        .map(|line| {
            if let Some(steps) = follow(line, &mut open) {
                last = steps;
            }
            last.clone()
        })
        .collect()
}

/// A map or list whose lines are being read.
struct Open {
    indent: usize,
    value: Value,
    steps: Vec<Segment>,
    /// The position of the next element, if it is a list.
    next: usize,
}

fn follow(line: &str, open: &mut Vec<Open>) -> Option<Vec<Segment>> {
    let mut rest = line.trim_start();
    let mut indent = line.len() - rest.len();
    if rest.is_empty() {
        return None;
    }
    // A list may stand at the indent of the key that holds it.
    let is_item = rest.starts_with("- ") || rest == "-";
    while open.len() > 1 && open.last().is_some_and(|top| too_deep(top, indent, is_item)) {
        open.pop();
    }
    loop {
        let top = open.last_mut().filter(|top| top.indent == indent)?;
        let (segment, inner, after, deeper) = match &top.value {
            Value::List(list) => {
                let after = rest.strip_prefix('-')?;
                let spaces = after.len() - after.trim_start().len();
                let at = top.next;
                top.next += 1;
                (Segment::Index(at), list.get(at)?, after.trim_start(), indent + 1 + spaces.max(1))
            }
            Value::Map(map) => {
                let (key, after) = key(rest)?;
                let value = map.get(key)?;
                (Segment::Key(key.into()), value, after, indent)
            }
            _ => return None,
        };
        let mut steps = top.steps.clone();
        steps.push(segment);
        let is_map_key = matches!(top.value, Value::Map(_));
        match inner {
            Value::Map(_) | Value::List(_) if is_map_key => {
                let is_list = matches!(inner, Value::List(_));
                let indent = if is_list { indent } else { indent + 2 };
                open.push(Open { indent, value: inner, steps: steps.clone(), next: 0 });
                return Some(steps);
            }
            Value::Map(_) | Value::List(_) => {
                open.push(Open { indent: deeper, value: inner, steps, next: 0 });
                rest = after;
                indent = deeper;
            }
            _ => return Some(steps),
        }
    }
}

fn too_deep(top: &Open, indent: usize, is_item: bool) -> bool {
    let is_list = matches!(top.value, Value::List(_));
    top.indent > indent || top.indent == indent && is_list != is_item
}

/// The key of a line, and what follows.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|key| (key, "")))?;
    let plain = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
    Some((plain.unwrap_or(key), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Path;

    #[test]
    fn lines_lead_to_what_they_show() {
        let value = Value::map([
            (
                "a",
                Value::list([
                    Value::map([("n", Value::from("x")), ("p", Value::from(1.0))]),
                    Value::from("s"),
                ]),
            ),
            (
                "b",
                Value::map([
                    ("c", Value::map([("d", Value::from("line\n  e: f"))])),
                    ("g", Value::from(true)),
                ]),
            ),
            ("h", Value::list([Value::list([Value::from("i")])])),
        ]);
        let text =
            "a:\n- n: x\n  p: 1\n- s\nb:\n  c:\n    d: |-\n      line\n        e: f\n  g: true\nh:\n- - i\n";
        let paths: Vec<String> =
            steps(text, &value).into_iter().map(|steps| Path(steps).to_string()).collect();
        assert_eq!(
            paths,
            [
                ".a", ".a[0].n", ".a[0].p", ".a[1]", ".b", ".b.c", ".b.c.d", ".b.c.d", ".b.c.d", ".b.g",
                ".h", ".h[0][0]"
            ]
        );
    }
}
