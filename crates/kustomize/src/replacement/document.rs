//! A YAML document in which scalars are changed, and which is otherwise printed as Kustomize prints it again: indented by
//! two, lists in the column of their key, without empty lines, with the order, the comments and the quotes that it had.
//!
//! What comes out is read again. If it is not what was wanted, the document is printed without its order and comments.

use lynceus_object::path::FieldPath;
use lynceus_object::{Value, yaml};

use super::structured::read;
use crate::scalar::{meaning, text_of};

/// The text with what has changed between two values.
pub(super) fn edit(text: &str, before: &Value, after: &Value) -> String {
    let mut changes = Vec::new();
    let is = |text: &str| read(text).as_ref() == Some(after);
    if changed(before, after, &FieldPath::root(), &mut changes) {
        let edited = changes.iter().try_fold(text.to_owned(), |text, (path, new)| replace(&text, path, new));
        if let Some(edited) = edited.filter(|edited| is(edited)) {
            let tidy = tidy(edited.trim());
            // The end of the text is cut off whatever stands there, so that it does not count.
            return if is(&format!("{tidy}\n")) || is(&tidy) { tidy } else { edited.trim().to_owned() };
        }
    }
    yaml::to_string(after).trim().to_owned()
}

/// Collects the scalars that have changed; `false` if anything else has.
fn changed<'v>(
    before: &Value,
    after: &'v Value,
    path: &FieldPath,
    changes: &mut Vec<(FieldPath, &'v Value)>,
) -> bool {
    match (before, after) {
        (Value::Map(before), Value::Map(after)) => {
            before.len() == after.len()
                && after.iter().all(|(name, after)| {
                    before
                        .get(name)
                        .is_some_and(|before| changed(before, after, &path.field(name.clone()), changes))
                })
        }
        (Value::Seq(before), Value::Seq(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .zip(after)
                    .enumerate()
                    .all(|(at, (before, after))| changed(before, after, &path.index(at), changes))
        }
        (Value::Map(_) | Value::Seq(_), _) | (_, Value::Map(_) | Value::Seq(_)) => false,
        (before, after) => {
            if before != after {
                changes.push((path.clone(), after));
            }
            true
        }
    }
}

/// Puts another scalar in the place of the one at a path, in the same quotes.
fn replace(text: &str, path: &FieldPath, new: &Value) -> Option<String> {
    let (line, column) = yaml::locate(text.as_bytes(), 0, path)?;
    let mut lines: Vec<&str> = text.split('\n').collect();
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    let line = *lines.get(at)?;
    let start = line.char_indices().nth(usize::try_from(column).ok()?.checked_sub(1)?)?.0;
    let is_item = matches!(path.segments().last(), Some(lynceus_object::Segment::Index(_)));
    let start = if is_item { start } else { start + after_key(&line[start..])? };
    let length = scalar_length(&line[start..], line[..start].contains(['{', '[']))?;
    let (old, rest) = line[start..].split_at(length);
    let word = text_of(new);
    let printed = match old.as_bytes().first() {
        Some(b'"') => lynceus_object::json::to_string(&Value::Str(word)),
        Some(b'\'') => format!("'{}'", word.replace("'", "''")),
        _ if meaning(&word) == *new => word.to_string(),
        _ => yaml::to_string(new).trim_end().to_owned(),
    };
    let line = format!("{}{printed}{rest}", &line[..start]);
    lines[at] = &line;
    Some(lines.join("\n"))
}

/// How many bytes a key takes with its colon and the spaces after it.
fn after_key(text: &str) -> Option<usize> {
    let key = match text.as_bytes().first()? {
        b'"' | b'\'' => scalar_length(text, false)?,
        _ => text.find(": ")?,
    };
    let rest = text[key..].strip_prefix(':')?;
    Some(text.len() - rest.trim_start_matches(' ').len())
}

/// How many bytes the scalar at the start of a text takes; it has to end on the same line.
fn scalar_length(text: &str, is_in_flow: bool) -> Option<usize> {
    match text.as_bytes().first()? {
        b'|' | b'>' | b'&' | b'*' | b'!' => None,
        b'"' => {
            let mut escaped = false;
            let end = text[1..].find(|char| {
                let ends = char == '"' && !escaped;
                escaped = char == '\\' && !escaped;
                ends
            })?;
            Some(end + 2)
        }
        b'\'' => {
            let mut at = 1;
            loop {
                at += text[at..].find('\'')? + 1;
                match text[at..].strip_prefix('\'') {
                    Some(_) => at += 1,
                    None => return Some(at),
                }
            }
        }
        _ => {
            let end = text.find(" #").unwrap_or(text.len());
            let end = if is_in_flow { text[..end].find([',', ']', '}']).unwrap_or(end) } else { end };
            Some(text[..end].trim_end().len())
        }
    }
}

/// A map or a list that the lines stand in.
struct Level {
    old: usize,
    new: usize,
    is_list: bool,
}

/// Indents the lines anew and drops empty ones.
fn tidy(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut comments: Vec<&str> = Vec::new();
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let content = line.trim();
        if content.is_empty() {
            continue;
        }
        if content.starts_with('#') {
            comments.push(content);
            continue;
        }
        let (indent, rest) = place(line, &mut levels);
        out.extend(comments.drain(..).map(|comment| format!("{:indent$}{comment}", "")));
        out.push(format!("{:indent$}{}", "", close_comment(&rest)));
        if !begins_block(&rest) {
            continue;
        }
        let outer = line.len() - line.trim_start_matches([' ', '-']).len();
        let new = levels.last().map_or(0, |level| level.new) + 2;
        let mut old = None;
        while let Some(next) = lines.next_if(|next| next.trim().is_empty() || is_deeper(next, outer, old)) {
            let spaces = next.len() - next.trim_start_matches(' ').len();
            let base =
                if next.trim().is_empty() { old.unwrap_or(spaces) } else { *old.get_or_insert(spaces) };
            let body = next.get(base.min(next.len())..).unwrap_or_default();
            out.push(if body.is_empty() { String::new() } else { format!("{:new$}{body}", "") });
        }
        while out.last().is_some_and(String::is_empty) {
            out.pop();
        }
    }
    out.extend(comments.iter().map(|comment| (*comment).to_owned()));
    out.join("\n")
}

