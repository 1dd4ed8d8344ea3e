//! Instances of custom kinds: what a write may change, what is wrong with them, their Scale.

use lynceus_object::jsonpath::{Found, MissingKeys};
use lynceus_object::path::FieldPath;
use lynceus_object::{Object, Str, Value, value};

use super::compiled::{Compiled, ScalePaths};
use super::shown::{quoted, shown};
use super::{coerce, default as defaults, lists, meta, prune as pruning, rule, validate as values};
use crate::ApiError;
use crate::context::Context;
use crate::error::{FieldError, FieldErrorKind};
use crate::kinds::Resource;

/// Removes fields that the schema does not know; says which (`spec.foo`), for `fieldValidation`.
/// Metadata of the wrong types is an error, in the words of the original's decoder.
pub fn prune(custom: &Compiled, object: &mut Object) -> Result<Vec<String>, String> {
    let mut unknown = coerce::coerce(object.value_mut(), &custom.schema)?;
    unknown.extend(pruning::prune(object.value_mut(), &custom.schema));
    unknown.sort();
    Ok(unknown)
}

/// Sets the schema's defaults, after dropping nulls that it does not allow.
pub fn default(custom: &Compiled, object: &mut Object) {
    defaults::drop_nulls(object.value_mut(), Some(&custom.schema));
    defaults::fill(object.value_mut(), &custom.schema);
}

/// Makes an instance ready to be stored for the first time.
pub fn prepare_create(resource: &Resource, object: &mut Object, _context: &Context<'_>) {
    if resource.custom.as_ref().is_some_and(|custom| custom.has_status) {
        object.remove(&["status"]);
    }
    object.set(&["metadata", "generation"], 1);
}

/// Makes a changed instance ready to be stored: `status` and the rest are written through different
/// doors, and any change but to metadata is a new generation.
pub fn prepare_update(resource: &Resource, new: &mut Object, old: &Object, subresource: &str) {
    let has_status = resource.custom.as_ref().is_some_and(|custom| custom.has_status);
    if subresource == "status" {
        let status = new.at(&["status"]).cloned();
        let managed = new.at(&["metadata", "managedFields"]).cloned();
        *new = old.clone();
        match status {
            Some(status) => new.set(&["status"], status),
            None => drop(new.remove(&["status"])),
        }
        match managed {
            Some(managed) => new.set(&["metadata", "managedFields"], managed),
            None => drop(new.remove(&["metadata", "managedFields"])),
        }
        return;
    }
    if has_status {
        match old.at(&["status"]) {
            Some(status) => new.set(&["status"], status.clone()),
            None => drop(new.remove(&["status"])),
        }
    }
    let same = |object: &Object| {
        let mut rest = object.value().clone();
        rest.remove(&["metadata"]);
        rest
    };
    if same(new) != same(old) {
        new.set(&["metadata", "generation"], old.generation() + 1);
    }
}

/// What is wrong with a new instance, metadata and CEL rules included.
pub fn validate(resource: &Resource, object: &Object) -> Vec<FieldError> {
    let Some(custom) = &resource.custom else { return Vec::new() };
    let mut errors = type_meta(resource, object);
    if !errors.is_empty() {
        return errors;
    }
    errors.extend(meta::validate(object, resource.namespaced));
    errors.extend(values::validate(object.value(), &custom.schema, ""));
    errors.extend(scale_errors(custom, object, true));
    errors.extend(meta::validate_embedded(object.value(), &custom.schema));
    errors.extend(lists::duplicates(object.value(), &custom.schema));
    with_rules(custom, errors, object, None)
}

/// What is wrong with a changed instance.
pub fn validate_update(
    resource: &Resource,
    new: &Object,
    old: &Object,
    subresource: &str,
) -> Vec<FieldError> {
    let Some(custom) = &resource.custom else { return Vec::new() };
    let mut errors = type_meta(resource, new);
    if !errors.is_empty() {
        return errors;
    }
    errors.extend(meta::validate_update(new, old));
    if subresource == "status" {
        if let (Some(status), Some(schema)) = (new.at(&["status"]), custom.schema.properties.get("status")) {
            let before = old.at(&["status"]).cloned().unwrap_or_default();
            errors.extend(values::validate_update(status, &before, schema, "status"));
        }
        errors.extend(scale_errors(custom, new, false));
    } else {
        errors.extend(values::validate_update(new.value(), old.value(), &custom.schema, ""));
        errors.extend(scale_errors(custom, new, true));
        errors.extend(meta::validate_embedded(new.value(), &custom.schema));
    }
    if lists::duplicates(old.value(), &custom.schema).is_empty() {
        errors.extend(lists::duplicates(new.value(), &custom.schema));
    }
    with_rules(custom, errors, new, Some(old))
}

/// Runs the rules, unless what is wrong already makes their answers meaningless.
fn with_rules(
    custom: &Compiled,
    mut errors: Vec<FieldError>,
    new: &Object,
    old: Option<&Object>,
) -> Vec<FieldError> {
    if !custom.schema.has_rules {
        return errors;
    }
    let blocking = |error: &FieldError| {
        matches!(
            error.kind,
            FieldErrorKind::NotSupported
                | FieldErrorKind::Required
                | FieldErrorKind::TooLong
                | FieldErrorKind::TooMany
                | FieldErrorKind::TypeInvalid
        )
    };
    if errors.iter().any(blocking) {
        let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
        errors.push(FieldError::invalid("<nil>", "null", detail));
        return errors;
    }
    errors.extend(rule::run(new.value(), old.map(Object::value), &custom.schema, ""));
    errors
}

