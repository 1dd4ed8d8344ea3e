//! The API described to clients: OpenAPI version 2 as one document, version 3 as one per group version.
//!
//! Documents of built-in groups are made when first asked for and then kept; those of custom
//! resources are made anew, because a definition may change at any time.

mod gnostic;
mod model;
mod name;
mod operation;
mod path;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use lynceus_object::{Map, Value, value};
use sha2::{Digest, Sha512};

use crate::kinds::Resource;
use crate::registry::Registry;
use model::{Dialect, Models};

/// The version that `info` names.
const VERSION: &str = "1.36";

/// The document at `/openapi/v2`.
pub fn v2(registry: &Registry) -> Value {
    let custom = registry.resources().iter().any(|resource| resource.custom.is_some());
    if custom { make_v2(registry) } else { kept("v2", || make_v2(registry)) }
}

/// A document of version 2 in the protobuf form that client libraries of Go ask for.
pub fn v2_protobuf(document: &Value) -> Vec<u8> {
    gnostic::encode(document)
}

/// The index at `/openapi/v3`.
pub fn v3_index(registry: &Registry) -> Value {
    let paths: Map = groups(registry)
        .into_iter()
        .map(|(path, resources)| {
            let hash = fingerprint(&path, &resources);
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path, value!({"serverRelativeURL": url}))
        })
        .collect();
    let mut index = value!({});
    index.set(&["paths"], paths);
    index
}

/// The document at `/openapi/v3/<path>`, such as `apis/apps/v1`.
pub fn v3_group(registry: &Registry, path: &str) -> Option<Value> {
    let path = path.trim_matches('/');
    let (_, resources) = groups(registry).into_iter().find(|(known, _)| known == path)?;
    let custom = resources.iter().any(|resource| resource.custom.is_some());
    Some(if custom { make_v3(&resources) } else { kept(path, || make_v3(&resources)) })
}

type Group = (String, Vec<Arc<Resource>>);

/// The group versions that are served, by the path of their document.
fn groups(registry: &Registry) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for resource in registry.resources() {
        let path = name::document(resource);
        match groups.iter_mut().find(|(known, _)| *known == path) {
            Some((_, resources)) => resources.push(resource.clone()),
            None => groups.push((path, vec![resource.clone()])),
        }
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    groups
}

/// A built-in document: the same for every cluster of this program, so made once.
fn kept(path: &str, make: impl FnOnce() -> Value) -> Value {
    static KEPT: LazyLock<Mutex<HashMap<String, Value>>> = LazyLock::new(Mutex::default);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.entry(path.to_owned()).or_insert_with(make).clone()
}

/// What tells one edition of a document from another, without making the document.
fn fingerprint(path: &str, resources: &[Arc<Resource>]) -> String {
    let mut hash = Sha512::new();
    hash.update(concat!(env!("CARGO_PKG_VERSION"), " "));
    hash.update(path);
    for resource in resources {
        if let Some(schema) = model::custom_schema(resource) {
            hash.update(format!(" {} {} ", resource.kind, resource.namespaced));
            hash.update(serde_json::to_vec(&schema).unwrap_or_default());
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02X}")).collect()
}

fn make_v3(resources: &[Arc<Resource>]) -> Value {
    let mut models = Models::new(Dialect::V3);
    let paths = path::of(resources, &mut models);
    value!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": paths,
        "components": {"schemas": models.into_schemas(), "securitySchemes": security()},
    })
}

fn make_v2(registry: &Registry) -> Value {
    let mut models = Models::new(Dialect::V2);
    let mut paths = Map::new();
    for (_, resources) in groups(registry) {
        paths.extend(path::of(&resources, &mut models));
    }
    value!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": Value::Map(paths),
        "definitions": models.into_schemas(),
        "securityDefinitions": security(),
        "security": [{"BearerToken": []}],
    })
}

fn security() -> Value {
    value!({"BearerToken": {
        "type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer Token authentication",
    }})
}

#[cfg(test)]
mod tests;