/// Whether a line belongs to a block scalar whose key stands at `outer`.
fn is_deeper(line: &str, outer: usize, block: Option<usize>) -> bool {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    match block {
        Some(block) => spaces >= block,
        None => spaces > outer,
    }
}

/// The new indent of a line, and the line without its indent.
fn place(line: &str, levels: &mut Vec<Level>) -> (usize, String) {
    let mut old = line.len() - line.trim_start_matches(' ').len();
    let mut rest = &line[old..];
    let mut indent = None;
    let mut dashes = String::new();
    while rest == "-" || rest.starts_with("- ") {
        let new = enter(levels, old, true);
        indent.get_or_insert(new);
        dashes.push('-');
        let after = rest[1..].trim_start_matches(' ');
        if after.is_empty() {
            return (indent.unwrap_or(0), dashes);
        }
        dashes.push(' ');
        old += rest.len() - after.len();
        rest = after;
    }
    let is_key = !rest.starts_with(['{', '[']) && (rest.contains(": ") || rest.ends_with(':'));
    if is_key {
        let new = enter(levels, old, false);
        indent.get_or_insert(new);
    }
    (indent.unwrap_or(old), format!("{dashes}{rest}"))
}

/// The new indent of a map or a list that stands at a column, which is a new one if none stands there.
fn enter(levels: &mut Vec<Level>, old: usize, is_list: bool) -> usize {
    while levels
        .last()
        .is_some_and(|level| level.old > old || (level.old == old && level.is_list && !is_list))
    {
        levels.pop();
    }
    if let Some(level) = levels.last()
        && level.old == old
        && level.is_list == is_list
    {
        return level.new;
    }
    let new = match levels.last() {
        None => 0,
        Some(level) if is_list && !level.is_list => level.new,
        Some(level) => level.new + 2,
    };
    levels.push(Level { old, new, is_list });
    new
}

/// Whether a line ends with the beginning of a block scalar.
fn begins_block(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    let word = line.rsplit(' ').next().unwrap_or_default();
    line.len() > word.len()
        && word.starts_with(['|', '>'])
        && word[1..].chars().all(|char| matches!(char, '+' | '-' | '0'..='9'))
}

/// A comment at the end of a line stands one space after what is before it.
fn close_comment(line: &str) -> String {
    match line.split_once("  #") {
        Some((content, comment))
            if !content.contains(['"', '\'']) || content.trim_end().ends_with(['"', '\'']) =>
        {
            format!("{} #{comment}", content.trim_end())
        }
        _ => line.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pointer: &str, new: Value, expected: &str) {
        let before = read(text).unwrap();
        let mut after = before.clone();
        *FieldPath::parse_pointer(pointer)
            .unwrap()
            .by_position(&before)
            .unwrap()
            .get_mut(&mut after)
            .unwrap() = new;
        assert_eq!(edit(text, &before, &after), expected);
    }

    #[test]
    fn order_comments_and_quotes_stay_and_indents_do_not() {
        let text = "# head\nserver:\n    host: \"old\"   # comment\n    port: 80\n\n    list:\n      - name: a\n        v: 'x'\n      - b\n    text: |\n        abc\n          d\nzeta: 1\n";
        let expected = "# head\nserver:\n  host: \"new\" # comment\n  port: 80\n  list:\n  - name: a\n    v: 'x'\n  - b\n  text: |\n    abc\n      d\nzeta: 1";
        check(text, "/server/host", "new".into(), expected);
    }

    #[test]
    fn a_plain_scalar_stays_plain() {
        check("a: 80\nb: {c: x, d: y}\n", "/a", Value::Int(90), "a: 90\nb: {c: x, d: y}");
        check("a: 80\nb: {c: x, d: y}\n", "/b/c", "z".into(), "a: 80\nb: {c: z, d: y}");
    }
}
