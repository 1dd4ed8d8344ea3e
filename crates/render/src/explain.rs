//! Why a field of a rendered object is as it is.

use std::fmt;
use std::str::FromStr;

use lynceus_files::{FilePath, Span};
use lynceus_helm::{Explanation, World};
use lynceus_object::{FieldPath, Object, manifest, yaml};

use crate::job::{Job, Trees};
use crate::{RenderError, SourceType, detect, helm, kustomize, limits, overrides, render};

/// A field of an object: `deployment/web:spec.replicas`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The kind, in any case, in the singular or the plural.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The field.
    pub path: FieldPath,
}

/// What made a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// It stands in a file.
    File(Span),
    /// A template printed it.
    Template(Explanation),
    /// A kustomization set it.
    Kustomization(lynceus_kustomize::Explanation),
}

/// Why a text is not a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a field; write it as deployment/web:spec.replicas")]
pub struct FieldError(String);

impl FromStr for Field {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let wrong = || FieldError(text.to_owned());
        let (object, path) = text.split_once(':').ok_or_else(wrong)?;
        let (kind, name) = object.split_once('/').ok_or_else(wrong)?;
        let path = FieldPath::parse(path).map_err(|_| wrong())?;
        Ok(Field { kind: kind.to_owned(), name: name.to_owned(), path })
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.kind, self.name, self.path)
    }
}

impl Field {
    pub(crate) fn is_of(&self, object: &Object) -> bool {
        self.is_named(object.kind(), object.name())
    }

    /// Whether it is a field of the object of this kind and name.
    pub(crate) fn is_named(&self, kind: &str, name: &str) -> bool {
        let (kind, wanted) = (kind.to_lowercase(), self.kind.to_lowercase());
        let plural = [format!("{kind}s"), format!("{kind}es")].contains(&wanted);
        (kind == wanted || plural) && name == self.name
    }
}

/// Explains a field of what a source becomes; none if it makes no such field.
pub fn explain(job: &Job<'_>, field: &Field, world: &mut dyn World) -> Result<Option<Reason>, RenderError> {
    let trees = Trees::new(job);
    let path = FilePath::new(&job.source.path)?;
    let source = overrides::merge(trees.own(), &path, job.source, &job.setting.application)?;
    let job = Job { source: &source, ..*job };
    let source_type = detect(trees.own(), &path, &job)?.source_type;
    match source_type {
        SourceType::Helm => {
            return Ok(helm::explain(&trees, &path, &job, field, world)?.map(Reason::Template));
        }
        SourceType::Kustomize => {
            return Ok(kustomize::explain(&trees, &path, &job, field, world)?.map(Reason::Kustomization));
        }
        SourceType::Directory | SourceType::Plugin => {}
    }
    let rendered = render(&job, world)?;
    let Some(made) = rendered.manifests.iter().find(|made| field.is_of(&made.object)) else {
        return Ok(None);
    };
    let file = &made.span.file;
    // Neither a program nor a plugin has a line that is the field.
    if source_type == SourceType::Plugin || file.name().ends_with(".jsonnet") {
        return Ok(Some(Reason::File(made.span.clone())));
    }
    let content = trees.own().read(file, limits::FILE_BYTES)?;
    let documents = manifest::read(file, &content, &yaml::Options::default());
    let placed = documents.objects.iter().find(|placed| placed.document == made.document);
    Ok(placed.map(|placed| Reason::File(placed.locate(file, &content, &field.path))))
}
