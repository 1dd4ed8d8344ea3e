//! A field of a document, and how a value is written in it.

use lynceus_kustomize::split_image;
use lynceus_object::{FieldPath, Map, Value};

use super::printed;
use crate::surgery::{Change, Cut, Problem};

/// A field of a document, and how a value is written in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The document, from 0.
    pub document: usize,
    /// The field.
    pub path: FieldPath,
    /// How a value is written in it.
    pub form: Form,
}

/// How the value of a rendered field is written where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Value,
    /// As a string, whatever it is: the value of a parameter, a label.
    Text,
    /// As `key=value`, in a list.
    Pair(String),
    /// What is between two other texts.
    Part {
        /// What comes before it.
        before: String,
        /// What comes after it.
        after: String,
    },
    /// As an entry of `images` in a kustomization.
    Image {
        /// The name that the image has with the entry as it is.
        name: String,
        /// Whether the entry has a digest.
        digest: bool,
        /// Whether the entry has a tag.
        tag: bool,
    },
}

impl Cell {
    pub(super) fn new(document: usize, path: FieldPath) -> Self {
        Cell { document, path, form: Form::Value }
    }

    pub(super) fn written(self, form: Form) -> Self {
        Cell { form, ..self }
    }

    /// The field that says what the rendered one is: of an entry of `images` the one with the tag or the digest.
    pub fn said_at(&self) -> FieldPath {
        match self.form {
            Form::Image { tag: true, .. } => self.path.field("newTag"),
            Form::Image { digest: true, .. } => self.path.field("digest"),
            _ => self.path.clone(),
        }
    }

    pub(super) fn below(&self, path: &FieldPath) -> Option<Self> {
        let whole = self.path.segments().iter().chain(path.segments()).cloned().collect();
        (self.form == Form::Value).then(|| Cell::new(self.document, whole))
    }

    /// The change of the rendered field as changes of this one.
    pub(super) fn cuts(&self, change: &Change) -> Result<Vec<Cut>, Problem> {
        let cut = |path: FieldPath, change: Change| vec![Cut { document: self.document, path, change }];
        let set = |value: String| cut(self.path.clone(), Change::Set(value.into()));
        match (&self.form, change) {
            (Form::Value, change) => Ok(cut(self.path.clone(), change.clone())),
            (Form::Text, Change::Set(value)) => Ok(set(scalar(value)?)),
            (Form::Pair(key), Change::Set(value)) => Ok(set(format!("{key}={}", scalar(value)?))),
            (Form::Pair(_), Change::Remove) => Ok(cut(self.path.clone(), Change::Remove)),
            (Form::Part { before, after }, Change::Set(value)) => {
                let text = scalar(value)?;
                let inner =
                    text.strip_prefix(before.as_str()).and_then(|text| text.strip_suffix(after.as_str()));
                let foreign = || Problem::Foreign { before: before.clone(), after: after.clone() };
                inner.map(|inner| set(inner.to_owned())).ok_or_else(foreign)
            }
            (Form::Image { name, digest, tag }, Change::Set(value)) => {
                Ok(self.image(&scalar(value)?, name, *digest, *tag))
            }
            _ => Err(Problem::Shape),
        }
    }

    fn image(&self, image: &str, name: &str, has_digest: bool, has_tag: bool) -> Vec<Cut> {
        let (new_name, tag, digest) = split_image(image);
        let mut fields = Map::new();
        for (key, value, is_wanted) in
            [("newName", new_name, new_name != name), ("newTag", tag, true), ("digest", digest, true)]
        {
            if is_wanted && !value.is_empty() {
                fields.insert(key, value);
            }
        }
        let cut = |path: FieldPath, change: Change| Cut { document: self.document, path, change };
        let mut cuts = vec![cut(self.path.clone(), Change::Merge(Value::Map(fields)))];
        for (key, is_gone) in
            [("digest", has_digest && digest.is_empty()), ("newTag", has_tag && tag.is_empty())]
        {
            if is_gone {
                cuts.push(cut(self.path.field(key), Change::Remove));
            }
        }
        cuts
    }
}

fn scalar(value: &Value) -> Result<String, Problem> {
    match value {
        Value::Map(_) | Value::Seq(_) => Err(Problem::Shape),
        scalar => Ok(printed(scalar)),
    }
}
