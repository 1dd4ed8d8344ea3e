//! How things are put into words.

use lynceus_object::{Value, json};

use crate::limits;

/// A text of at most a stated length, on one line.
pub(crate) fn quote(text: &str) -> String {
    let line = on_one_line(text);
    match line.char_indices().nth(limits::QUOTE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A text on one line. A diagnostic has its place and its hint on lines of their own, and its sentence may have named the place before.
fn on_one_line(text: &str) -> String {
    let mut line = String::new();
    for part in text.lines() {
        let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
        match (part.strip_prefix("at "), part.strip_prefix("hint: ")) {
            (Some(place), _) if line.contains(place) => {}
            (_, Some(hint)) if !line.is_empty() => line.push_str(&format!("; {hint}")),
            _ if part.is_empty() => {}
            _ if line.is_empty() => line = part,
            _ => line.push_str(&format!(" {part}")),
        }
    }
    line
}

/// `Deployment web`; what lacks a name has none to be called by.
pub(crate) fn named(kind: &str, name: &str) -> String {
    if name.is_empty() { format!("the nameless {kind}") } else { format!("{kind} {name}") }
}

/// A value as one line of JSON; a text stands for itself.
pub(crate) fn shown(value: &Value) -> String {
    match value.as_str() {
        Some(text) => quote(text),
        None => quote(&String::from_utf8_lossy(&json::to_vec(value))),
    }
}

/// `a, b, c, d and 3 more`.
pub(crate) fn list<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<T> = names.into_iter().collect();
    let shown: Vec<&str> = names.iter().take(limits::NAMED).map(AsRef::as_ref).collect();
    match (shown.as_slice(), names.len().saturating_sub(shown.len())) {
        ([], _) => String::new(),
        ([one], 0) => (*one).to_owned(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (all, more) => format!("{} and {more} more", all.join(", ")),
    }
}

/// `1 application`, `2 applications`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted() {
        assert_eq!(list(["a"]), "a");
        assert_eq!(list(["a", "b", "c"]), "a, b and c");
        assert_eq!(list(["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 more");
        assert_eq!((count(1, "pod"), count(0, "pod")), ("1 pod".to_owned(), "0 pods".to_owned()));
    }

    #[test]
    fn what_has_no_name_is_called_so() {
        assert_eq!(named("Service", "web"), "Service web");
        assert_eq!(named("Service", ""), "the nameless Service");
    }

    #[test]
    fn what_is_quoted_stays_on_its_line() {
        assert_eq!(quote("a\n  b"), "a b");
        assert_eq!(quote("error: odd\n  at a.yaml:3\n  hint: look"), "error: odd at a.yaml:3; look");
        assert_eq!(quote("error: too many links at a.yaml\n  at a.yaml"), "error: too many links at a.yaml");
        assert_eq!(quote(&"x".repeat(500)).chars().count(), limits::QUOTE + 1);
    }
}
