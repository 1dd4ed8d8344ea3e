//! Go's regular expressions on the crate `regex`.
//!
//! Both follow RE2 and find the same matches, leftmost first. The languages differ in the details: what `\d`
//! means beyond ASCII, `\Q…\E`, names of groups, stray braces, and the words of errors. So an expression is read
//! here, as Go reads it, and written anew for the crate.

mod class;
mod expand;
mod translate;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex::{Regex, RegexBuilder};

pub(super) use expand::expand;

use crate::format::quote::{can_backquote, double};
use crate::stack::roomy;
use crate::{Context, Failure};

/// How many bytes a compiled expression may have.
const COMPILED_SIZE: usize = 16 << 20;

/// What compiling an expression takes of a render's steps.
const COMPILE_STEPS: usize = 20_000;

/// How many groups may stand inside each other. Go allows 1,000; the crate recurses.
const DEPTH: u32 = 250;

/// How many compiled expressions are kept for the next call.
const KEPT: usize = 256;

/// A compiled expression.
pub(super) struct Pattern {
    pub(super) regex: Regex,
    /// The names of the groups in order; the first is the whole match.
    pub(super) names: Vec<Option<String>>,
}

/// Whether a text has a match of one of Go's regular expressions. Errors have Go's words.
pub fn matches(context: &mut Context<'_>, expression: &str, text: &str) -> Result<bool, Failure> {
    let pattern = Pattern::compile(context, expression)?;
    context.step(text.len() / 64)?;
    Ok(pattern.regex.is_match(text))
}

thread_local! {
    static COMPILED: RefCell<HashMap<String, Rc<Pattern>>> = RefCell::default();
}

impl Pattern {
    /// Compiles an expression, or takes it from an earlier call. Errors have Go's words.
    pub(super) fn compile(context: &mut Context<'_>, expression: &str) -> Result<Rc<Self>, Failure> {
        if let Some(known) = COMPILED.with_borrow(|compiled| compiled.get(expression).cloned()) {
            return Ok(known);
        }
        context.step(COMPILE_STEPS)?;
        let translated = translate::translate(expression).map_err(|problem| problem.to_string())?;
        // Case folding adds a group around each letter.
        let mut builder = RegexBuilder::new(&translated.expression);
        builder.size_limit(COMPILED_SIZE).nest_limit(DEPTH * 2 + 50);
        let regex =
            roomy(|| builder.build()).map_err(|_| translate::Problem::large(expression).to_string())?;
        let pattern = Rc::new(Self { regex, names: translated.names });
        COMPILED.with_borrow_mut(|compiled| {
            if compiled.len() >= KEPT {
                compiled.clear();
            }
            compiled.insert(expression.to_owned(), Rc::clone(&pattern));
        });
        Ok(pattern)
    }

    /// The same where Go panics if the expression is wrong.
    pub(super) fn must_compile(context: &mut Context<'_>, expression: &str) -> Result<Rc<Self>, Failure> {
        Self::compile(context, expression).map_err(|error| {
            let quoted =
                if can_backquote(expression) { format!("`{expression}`") } else { double(expression) };
            Failure::new(format!("regexp: Compile({quoted}): {error}"))
        })
    }
}
