//! What is wrong with a document, in go-yaml's words, and where.

use std::borrow::Cow;
use std::fmt;

use super::{Duplicate, Version};

/// Why a document could not be read.
///
/// `line` and `column` are where the problem is. The text form is what go-yaml prints, which counts
/// some lines from 0 and leaves others out, because clients and conditions show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1; 0 if the problem has no place.
    pub line: u32,
    /// The column in characters, from 1; 0 if it is not known.
    pub column: u32,
    /// What is wrong, without the place.
    pub problem: Cow<'static, str>,
    /// What to do about it, where that is clear.
    pub hint: Option<&'static str>,
    go: GoForm,
    /// What go-yaml says of the problem, where that has values of the document in it.
    full: Option<Box<str>>,
}

/// How go-yaml would print the error.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GoForm {
    /// `yaml: line 3: problem`; without the line when it is 0.
    Line(u32),
    /// A list of problems, each with its line.
    Unmarshal(Box<[String]>),
    /// From the conversion to JSON, which has its own prefix.
    Bare,
}

impl Error {
    /// A problem with the text, told with the line that go-yaml would tell.
    pub(super) fn syntax(place: (u32, u32), told: u32, problem: impl Into<Cow<'static, str>>) -> Self {
        let problem = problem.into();
        let hint = hint_for(&problem);
        Error { line: place.0, column: place.1, problem, hint, go: GoForm::Line(told), full: None }
    }

    /// A problem with a value in a document that is well formed, told without a line.
    pub(super) fn content(place: (u32, u32), problem: impl Into<Cow<'static, str>>) -> Self {
        Error::syntax(place, 0, problem)
    }

    /// A problem that is found when the document becomes JSON.
    pub(super) fn json(place: (u32, u32), problem: impl Into<Cow<'static, str>>) -> Self {
        Error { go: GoForm::Bare, ..Error::content(place, problem) }
    }

    /// Keys that are there twice, when that is not allowed.
    pub(super) fn duplicates(found: &[Duplicate], version: Version) -> Option<Self> {
        let problem = |duplicate: &Duplicate| match version {
            Version::V2 => format!("key {:?} already set in map", duplicate.key),
            Version::V3 => {
                format!("mapping key {:?} already defined at line {}", duplicate.key, duplicate.first_line)
            }
        };
        let first = found.first()?;
        let lines = found.iter().map(|found| format!("line {}: {}", found.line, problem(found))).collect();
        let error = Error::content((first.line, first.column), problem(first));
        Some(Error { go: GoForm::Unmarshal(lines), ..error })
    }

    /// A document that is larger than the caller allows.
    pub(super) fn too_large(size: usize, limit: usize) -> Self {
        Error::content((0, 0), format!("the document has {size} bytes; at most {limit} are read"))
    }

    /// The same error with another hint.
    #[must_use]
    pub(super) fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// The same error with what go-yaml says of it, values and all.
    #[must_use]
    pub(super) fn in_full(mut self, problem: String) -> Self {
        self.full = Some(problem.into());
        self
    }

    /// All that go-yaml prints, with values of the document, which may be secrets: for whoever has them already, as the
    /// template has that made the text.
    pub fn words(&self) -> String {
        match &self.full {
            Some(full) => Error { problem: full.to_string().into(), full: None, ..self.clone() }.to_string(),
            None => self.to_string(),
        }
    }

    /// The same error in a document that begins `lines` further down.
    #[must_use]
    pub(super) fn moved_down(mut self, lines: u32) -> Self {
        if self.line > 0 {
            self.line += lines;
        }
        self
    }
}

fn hint_for(problem: &str) -> Option<&'static str> {
    match problem {
        "found a tab character that violates indentation"
        | "found a tab character where an indentation space is expected" => {
            Some("indent with spaces, not tabs")
        }
        "mapping values are not allowed in this context" => {
            Some("quote a value that contains \": \", or check the indentation of the line")
        }
        "did not find expected key" | "did not find expected '-' indicator" => {
            Some("check that the line is indented like its neighbours")
        }
        "control characters are not allowed" => Some("write the character as an escape in double quotes"),
        _ => None,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.go {
            GoForm::Line(0) => write!(f, "yaml: {}", self.problem),
            GoForm::Line(line) => write!(f, "yaml: line {line}: {}", self.problem),
            GoForm::Unmarshal(lines) => write!(f, "yaml: unmarshal errors:\n  {}", lines.join("\n  ")),
            GoForm::Bare => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for Error {}
