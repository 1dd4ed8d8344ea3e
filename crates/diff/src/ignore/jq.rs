//! Fields named by jq paths.
//!
//! Only the paths are found by jq; the deleting is done on the object itself, whose numbers jq does not keep as they are.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use lynceus_object::Value;

use crate::jq::{Expression, Step};
use crate::limits;

pub(super) use crate::jq::JqError;

/// A jq expression whose paths are deleted.
#[derive(Clone)]
pub(super) struct JqPath {
    text: String,
    expression: Arc<Expression>,
}

impl fmt::Debug for JqPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JqPath").field(&self.text).finish()
    }
}

/// What the paths of an expression led to.
#[derive(Debug, PartialEq)]
pub(super) struct Deleted {
    /// The value without it.
    pub(super) value: Value,
    /// How many fields went.
    pub(super) fields: usize,
    /// The first field of the shortest path that was followed, if that path has no other: a whole part of the object.
    pub(super) part: Option<String>,
}

impl JqPath {
    /// Reads an expression.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        Ok(JqPath { text: text.to_owned(), expression: Arc::new(Expression::new(text)?) })
    }

    /// The value without what the paths lead to; an error if the expression does not fit the value.
    pub(super) fn delete(&self, value: &Value) -> Result<Deleted, JqError> {
        let paths = self.expression.paths(value)?;
        let mut marks = Marks::default();
        let mut left = limits::JQ_PATHS;
        for path in &paths {
            marks.mark(value, path, &mut left)?;
        }
        let mut deleted = Deleted { value: value.clone(), fields: 0, part: marks.part() };
        marks.sweep(&mut deleted.value, &mut deleted.fields);
        Ok(deleted)
    }
}

/// What is to be deleted of a value. All is marked before anything goes, because that would move what is behind it.
#[derive(Default)]
struct Marks {
    whole: bool,
    fields: BTreeMap<String, Marks>,
    items: BTreeMap<usize, Marks>,
}

impl Marks {
    /// Marks what a path leads to, if there is anything.
    fn mark(&mut self, value: &Value, path: &[Step], left: &mut usize) -> Result<(), JqError> {
        *left = left.checked_sub(usize::from(path.is_empty())).ok_or(JqError::TooMany)?;
        let Some((step, rest)) = path.split_first() else {
            self.whole = true;
            return Ok(());
        };
        match (step, value) {
            _ if self.whole => Ok(()),
            (Step::Field(_) | Step::Index(_) | Step::Slice(..), Value::Null) => Ok(()),
            (Step::Field(name), Value::Map(map)) => match map.get(name) {
                Some(child) => self.fields.entry(name.clone()).or_default().mark(child, rest, left),
                None => Ok(()),
            },
            (Step::Index(_) | Step::Slice(..), Value::Seq(items)) => {
                self.mark_items(items, (0, items.len()), path, left)
            }
            (_, other) => Err(JqError::Misfit(format!("cannot delete a field of {}", other.type_name()))),
        }
    }

    /// Marks in a part of a list.
    fn mark_items(
        &mut self,
        items: &[Value],
        (start, end): (usize, usize),
        path: &[Step],
        left: &mut usize,
    ) -> Result<(), JqError> {
        let length = end - start;
        match path.split_first() {
            None => {
                (start..end).try_for_each(|at| self.items.entry(at).or_default().mark(&items[at], &[], left))
            }
            Some((Step::Index(index), rest)) => match position(*index, length).filter(|at| *at < length) {
                Some(at) => self.items.entry(start + at).or_default().mark(&items[start + at], rest, left),
                None => Ok(()),
            },
            Some((Step::Slice(from, to), rest)) => {
                let place = |index: Option<i64>, open: usize| match index {
                    None => open,
                    Some(index) => position(index, length).unwrap_or(0).min(length),
                };
                let from = place(*from, 0);
                let to = place(*to, length).max(from);
                if from == to {
                    return Ok(());
                }
                self.mark_items(items, (start + from, start + to), rest, left)
            }
            Some(_) => Err(JqError::Misfit("cannot delete a field of a list".to_owned())),
        }
    }

    fn part(&self) -> Option<String> {
        if self.whole {
            return Some(".".to_owned());
        }
        self.fields.iter().find(|(_, marks)| marks.whole).map(|(name, _)| name.clone())
    }

    /// Deletes what is marked.
    fn sweep(&self, value: &mut Value, count: &mut usize) {
        if self.whole {
            *value = Value::Null;
            *count += 1;
            return;
        }
        if let Value::Map(map) = value {
            for (name, marks) in &self.fields {
                if marks.whole {
                    *count += usize::from(map.remove(name).is_some());
                } else if !marks.is_empty()
                    && let Some(child) = map.get_mut(name)
                {
                    marks.sweep(child, count);
                }
            }
        }
        if let Value::Seq(items) = value
            && !self.items.is_empty()
        {
            let mut kept = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                let mut item = item.clone();
                match self.items.get(&at) {
                    Some(marks) if marks.whole => {
                        *count += 1;
                        continue;
                    }
                    Some(marks) => marks.sweep(&mut item, count),
                    None => {}
                }
                kept.push(item);
            }
            *items = kept.into_iter().collect();
        }
    }

    fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.items.is_empty()
    }
}

