//! What goes wrong inside a function.

use std::fmt;

use crate::stack::deep;
use crate::{Error, ErrorKind};

/// The error of a function; the evaluator adds where it happened.
#[derive(Clone, Debug)]
pub struct Failure {
    message: String,
    cause: Option<Box<Error>>,
    limit: bool,
}

impl Failure {
    /// An error in the function's own words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, limit: false }
    }

    /// A budget is used up.
    pub fn limit(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, limit: true }
    }

    /// An error of a template that the function ran, with words before it.
    pub fn wrap(message: impl Into<String>, cause: Box<Error>) -> Self {
        Self { message: message.into(), cause: Some(cause), limit: false }
    }

    /// The words before the cause, or all of them.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether a budget was used up.
    pub fn is_limit(&self) -> bool {
        self.limit || self.cause().is_some_and(Error::is_limit)
    }

    pub(crate) fn is_own_limit(&self) -> bool {
        self.limit
    }

    /// The error of the template that the function ran.
    pub fn cause(&self) -> Option<&Error> {
        self.cause.as_deref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.cause.as_ref().map_or(Ok(()), |cause| deep(|| cause.fmt(f)))
    }
}

impl std::error::Error for Failure {}

impl Drop for Failure {
    /// Takes long chains of causes apart in a loop; the compiler's way would recurse.
    fn drop(&mut self) {
        let mut next = self.cause.take();
        while let Some(mut error) = next {
            next = match &mut error.kind {
                ErrorKind::Call { failure, .. } => failure.cause.take(),
                _ => None,
            };
        }
    }
}

impl From<Box<Error>> for Failure {
    fn from(cause: Box<Error>) -> Self {
        Self::wrap("", cause)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}
