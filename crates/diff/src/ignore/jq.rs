//! Fields named by jq paths.
//!
//! Only the paths are found by the interpreter; the deleting is done here, because jq deletes all paths at once and
//! the interpreter one after the other.

use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use jaq_core::data::HasLut;
use jaq_core::load::lex::Lexer;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, DataT, Filter, Native, Vars, unwrap_valr};
use jaq_json::{Num, Val};
use lynceus_object::Value;

use super::refusal::refuse;
use crate::limits;

/// A jq expression whose paths are deleted.
#[derive(Clone)]
pub(super) struct JqPath {
    expression: String,
    filter: Arc<Filter<Counted>>,
}

impl fmt::Debug for JqPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JqPath").field(&self.expression).finish()
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

/// One step of a path that jq gives.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Index(i64),
    Field(String),
    /// A slice, with its open ends.
    Slice(Option<i64>, Option<i64>),
}

/// The interpreter's data with a count of what it does.
///
/// An expression of a few signs can keep the interpreter busy for years, and the interpreter has no count of its own. But
/// wherever it branches it clones its context, and with it this. A clone cannot fail, so that the one too many unwinds to
/// where the expression was started; nothing is printed of that, and nothing is left behind.
struct Counted;

struct Data<'a> {
    lut: &'a jaq_core::compile::Lut<Native<Counted>>,
    steps: &'a Cell<u32>,
}

/// What unwinds.
struct Exhausted;

impl DataT for Counted {
    type V<'a> = Val;
    type Data<'a> = Data<'a>;
}

impl<'a> HasLut<'a, Counted> for Data<'a> {
    fn lut(&self) -> &'a jaq_core::compile::Lut<Native<Counted>> {
        self.lut
    }
}

impl Clone for Data<'_> {
    fn clone(&self) -> Self {
        let Some(left) = self.steps.get().checked_sub(1) else { resume_unwind(Box::new(Exhausted)) };
        self.steps.set(left);
        Data { lut: self.lut, steps: self.steps }
    }
}

impl JqPath {
    /// Reads an expression.
    pub(super) fn compile(expression: &str) -> Result<Self, String> {
        if expression.len() > limits::JQ_BYTES {
            return Err(format!("it is longer than {} bytes", limits::JQ_BYTES));
        }
        let tokens = Lexer::new(expression).lex().map_err(|_| "it is not a jq expression".to_owned())?;
        refuse(&tokens)?;
        let code = format!("path({expression})");
        let arena = Arena::default();
        let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let modules = Loader::new(defs)
            .load(&arena, File { code: code.as_str(), path: () })
            .map_err(|_| "it is not a jq expression".to_owned())?;
        let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let filter = Compiler::default().with_funs(funs).compile(modules).map_err(|errors| {
            let first = errors.iter().flat_map(|(_, names)| names).map(|(name, _)| *name).next();
            format!("jq has no `{}`", first.unwrap_or_default())
        })?;
        Ok(JqPath { expression: expression.to_owned(), filter: Arc::new(filter) })
    }

    /// The value without what the paths lead to; an error if the expression does not fit the value.
    pub(super) fn delete(&self, value: &Value) -> Result<Deleted, JqError> {
        let mut paths = catch_unwind(AssertUnwindSafe(|| self.paths(value))).unwrap_or_else(|panic| {
            match panic.downcast::<Exhausted>() {
                Ok(_) => Err(JqError::Exhausted),
                // Somebody else's, and not ours to stop.
                Err(other) => resume_unwind(other as Box<dyn Any + Send>),
            }
        })?;
        // From the back, so that deleting one does not move the next.
        paths.sort_by(|a, b| compare(b, a));
        let mut deleted = Deleted { value: value.clone(), fields: 0, part: None };
        for path in &paths {
            if delete(&mut deleted.value, path).map_err(JqError::Misfit)? {
                deleted.fields += 1;
                deleted.part = match path.as_slice() {
                    [] => Some(".".to_owned()),
                    [Step::Field(name)] => Some(name.clone()),
                    _ => deleted.part,
                };
            }
        }
        Ok(deleted)
    }

    fn paths(&self, value: &Value) -> Result<Vec<Vec<Step>>, JqError> {
        let steps = Cell::new(limits::JQ_STEPS);
        let context = Ctx::<Counted>::new(Data { lut: &self.filter.lut, steps: &steps }, Vars::new([]));
        let mut paths = Vec::new();
        for path in self.filter.id.run((context, to_jq(value))).map(unwrap_valr) {
            let path = path.map_err(|error| JqError::Misfit(error.to_string()))?;
            paths.push(self::steps(&path).ok_or_else(|| JqError::Misfit("not a path".to_owned()))?);
            if paths.len() > limits::JQ_PATHS {
                return Err(JqError::TooMany);
            }
        }
        Ok(paths)
    }
}

