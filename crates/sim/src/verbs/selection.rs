//! Which objects a list or watch is about.

use lynceus_object::Object;

use crate::kinds::{self, Resource};
use crate::{ApiError, strategy};

/// Label and field selectors, read once per request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    labels: Vec<(String, bool, String)>,
    fields: Vec<(String, bool, String)>,
}

impl Selection {
    /// Reads both selectors; refuses fields that the kind cannot be selected by.
    pub(crate) fn new(resource: &Resource, labels: &str, fields: &str) -> Result<Self, ApiError> {
        let selection = Selection { labels: terms(labels), fields: terms(fields) };
        for (field, _, _) in &selection.fields {
            if strategy::field(resource, &Object::default(), field).is_none() {
                return Err(unknown_field(resource, field));
            }
        }
        Ok(selection)
    }

    /// Narrows the selection to one object.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.fields.push(("metadata.name".into(), true, name.into()));
        self
    }

    /// Whether everything is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object, in the version that `resource` serves, is selected.
    pub(crate) fn matches(&self, resource: &Resource, object: &Object) -> bool {
        self.labels.iter().all(|(key, equal, value)| (object.label(key) == Some(value)) == *equal)
            && self.fields.iter().all(|(field, equal, value)| {
                strategy::field(resource, object, field)
                    .is_some_and(|found| (found == value.as_str()) == *equal)
            })
    }
}

fn terms(text: &str) -> Vec<(String, bool, String)> {
    text.split(',')
        .filter_map(|term| {
            let (key, value) = term.split_once('=')?;
            let (key, equal) = match key.strip_suffix('!') {
                Some(key) => (key, false),
                None => (key, true),
            };
            Some((key.into(), equal, value.strip_prefix('=').unwrap_or(value).into()))
        })
        .collect()
}

/// Whether the label selector that stands in `owner` at `path` selects an object.
pub(super) fn selects(owner: &Object, path: &[&str], object: &Object) -> bool {
    let Some(selector) = owner.at(path) else { return false };
    let labels = selector.at(&["matchLabels"]).and_then(lynceus_object::Value::as_map);
    labels.is_none_or(|labels| labels.iter().all(|(key, value)| object.label(key) == value.as_str()))
}

/// The real server has two ways to say it: kinds with fields of their own, and all others.
fn unknown_field(resource: &Resource, field: &str) -> ApiError {
    let own = !kinds::selectable(resource).is_empty();
    ApiError::bad_request(if own {
        format!("field label not supported: {field}")
    } else {
        format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    })
}
