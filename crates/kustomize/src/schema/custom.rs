//! A schema that a kustomization brings: a Swagger document, of which only what matters for merging is looked at.

use std::collections::HashMap;

use lynceus_object::{Str, Value, join_api_version, yaml};

use super::Scope;
use crate::error::KustomizeError;
use crate::id::Kind;

const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";

/// A schema from a file.
#[derive(Debug)]
pub(super) struct Custom {
    definitions: Value,
    /// The names of definitions, by `apiVersion` and kind.
    kinds: HashMap<(Str, Str), Str>,
    scopes: HashMap<(Str, Str), Scope>,
}

impl Custom {
    pub(super) fn read(text: &[u8]) -> Result<Self, KustomizeError> {
        let wrong = |why: &dyn std::fmt::Display| KustomizeError::new(format!("invalid schema file: {why}"));
        let document = yaml::parse(text).map_err(|error| wrong(&error))?;
        if !matches!(document, Value::Map(_) | Value::Null) {
            return Err(wrong(&format!("an object is wanted, not {}", document.type_name())));
        }
        let definitions = document.get("definitions").cloned().unwrap_or_default();
        let mut kinds = HashMap::new();
        for (name, definition) in definitions.as_map().into_iter().flat_map(|map| map.iter()) {
            for kind in definition.items_at(&[GROUP_VERSION_KIND]) {
                kinds.extend(type_of(kind).map(|kind| (kind, name.clone())));
            }
        }
        let mut scopes = HashMap::new();
        let paths = document.get("paths").and_then(Value::as_map);
        for (path, methods) in paths.into_iter().flat_map(|map| map.iter()) {
            let Some(kind) = methods.at(&["get", GROUP_VERSION_KIND]).and_then(type_of) else { continue };
            if path.contains("namespaces/{namespace}") {
                scopes.insert(kind, Scope::Namespaced);
            } else {
                scopes.entry(kind).or_insert(Scope::Cluster);
            }
        }
        Ok(Custom { definitions, kinds, scopes })
    }

    pub(super) fn scope(&self, kind: &Kind) -> Option<Scope> {
        self.scopes.get(&key(kind)).copied()
    }

    pub(super) fn of_kind(&self, kind: &Kind) -> Option<&Value> {
        self.kinds.get(&key(kind)).and_then(|name| self.definitions.get(name))
    }

    pub(super) fn definition(&self, name: &str) -> Option<&Value> {
        self.definitions.get(name)
    }
}

fn key(kind: &Kind) -> (Str, Str) {
    (join_api_version(&kind.group, &kind.version), kind.kind.clone())
}

fn type_of(extension: &Value) -> Option<(Str, Str)> {
    let version = extension.str_at(&["version"])?;
    let group = extension.str_at(&["group"]).unwrap_or_default();
    Some((join_api_version(group, version), extension.str_at(&["kind"])?.into()))
}

/// The name of the definition that stands in the place of a schema.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    let text = schema.str_at(&["$ref"]).filter(|text| !text.is_empty())?;
    Some(text.strip_prefix("#/definitions/").unwrap_or(text))
}

/// A property, or what any other property is.
pub(super) fn field<'v>(schema: &'v Value, name: &str) -> Option<&'v Value> {
    let additional = || schema.get("additionalProperties").filter(|schema| matches!(schema, Value::Map(_)));
    schema.at(&["properties", name]).or_else(additional)
}

pub(super) fn items(schema: &Value) -> Option<&Value> {
    let is_list = match schema.get("type") {
        Some(Value::Str(name)) => name == "array",
        Some(Value::Seq(names)) => matches!(names.as_slice(), [name] if name.as_str() == Some("array")),
        _ => false,
    };
    schema.get("items").filter(|items| is_list && matches!(items, Value::Map(_)))
}

pub(super) fn merge_keys(schema: &Value) -> Option<Vec<Str>> {
    let strategy = schema.str_at(&["x-kubernetes-patch-strategy"])?;
    if !strategy.split(',').any(|part| part == "merge") {
        return None;
    }
    let list = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_seq);
    let one = schema.str_at(&["x-kubernetes-patch-merge-key"]);
    Some(match list {
        Some(keys) => keys.iter().filter_map(Value::as_str).map(Into::into).collect(),
        None => one.map(Into::into).into_iter().collect(),
    })
}
