//! Replacements: `$1`, `${name}`, `$$`.

use regex::Captures;

use super::super::runes::{is_digit, is_letter};

/// Appends a replacement with the groups of a match filled in. What is no group stands for nothing, and a `$`
/// that starts no name for itself.
pub(in crate::sprig) fn expand(
    text: &mut String,
    template: &str,
    groups: &Captures<'_>,
    names: &[Option<String>],
) {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            text.push('$');
            rest = after;
        } else if let Some((name, after)) = name_at(rest) {
            text.push_str(group(name, groups, names).unwrap_or_default());
            rest = after;
        } else {
            text.push('$');
        }
    }
    text.push_str(rest);
}

/// A name in braces, or as many letters, digits and underscores as there are: `$1x` is the group `1x`.
fn name_at(text: &str) -> Option<(&str, &str)> {
    let member = |c: char| c == '_' || is_letter(c) || is_digit(c);
    let in_braces = text.strip_prefix('{');
    let start = in_braces.unwrap_or(text);
    let end = start.find(|c| !member(c)).unwrap_or(start.len());
    let (name, after) = start.split_at(end);
    let after = if in_braces.is_some() { after.strip_prefix('}')? } else { after };
    (!name.is_empty()).then_some((name, after))
}

fn group<'a>(name: &str, groups: &Captures<'a>, names: &[Option<String>]) -> Option<&'a str> {
    let numeric = name.len() <= 9 && name.bytes().all(|byte| byte.is_ascii_digit());
    // Numbers have no leading zeros; with one it is a name.
    if numeric && (name == "0" || !name.starts_with('0')) {
        return groups.get(name.parse().ok()?).map(|group| group.as_str());
    }
    // Of groups with the same name the one that took part counts.
    let mut named = names.iter().enumerate().filter(|(_, group)| group.as_deref() == Some(name));
    named.find_map(|(index, _)| groups.get(index)).map(|group| group.as_str())
}
