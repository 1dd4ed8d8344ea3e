//! Why a kustomization could not be built, and where.

use std::fmt;

use lynceus_files::{FilePath, Span};
use lynceus_object::Str;

/// What went wrong, with the kustomization and the field that asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KustomizeError {
    /// What is wrong, as closely as possible in Kustomize's words.
    pub message: String,
    /// The kustomization file whose field asked for it.
    pub kustomization: Option<FilePath>,
    /// That field, such as `patches[2]`. As long as the kustomization is not known, it may be the number of an item
    /// of a list that is one piece of work. Without room to grow, so that a result with this error stays small.
    pub field: Box<str>,
    /// The place of what is wrong, if that is another file or a line is known.
    pub span: Option<Span>,
    /// What to do about it. Boxed for the same reason.
    pub hint: Option<Box<str>>,
    /// What a patch names itself, if that is not there. Boxed for the same reason.
    pub missing: Option<Box<Missing>>,
}

/// A resource that a patch names and that is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub name: Str,
    /// The names that resources of this kind have, or had before a prefix and the like, each once and in order.
    pub names: Vec<Str>,
}

impl KustomizeError {
    /// An error that nobody has placed yet.
    pub fn new(message: impl Into<String>) -> Self {
        KustomizeError { message: message.into(), ..KustomizeError::default() }
    }

    /// The same with what was being done in front of it.
    #[must_use]
    pub fn context(mut self, words: impl fmt::Display) -> Self {
        self.message = format!("{words}: {}", self.message);
        self
    }

    /// The same, asked for by a field of a kustomization; the innermost one counts.
    #[must_use]
    pub fn within(mut self, kustomization: &FilePath, field: impl Into<String>) -> Self {
        if self.kustomization.is_none() {
            self.kustomization = Some(kustomization.clone());
            self.field = field.into().into();
        }
        self
    }

    /// The same at a place in a file; the first one given counts.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// The same with one more thing to know about it.
    #[must_use]
    pub(crate) fn add_hint(mut self, hint: String) -> Self {
        let hint = match self.hint.take() {
            Some(before) => format!("{before}\n  {hint}"),
            None => hint,
        };
        self.hint = Some(hint.into_boxed_str());
        self
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert_with(|| hint.into().into_boxed_str());
        self
    }
}

impl fmt::Display for KustomizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kustomization) = &self.kustomization {
            write!(f, "{kustomization}: ")?;
            if !self.field.is_empty() {
                write!(f, "{}: ", self.field)?;
            }
        }
        f.write_str(&self.message)?;
        match &self.span {
            Some(span) => write!(f, " ({span})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for KustomizeError {}
