//! Where a field of a rendered object has to be changed.
//!
//! `lynceus_render::explain` says what made a field. A fix needs more: the file, the document and the path in it, so that
//! changing what is there changes that field and, as far as can be told, nothing else. What it comes to is checked by
//! value: the place has to hold what was rendered. Where nothing can be told, the error says where a person has to look.

mod application;
mod cell;
mod helm;
mod kustomize;
mod manifest;
mod template;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use lynceus_files::{FilePath, Tree};
use lynceus_object::{FieldPath, Object, Str, Value, yaml};
use lynceus_render::{Reason, References, limits};

pub use application::Declared;
pub use cell::{Cell, Form};

use crate::surgery::{Change, Cut, Problem, SurgeryError, operate, operate_line};

/// Everything in which a field may have been written.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The files of the source.
    pub tree: &'a dyn Tree,
    /// Where in them the source is.
    pub path: &'a FilePath,
    /// The application's name.
    pub application: &'a str,
    /// The files of other sources, as value files name them.
    pub references: &'a References,
    /// The manifest of the application, if it is in a file.
    pub declared: Option<&'a Declared<'a>>,
}

/// Whose files a place is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those of the source that was rendered.
    Source,
    /// Those of another source of the application, by its `ref`.
    Reference(Str),
    /// Those in which the application itself is declared.
    Application,
}

/// Where a field has to be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Whose file it is.
    pub whose: Whose,
    /// The file.
    pub file: FilePath,
    /// Where in the file.
    pub spot: Spot,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Spot {
    /// A field of a document.
    Field(Cell),
    /// A field of a text that is YAML itself and stands in a field of a document.
    Inside {
        /// The document, from 0.
        document: usize,
        /// The field that holds the text.
        path: FieldPath,
        /// The field of the text.
        cell: Cell,
    },
    /// A line of a template, `key: value`.
    Line {
        /// The line, from 1.
        line: u32,
        /// The key.
        key: String,
    },
}

/// Why it cannot be told where a field has to be changed, and where to look.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// A program made the object.
    #[error("{file} is made by a program; look for the field there")]
    Program {
        /// The program, or where a plugin ran.
        file: FilePath,
    },
    /// There is nothing of which it could be told what made it.
    #[error("the rendered object has no such field; ask for one beside it, or for what would hold it")]
    Absent,
    /// A template puts the value together.
    #[error("the template composes it at {at}{}", fed(.values))]
    Composed {
        /// File and line of the template.
        at: String,
        /// The values that it is made of, each with where it was given.
        values: Vec<String>,
    },
    /// What gave the value is not among the files.
    #[error("it comes from {0}, which is not in the repository")]
    Elsewhere(String),
    /// The application sets it, and its manifest is not in a file that is known.
    #[error("{0} of the Application sets it, and the manifest of the Application is not known")]
    Undeclared(String),
    /// It follows from something else.
    #[error("it follows from {0}; change that")]
    Derived(String),
    /// It was taken away.
    #[error("{0} removes it")]
    Removed(String),
    /// It is set in a way that has no one place.
    #[error("{0} sets it in a way that no single change undoes; look there")]
    Indirect(String),
    /// It should be at a place and is not.
    #[error("it should be at {0}, and what is there says something else; look there")]
    Unfound(String),
    /// A file cannot be read.
    #[error("{file} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: FilePath,
        /// What is wrong with it.
        reason: String,
    },
}

fn fed(values: &[String]) -> String {
    if values.is_empty() { String::new() } else { format!(" from {}", values.join(" and ")) }
}

/// Where a field of a rendered object has to be changed. With what it is wanted to be, a part of a value that a template
/// puts together can be found too, such as the tag of an image.
pub fn place(
    ground: &Ground<'_>,
    reason: &Reason,
    object: &Object,
    path: &FieldPath,
    wanted: Option<&Value>,
) -> Result<Place, PlaceError> {
    match reason {
        Reason::File(span) => manifest::place(ground, span, object, path),
        Reason::Template(explanation) => helm::place(ground, explanation, object, path, wanted),
        Reason::Kustomization(explanation) => kustomize::place(ground, explanation, object, path),
    }
}

