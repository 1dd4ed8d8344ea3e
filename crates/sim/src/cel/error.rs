//! What can be wrong with an expression, before and while it runs.

use std::fmt;

use thiserror::Error;

/// One thing that is wrong with an expression's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// Where, counted in characters from the start.
    pub at: usize,
    /// What.
    pub message: String,
}

impl Issue {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Issue { at, message: message.into() }
    }
}

/// An expression that does not compile. It prints as the original does: message, line, and a mark.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileError {
    source: Box<str>,
    issues: Vec<Issue>,
}

impl CompileError {
    pub(super) fn new(source: &str, mut issues: Vec<Issue>) -> Self {
        issues.sort_by_key(|issue| issue.at);
        CompileError { source: source.into(), issues }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, issue) in self.issues.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            let before: String = self.source.chars().take(issue.at).collect();
            let line = before.matches('\n').count();
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
            write!(f, "ERROR: <input>:{}:{}: {}", line + 1, column + 1, issue.message)?;
            if let Some(text) = self.source.split('\n').nth(line) {
                let text = text.replace('\t', " ");
                write!(f, "\n | {text}\n | {}^", ".".repeat(column))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}

/// Why an evaluation has no value.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum EvalError {
    /// The expression used more than it may.
    #[error("operation cancelled: actual cost limit exceeded")]
    Cost,
    /// A function was given something it cannot take.
    #[error("no such overload")]
    Overload,
    /// The same, with the function's name.
    #[error("no such overload: {0}")]
    OverloadOf(String),
    /// A field or key is not there.
    #[error("no such key: {0}")]
    NoKey(String),
    /// Anything else that a function says.
    #[error("{0}")]
    Failed(String),
}

impl EvalError {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        EvalError::Failed(message.into())
    }
}
