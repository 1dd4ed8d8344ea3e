//! Objects as rows: what `kubectl get` shows.

use jiff::Timestamp;
use lynceus_object::{Object, Value, value};

use crate::kinds::Resource;

/// How much of each object a row carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Nothing.
    None,
    /// Its metadata, as `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

/// A `meta.k8s.io/v1` Table of `objects`. `metadata` is the list's (resourceVersion, continue, …);
/// column definitions are left out with `headers: false`, as in all but the first event of a watch.
pub fn render(
    _resource: &Resource,
    _objects: &[Object],
    metadata: Value,
    _include: Include,
    _headers: bool,
    _now: Timestamp,
) -> Value {
    value!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": [], "rows": []})
}
