//! One strategic merge patch on one resource.

use lynceus_object::Value;

use super::json::MEMORY;
use super::set_texts;
use crate::error::KustomizeError;
use crate::merge::{Fate, merge};
use crate::read::REPEATED;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::written::Step;

/// A strategic merge patch, made ready to be merged into several resources.
pub(super) struct StrategicPatch<'p> {
    patch: &'p Resource,
    value: Value,
    /// Whether its resources were selected, and not named by the patch itself.
    is_selective: bool,
}

impl<'p> StrategicPatch<'p> {
    pub(super) fn new(patch: &'p Resource, is_selective: bool) -> Self {
        let mut value = patch.value.clone();
        // Where Kustomize copies the patch it sets its labels and annotations anew, which makes strings of them: a null
        // there does not take a label away but becomes its text.
        let text = |field: &'static str| {
            move |key: &str, value: &Value| {
                let path =
                    [Step::Field("metadata".into()), Step::Field(field.into()), Step::Field(key.into())];
                patch.written.text(&path, value)
            }
        };
        if is_selective {
            take_last(&mut value, "labels");
            set_texts(&mut value, "labels", text("labels"));
        }
        if is_selective || patch.may_rename || patch.may_change_kind {
            take_last(&mut value, "annotations");
            set_texts(&mut value, "annotations", text("annotations"));
        }
        StrategicPatch { patch, value, is_selective }
    }

    /// Merges the patch into a resource, which keeps its name, its namespace and its kind unless the patch may change
    /// them. A resource that the patch deletes is null after it.
    pub(super) fn apply(&self, resource: &mut Resource, schema: &Schema) -> Result<(), KustomizeError> {
        let kind = resource.value.get("kind").cloned();
        let name = resource.value.at(&["metadata", "name"]).cloned();
        let namespace = resource.value.at(&["metadata", "namespace"]).cloned();
        if self.patch.may_rename || self.patch.may_change_kind {
            resource.remember_id(schema.is_cluster_scoped(&resource.kind()));
        }
        let mut patch = self.value.clone();
        if !matches!(resource.value.at(&["metadata", "annotations"]), Some(Value::Map(_))) {
            take_last(&mut patch, "annotations");
        }
        match resource.value.get("apiVersion").filter(|_| self.is_selective) {
            // A null in a patch would take the field away.
            Some(Value::Null) => drop(patch.remove(&["apiVersion"])),
            Some(api_version) => patch.set(&["apiVersion"], api_version.clone()),
            None => {}
        }
        let has_annotations = resource.value.at(&["metadata", "annotations"]).is_some();
        if resource.is_tracked() {
            resource.value.set(&["metadata", "annotations", MEMORY], "");
        }
        let fate = merge(&mut resource.value, &resource.written, &mut patch, &self.patch.written, schema)?;
        if fate == Fate::Dropped || resource.value.is_empty() {
            resource.value = Value::Null;
            return Ok(());
        }
        if resource.is_tracked() && resource.value.remove(&["metadata", "annotations", MEMORY]).is_none() {
            resource.forget_origin();
        } else if !has_annotations
            && resource.value.at(&["metadata", "annotations"]).is_some_and(Value::is_empty)
        {
            resource.value.remove(&["metadata", "annotations"]);
        }
        resource.written.add(&self.patch.written);
        let value = &mut resource.value;
        resource.shared.retain_mut(|shared| shared.settle_merged(value, &self.value));
        if !self.patch.may_change_kind
            && let Some(kind) = kind
        {
            resource.value.set(&["kind"], kind);
        }
        if !self.patch.may_rename
            && let Some(name) = name
        {
            resource.value.set(&["metadata", "name"], name);
        }
        match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => resource.value.set(&["metadata", "namespace"], namespace),
            None => {
                resource.value.remove(&["metadata", "namespace"]);
            }
        }
        Ok(())
    }
}

/// Lets the last one count of labels or annotations that are there twice.
fn take_last(patch: &mut Value, field: &str) {
    if let Some(last @ Value::Map(_)) = patch.at(&["metadata", field, REPEATED]).cloned() {
        patch.set(&["metadata", field], last);
    }
}
