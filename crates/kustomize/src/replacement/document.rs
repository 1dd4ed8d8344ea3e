//! A YAML document in which scalars are changed or added, and which is otherwise printed as Kustomize prints it again:
//! indented by two, lists in the column of their key, without empty lines, with the order, the comments and the quotes that
//! it had.
//!
//! What is set stands as a mark in the text until the rest of it is settled, because it need not be readable: a number that
//! becomes a word is printed as `!!int word`. The text with the marks is read again. If it is not what was wanted, the
//! document is printed without its order and comments.

mod insert;
mod replace;
mod tidy;

use lynceus_object::path::FieldPath;
use lynceus_object::{Str, Value, yaml};

use self::insert::insert;
use self::replace::{fill, replace};
use self::tidy::tidy;
use super::structured::read;

/// What stands for the scalars that are set.
pub(super) struct Marks {
    base: String,
    count: usize,
}

impl Marks {
    /// Marks that a text does not have already.
    pub(super) fn new(text: &str) -> Self {
        let mut base = "lynceus-mark-".to_owned();
        while text.contains(&base) {
            base.push('x');
        }
        Marks { base, count: 0 }
    }

    pub(super) fn next(&mut self) -> Value {
        self.count += 1;
        Value::Str(format!("{}{}z", self.base, self.count).into())
    }

    fn is_one(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|text| text.starts_with(&self.base))
    }
}

/// Something that differs between two values.
struct Change<'v> {
    path: FieldPath,
    /// What was there; nothing if it is new.
    old: Option<&'v Value>,
    new: &'v Value,
}

/// The text with what has changed between two values; marks in the second stand for `word`.
pub(super) fn edit(text: &str, before: &Value, after: &Value, word: &Str, marks: &Marks) -> String {
    let mut changes = Vec::new();
    let is_small = changed(before, after, &FieldPath::root(), &mut changes);
    let is = |text: &str| read(text).is_some_and(|found| alike(&found, after, marks));
    let mut tokens = Vec::new();
    if is_small {
        let edited = changes.iter().try_fold(text.to_owned(), |text, change| match change.old {
            Some(old) => replace(&text, &change.path, old, change.new.as_str()?, word, &mut tokens),
            None => insert(&text, before, &change.path, change.new),
        });
        if let Some(edited) = edited.filter(|edited| is(edited)) {
            let tidy = tidy(edited.trim());
            // The end of the text is cut off whatever stands there, so that it does not count.
            let settled = if is(&format!("{tidy}\n")) || is(&tidy) { tidy } else { edited.trim().to_owned() };
            return fill(&settled, &marks.base, &tokens, word);
        }
    }
    let tokens: Vec<_> = changes.iter().filter_map(|change| replace::token(change, word)).collect();
    fill(yaml::to_string(after).trim(), &marks.base, &tokens, word)
}

/// Whether a text that was read is what was wanted. An alias to what was set has the mark too.
fn alike(found: &Value, wanted: &Value, marks: &Marks) -> bool {
    match (found, wanted) {
        (Value::Map(found), Value::Map(wanted)) => {
            found.len() == wanted.len()
                && found
                    .iter()
                    .all(|(key, found)| wanted.get(key).is_some_and(|wanted| alike(found, wanted, marks)))
        }
        (Value::Seq(found), Value::Seq(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| alike(found, wanted, marks))
        }
        (found, wanted) => found == wanted || marks.is_one(found) && !marks.is_one(wanted),
    }
}

/// Collects the scalars that have changed and what is new; `false` if anything else has.
fn changed<'v>(before: &'v Value, after: &'v Value, path: &FieldPath, changes: &mut Vec<Change<'v>>) -> bool {
    match (before, after) {
        (Value::Map(before), Value::Map(after)) => {
            before.iter().all(|(name, _)| after.contains(name))
                && after.iter().all(|(name, after)| {
                    let path = path.field(name.clone());
                    match before.get(name) {
                        Some(before) => changed(before, after, &path, changes),
                        None => {
                            changes.push(Change { path, old: None, new: after });
                            true
                        }
                    }
                })
        }
        (Value::Seq(before), Value::Seq(after)) => {
            let new = after.iter().enumerate().skip(before.len());
            let is_small = before.len() <= after.len()
                && before
                    .iter()
                    .zip(after)
                    .enumerate()
                    .all(|(at, (before, after))| changed(before, after, &path.index(at), changes));
            changes.extend(new.map(|(at, new)| Change { path: path.index(at), old: None, new }));
            is_small
        }
        (Value::Map(_) | Value::Seq(_), _) | (_, Value::Map(_) | Value::Seq(_)) => false,
        (before, after) => {
            if before != after {
                changes.push(Change { path: path.clone(), old: Some(before), new: after });
            }
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pointer: &str, word: &str, expected: &str) {
        let before = read(text).unwrap();
        let mut after = before.clone();
        let mut marks = Marks::new(text);
        let path = FieldPath::parse_pointer(pointer).unwrap().by_position(&before).unwrap();
        *path.get_mut(&mut after).unwrap() = marks.next();
        assert_eq!(edit(text, &before, &after, &word.into(), &marks), expected);
    }

    #[test]
    fn order_comments_and_quotes_stay_and_indents_do_not() {
        let text = "# head\nserver:\n    host: \"old\"   # comment\n    port: 80\n\n    list:\n      - name: a\n        v: 'x'\n      - b\n    text: |\n        abc\n          d\nzeta: 1\n";
        let expected = "# head\nserver:\n  host: \"new\" # comment\n  port: 80\n  list:\n  - name: a\n    v: 'x'\n  - b\n  text: |\n    abc\n      d\nzeta: 1";
        check(text, "/server/host", "new", expected);
    }

    #[test]
    fn a_plain_scalar_stays_plain() {
        check("a: 80\nb: {c: x, d: y}\n", "/a", "90", "a: 90\nb: {c: x, d: y}");
        check("a: 80\nb: {c: x, d: y}\n", "/b/c", "z", "a: 80\nb: {c: z, d: y}");
    }

    #[test]
    fn what_changes_its_type_says_what_it_was() {
        check("a: 80\nb:\n", "/a", "z", "a: !!int z\nb:");
        check("a: 80\nb:\n", "/b", "z", "a: 80\nb: !!null z");
        check("a: [true, 2] # c\n", "/a/0", "z", "a: [!!bool z, 2] # c");
        check("a: x\n", "/a", "1", "a: \"1\"");
    }
}
