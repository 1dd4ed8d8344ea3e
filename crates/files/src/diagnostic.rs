//! What went wrong or looks wrong, where, and what to do about it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::path::FilePath;

/// A place in a file. Lines and columns count from 1; 0 means that it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FilePath,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not what was meant; the result stands.
    Warning,
    /// Something is missing from the result because of this.
    Error,
}

/// One thing to tell the user, beside a result and not instead of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in one sentence without a full stop.
    pub message: String,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Something that is missing from the result.
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, message: message.into(), span: None, hint: None }
    }

    /// Something that is probably not what was meant.
    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, message: message.into(), span: None, hint: None }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The diagnostic as text: `error: message`, the place and the hint on lines of their own.
    pub fn to_text(&self) -> String {
        let word = match self.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut out = format!("{word}: {}", self.message);
        if let Some(span) = &self.span {
            // Writing to a string cannot fail.
            let _ = write!(out, "\n  at {span}");
        }
        if let Some(hint) = &self.hint {
            let _ = write!(out, "\n  hint: {hint}");
        }
        out
    }
}

/// `path/to/file.yaml:3:7`
impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Diagnostic {
        let file = FilePath::new("apps/web.yaml").unwrap();
        Diagnostic::error("document 2 has no kind").at(Span { file, line: 7, column: 3 }).hint("add kind")
    }

    #[test]
    fn text_has_the_place_and_the_hint_on_their_own_lines() {
        assert_eq!(
            example().to_text(),
            "error: document 2 has no kind\n  at apps/web.yaml:7:3\n  hint: add kind"
        );
        assert_eq!(Diagnostic::warning("odd").to_text(), "warning: odd");
    }

    #[test]
    fn a_place_is_told_as_far_as_it_is_known() {
        let span = |line, column| Span { file: FilePath::root(), line, column }.to_string();
        assert_eq!((span(0, 0), span(3, 0), span(3, 4)), (".".into(), ".:3".into(), ".:3:4".into()));
    }

    #[test]
    fn json_comes_back() {
        let json = serde_json::to_string(&example()).unwrap();
        assert_eq!(
            json,
            "{\"severity\":\"error\",\"message\":\"document 2 has no kind\",\
             \"span\":{\"file\":\"apps/web.yaml\",\"line\":7,\"column\":3},\"hint\":\"add kind\"}"
        );
        assert_eq!(serde_json::from_str::<Diagnostic>(&json).unwrap(), example());
    }
}
