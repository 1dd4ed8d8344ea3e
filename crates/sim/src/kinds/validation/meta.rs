//! The metadata that every object has.

use lynceus_object::{Gvk, Object, Str, Value};

use super::names::{self, NameCheck};
use super::report::{Path, Report, same};

const ANNOTATIONS_SIZE: usize = 256 * 1024;

/// Checks the metadata of a new object of one of the kinds whose finalizers have to be known or qualified; `name` is the
/// check for names of its kind.
pub(crate) fn create(object: &Object, namespaced: bool, name: NameCheck, report: &mut Report) {
    create_general(object, namespaced, name, report);
    qualified_finalizers(object, report);
}

/// Checks the metadata of a new object of any kind. Definitions, custom resources and what extends the server are free
/// to name their finalizers as they like.
pub(crate) fn create_general(object: &Object, namespaced: bool, name: NameCheck, report: &mut Report) {
    let at = Path::new("metadata");
    let generate = object.value().str_at(&["metadata", "generateName"]).unwrap_or_default();
    if !generate.is_empty() {
        // Whatever is put behind a dash makes it a name.
        let prefix =
            generate.strip_suffix('-').map_or_else(|| generate.to_owned(), |start| format!("{start}-a"));
        report.each(&at.child("generateName"), generate, name(&prefix));
    }
    if object.name().is_empty() {
        report.required(&at.child("name"), "name or generateName is required");
    } else {
        report.each(&at.child("name"), object.name(), name(object.name()));
    }
    match (namespaced, object.namespace()) {
        (true, "") => report.required(&at.child("namespace"), ""),
        (true, namespace) => report.each(&at.child("namespace"), namespace, names::dns_label(namespace)),
        (false, "") => {}
        (false, _) => report.forbidden(&at.child("namespace"), "not allowed on this type"),
    }
    report.not_negative(&at.child("generation"), Some(object.generation()));
    common(object, None, report);
    finalizers(object, report);
}

/// Checks the metadata of a changed object.
pub(crate) fn update(new: &Object, old: &Object, report: &mut Report) {
    let at = Path::new("metadata");
    if old.is_deleting() {
        let mut extra: Vec<&str> =
            new.finalizers().filter(|new| old.finalizers().all(|old| old != *new)).collect();
        extra.sort_unstable();
        extra.dedup();
        if !extra.is_empty() {
            let list = crate::kinds::gofmt::strings(&extra);
            let why = "no new finalizers can be added if the object is being deleted, found new finalizers";
            report.forbidden(&at.child("finalizers"), format!("{why} {list}"));
        }
    }
    if new.resource_version().is_empty() {
        report.invalid_text(&at.child("resourceVersion"), "", "must be specified for an update");
    }
    if new.generation() < old.generation() {
        report.invalid_number(&at.child("generation"), new.generation(), "must not be decremented");
    }
    let changed = changed(new, old);
    for field in
        ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]
    {
        if changed.contains(&field) {
            let path = ["metadata", field];
            report.immutable(&at.child(field), new.at(&path), old.at(&path));
        }
    }
    common(new, Some((old, &changed)), report);
}

