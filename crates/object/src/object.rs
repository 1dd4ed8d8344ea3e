//! A Kubernetes object: a map with a kind and metadata.

use crate::id::{GroupKind, Gvk, ObjectKey, split_api_version};
use crate::map::Map;
use crate::value::{Str, Value};

/// A value that is a map, read and changed as a Kubernetes object.
///
/// Cloning is cheap (see [`Value`]). Nothing is checked beyond being a map: a missing name reads as
/// the empty string, because objects from Git and from the network may lack anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(Value);

impl Default for Object {
    fn default() -> Self {
        Object(Value::Map(Map::new()))
    }
}

/// An owner, as an object's metadata names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerRef {
    /// The owner's `apiVersion`.
    pub api_version: Str,
    /// The owner's kind.
    pub kind: Str,
    /// The owner's name.
    pub name: Str,
    /// The owner's uid.
    pub uid: Str,
    /// Whether the owner is the managing controller.
    pub controller: bool,
    /// Whether a foreground deletion of the owner waits for this object.
    pub block_owner_deletion: bool,
}

impl Object {
    /// Takes a value as an object; anything but a map comes back.
    pub fn new(value: Value) -> Result<Self, Value> {
        match value {
            Value::Map(_) => Ok(Object(value)),
            other => Err(other),
        }
    }

    /// An object with a kind and a name and nothing else.
    pub fn named(gvk: &Gvk, namespace: &str, name: &str) -> Self {
        let mut object = Object::default();
        object.0.set(&["apiVersion"], gvk.api_version());
        object.0.set(&["kind"], gvk.kind.clone());
        object.0.set(&["metadata", "name"], name);
        if !namespace.is_empty() {
            object.0.set(&["metadata", "namespace"], namespace);
        }
        object
    }

    /// The whole value.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The whole value, to change. It has to stay a map.
    pub fn value_mut(&mut self) -> &mut Value {
        &mut self.0
    }

    /// Gives the value up.
    pub fn into_value(self) -> Value {
        self.0
    }

    /// The fields.
    pub fn map(&self) -> &Map {
        static EMPTY: Map = Map::new();
        self.0.as_map().unwrap_or(&EMPTY)
    }

    /// The value at a path of map keys.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        self.0.at(path)
    }

    /// Sets the value at a path, making the maps on the way.
    pub fn set(&mut self, path: &[&str], value: impl Into<Value>) {
        self.0.set(path, value);
    }

    /// Removes and returns the value at a path.
    pub fn remove(&mut self, path: &[&str]) -> Option<Value> {
        self.0.remove(path)
    }

    /// `apiVersion`, or the empty string.
    pub fn api_version(&self) -> &str {
        self.0.str_at(&["apiVersion"]).unwrap_or_default()
    }

    /// `kind`, or the empty string.
    pub fn kind(&self) -> &str {
        self.0.str_at(&["kind"]).unwrap_or_default()
    }

    /// The group part of `apiVersion`.
    pub fn group(&self) -> &str {
        split_api_version(self.api_version()).0
    }

    /// Group, version and kind.
    pub fn gvk(&self) -> Gvk {
        Gvk::from_manifest(self.api_version(), self.kind())
    }

    /// Group and kind.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.group(), self.kind())
    }

    /// What tells this object from every other.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.group(), self.kind(), self.namespace(), self.name())
    }

    /// A field of the metadata. Whoever asks for a field that is known here asks often, and does it without a call.
    #[inline(always)]
    fn meta(&self, field: &str) -> Option<&Value> {
        self.0.get("metadata")?.get(field)
    }

    #[inline(always)]
    fn meta_word(&self, field: &str) -> &str {
        self.meta(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// A string of the metadata, or the empty string.
    pub fn meta_str(&self, field: &str) -> &str {
        self.meta_word(field)
    }

    /// A string of the metadata, or the empty one, for whoever keeps it: it stays shared with the object.
    pub fn meta_text(&self, field: &str) -> Str {
        match self.meta(field) {
            Some(Value::Str(text)) => text.clone(),
            _ => Str::new(),
        }
    }

    /// `metadata.name`, or the empty string.
    pub fn name(&self) -> &str {
        self.meta_word("name")
    }

    /// `metadata.namespace`, or the empty string.
    pub fn namespace(&self) -> &str {
        self.meta_word("namespace")
    }

    /// `metadata.uid`, or the empty string.
    pub fn uid(&self) -> &str {
        self.meta_word("uid")
    }

    /// `metadata.resourceVersion`, or the empty string.
    pub fn resource_version(&self) -> &str {
        self.meta_word("resourceVersion")
    }

    /// `metadata.generation`, or 0.
    pub fn generation(&self) -> i64 {
        self.meta("generation").and_then(Value::as_int).unwrap_or_default()
    }

    /// Whether the object is being deleted.
    pub fn is_deleting(&self) -> bool {
        !self.meta_word("deletionTimestamp").is_empty()
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.0.str_at(&["metadata", "labels", key])
    }

    /// The labels in key order.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        strings(self.0.at(&["metadata", "labels"]))
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.0.str_at(&["metadata", "annotations", key])
    }

    /// The annotations in key order.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        strings(self.0.at(&["metadata", "annotations"]))
    }

    /// Sets an annotation.
    pub fn set_annotation(&mut self, key: &str, value: impl Into<Value>) {
        self.0.set(&["metadata", "annotations", key], value);
    }

    /// Sets a label.
    pub fn set_label(&mut self, key: &str, value: impl Into<Value>) {
        self.0.set(&["metadata", "labels", key], value);
    }

    /// The finalizers that have yet to run.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.items_at(&["metadata", "finalizers"]).iter().filter_map(Value::as_str)
    }

    /// The owners that the metadata names.
    pub fn owners(&self) -> impl Iterator<Item = OwnerRef> + '_ {
        self.0.items_at(&["metadata", "ownerReferences"]).iter().map(owner)
    }

    /// The owner that manages this object, if one does.
    pub fn controller(&self) -> Option<OwnerRef> {
        self.controller_entry().map(owner)
    }

    /// The owner that manages this object as the metadata names it, for those who ask for one field of it.
    pub fn controller_entry(&self) -> Option<&Value> {
        let manages = |owner: &&Value| owner.bool_at(&["controller"]) == Some(true);
        self.0.items_at(&["metadata", "ownerReferences"]).iter().find(manages)
    }
}

