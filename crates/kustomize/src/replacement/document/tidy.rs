//! The lines of a document as Kustomize prints them again.

/// A map or a list that the lines stand in.
struct Level {
    old: usize,
    new: usize,
    is_list: bool,
}

/// Indents the lines anew and drops empty ones.
pub(super) fn tidy(text: &str) -> String {
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