/// The fields of the metadata that are not shared with the stored object: nothing is wrong with the others. Most writes
/// change one or two of them, so that they are found by one walk.
fn changed<'o>(new: &'o Object, old: &'o Object) -> Vec<&'o str> {
    let metadata = |object: &'o Object| object.at(&["metadata"]).and_then(Value::as_map);
    let (Some(new), Some(old)) = (metadata(new), metadata(old)) else {
        let all = [metadata(new), metadata(old)].into_iter().flatten();
        return all.flat_map(|map| map.keys().map(|name| name.as_str())).collect();
    };
    let other = |(name, value, old): (&'o Str, &'o Value, Option<&'o Value>)| {
        (!old.is_some_and(|old| value.is_same(old))).then_some(name.as_str())
    };
    let gone =
        |(name, _, new): (&'o Str, &'o Value, Option<&'o Value>)| new.is_none().then_some(name.as_str());
    new.beside(Some(old)).filter_map(other).chain(old.beside(Some(new)).filter_map(gone)).collect()
}

/// Whether a part of an object is the one that is stored, so that nothing is wrong with it.
pub(super) fn is_shared(new: &Object, old: &Object, path: &[&str]) -> bool {
    match (new.at(path), old.at(path)) {
        (Some(new), Some(old)) => new.is_same(old),
        (None, None) => true,
        _ => false,
    }
}

/// `old` is the stored object and the fields of the metadata that are not shared with it.
fn common(object: &Object, old: Option<(&Object, &[&str])>, report: &mut Report) {
    let at = Path::new("metadata");
    let is_new = |field| old.is_none_or(|(_, changed)| changed.contains(&field));
    if is_new("labels") {
        labels(object.at(&["metadata", "labels"]), &at.child("labels"), report);
    }
    if is_new("annotations") {
        annotations(object.at(&["metadata", "annotations"]), &at.child("annotations"), report);
    }
    if is_new("ownerReferences") {
        owners(object, &at.child("ownerReferences"), report);
    }
    if is_new("managedFields") {
        managed_fields(object, old.map(|(old, _)| old), report);
    }
}

/// Checks a map of labels.
pub(crate) fn labels(labels: Option<&Value>, at: &Path, report: &mut Report) {
    for (key, value) in labels.and_then(Value::as_map).into_iter().flat_map(|map| map.iter()) {
        report.each(at, key, names::label_key(key));
        let value = value.as_str().unwrap_or_default();
        report.each(at, value, names::label_value(value));
    }
}

/// Checks a map of annotations.
pub(crate) fn annotations(annotations: Option<&Value>, at: &Path, report: &mut Report) {
    let mut size = 0;
    for (key, value) in annotations.and_then(Value::as_map).into_iter().flat_map(|map| map.iter()) {
        report.each(at, key, names::label_key(&key.to_lowercase()));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > ANNOTATIONS_SIZE {
        report.too_long(at, ANNOTATIONS_SIZE);
    }
}

fn owners(object: &Object, at: &Path, report: &mut Report) {
    let mut controller: Option<String> = None;
    for owner in object.owners() {
        let gvk = Gvk::from_manifest(&owner.api_version, &owner.kind);
        if gvk.version.is_empty() {
            report.invalid_text(&at.child("apiVersion"), &owner.api_version, "version must not be empty");
        }
        for (field, text) in [("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)] {
            if text.is_empty() {
                report.invalid_text(&at.child(field), "", "must not be empty");
            }
        }
        if gvk.group.is_empty() && gvk.kind == "Event" {
            let value = Value::Map(Default::default());
            report.invalid(at, &value, format!("{gvk} is disallowed from being an owner"));
        }
        if owner.controller {
            let name = format!("{}/{}", owner.kind, owner.name);
            if let Some(first) = &controller {
                let why =
                    "Only one reference can have Controller set to true. Found \"true\" in references for";
                let all = object.at(&["metadata", "ownerReferences"]).unwrap_or(&Value::Null);
                report.invalid(at, all, format!("{why} {first} and {name}"));
            } else {
                controller = Some(name);
            }
        }
    }
}

fn finalizers(object: &Object, report: &mut Report) {
    let at = Path::new("metadata").child("finalizers");
    for finalizer in object.finalizers() {
        report.each(&at, finalizer, names::label_key(finalizer));
    }
    let has = |name: &str| object.finalizers().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let list = object.at(&["metadata", "finalizers"]).unwrap_or(&Value::Null);
        report.invalid(&at, list, "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

fn qualified_finalizers(object: &Object, report: &mut Report) {
    let at = Path::new("metadata").child("finalizers");
    for (index, finalizer) in object.finalizers().enumerate() {
        let known = ["kubernetes", "orphan", "foregroundDeletion"];
        if !finalizer.contains('/') && !known.contains(&finalizer) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            report.invalid_text(&at.index(index), finalizer, why);
        }
    }
}

fn managed_fields(object: &Object, old: Option<&Object>, report: &mut Report) {
    const PATH: [&str; 2] = ["metadata", "managedFields"];
    let known = old.map_or(&[][..], |old| old.value().items_at(&PATH));
    for (index, entry) in object.value().items_at(&PATH).iter().enumerate() {
        if known.iter().any(|known| known.is_same(entry)) {
            continue;
        }
        let at = || Path::new("metadata").child("managedFields").index(index);
        let text = |field: &str| entry.str_at(&[field]).unwrap_or_default();
        if !matches!(text("operation"), "Apply" | "Update") {
            report.invalid_text(&at().child("operation"), text("operation"), "must be `Apply` or `Update`");
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            report.invalid_text(&at().child("fieldsType"), text("fieldsType"), "must be `FieldsV1`");
        }
        if text("manager").len() > 128 {
            report.too_long(&at().child("manager"), 128);
        }
        if text("subresource").len() > 256 {
            report.too_long(&at().child("subresource"), 256);
        }
    }
}

/// Checks that a change leaves a list of fields alone, each refused with "field is immutable".
pub(crate) fn immutable(new: &Object, old: &Object, paths: &[&[&str]], report: &mut Report) {
    for path in paths {
        if !same(new.at(path), old.at(path)) {
            let at = Path::new(&path.join("."));
            report.invalid(&at, new.at(path).unwrap_or(&Value::Null), "field is immutable");
        }
    }
}
