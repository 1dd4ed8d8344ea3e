//! What changed between two values, as lines with three lines of context on either side.

use lynceus_object::Value;

const CONTEXT: usize = 3;
/// Beyond this many lines on a side the two are shown whole, because finding what they share takes
/// time that grows with the square.
const MOST_LINES: usize = 2000;

/// A unified diff of the two values written as JSON, without file names.
pub(crate) fn lines(old: &Value, new: &Value) -> String {
    let (mut old_lines, mut new_lines) = (Vec::new(), Vec::new());
    pretty(old, 0, "", "", &mut old_lines);
    pretty(new, 0, "", "", &mut new_lines);
    hunks(&edits(&old_lines, &new_lines))
}

fn pretty(value: &Value, depth: usize, prefix: &str, suffix: &str, out: &mut Vec<String>) {
    let indent = " ".repeat(depth);
    let last = |at: usize, len: usize| if at + 1 == len { "" } else { "," };
    match value {
        Value::Map(map) if !map.is_empty() => {
            out.push(format!("{indent}{prefix}{{"));
            for (at, (key, value)) in map.iter().enumerate() {
                pretty(value, depth + 1, &format!("{key:?}: "), last(at, map.len()), out);
            }
            out.push(format!("{indent}}}{suffix}"));
        }
        Value::Seq(items) if !items.is_empty() => {
            out.push(format!("{indent}{prefix}["));
            for (at, value) in items.iter().enumerate() {
                pretty(value, depth + 1, "", last(at, items.len()), out);
            }
            out.push(format!("{indent}]{suffix}"));
        }
        other => out.push(format!("{indent}{prefix}{}{suffix}", crate::kinds::gofmt::json(other))),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Both,
    Old,
    New,
}

fn edits<'a>(old: &'a [String], new: &'a [String]) -> Vec<(Side, &'a str)> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_mid, new_mid) = (&old_rest[..old_rest.len() - end], &new_rest[..new_rest.len() - end]);
    let mut out: Vec<(Side, &str)> = old[..start].iter().map(|line| (Side::Both, line.as_str())).collect();
    out.extend(middle(old_mid, new_mid));
    out.extend(old_rest[old_rest.len() - end..].iter().map(|line| (Side::Both, line.as_str())));
    out
}

/// The longest common run of lines, by dynamic programming.
fn middle<'a>(old: &'a [String], new: &'a [String]) -> Vec<(Side, &'a str)> {
    let mut out = Vec::new();
    let (rows, columns) = (old.len(), new.len());
    let mut common = vec![vec![0_u32; columns + 1]; rows + 1];
    if rows.max(columns) <= MOST_LINES {
        for i in (0..rows).rev() {
            for j in (0..columns).rev() {
                common[i][j] = if old[i] == new[j] {
                    common[i + 1][j + 1] + 1
                } else {
                    common[i + 1][j].max(common[i][j + 1])
                };
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < rows || j < columns {
        if i < rows && j < columns && old[i] == new[j] {
            out.push((Side::Both, old[i].as_str()));
            (i, j) = (i + 1, j + 1);
        } else if i < rows && (j == columns || common[i + 1][j] >= common[i][j + 1]) {
            out.push((Side::Old, old[i].as_str()));
            i += 1;
        } else {
            out.push((Side::New, new[j].as_str()));
            j += 1;
        }
    }
    out
}

fn hunks(edits: &[(Side, &str)]) -> String {
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        edits.iter().skip(from).take(at + CONTEXT + 1 - from).any(|(side, _)| *side != Side::Both)
    };
    let (mut out, mut body) = (String::new(), String::new());
    let (mut old_line, mut new_line) = (0, 0);
    let mut hunk = (0, 0, 0, 0);
    for (at, (side, line)) in edits.iter().enumerate() {
        let (in_old, in_new) = (*side != Side::New, *side != Side::Old);
        old_line += usize::from(in_old);
        new_line += usize::from(in_new);
        if near(at) {
            if body.is_empty() {
                hunk = (old_line.max(1), 0, new_line.max(1), 0);
            }
            hunk.1 += usize::from(in_old);
            hunk.3 += usize::from(in_new);
            let mark = match side {
                Side::Both => ' ',
                Side::Old => '-',
                Side::New => '+',
            };
            body.push_str(&format!("{mark}{line}\n"));
        } else if !body.is_empty() {
            out.push_str(&format!("@@ -{},{} +{},{} @@\n{body}", hunk.0, hunk.1, hunk.2, hunk.3));
            body.clear();
        }
    }
    if !body.is_empty() {
        out.push_str(&format!("@@ -{},{} +{},{} @@\n{body}", hunk.0, hunk.1, hunk.2, hunk.3));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn a_change_is_shown_with_its_neighbourhood() {
        let old = value!({"a": 1, "b": ["x"], "c": 2, "d": 3, "e": 4, "f": 5});
        let new = value!({"a": 1, "b": ["y"], "c": 2, "d": 3, "e": 4, "f": 5});
        let expected = "@@ -1,7 +1,7 @@\n {\n  \"a\": 1,\n  \"b\": [\n-  \"x\"\n+  \"y\"\n  ],\n  \"c\": 2,\n  \"d\": 3,\n";
        assert_eq!(lines(&old, &new), expected);
    }
}
