//! jq, as gojq understands it, for expressions that strangers write.
//!
//! Argo CD gives an expression a second and all memory that there is. Here there is no clock, and the process serves many: so
//! every step is counted, and every value is paid for before it is made. The evaluator is our own, because the one crate that
//! there is counts neither, answers otherwise than gojq where paths lead through slices, and goes as deep as the stack.

mod arithmetic;
mod eval;
mod lex;
mod math;
mod native;
mod parse;
mod path;
mod regexp;
mod special;
mod term;
mod text;
mod time;
mod value;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::OnceLock;

use lynceus_object::Value;

use crate::limits;
use eval::{Env, Flow, Stop};
use term::{Def, Term};
use value::Val;

/// An expression that was read.
#[derive(Debug)]
pub(crate) struct Expression(Term);

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Index(i64),
    Field(String),
    /// A slice, with its open ends.
    Slice(Option<i64>, Option<i64>),
    /// What cannot be deleted by, as a list of indices.
    Other,
}

/// Why an expression did nothing to an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JqError {
    /// It does not fit the object, as an index does not fit a text. That is no mistake of a rule for many objects.
    #[error("{0}")]
    Misfit(String),
    /// It did not come to an end.
    #[error("it takes more than {} steps", limits::JQ_STEPS)]
    Exhausted,
    /// It makes too much.
    #[error("it makes more than {} MiB of values", limits::JQ_MADE >> 20)]
    Large,
    /// It goes too deep.
    #[error("it goes too deep")]
    Depth,
    /// It names too much.
    #[error("it names more than {} fields of one object", limits::JQ_PATHS)]
    TooMany,
}

impl Expression {
    /// Reads an expression; an error says why it is none.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.len() > limits::JQ_BYTES {
            return Err(format!("it is longer than {} bytes", limits::JQ_BYTES));
        }
        parse::expression(text, defs()).map(Expression)
    }

    /// The paths that it leads to in an object.
    pub(crate) fn paths(&self, value: &Value) -> Result<Vec<Vec<Step>>, JqError> {
        match self.paths_on(value, limits::JQ_STACK) {
            // The few that call themselves again and again get a larger one.
            Err(Stop::Deep) => stacker::grow(limits::JQ_DEEP_STACK + (1 << 20), || {
                self.paths_on(value, limits::JQ_DEEP_STACK).map_err(reason)
            }),
            found => found.map_err(reason),
        }
    }

    fn paths_on(&self, value: &Value, stack: usize) -> Result<Vec<Vec<Step>>, Stop> {
        let ctx = Ctx::new(stack);
        let input = value::from_object(value);
        let mut paths = Vec::new();
        ctx.paths(&self.0, &Env::empty(), &input, &mut |path| {
            if paths.len() >= limits::JQ_PATHS {
                return Err(Stop::Limit(JqError::TooMany));
            }
            paths.push(path.iter().map(|key| ctx.plain(key)).collect::<Result<_, _>>()?);
            Ok(())
        })?;
        Ok(paths)
    }
}

fn reason(stop: Stop) -> JqError {
    match stop {
        Stop::Limit(error) => error,
        Stop::Deep => JqError::Depth,
        Stop::Error(Val::Str(why)) => JqError::Misfit(why.chars().take(200).collect()),
        Stop::Error(other) => JqError::Misfit(format!("an error that is no text but {}", other.type_name())),
        Stop::Halt | Stop::Break(_) => JqError::Misfit("it ends itself".to_owned()),
    }
}

/// What is defined in jq.
fn defs() -> &'static [Def] {
    static DEFS: OnceLock<Vec<Def>> = OnceLock::new();
    DEFS.get_or_init(|| parse::definitions(include_str!("defs.jq")).unwrap_or_default())
}

/// What one run may still do.
struct Ctx {
    steps: Cell<u64>,
    made: Cell<u64>,
    labels: Cell<u64>,
    /// Where the stack was, and how far it may go.
    base: usize,
    stack: usize,
    regexes: RefCell<HashMap<(String, String), Rc<regex::Regex>>>,
}

impl Ctx {
    fn new(stack: usize) -> Self {
        Ctx {
            steps: Cell::new(limits::JQ_STEPS),
            made: Cell::new(limits::JQ_MADE),
            labels: Cell::new(0),
            base: here(),
            stack,
            regexes: RefCell::default(),
        }
    }

    /// Counts a step, and looks how deep it is.
    fn step(&self) -> Flow {
        if self.base.abs_diff(here()) > self.stack {
            return Err(Stop::Deep);
        }
        self.work(4)
    }

    /// Counts work that is done without steps; four such pieces are as much as one.
    fn work(&self, pieces: u64) -> Flow {
        let left = self.steps.get().checked_sub(pieces.div_ceil(4));
        self.steps.set(left.ok_or(Stop::Limit(JqError::Exhausted))?);
        Ok(())
    }

    /// Counts bytes that are about to be made.
    fn charge(&self, bytes: u64) -> Flow {
        self.made.set(self.made.get().checked_sub(bytes).ok_or(Stop::Limit(JqError::Large))?);
        Ok(())
    }

    /// A value that was made, paid for and not too deep.
    fn made(&self, val: Val) -> Result<Val, Stop> {
        self.charge(val.weight())?;
        self.shallow(&val)?;
        Ok(val)
    }

    fn shallow(&self, val: &Val) -> Flow {
        if val.depth() as usize > limits::JQ_DEPTH { Err(Stop::Limit(JqError::Depth)) } else { Ok(()) }
    }

    /// A number for a place to come back to.
    fn label(&self) -> u64 {
        self.labels.set(self.labels.get() + 1);
        self.labels.get()
    }

    fn plain(&self, key: &Val) -> Result<Step, Stop> {
        self.charge(32 + key.weight())?;
        Ok(match key {
            Val::Str(name) => Step::Field(name.to_string()),
            Val::Int(_) | Val::Float(_) => Step::Index(key.int().unwrap_or(0)),
            Val::Obj(slice) => {
                let start = slice.map.get("start").and_then(Val::int);
                Step::Slice(start, slice.map.get("end").and_then(Val::int_above))
            }
            _ => Step::Other,
        })
    }
}

/// Where the stack is, more or less.
fn here() -> usize {
    let mark = 0u8;
    std::ptr::from_ref(&mark).addr()
}