fn type_meta(resource: &Resource, object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if object.kind() != resource.kind {
        let detail = format!("must be {}", resource.kind);
        errors.push(FieldError::invalid("kind", quoted(object.kind()), detail));
    }
    if object.api_version() != resource.api_version() {
        let detail = format!("must be {}", resource.api_version());
        errors.push(FieldError::invalid("apiVersion", quoted(object.api_version()), detail));
    }
    errors
}

fn scale_errors(custom: &Compiled, object: &Object, with_spec: bool) -> Vec<FieldError> {
    let Some(scale) = &custom.scale else { return Vec::new() };
    let mut errors = Vec::new();
    let mut replicas = |path: &Str| {
        let problem = match follow(object.value(), path) {
            Ok(None) => return,
            Ok(Some(found @ Value::Int(i))) => match *i {
                i if i < 0 => (shown(found), "should be a non-negative integer".to_owned()),
                i if i > i64::from(i32::MAX) => {
                    (shown(found), format!("should be less than or equal to {}", i32::MAX))
                }
                _ => return,
            },
            Ok(Some(other)) => ("0".into(), accessor_error(path, other, "int64")),
            Err(holder) => ("0".into(), accessor_error(path, holder, "map[string]interface{}")),
        };
        errors.push(FieldError::invalid(path.as_str(), problem.0, problem.1));
    };
    if with_spec {
        replicas(&scale.spec);
    }
    replicas(&scale.status);
    errors
}

fn accessor_error(path: &str, found: &Value, wanted: &str) -> String {
    let text = match found {
        Value::Str(text) => text.to_string(),
        other => shown(other),
    };
    format!("{path} accessor error: {text} is of the type {}, expected {wanted}", go_type(found))
}

/// What stands at a path of fields; the value that is no map, if one is in the way.
fn follow<'v>(value: &'v Value, path: &str) -> Result<Option<&'v Value>, &'v Value> {
    let mut here = value;
    for name in path.trim_start_matches('.').split('.') {
        let Value::Map(map) = here else { return Err(here) };
        let Some(found) = map.get(name) else { return Ok(None) };
        here = found;
    }
    Ok(Some(here))
}

pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Seq(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    }
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    follow(value, path).ok().flatten()
}

/// The value of a selectable field; `None` where the definition has no such field.
pub fn field(custom: &Compiled, object: &Object, name: &str) -> Option<Str> {
    let (_, path) = custom.selectable.iter().find(|(known, _)| known == name)?;
    Some(match path.first(object.value(), MissingKeys::Allowed).map(Found::to_value) {
        Some(Value::Str(text)) => text,
        Some(other) if !other.is_null() => shown(&other).into(),
        _ => Str::new(),
    })
}

fn scale_paths(resource: &Resource) -> Result<&ScalePaths, ApiError> {
    let custom = resource.custom.as_ref().and_then(|custom| custom.scale.as_ref());
    custom.ok_or_else(ApiError::method_not_allowed)
}

/// The Scale of an instance.
pub fn scale(resource: &Resource, object: &Object) -> Result<Object, ApiError> {
    let paths = scale_paths(resource)?;
    let mut metadata = value!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object.at(&["metadata", field]) {
            metadata.set(&[field], value.clone());
        }
    }
    let count = |path: &str| at(object.value(), path).and_then(Value::as_int);
    let Some(replicas) = count(&paths.spec) else {
        return Err(ApiError::internal(format!(
            "the spec replicas field {:?} does not exist",
            paths.spec.as_str()
        )));
    };
    let mut out = value!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": {},
        "status": {"replicas": count(&paths.status).unwrap_or(0)},
    });
    if replicas != 0 {
        out.set(&["spec", "replicas"], replicas);
    }
    let selector = paths.selector.as_ref().and_then(|path| at(object.value(), path)).and_then(Value::as_str);
    if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
        out.set(&["status", "selector"], selector);
    }
    Object::new(out).map_err(|_| ApiError::internal("a scale is a map"))
}

/// Writes a Scale's wish into the instance.
pub fn set_scale(resource: &Resource, object: &mut Object, scale: &Object) -> Result<(), ApiError> {
    let paths = scale_paths(resource)?;
    let path: Vec<&str> = paths.spec.trim_start_matches('.').split('.').collect();
    object.set(&path, scale.value().int_at(&["spec", "replicas"]).unwrap_or(0));
    if let Some(version) = scale.at(&["metadata", "resourceVersion"]).filter(|version| !version.is_empty()) {
        object.set(&["metadata", "resourceVersion"], version.clone());
    }
    Ok(())
}

/// Where the number of replicas stands that a Scale is about; the root without a `scale` subresource.
pub fn replicas_path(custom: &Compiled) -> FieldPath {
    let path = custom.scale.as_ref().map_or("", |paths| paths.spec.trim_start_matches('.'));
    FieldPath::fields(path.split('.').filter(|name| !name.is_empty()))
}

/// Finalizers that may clash with those of others: what a client should hear.
pub fn warnings(new: &Object, old: Option<&Object>) -> Vec<String> {
    let known: Vec<&str> = old.into_iter().flat_map(Object::finalizers).collect();
    let mut added: Vec<&str> = new.finalizers().filter(|finalizer| !known.contains(finalizer)).collect();
    added.sort_unstable();
    added.dedup();
    added
        .into_iter()
        .filter(|name| !name.contains('/') && !matches!(*name, "orphan" | "foregroundDeletion" | "kubernetes"))
        .map(|name| {
            let path = if name.contains('.') { " including a path (/)" } else { "" };
            format!(
                "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers",
                quoted(name)
            )
        })
        .collect()
}
