//! Objects as rows: what `kubectl get` shows.
//!
//! A kind has a line of column definitions in [`columns`] and a function that makes the cells of one
//! object; kinds without either show name and creation time.

mod age;
mod cluster;
mod columns;
mod network;
mod pod;
mod storage;
mod workload;

use jiff::Timestamp;
use lynceus_object::{Gvk, Object, Value, value};

pub use age::human_duration;
pub use columns::{Column, columns};

use crate::crd;
use crate::kinds::{self, Resource};

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
    resource: &Resource,
    objects: &[Object],
    metadata: Value,
    include: Include,
    headers: bool,
    now: Timestamp,
) -> Value {
    if let Some(custom) = &resource.custom {
        return crd::table(custom, objects, metadata, include, headers, now);
    }
    let rows = objects.iter().map(|object| row(resource, object, include, now));
    table(&columns(resource), rows.collect(), metadata, headers)
}

/// A table of rows that are ready, for kinds that bring their own columns.
pub fn table(columns: &[Column], rows: Vec<Value>, metadata: Value, headers: bool) -> Value {
    let definitions: Value = match headers {
        true => columns.iter().map(Column::definition).collect(),
        false => Value::Null,
    };
    value!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions, "rows": rows,
    })
}

/// A row of cells that are ready.
pub fn row_of(object: &Object, cells: Vec<Value>, include: Include) -> Value {
    let mut row = value!({"cells": cells});
    match include {
        Include::None => row.set(&["object"], Value::Null),
        Include::Metadata => row.set(&["object"], partial(object)),
        Include::Object => row.set(&["object"], object.value().clone()),
    }
    row
}

fn row(resource: &Resource, object: &Object, include: Include, now: Timestamp) -> Value {
    // Cells are made from one shape of each kind, whichever version was asked for.
    let stored = kinds::resource_of(&resource.storage);
    let as_stored = stored.filter(|stored| stored.gvk() != resource.gvk());
    let converted = as_stored.map(|stored| kinds::convert(object.clone(), stored));
    let seen = converted.as_ref().unwrap_or(object);
    let mut row = row_of(object, cells(&resource.storage, &Row { object: seen, now }), include);
    if resource.group.is_empty() && resource.kind == "Pod" {
        pod::completion(seen, &mut row);
    }
    row
}

/// The metadata alone, as rows and metadata-only lists carry it.
pub fn partial(object: &Object) -> Value {
    let metadata = shown_metadata(object);
    value!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

/// An object's metadata where it stands alone. There the original does not show how often a DaemonSet's template has
/// changed, which it keeps in a field of its own.
pub fn shown_metadata(object: &Object) -> Value {
    let mut metadata = object.at(&["metadata"]).cloned().unwrap_or_default();
    if object.kind() == "DaemonSet" {
        metadata.remove(&["annotations", TEMPLATE_GENERATION]);
        if metadata.get("annotations").is_some_and(Value::is_empty) {
            metadata.remove(&["annotations"]);
        }
    }
    metadata
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

fn cells(gvk: &Gvk, row: &Row<'_>) -> Vec<Value> {
    let made = match gvk.group.as_str() {
        "" => pod::cells(&gvk.kind, row)
            .or_else(|| workload::cells(&gvk.kind, row))
            .or_else(|| network::cells(&gvk.kind, row))
            .or_else(|| storage::cells(&gvk.kind, row))
            .or_else(|| cluster::core_cells(&gvk.kind, row)),
        "apps" | "batch" | "autoscaling" | "policy" => workload::cells(&gvk.kind, row),
        "networking.k8s.io" | "discovery.k8s.io" => network::cells(&gvk.kind, row),
        "storage.k8s.io" => storage::cells(&gvk.kind, row),
        _ => cluster::cells(&gvk.kind, row),
    };
    made.unwrap_or_else(|| vec![row.name(), row.text(&["metadata", "creationTimestamp"])])
}

/// An object about to be shown.
struct Row<'a> {
    object: &'a Object,
    now: Timestamp,
}

/// The cells of a row, from whatever turns into a value.
macro_rules! line {
    ($($cell:expr),* $(,)?) => { vec![$(lynceus_object::Value::from($cell)),*] };
}
use line;

impl<'a> Row<'a> {
    fn value(&self) -> &'a Value {
        self.object.value()
    }

    fn name(&self) -> Value {
        self.object.name().into()
    }

    /// How long ago the object was made.
    fn age(&self) -> Value {
        self.since(self.str(&["metadata", "creationTimestamp"])).into()
    }

    /// How long ago something was.
    fn since(&self, time: &str) -> String {
        match time.parse::<Timestamp>() {
            Ok(time) => human_duration(self.now.duration_since(time)),
            Err(_) => "<unknown>".to_owned(),
        }
    }

    fn str(&self, path: &[&str]) -> &'a str {
        self.value().str_at(path).unwrap_or_default()
    }

    fn text(&self, path: &[&str]) -> Value {
        self.str(path).into()
    }

    /// A text, or other words where there is none.
    fn text_or(&self, path: &[&str], absent: &str) -> Value {
        let text = self.str(path);
        if text.is_empty() { absent.into() } else { text.into() }
    }

    fn int(&self, path: &[&str]) -> i64 {
        self.value().int_at(path).unwrap_or_default()
    }

    fn bool_or(&self, path: &[&str], absent: bool) -> bool {
        self.value().bool_at(path).unwrap_or(absent)
    }

    fn items(&self, path: &[&str]) -> &'a [Value] {
        self.value().items_at(path)
    }

    fn is_deleting(&self) -> bool {
        self.object.is_deleting()
    }

    /// Whether a condition is true.
    fn condition(&self, name: &str) -> bool {
        let found = self.items(&["status", "conditions"]).iter().find(|c| c.str_at(&["type"]) == Some(name));
        found.and_then(|condition| condition.str_at(&["status"])) == Some("True")
    }

    /// The labels that a map asks for.
    fn labels(&self, path: &[&str]) -> Value {
        let labels = self.value().at(path).and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        let list: Vec<String> =
            labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
        none_if_empty(list.join(","))
    }

    /// A label selector as people type it.
    fn selector(&self, path: &[&str]) -> Value {
        match self.value().at(path) {
            None | Some(Value::Null) => "<none>".into(),
            Some(selector) => none_if_empty(kinds::selector_text(selector)),
        }
    }

    /// Names and images of the containers at a path.
    fn containers(&self, path: &[&str]) -> (Value, Value) {
        let joined = |field: &str| {
            let items = self.items(path).iter().map(|item| item.str_at(&[field]).unwrap_or_default());
            Value::from(items.collect::<Vec<_>>().join(","))
        };
        (joined("name"), joined("image"))
    }
}

fn none_if_empty(text: String) -> Value {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

/// The first few of a list, and how many more there are.
fn some_of(list: &[String], shown: usize, total: usize) -> String {
    let shown = &list[..list.len().min(shown)];
    if total > shown.len() {
        format!("{} + {} more...", shown.join(","), total - shown.len())
    } else {
        shown.join(",")
    }
}

#[cfg(test)]
mod tests;
