//! Where in an ApplicationSet something went wrong, and what.

use std::fmt;

/// A place: which generator, which of its elements, which field of the template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The generator, such as `spec.generators[0].matrix.generators[1].git`.
    pub generator: String,
    /// Which set of its parameters, counted from 0.
    pub element: Option<usize>,
    /// What the element came from, such as a file or a cluster.
    pub source: Option<String>,
    /// The field of the template, such as `spec.source.path`.
    pub field: Option<String>,
    /// The line within that field, counted from 1.
    pub line: Option<usize>,
}

impl Place {
    /// A generator as a whole.
    pub fn of(generator: impl Into<String>) -> Self {
        Place { generator: generator.into(), ..Place::default() }
    }

    /// One of its elements.
    #[must_use]
    pub fn element(&self, at: usize) -> Self {
        Place { element: Some(at), ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.generator)?;
        if let Some(element) = self.element {
            write!(f, ", element {element}")?;
        }
        if let Some(source) = &self.source {
            write!(f, " ({source})")?;
        }
        if let Some(field) = &self.field {
            write!(f, ", {field}")?;
        }
        self.line.map_or(Ok(()), |line| write!(f, " line {line}"))
    }
}

/// The step that failed. Each has the word with which Argo CD calls it in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A generator could not give its parameters.
    Parameters,
    /// The template could not be filled with them.
    Template,
    /// What came of it is no Application that could be.
    Validation,
}

impl FaultKind {
    /// The reason in a condition.
    pub fn reason(self) -> &'static str {
        match self {
            FaultKind::Parameters => "ApplicationGenerationFromParamsError",
            FaultKind::Template => "RenderTemplateParamsError",
            FaultKind::Validation => "ApplicationValidationError",
        }
    }
}

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Fault {
    /// The step.
    pub kind: FaultKind,
    /// The place.
    pub place: Place,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Fault {
    pub(crate) fn parameters(place: Place, message: impl Into<String>) -> Self {
        Fault { kind: FaultKind::Parameters, place, message: message.into() }
    }
}