impl Place {
    /// The text of the file with a change at this place.
    pub fn operate(&self, text: &str, change: &Change) -> Result<String, SurgeryError> {
        match &self.spot {
            Spot::Line { line, key } => operate_line(&self.file, text, *line, key, change),
            Spot::Field(_) | Spot::Inside { .. } => operate(&self.file, text, &self.cuts(text, change)?),
        }
    }

    /// What a change at this place comes to for the fields of the file, given its text. A line of a template is none.
    pub fn cuts(&self, text: &str, change: &Change) -> Result<Vec<Cut>, SurgeryError> {
        let of = |cell: &Cell| cell.cuts(change).map_err(|problem| self.error(problem));
        match &self.spot {
            Spot::Field(cell) => of(cell),
            Spot::Inside { document, path, cell } => {
                let outer =
                    parse(text, *document).and_then(|value| Some(path.get(&value)?.as_str()?.to_owned()));
                let inner = outer.ok_or_else(|| self.error(Problem::Missing))?;
                let inner = operate(&self.file, &inner, &of(cell)?)?;
                Ok(vec![Cut { document: *document, path: path.clone(), change: Change::Set(inner.into()) }])
            }
            Spot::Line { .. } => Err(self.error(Problem::Shape)),
        }
    }

    /// The field of the file that it is, or that holds it; a line of a template is none.
    pub fn field(&self) -> Option<&FieldPath> {
        match &self.spot {
            Spot::Field(cell) => Some(&cell.path),
            Spot::Inside { path, .. } => Some(path),
            Spot::Line { .. } => None,
        }
    }

    /// The place of a field below this one, which need not be there yet. A line has none.
    #[must_use]
    pub fn below(&self, path: &FieldPath) -> Option<Place> {
        let mut place = self.clone();
        match &mut place.spot {
            Spot::Field(cell) | Spot::Inside { cell, .. } => *cell = cell.below(path)?,
            Spot::Line { .. } => return None,
        }
        Some(place)
    }

    /// The place of another field of the map that this one is in.
    #[must_use]
    pub fn beside(&self, name: &str) -> Option<Place> {
        let mut place = self.clone();
        match &mut place.spot {
            Spot::Field(cell) | Spot::Inside { cell, .. } if cell.form == Form::Value => {
                cell.path = cell.path.parent()?.field(name);
                Some(place)
            }
            _ => None,
        }
    }

    fn error(&self, problem: Problem) -> SurgeryError {
        let field = match &self.spot {
            Spot::Field(cell) => cell.path.clone(),
            Spot::Inside { path, .. } => path.clone(),
            Spot::Line { key, .. } => FieldPath::fields([key.as_str()]),
        };
        SurgeryError { file: self.file.clone(), line: 0, field, problem }
    }
}

impl Ground<'_> {
    /// The text of a file of the source.
    fn text(&self, file: &FilePath) -> Result<String, PlaceError> {
        read(self.tree, file)
    }
}

fn read(tree: &dyn Tree, file: &FilePath) -> Result<String, PlaceError> {
    let failed = |reason: String| PlaceError::Unreadable { file: file.clone(), reason };
    let content: Arc<[u8]> =
        tree.read(file, limits::FILE_BYTES).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(content.to_vec()).map_err(|error| failed(error.to_string()))
}

/// What a document of a text says.
fn parse(text: &str, document: usize) -> Option<Value> {
    let found = yaml::documents(text.as_bytes(), &yaml::Options::default());
    found.into_iter().nth(document)?.result.ok()
}

/// Whether two values are printed as the same: `3` and `"3"` are, since a template makes text of both.
fn is_same(one: &Value, other: &Value) -> bool {
    let is_scalar = |value: &Value| !matches!(value, Value::Map(_) | Value::Seq(_));
    one == other || is_scalar(one) && is_scalar(other) && printed(one) == printed(other)
}

/// A scalar as a template prints it.
fn printed(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        Value::Null => String::new(),
        other => yaml::to_string(other).trim_end().to_owned(),
    }
}
