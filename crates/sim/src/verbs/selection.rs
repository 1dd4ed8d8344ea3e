//! Which objects a list or watch is about.

use lynceus_object::Object;
use lynceus_object::selector::{FieldSelector, Selector};

use crate::kinds::{self, Resource};
use crate::{ApiError, strategy};

/// Label and field selectors, read once per request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    labels: Selector,
    fields: FieldSelector,
    name: Option<String>,
}

impl Selection {
    /// Reads both selectors; refuses fields that the kind cannot be selected by.
    pub(crate) fn new(resource: &Resource, labels: &str, fields: &str) -> Result<Self, ApiError> {
        let bad = |error: &dyn std::fmt::Display| ApiError::bad_request(error.to_string());
        let labels = Selector::parse(labels).map_err(|error| bad(&error))?;
        let fields = FieldSelector::parse(fields).map_err(|error| bad(&error))?;
        for term in fields.terms() {
            if strategy::field(resource, &Object::default(), &term.field).is_none() {
                return Err(unknown_field(resource, &term.field));
            }
        }
        Ok(Selection { labels, fields, name: None })
    }

    /// Narrows the selection to one object.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Whether everything is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything() && self.name.is_none()
    }

    /// Whether an object, in the version that `resource` serves, is selected.
    pub(crate) fn matches(&self, resource: &Resource, object: &Object) -> bool {
        self.name.as_deref().is_none_or(|name| name == object.name())
            && self.labels.matches_object(object)
            && self.fields.terms().iter().all(|term| {
                let found = strategy::field(resource, object, &term.field);
                found.is_some_and(|found| (found == term.value) == term.equals)
            })
    }
}

/// The real server has two ways to say it: kinds with fields of their own, and all others.
fn unknown_field(resource: &Resource, field: &str) -> ApiError {
    let own = resource.custom.is_none() && !kinds::selectable(resource).is_empty();
    ApiError::bad_request(if own {
        format!("field label not supported: {field}")
    } else {
        format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    })
}

/// Whether the label selector that stands in `owner` at `path` selects an object.
pub(super) fn selects(owner: &Object, path: &[&str], object: &Object) -> bool {
    Selector::from_object(owner.at(path)).is_ok_and(|selector| selector.matches_object(object))
}