/// The position that an index means, counted from the end if it is negative; `None` before the start.
fn position(index: i64, length: usize) -> Option<usize> {
    if index >= 0 {
        usize::try_from(index).ok()
    } else {
        length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn check(expression: &str, input: Value, expect: Value) {
        let path = JqPath::compile(expression).unwrap_or_else(|why| panic!("{expression}: {why}"));
        assert_eq!(path.delete(&input).map(|deleted| deleted.value), Ok(expect), "{expression}");
    }

    #[test]
    fn a_field_goes_and_what_is_not_there_stays_away() {
        check(".a.b", value!({"a": {"b": 1, "c": 2}}), value!({"a": {"c": 2}}));
        check(".x.y.z", value!({"a": 1}), value!({"a": 1}));
        check(".x[]?", value!({"a": 1}), value!({"a": 1}));
    }

    #[test]
    fn selected_items_go_all_at_once() {
        let list = value!({"list": [{"n": "a"}, {"n": "b"}, {"n": "a"}]});
        check(".list[] | select(.n == \"a\")", list.clone(), value!({"list": [{"n": "b"}]}));
        check(".list[0,1]", list.clone(), value!({"list": [{"n": "a"}]}));
        check(".list[-1]", list.clone(), value!({"list": [{"n": "a"}, {"n": "b"}]}));
        check(".list[1:]", list.clone(), value!({"list": [{"n": "a"}]}));
        check(".list[].n", list, value!({"list": [{}, {}, {}]}));
    }

    #[test]
    fn texts_can_be_tested() {
        let annotations = value!({"metadata": {"annotations": {"a.io/x": "1", "b.io/y": "2"}}});
        let kept = value!({"metadata": {"annotations": {"b.io/y": "2"}}});
        check(".metadata.annotations[\"a.io/x\"]", annotations.clone(), kept.clone());
        check(".metadata.annotations | .[keys[] | select(test(\"^a\"))]", annotations, kept);
    }

    #[test]
    fn an_expression_that_does_not_fit_is_an_error() {
        let path = JqPath::compile(".a[]").expect("it is jq");
        assert!(path.delete(&value!({"a": 1})).is_err());
    }

    #[test]
    fn what_was_deleted_is_counted() {
        let count = |expression: &str| {
            let path = JqPath::compile(expression).expect("it is jq");
            let deleted = path.delete(&value!({"spec": {"a": [1, 2, 3]}, "b": 1})).expect("it fits");
            (deleted.fields, deleted.part)
        };
        assert_eq!(count(".spec.a[]"), (3, None));
        assert_eq!(count(".spec.x, .y"), (0, None));
        assert_eq!(count(".spec"), (1, Some("spec".to_owned())));
        assert_eq!(count("."), (1, Some(".".to_owned())));
    }

    #[test]
    fn what_takes_for_ever_is_stopped_after_so_many_steps() {
        let deep = (0..30).fold(value!([1, 2, 3]), |inner, _| value!({"a": inner, "b": [1, 2, 3]}));
        for expression in [
            ".. | .. | .. | .. | .. | .. | .. | .. | .. | .. | select(false)",
            "select(any(.. | .. | .. | .. | ..; any(.. | .. | .. | .. | ..; false)))",
            "until(false; .)",
            "select(last(range(1e9)) == 0)",
            "repeat(empty)",
            "select((reduce range(60) as $i (1; [., .])) == (reduce range(60) as $i (1; [., .])))",
        ] {
            let path = JqPath::compile(expression).expect("it is jq");
            assert_eq!(path.delete(&deep), Err(JqError::Exhausted), "{expression}");
        }
        let wide = value!({"a": (0..30_000).map(|_| value!([1, 2, 3, 4])).collect::<Value>()});
        assert_eq!(JqPath::compile("..").expect("jq").delete(&wide), Err(JqError::TooMany));
    }

    #[test]
    fn what_grows_without_end_is_stopped_before_it_is_made() {
        for expression in [
            "select(\"a\" * 1e9 == \"\")",
            "select(reduce range(100) as $i (\"a\"; . + .) == \"\")",
            "select(setpath([\"a\", 1e9]; 1) | length > 0)",
            "select((reduce range(60) as $i (1; [., .])) | tojson == \"\")",
            "select([limit(1e5; repeat(\"x\"))] | join(\"y\" * 1000) | length > 0)",
        ] {
            let path = JqPath::compile(expression).expect("it is jq");
            assert_eq!(path.delete(&value!({"b": 1})), Err(JqError::Large), "{expression}");
        }
    }

    #[test]
    fn what_goes_too_deep_is_an_error_and_not_the_end_of_the_process() {
        for expression in [
            "def f: f; f",
            "def f: [f]; f",
            "select(def f(n): if n == 0 then 0 else f(n - 1) + f(n - 1) end; f(1e9) == 0)",
            "select(reduce range(1e6) as $i (0; [.]) == 0)",
            "getpath([range(1e5) | \"a\"])",
        ] {
            let path = JqPath::compile(expression).expect("it is jq");
            assert_eq!(path.delete(&value!({"b": 1})), Err(JqError::Depth), "{expression}");
        }
        let brackets = format!("{}.{}", "(".repeat(1000), ")".repeat(1000));
        assert_eq!(JqPath::compile(&brackets).err().as_deref(), Some("it is nested too deeply"));
    }

    #[test]
    fn what_depends_on_the_time_of_day_is_refused_though_argo_cd_takes_it() {
        let why = JqPath::compile("select(now > 0) | .a").err();
        assert_eq!(why.as_deref(), Some("`now` would leave out other fields at another time"));
    }
}
