//! What goes wrong while a template is parsed or executed.

use std::fmt;

use crate::Failure;
use crate::format::quote;

/// An error of a template, which prints as Go prints it.
#[derive(Clone, Debug)]
pub struct Error {
    /// The name of the template that was executed.
    pub template: String,
    /// Where it happened, if that is known.
    pub location: Option<Location>,
    /// The text of the action's part that failed; empty for errors of the parser.
    pub action: String,
    /// What went wrong.
    pub kind: ErrorKind,
    /// The templates that were being executed when it happened, outermost first.
    pub calls: Vec<Call>,
}

/// A place in the text of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The name under which the text was parsed.
    pub name: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 0 as Go does; errors of the parser have none.
    pub column: Option<usize>,
}

/// A template that was being executed, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The template that was called.
    pub template: String,
    /// The place of the call.
    pub from: Option<Location>,
}

/// The sort of an error.
#[derive(Clone, Debug)]
pub enum ErrorKind {
    /// The text is not a template.
    Parse(String),
    /// The template cannot be evaluated.
    Eval(String),
    /// A function failed.
    Call {
        /// The function's name.
        function: String,
        /// Its error.
        failure: Failure,
    },
    /// There is no template of that name in the set.
    Missing {
        /// The template that was asked for.
        name: String,
    },
    /// A budget is used up.
    Limit(String),
}

impl ErrorKind {
    /// The error of a template that a function ran.
    pub fn cause(&self) -> Option<&Error> {
        match self {
            Self::Call { failure, .. } => failure.cause(),
            _ => None,
        }
    }

    /// Writes it without its cause.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(message) | Self::Eval(message) | Self::Limit(message) => f.write_str(message),
            Self::Missing { name } => write!(f, "no template {}", quote::double(name)),
            Self::Call { function, failure } => {
                write!(f, "error calling {function}: {}", failure.message())
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

impl fmt::Display for Error {
    /// Errors of templates that include each other may be long chains, so there is no recursion.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut next = Some(self);
        while let Some(error) = next {
            error.write(f)?;
            next = error.kind.cause();
        }
        Ok(())
    }
}

impl Error {
    /// Writes it without its cause.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.location, &self.kind) {
            (Some(location), ErrorKind::Parse(_)) => write!(f, "template: {location}: ")?,
            (Some(location), _) => {
                let name = quote::double(&self.template);
                write!(f, "template: {location}: executing {name} at <{}>: ", self.action)?;
            }
            (None, ErrorKind::Missing { .. }) => f.write_str("template: ")?,
            (None, _) => write!(f, "template: {}: ", self.template)?,
        }
        self.kind.write(f)?;
        if let ErrorKind::Missing { .. } = self.kind {
            write!(f, " associated with template {}", quote::double(&self.template))?;
        }
        Ok(())
    }

    /// Whether a budget was used up, here or in a template that a function ran.
    pub fn is_limit(&self) -> bool {
        let mut next = Some(self);
        while let Some(error) = next {
            match &error.kind {
                ErrorKind::Limit(_) => return true,
                ErrorKind::Call { failure, .. } if failure.is_own_limit() => return true,
                kind => next = kind.cause(),
            }
        }
        false
    }
}

impl std::error::Error for Error {}
