//! Values that stand between objects and what they would inherit.

use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};

use crate::finding::Evidence;
use crate::fix::{Fix, Place};
use crate::node::AppName;
use crate::surgery::{Change, apply};

/// A value that covers one which would hold without it, and what the objects would have then.
#[derive(Clone, Debug, Default)]
pub struct Override {
    /// The value, as it is named from the outermost chart: `image.tag`.
    pub key: FieldPath,
    /// What it says, as text: `[]`.
    pub says: String,
    /// Where it is written, the one that has the last word first.
    pub written: Vec<Written>,
    /// What has the value that it covers: `charts/web/values.yaml`.
    pub covered: String,
    /// What the objects would have without it. It was tried.
    pub returns: Vec<(ObjectKey, FieldPath, Value)>,
}

/// Where a value is written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The place, as far as it is known.
    pub span: Option<Span>,
    /// What takes it out.
    pub way: Way,
}

/// What takes a value out.
#[derive(Clone, Debug)]
pub enum Way {
    /// It goes from a file of values.
    File {
        /// The repository, as Applications name it.
        repository: Str,
        /// The file.
        file: FilePath,
    },
    /// A field of the Application is set, or goes.
    Application {
        /// The field.
        path: FieldPath,
        /// What is to stand there; nothing if it is to go.
        value: Option<Value>,
    },
}

impl Override {
    /// An object as it would be without it; nothing if it would be the same.
    pub fn without(&self, object: &Object) -> Option<Object> {
        let mut changed = object.clone();
        for (_, path, value) in self.returned(&object.key()) {
            apply(changed.value_mut(), path, &Change::Set(value.clone())).ok()?;
        }
        (changed != *object).then_some(changed)
    }

    /// What an object would have. One of a template may name no namespace.
    fn returned(&self, key: &ObjectKey) -> impl Iterator<Item = &(ObjectKey, FieldPath, Value)> {
        self.returns.iter().filter(move |(one, ..)| {
            let is_near =
                one.namespace.is_empty() || key.namespace.is_empty() || one.namespace == key.namespace;
            is_near && one.group_kind() == key.group_kind() && one.name == key.name
        })
    }

    /// `` `tolerations: []` in values-live.yaml ``
    pub fn told(&self) -> String {
        format!("`{}: {}` in {}", self.key, self.says, self.place())
    }

    /// What it does, as the end of a sentence: `` `tolerations: []` in values-live.yaml covers what values.yaml has ``
    pub fn takes(&self) -> String {
        format!("{} covers what {} has", self.told(), self.covered)
    }

    /// The same for a sentence that may have such an end or none.
    pub(crate) fn ending(covered: Option<&(AppName, &Override)>) -> String {
        covered.map(|(_, covered)| format!("; {}", covered.takes())).unwrap_or_default()
    }

    fn place(&self) -> String {
        let place = self.written.first().map(|one| match (&one.way, &one.span) {
            (Way::File { file, .. }, _) => file.to_string(),
            (Way::Application { .. }, Some(span)) => format!("the Application in {}", span.file),
            (Way::Application { .. }, None) => "the Application".to_owned(),
        });
        place.unwrap_or_default()
    }

    /// Where it is written.
    pub fn evidence(&self, application: &AppName) -> Vec<Evidence> {
        let text = format!("{}: {} covers what {} has", self.key, self.says, self.covered);
        let told = |one: &Written| match &one.span {
            Some(span) => {
                Evidence::File { application: application.clone(), span: span.clone(), text: text.clone() }
            }
            None => Evidence::seen(format!("in the Application {application}, {text}")),
        };
        self.written.iter().map(told).collect()
    }

    /// The fix that takes it out, for an object.
    pub fn fix(&self, application: &AppName, object: &ObjectKey) -> Fix {
        let fix = Fix::new(format!("Take `{}: {}` out of {}", self.key, self.says, self.place()))
            .why(format!("what {} has holds again, as it does for the others", self.covered));
        let path = self.returned(object).next().map(|(_, path, _)| path.clone()).unwrap_or_default();
        self.written.iter().fold(fix, |fix, one| {
            let place = match &one.way {
                Way::File { repository, file } => Place::Override {
                    repository: repository.clone(),
                    file: file.clone(),
                    key: self.key.clone(),
                    object: object.clone(),
                    path: path.clone(),
                },
                Way::Application { path, value } => {
                    Place::Application { path: path.clone(), value: value.clone() }
                }
            };
            fix.git(application, place)
        })
    }
}
