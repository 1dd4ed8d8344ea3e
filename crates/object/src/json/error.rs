//! What is wrong with a JSON text, in the words of Go's `encoding/json`.

use std::fmt;

/// Why a text is not JSON. The text form is Go's, which tells no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// How many bytes stand before the place.
    pub offset: usize,
    /// What is wrong.
    pub problem: String,
}

impl Error {
    pub(super) fn new(text: &str, offset: usize, problem: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        Error { line: line as u32 + 1, column: column as u32 + 1, offset, problem }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Error {}
