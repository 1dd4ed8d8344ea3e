//! Descriptions of kinds, fields, operations and parameters, for `kubectl explain` and its like.
//!
//! A field is looked up under its type first and then by its name alone; what is not here has no
//! description.

use std::collections::HashMap;
use std::sync::LazyLock;

type Words = HashMap<&'static str, &'static str>;

fn read(text: &'static str) -> Words {
    text.lines().filter_map(|line| line.split_once(' ')).map(|(name, words)| (name, words.trim())).collect()
}

/// What a type of the table is, by its full name (`core/v1.Pod`); empty where nothing is said.
pub(super) fn of_type(full_name: &str) -> &'static str {
    static TYPES: LazyLock<Words> = LazyLock::new(|| read(TYPE_WORDS));
    let name = full_name.rsplit_once('.').map_or(full_name, |(_, name)| name);
    if let Some(words) = TYPES.get(name) {
        return words;
    }
    match name.strip_suffix("List") {
        Some(item) if TYPES.contains_key(item) => "A list of objects of one kind.",
        _ => "",
    }
}

/// What a field of a type means; empty where nothing is said.
pub(super) fn of_field(full_name: &str, field: &str) -> &'static str {
    static FIELDS: LazyLock<Words> = LazyLock::new(|| read(FIELD_WORDS));
    let name = full_name.rsplit_once('.').map_or(full_name, |(_, name)| name);
    let own = format!("{name}.{field}");
    FIELDS.get(own.as_str()).or_else(|| FIELDS.get(field)).copied().unwrap_or_default()
}

/// What an operation does.
pub(super) fn of_action(action: &str, kind: &str) -> String {
    match action {
        "list" => format!("list or watch objects of kind {kind}"),
        "post" => format!("create a {kind}"),
        "get" => format!("read the specified {kind}"),
        "put" => format!("replace the specified {kind}"),
        "patch" => format!("partially update the specified {kind}"),
        "connect" => format!("connect with {kind}"),
        "deletecollection" => format!("delete a collection of {kind}"),
        _ => format!("delete a {kind}"),
    }
}

/// What a query parameter means.
pub(super) fn of_parameter(name: &str) -> &'static str {
    match name {
        "allowWatchBookmarks" => "Whether a watch may send events that only tell how far it is.",
        "continue" => "Where to go on, as the previous part of the list said.",
        "dryRun" => "All: do everything but keep nothing.",
        "fieldManager" => "Who makes the change, for the record of who set which field.",
        "fieldSelector" => "Keeps the list of returned objects to those whose fields match.",
        "fieldValidation" => "What to do about unknown and duplicate fields: Ignore, Warn or Strict.",
        "force" => "Take over fields that others manage.",
        "gracePeriodSeconds" => "Seconds until the object is gone; 0 means at once.",
        "labelSelector" => "Keeps the list of returned objects to those whose labels match.",
        "limit" => "The most objects to answer with.",
        "orphanDependents" => "Deprecated: use propagationPolicy.",
        "pretty" => "Whether the answer is indented for people.",
        "propagationPolicy" => "What becomes of what the object owns: Orphan, Background or Foreground.",
        "resourceVersion" => "The version to read at, or to watch from.",
        "resourceVersionMatch" => "How resourceVersion is meant for a list.",
        "sendInitialEvents" => "Whether a watch starts with what there is.",
        "timeoutSeconds" => "The longest that the call may take.",
        "watch" => "Watch for changes to the described resources, sent one by one, instead of listing them.",
        _ => "",
    }
}

const TYPE_WORDS: &str = include_str!("types.txt");
const FIELD_WORDS: &str = include_str!("fields.txt");

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::schema;

    #[test]
    fn every_served_kind_is_described() {
        for resource in crate::kinds::resources() {
            let ty = schema::builtin().of(&resource.gvk()).unwrap();
            assert!(!of_type(ty.full_name()).is_empty(), "{}", ty.full_name());
        }
    }

    #[test]
    fn every_described_type_and_field_exists() {
        let mut known: HashMap<String, Vec<String>> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        let mut todo: Vec<_> =
            schema::builtin().kinds().filter_map(|(v, k)| schema::builtin().of_manifest(v, k)).collect();
        while let Some(ty) = todo.pop() {
            let name = ty.full_name().rsplit_once('.').map_or("", |(_, name)| name).to_owned();
            match ty.shape() {
                schema::Shape::List(item, _) | schema::Shape::Map(item) => todo.push(item),
                _ => {}
            }
            // Several versions of a kind have types of the same name, and not always the same fields.
            if ty.fields().len() > 0 && seen.insert(ty.full_name()) {
                known.entry(name).or_default().extend(ty.fields().map(|field| field.name().to_owned()));
                todo.extend(ty.fields().map(|field| field.ty()));
            }
        }
        let fields: Vec<&String> = known.values().flatten().collect();
        for name in read(FIELD_WORDS).keys() {
            match name.split_once('.') {
                Some((ty, field)) => {
                    let has = known.get(ty).is_some_and(|fields| fields.iter().any(|known| known == field));
                    assert!(has, "{name} is described but does not exist");
                }
                None => assert!(
                    fields.iter().any(|known| known == name),
                    "{name} is described but does not exist"
                ),
            }
        }
        for name in read(TYPE_WORDS).keys() {
            assert!(known.contains_key(*name), "{name} is described but does not exist");
        }
    }
}
