//! The language of triggers: expressions such as `app.status.health.status == 'Degraded'`.
//!
//! It is the language of github.com/expr-lang/expr, as far as it can be used without types of Go. A text is parsed once,
//! and evaluated on values that are those of templates, so that both see the same.

mod aggregate;
mod builtin;
mod collection;
mod compare;
mod evaluate;
mod member;
mod node;
mod operate;
mod parse;
mod predicate;
mod token;

#[cfg(test)]
mod tests;

pub use evaluate::evaluate;
pub use parse::{Expression, parse};

/// Why an expression cannot be parsed or evaluated, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct ExprError {
    /// The place, in characters counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ExprError {
    pub(crate) fn at(place: usize, message: impl Into<String>) -> Self {
        Self { column: place + 1, message: message.into() }
    }
}
