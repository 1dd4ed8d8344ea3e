//! Fields named by jq paths.
//!
//! Only the paths are found by the interpreter; the deleting is done here, because jq deletes all paths at once and
//! the interpreter one after the other.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use jaq_core::data::JustLut;
use jaq_core::load::lex::{Lexer, StrPart, Tok, Token};
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, unwrap_valr};
use jaq_json::{Num, Val};
use lynceus_object::Value;

use crate::limits;

/// Words that a path has no need of: they loop without end, or look at the world outside the object.
const REFUSED: [&str; 16] = [
    "combinations",
    "debug",
    "def",
    "env",
    "halt",
    "halt_error",
    "import",
    "include",
    "input",
    "inputs",
    "now",
    "range",
    "repeat",
    "stderr",
    "until",
    "while",
];

/// A jq expression whose paths are deleted.
#[derive(Clone)]
pub(super) struct JqPath {
    expression: String,
    filter: Arc<Filter<JustLut<Val>>>,
}

impl fmt::Debug for JqPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JqPath").field(&self.expression).finish()
    }
}

/// One step of a path that jq gives.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Index(i64),
    Field(String),
    /// A slice, with its open ends.
    Slice(Option<i64>, Option<i64>),
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
    pub(super) fn delete(&self, value: &Value) -> Result<Value, String> {
        let context = Ctx::<JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        let mut paths = Vec::new();
        for path in self.filter.id.run((context, to_jq(value))).map(unwrap_valr) {
            let path = path.map_err(|error| error.to_string())?;
            paths.push(steps(&path).ok_or("not a path")?);
            if paths.len() > limits::JQ_PATHS {
                return Err(format!("more than {} paths", limits::JQ_PATHS));
            }
        }
        // From the back, so that deleting one does not move the next.
        paths.sort_by(|a, b| compare(b, a));
        let mut out = value.clone();
        for path in &paths {
            delete(&mut out, path)?;
        }
        Ok(out)
    }
}

/// Looks for words that a path has no need of.
fn refuse(tokens: &[Token<&str>]) -> Result<(), String> {
    for (at, Token(text, token)) in tokens.iter().enumerate() {
        let called = || matches!(tokens.get(at + 1), Some(Token(_, Tok::Block(_))));
        match token {
            Tok::Word if REFUSED.contains(text) => return Err(format!("`{text}` has no place in a path")),
            Tok::Word if *text == "recurse" && called() => {
                return Err("`recurse` with a filter may never end".to_owned());
            }
            Tok::Var if *text == "$ENV" => return Err("`$ENV` has no place in a path".to_owned()),
            Tok::Sym
                if *text == "*" || text.ends_with('=') && !matches!(*text, "==" | "!=" | "<=" | ">=") =>
            {
                return Err(format!("`{text}` has no place in a path"));
            }
            Tok::Block(inner) => refuse(inner)?,
            Tok::Str(parts) => {
                for part in parts {
                    if let StrPart::Term(token) = part {
                        refuse(std::slice::from_ref(token))?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
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

/// Deletes what a path leads to; nothing, if it leads nowhere.
fn delete(value: &mut Value, path: &[Step]) -> Result<(), String> {
    let Some((step, rest)) = path.split_first() else {
        *value = Value::Null;
        return Ok(());
    };
    match (step, value) {
        (_, Value::Null) => Ok(()),
        (Step::Field(name), Value::Map(map)) if rest.is_empty() => {
            map.remove(name);
            Ok(())
        }
        (Step::Field(name), Value::Map(map)) => map.get_mut(name).map_or(Ok(()), |child| delete(child, rest)),
        (Step::Index(index), Value::Seq(items)) => {
            let Some(at) = position(*index, items.len()).filter(|at| *at < items.len()) else {
                return Ok(());
            };
            if rest.is_empty() {
                items.remove(at);
                return Ok(());
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
            Ok(())
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
        assert_eq!(path.delete(&input), Ok(expect), "{expression}");
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
    fn what_never_ends_or_looks_outside_is_refused() {
        for expression in [
            "repeat(.)",
            "def f: f; f",
            "recurse(.)",
            "env",
            "$ENV",
            "input",
            ".a |= 1",
            "select(\"x\" * 1000000)",
            ".a[",
            "nosuch",
            "\"\\(env)\"",
        ] {
            assert!(JqPath::compile(expression).is_err(), "{expression}");
        }
        assert!(JqPath::compile("..").is_ok());
    }
}
