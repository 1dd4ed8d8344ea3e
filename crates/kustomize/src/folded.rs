//! Folded texts, which Kustomize prints and reads again before it is done.
//!
//! What it prints them with puts an empty line before every line that is indented further, and reading keeps it. So a text
//! that was written folded (`>`) comes out with more lines than it had.

use lynceus_object::Value;
use lynceus_object::yaml::{self, Options, Version};

/// Has the folded texts of a document come out as they do from Kustomize.
pub(crate) fn refold(value: &mut Value, document: &str) {
    if !may_have_folded(document) {
        return;
    }
    // What could be read once can be read again.
    let options = Options::default().version(Version::V3);
    if let Ok(mut written) = yaml::parse_written(document.as_bytes(), 0, &options) {
        // Annotations are written anew before anything is printed, and not folded then.
        written.remove(&["metadata", "annotations"]);
        refold_in(value, &written);
    }
}

/// Whether a line ends as one does before a folded text.
pub(crate) fn may_have_folded(document: &str) -> bool {
    document.contains('>')
        && document.lines().any(|line| {
            let line = line.split(" #").next().unwrap_or_default().trim_end();
            line.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '+' | '-'))
                .ends_with('>')
        })
}

/// Refolds the texts that are still as they were written.
pub(crate) fn refold_in(value: &mut Value, written: &Value) {
    match (value, written) {
        (Value::Str(text), Value::Str(sign)) if sign.strip_prefix('>') == Some(text.as_str()) => {
            if let Some(refolded) = refolded(text) {
                *text = refolded.into();
            }
        }
        (Value::Map(map), Value::Map(written)) => {
            for (key, value) in map.iter_mut() {
                if let Some(written) = written.get(key) {
                    refold_in(value, written);
                }
            }
        }
        (Value::Seq(items), Value::Seq(written)) => {
            for (value, written) in items.make_mut().iter_mut().zip(written) {
                refold_in(value, written);
            }
        }
        _ => {}
    }
}

/// What a folded text is after it was printed and read; none if that is the same.
fn refolded(text: &str) -> Option<String> {
    let is_blank = |line: &str| line.starts_with([' ', '\t']);
    // What cannot be printed as a block is quoted, and stays as it is.
    let is_quoted = text.ends_with([' ', '\t'])
        || text.contains(" \n")
        || text.contains(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t'));
    if is_quoted || !text.contains('\n') {
        return None;
    }
    // The printer looks at the first letter of the whole text where it should look at the next line.
    let adds = !is_blank(text.trim_start_matches('\n'));
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find('\n') {
        let line = &rest[..at];
        let next = rest[at..].trim_start_matches('\n');
        let breaks = rest.len() - at - next.len();
        out.push_str(line);
        let printed = breaks + usize::from(adds && !line.is_empty() && !is_blank(line));
        let kept = if next.is_empty() {
            // Only what ends with several line breaks keeps all of them.
            if breaks > 1 { printed } else { breaks }
        } else if line.is_empty() || is_blank(line) || is_blank(next) {
            printed
        } else {
            printed - 1
        };
        if kept == 0 {
            out.push(' ');
        }
        out.extend(std::iter::repeat_n('\n', kept));
        rest = next;
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn lines_that_are_indented_further_get_an_empty_line_before_them() {
        for (text, expected) in [
            ("one two", "one two"),
            ("one\n", "one\n"),
            ("one\ntwo\n", "one\ntwo\n"),
            ("{\n  a\n  b\n}\n", "{\n\n  a\n  b\n}\n"),
            ("a\n  b\nc\n  d", "a\n\n  b\nc\n\n  d"),
            ("a\n\n\n", "a\n\n\n\n"),
            ("a \n  b", "a \n  b"),
        ] {
            assert_eq!(refolded(text).as_deref().unwrap_or(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_what_is_written_folded_is_changed() {
        let document = "a: >-\n  x\n    y\nb: |-\n  x\n    y\nc: [1]\nmetadata: {annotations: {}}\n";
        let mut value = yaml::parse_str(document).unwrap();
        refold(&mut value, document);
        assert_eq!(
            value,
            value!({"a": "x\n\n  y", "b": "x\n  y", "c": [1], "metadata": {"annotations": {}}})
        );
    }

    #[test]
    fn annotations_stay_as_they_are() {
        let document = "metadata:\n  annotations:\n    a: >-\n      x\n        y\n";
        let mut value = yaml::parse_str(document).unwrap();
        let before = value.clone();
        refold(&mut value, document);
        assert_eq!(value, before);
    }
}
