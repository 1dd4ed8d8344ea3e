//! Differences as text.

use lynceus_object::{Object, ObjectKey, yaml};
use similar::{DiffOp, TextDiff};

/// The line above an object's differences, as `argocd app diff` prints it.
pub fn heading(key: &ObjectKey) -> String {
    format!("===== {}/{} {}/{} ======", key.group, key.kind, key.namespace, key.name)
}

/// The differences of two objects as `diff` prints those of two files: `3c3`, `< old`, `---`, `> new`.
pub fn normal(live: Option<&Object>, desired: Option<&Object>) -> String {
    let (old, new) = (printed(live), printed(desired));
    let diff = TextDiff::from_lines(&old, &new);
    let mut out = String::new();
    for op in diff.ops() {
        let (old, new) = (op.old_range(), op.new_range());
        let (letter, left, right) = match op {
            DiffOp::Equal { .. } => continue,
            DiffOp::Delete { .. } => ('d', range(&old), new.start.to_string()),
            DiffOp::Insert { .. } => ('a', old.start.to_string(), range(&new)),
            DiffOp::Replace { .. } => ('c', range(&old), range(&new)),
        };
        out.push_str(&format!("{left}{letter}{right}\n"));
        for line in old.filter_map(|at| diff.old_slice(at)) {
            out.push_str(&format!("< {line}"));
        }
        if letter == 'c' {
            out.push_str("---\n");
        }
        for line in new.filter_map(|at| diff.new_slice(at)) {
            out.push_str(&format!("> {line}"));
        }
    }
    out
}

/// The differences of two objects as a unified diff with three lines of context; empty if there are none.
pub fn unified(live: Option<&Object>, desired: Option<&Object>, key: &ObjectKey) -> String {
    let (old, new) = (printed(live), printed(desired));
    let diff = TextDiff::from_lines(&old, &new);
    diff.unified_diff()
        .context_radius(3)
        .header(&format!("live/{key}"), &format!("desired/{key}"))
        .to_string()
}

fn printed(object: Option<&Object>) -> String {
    object.map(|object| yaml::to_string(object.value())).unwrap_or_default()
}

/// Lines from 1, both ends included.
fn range(range: &std::ops::Range<usize>) -> String {
    if range.len() == 1 { range.end.to_string() } else { format!("{},{}", range.start + 1, range.end) }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn changes_look_as_diff_prints_them() {
        let live = Object::new(value!({"a": 1, "b": 2, "d": 4})).expect("a map");
        let desired = Object::new(value!({"a": 1, "b": 3, "c": 5, "e": 6})).expect("a map");
        assert_eq!(
            normal(Some(&live), Some(&desired)),
            "2,3c2,4\n< b: 2\n< d: 4\n---\n> b: 3\n> c: 5\n> e: 6\n"
        );
        assert_eq!(normal(Some(&live), Some(&live)), "");
        assert_eq!(normal(None, Some(&Object::new(value!({"a": 1})).expect("a map"))), "0a1\n> a: 1\n");
    }

    #[test]
    fn the_heading_names_group_kind_namespace_and_name() {
        let key = ObjectKey::new("apps", "Deployment", "shop", "web");
        assert_eq!(heading(&key), "===== apps/Deployment shop/web ======");
    }
}