/// Why an expression did nothing to an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JqError {
    /// It does not fit the object, as an index does not fit a text. That is no mistake of a rule for many objects.
    #[error("{0}")]
    Misfit(String),
    /// It did not come to an end.
    #[error("it takes more than {} steps", limits::JQ_STEPS)]
    Exhausted,
    /// It names too much.
    #[error("it names more than {} fields of one object", limits::JQ_PATHS)]
    TooMany,
}

fn to_jq(value: &Value) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(b) => Val::Bool(*b),
        Value::Int(i) => {
            isize::try_from(*i).map_or(Val::Num(Num::Float(*i as f64)), |i| Val::Num(Num::Int(i)))
        }
        Value::Float(f) => Val::Num(Num::Float(*f)),
        Value::Str(text) => Val::from(text.to_string()),
        Value::Seq(items) => items.iter().map(to_jq).collect(),
        Value::Map(map) => {
            Val::obj(map.iter().map(|(key, value)| (Val::from(key.to_string()), to_jq(value))).collect())
        }
    }
}

fn steps(path: &Val) -> Option<Vec<Step>> {
    let Val::Arr(steps) = path else { return None };
    steps.iter().map(step).collect()
}

fn step(step: &Val) -> Option<Step> {
    match step {
        Val::Num(number) => integer(number).map(Step::Index),
        Val::TStr(text) => Some(Step::Field(String::from_utf8_lossy(text).into_owned())),
        Val::Obj(slice) => {
            let end = |name: &str| match slice.get(&Val::from(name.to_owned())) {
                None | Some(Val::Null) => Some(None),
                Some(Val::Num(number)) => integer(number).map(Some),
                Some(_) => None,
            };
            Some(Step::Slice(end("start")?, end("end")?))
        }
        _ => None,
    }
}

fn integer(number: &Num) -> Option<i64> {
    match number {
        Num::Int(i) => i64::try_from(*i).ok(),
        Num::Float(f) => Some(f.floor() as i64),
        _ => None,
    }
}

/// jq's order of paths: numbers before texts before slices, and a path before those that go on from it.
fn compare(a: &[Step], b: &[Step]) -> Ordering {
    let rank = |step: &Step| match step {
        Step::Index(_) => 0,
        Step::Field(_) => 1,
        Step::Slice(..) => 2,
    };
    for (a, b) in a.iter().zip(b) {
        let order = match (a, b) {
            (Step::Index(a), Step::Index(b)) => a.cmp(b),
            (Step::Field(a), Step::Field(b)) => a.cmp(b),
            (Step::Slice(a, x), Step::Slice(b, y)) => (a, x).cmp(&(b, y)),
            _ => rank(a).cmp(&rank(b)),
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// Deletes what a path leads to, and says whether there was anything.
fn delete(value: &mut Value, path: &[Step]) -> Result<bool, String> {
    let Some((step, rest)) = path.split_first() else {
        *value = Value::Null;
        return Ok(true);
    };
    match (step, value) {
        (_, Value::Null) => Ok(false),
        (Step::Field(name), Value::Map(map)) if rest.is_empty() => Ok(map.remove(name).is_some()),
        (Step::Field(name), Value::Map(map)) => {
            map.get_mut(name).map_or(Ok(false), |child| delete(child, rest))
        }
        (Step::Index(index), Value::Seq(items)) => {
            let Some(at) = position(*index, items.len()).filter(|at| *at < items.len()) else {
                return Ok(false);
            };
            if rest.is_empty() {
                items.remove(at);
                return Ok(true);
            }
            delete(&mut items.make_mut()[at], rest)
        }
        (Step::Slice(start, end), Value::Seq(items)) if rest.is_empty() => {
            let length = items.len();
            let place = |index: Option<i64>, open: usize| match index {
                None => open,
                Some(index) => position(index, length).unwrap_or(0).min(length),
            };
            let (start, end) = (place(*start, 0), place(*end, length));
            let kept = items.iter().enumerate().filter(|(at, _)| *at < start || *at >= end);
            *items = kept.map(|(_, item)| item.clone()).collect();
            Ok(items.len() < length)
        }
        (_, other) => Err(format!("cannot delete a field of {}", other.type_name())),
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
            "select([.. | .. | .. | .. | .. | .. | .. | .. | .. | ..] | length > 0)",
            "select(any(.. | .. | .. | .. | ..; any(.. | .. | .. | .. | ..; false)))",
        ] {
            let path = JqPath::compile(expression).expect("it is jq");
            assert_eq!(path.delete(&deep), Err(JqError::Exhausted), "{expression}");
        }
        let wide = value!({"a": (0..3000).map(|_| value!([1, 2, 3, 4])).collect::<Value>()});
        assert_eq!(JqPath::compile("..").expect("jq").delete(&wide), Err(JqError::TooMany));
    }
}
