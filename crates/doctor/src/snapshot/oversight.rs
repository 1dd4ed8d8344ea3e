//! What was noticed of sources that no tool speaks of.

use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, ObjectKey, Str};

/// A patch of a kustomization that is for something which is not there.
#[derive(Clone, Debug, PartialEq)]
pub struct IdlePatch {
    /// The repository, as Applications name it.
    pub repository: Str,
    /// Where the name is written; without a line if the Application has the patch.
    pub span: Span,
    /// The field of the Application that has the patch, if it is none of a file.
    pub field: Option<FieldPath>,
    /// The kind of what it is for; nothing if it does not say.
    pub kind: Str,
    /// The name of what it is for.
    pub name: Str,
    /// The names that there are of this kind.
    pub names: Vec<Str>,
    /// Whether several may share it, so that not each of them need have what it is for.
    pub is_shared: bool,
    /// Whether nothing is rendered because of it. Otherwise it is left out without a word.
    pub fails: bool,
}

/// A field that is another one at each rendering.
#[derive(Clone, Debug, PartialEq)]
pub struct Chance {
    /// The object, with its namespace.
    pub object: ObjectKey,
    /// The field. Its value is told nowhere, since it may be a password.
    pub path: FieldPath,
    /// The template and the line that ask for chance or the time, if they are in the repository.
    pub span: Option<Span>,
    /// The function that gives another value each time, if it can be told.
    pub function: Str,
}

impl IdlePatch {
    /// The file that has the name.
    pub fn file(&self) -> &FilePath {
        &self.span.file
    }
}

/// A value file that is passed over because of its name, and what the file beside it that must be meant would change.
#[derive(Clone, Debug, PartialEq)]
pub struct PassedOver {
    /// The number of the source that names it.
    pub source: usize,
    /// Its number among the value files of the source.
    pub number: usize,
    /// The fields of objects that would be others with the file beside it. It was tried.
    pub changes: Vec<(ObjectKey, FieldPath)>,
}

impl PassedOver {
    /// Whether a field would be another one. One of a template may name no namespace.
    pub fn changes(&self, key: &ObjectKey, path: &FieldPath) -> bool {
        self.changes.iter().any(|(one, changed)| {
            let is_near =
                one.namespace.is_empty() || key.namespace.is_empty() || one.namespace == key.namespace;
            let (own, other) = (changed.segments(), path.segments());
            let is_part = own.starts_with(other) || other.starts_with(own);
            is_near && one.group_kind() == key.group_kind() && one.name == key.name && is_part
        })
    }
}

/// A value that is empty, and for which a chart is rendered to what is no YAML or to an image without a tag.
#[derive(Clone, Debug, PartialEq)]
pub struct Hollow {
    /// The value, as it is named from the outermost chart: `image.tag`.
    pub key: FieldPath,
    /// The template that prints it, and the line that does.
    pub template: Span,
    /// The repository, the file and the line that have it empty; nothing if no file has it.
    pub written: Option<(Str, Span)>,
    /// What has a value for it that is covered: `charts/web/values.yaml`.
    pub covered: Option<String>,
}
