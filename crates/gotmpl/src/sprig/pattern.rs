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

/// How many bytes a compiled expression may have: about as many as Go allows in instructions.
const COMPILED_SIZE: usize = 64 << 20;

/// How many groups may stand inside each other.
const DEPTH: u32 = 1_000;

/// How many compiled expressions are kept for the next call.
const KEPT: usize = 256;

/// A compiled expression.
pub(super) struct Pattern {
    pub(super) regex: Regex,
    /// The names of the groups in order; the first is the whole match.
    pub(super) names: Vec<Option<String>>,
}

thread_local! {
    static COMPILED: RefCell<HashMap<String, Rc<Pattern>>> = RefCell::default();
}

impl Pattern {
    /// Compiles an expression, or takes it from an earlier call. Errors have Go's words.
    pub(super) fn compile(expression: &str) -> Result<Rc<Self>, String> {
        if let Some(known) = COMPILED.with_borrow(|compiled| compiled.get(expression).cloned()) {
            return Ok(known);
        }
        let translated = translate::translate(expression).map_err(|problem| problem.to_string())?;
        let regex = RegexBuilder::new(&translated.expression)
            .size_limit(COMPILED_SIZE)
            // Case folding adds a group around each letter.
            .nest_limit(DEPTH * 2 + 50)
            .build()
            .map_err(|_| translate::Problem::large(expression).to_string())?;
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
    pub(super) fn must_compile(expression: &str) -> Result<Rc<Self>, String> {
        Self::compile(expression).map_err(|error| {
            let quoted =
                if can_backquote(expression) { format!("`{expression}`") } else { double(expression) };
            format!("regexp: Compile({quoted}): {error}")
        })
    }
}