/// Reads an owner; its texts stay shared with the object.
fn owner(value: &Value) -> OwnerRef {
    let text = |field| match value.get(field) {
        Some(Value::Str(text)) => text.clone(),
        _ => Str::new(),
    };
    let flag = |field| value.bool_at(&[field]).unwrap_or(false);
    OwnerRef {
        api_version: text("apiVersion"),
        kind: text("kind"),
        name: text("name"),
        uid: text("uid"),
        controller: flag("controller"),
        block_owner_deletion: flag("blockOwnerDeletion"),
    }
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = (&str, &str)> + Clone {
    value
        .and_then(Value::as_map)
        .into_iter()
        .flat_map(Map::iter)
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn object(value: Value) -> Object {
        Object::new(value).unwrap()
    }

    #[test]
    fn anything_but_a_map_is_no_object() {
        assert_eq!(Object::new(value!([1])), Err(value!([1])));
    }

    #[test]
    fn what_is_missing_reads_as_empty() {
        let empty = Object::default();
        assert_eq!((empty.kind(), empty.name(), empty.namespace(), empty.generation()), ("", "", "", 0));
        assert_eq!(empty.labels().count(), 0);
        assert!(!empty.is_deleting() && empty.controller().is_none());
    }

    #[test]
    fn metadata_is_read() {
        let pod = object(value!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": "web", "namespace": "shop", "generation": 3,
                "labels": {"app": "web"}, "annotations": {"a": "b"}, "finalizers": ["x/y"],
                "deletionTimestamp": "2024-01-01T00:00:00Z",
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "1"},
                    {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "2", "controller": true},
                ],
            },
        }));
        assert_eq!(pod.key().to_string(), "apps/ReplicaSet/shop/web");
        assert_eq!(pod.gvk().to_string(), "apps/v1, Kind=ReplicaSet");
        assert_eq!((pod.label("app"), pod.annotation("a"), pod.generation()), (Some("web"), Some("b"), 3));
        assert_eq!(pod.finalizers().collect::<Vec<_>>(), ["x/y"]);
        assert_eq!(pod.controller().unwrap().kind, "Deployment");
        assert!(pod.is_deleting());
    }

    #[test]
    fn a_named_object_has_nothing_else() {
        let named = Object::named(&Gvk::new("", "v1", "Pod"), "shop", "web");
        let expected =
            value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}});
        assert_eq!(named.into_value(), expected);
    }
}
