//! Patterns of value files: `*`, `?`, `[…]` and `{…}` within a name, `**` for any number of folders.

use lynceus_files::{Entry, FilePath, Tree, TreeError};

use crate::limits;

/// Whether a path is a pattern.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The files that match a pattern, in the order of their paths.
pub(crate) fn files(tree: &dyn Tree, pattern: &FilePath) -> Result<Vec<FilePath>, TreeError> {
    let parts: Vec<&str> = pattern.parts().collect();
    let mut found = Vec::new();
    walk(tree, &FilePath::root(), &parts, 0, &mut found)?;
    found.sort();
    found.dedup();
    Ok(found)
}

fn walk(
    tree: &dyn Tree,
    at: &FilePath,
    parts: &[&str],
    depth: usize,
    found: &mut Vec<FilePath>,
) -> Result<(), TreeError> {
    let Some((part, rest)) = parts.split_first() else { return Ok(()) };
    if depth > limits::DEPTH || found.len() > limits::FILES {
        return Ok(());
    }
    if *part == "**" {
        walk(tree, at, rest, depth, found)?;
    }
    let names = match tree.list(at) {
        Ok(names) => names,
        Err(TreeError::NotFound(_) | TreeError::NotA(..)) => return Ok(()),
        Err(error) => return Err(error),
    };
    for (name, entry) in names {
        let Ok(below) = at.join(&name) else { continue };
        match (*part == "**", &entry) {
            // A link to a folder is not walked: it could lead back up.
            (true, Entry::Directory) => walk(tree, &below, parts, depth + 1, found)?,
            (true, Entry::File | Entry::Link(_)) if rest.is_empty() => found.push(below),
            (false, _) if !matches(part, &name) => {}
            (false, Entry::File | Entry::Link(_)) if rest.is_empty() => found.push(below),
            (false, Entry::Directory | Entry::Link(_)) => walk(tree, &below, rest, depth + 1, found)?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether a name matches a pattern that has no `/`.
fn matches(pattern: &str, name: &str) -> bool {
    if let Some((before, choices, after)) = braces(pattern) {
        return choices.iter().any(|choice| matches(&format!("{before}{choice}{after}"), name));
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    plain(&pattern, &name)
}

/// The first `{a,b}` of a pattern, taken apart.
fn braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (choices, after) = rest.split_once('}')?;
    Some((before, choices.split(',').collect(), after))
}

/// Goes back to the last star only, so that no pattern takes longer than the product of both lengths.
fn plain(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(_) => {
                if let Some(next) = one(pattern, p, name[n]) {
                    (p, n) = (next, n + 1);
                    continue;
                }
            }
            None => {}
        }
        let Some((after, from)) = star else { return false };
        star = Some((after, from + 1));
        (p, n) = (after, from + 1);
    }
    pattern[p..].iter().all(|char| *char == '*')
}

/// Where the pattern goes on after it has matched one letter.
fn one(pattern: &[char], at: usize, letter: char) -> Option<usize> {
    match pattern[at] {
        '?' => Some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&letter)).then_some(at + 2),
        '[' => class(pattern, at + 1, letter),
        plain => (plain == letter).then_some(at + 1),
    }
}

/// `[a-z]`, `[!a]` and `[^a]`; one that is never closed matches nothing.
fn class(pattern: &[char], from: usize, letter: char) -> Option<usize> {
    let end = from + pattern[from..].iter().skip(1).position(|char| *char == ']')? + 1;
    let (negated, members) = match &pattern[from..end] {
        [' ', ..] | [] => (false, &pattern[from..end]),
        ['!' | '^', members @ ..] => (true, members),
        members => (false, members),
    };
    let mut is_member = false;
    let mut rest = members;
    while let Some((first, more)) = rest.split_first() {
        match more {
            ['-', last, more @ ..] => {
                is_member |= (*first..=*last).contains(&letter);
                rest = more;
            }
            _ => {
                is_member |= *first == letter;
                rest = more;
            }
        }
    }
    (is_member != negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_files::MemoryTree;

    #[test]
    fn patterns_find_files_in_order() {
        let mut tree = MemoryTree::new();
        for path in ["v/b.yaml", "v/a.yaml", "v/a.txt", "v/env/eu/a.yaml", "v/env/us/b.yaml", "x.yaml"] {
            tree.insert(FilePath::new(path).unwrap(), &b""[..]);
        }
        let find = |pattern: &str| {
            let found = files(&tree, &FilePath::new(pattern).unwrap()).unwrap();
            found.iter().map(FilePath::as_str).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(find("v/*.yaml"), "v/a.yaml v/b.yaml");
        assert_eq!(find("v/**/*.yaml"), "v/a.yaml v/b.yaml v/env/eu/a.yaml v/env/us/b.yaml");
        assert_eq!(find("**/b.yaml"), "v/b.yaml v/env/us/b.yaml");
        assert_eq!(find("v/env/[a-f]*/?.yaml"), "v/env/eu/a.yaml");
        assert_eq!(find("v/{a,b}.yaml"), "v/a.yaml v/b.yaml");
        assert_eq!(find("v/[!a].yaml"), "v/b.yaml");
        assert_eq!(find("nowhere/*"), "");
    }
}
