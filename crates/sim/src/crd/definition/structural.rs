//! Whether a schema is structural: every field is specified once, outside of `allOf` and the like.

use lynceus_object::{Map, Value, value};

use crate::cel::Pattern;
use crate::crd::shown::quoted;
use crate::error::FieldError;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// What keeps a schema from being structural, sorted by message.
pub(super) fn validate(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(schema, Level::Root, path, &mut errors);
    complete(schema, Some(schema), path, path, &mut errors);
    errors.sort_by_key(ToString::to_string);
    errors
}

/// Fields that a structural schema has no place for at all.
pub(super) fn unsupported(schema: &Value) -> Option<String> {
    let found = |name: &str| schema.get(name).is_some_and(|value| !value.is_empty());
    for (field, word) in [
        ("id", "id"),
        ("$schema", "schema"),
        ("$ref", "$ref"),
        ("patternProperties", "patternProperties"),
        ("dependencies", "dependencies"),
        ("additionalItems", "additionalItems"),
        ("definitions", "definitions"),
    ] {
        if found(field)
            || (field == "additionalItems" && schema.get(field).is_some_and(|value| !value.is_null()))
        {
            return Some(format!("OpenAPIV3Schema '{word}' is not supported"));
        }
    }
    if matches!(schema.get("items"), Some(Value::Seq(_))) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".into());
    }
    children(schema).find_map(|(_, child)| unsupported(child))
}

/// All schemas directly below one, with their path relative to it.
pub(super) fn children(schema: &Value) -> impl Iterator<Item = (String, &Value)> {
    let one = |name: &'static str| {
        schema.get(name).filter(|value| value.as_map().is_some()).map(move |value| (name.to_owned(), value))
    };
    let keyed = |name: &'static str| {
        schema
            .get(name)
            .and_then(Value::as_map)
            .into_iter()
            .flat_map(Map::iter)
            .map(move |(key, value)| (format!("{name}[{key}]"), value))
    };
    let listed = |name: &'static str| {
        schema.items_at(&[name]).iter().enumerate().map(move |(at, value)| (format!("{name}[{at}]"), value))
    };
    one("additionalProperties")
        .into_iter()
        .chain(keyed("properties"))
        .chain(one("not"))
        .chain(listed("allOf"))
        .chain(listed("oneOf"))
        .chain(listed("anyOf"))
        .chain(keyed("definitions"))
        .chain(one("items"))
}

fn flag(schema: &Value, name: &str) -> bool {
    schema.bool_at(&[name]).unwrap_or(false)
}

fn kind(schema: &Value) -> &str {
    schema.str_at(&["type"]).unwrap_or_default()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let map = schema.get("properties").and_then(Value::as_map);
    map.into_iter().flat_map(Map::iter).map(|(name, value)| (name.as_str(), value))
}

fn invariants(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let items = schema.get("items").filter(|items| items.as_map().is_some());
    if kind(schema) == "array" && items.is_none() {
        errors.push(FieldError::required(format!("{path}.items"), "must be specified"));
    }
    if let Some(items) = items {
        invariants(items, Level::Item, &format!("{path}.items"), errors);
    }
    for (name, property) in properties(schema) {
        invariants(property, Level::Field, &format!("{path}.properties[{name}]"), errors);
    }
    let additional = schema.get("additionalProperties").filter(|value| !value.is_null());
    if let Some(additional) = additional {
        if level == Level::Root {
            let field = format!("{path}.additionalProperties");
            errors.push(FieldError::forbidden(field, "must not be used at the root"));
        }
        if additional.as_map().is_some() {
            invariants(additional, Level::Field, &format!("{path}.additionalProperties"), errors);
        }
    }
    extensions(schema, path, errors);
    let any_of_is_type = is_int_or_string(schema);
    let first_all_of_is_type = schema.items_at(&["allOf"]).first().is_some_and(is_int_or_string);
    value_validation(schema, any_of_is_type, first_all_of_is_type, path, errors);
    types(schema, level, additional.is_some(), path, errors);
    metadata(schema, level, path, errors);
}

fn extensions(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if !flag(schema, "x-kubernetes-int-or-string") {
        return;
    }
    for name in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if flag(schema, name) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push(FieldError::invalid(format!("{path}.{name}"), "true", detail));
        }
    }
}

fn is_int_or_string(schema: &Value) -> bool {
    schema.get("anyOf") == Some(&value!([{"type": "integer"}, {"type": "string"}]))
}

fn types(schema: &Value, level: Level, has_additional: bool, path: &str, errors: &mut Vec<FieldError>) {
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let field = format!("{path}.type");
    let ty = kind(schema);
    if embedded && ty != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match ty {
            "" => FieldError::required(field.clone(), detail),
            ty => FieldError::invalid(field.clone(), quoted(ty), detail),
        });
    } else if ty.is_empty()
        && !flag(schema, "x-kubernetes-int-or-string")
        && !flag(schema, "x-kubernetes-preserve-unknown-fields")
    {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(field.clone(), detail));
    }
    if embedded && has_additional {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(format!("{path}.additionalProperties"), detail));
    }
    if level == Level::Root && !ty.is_empty() && ty != "object" {
        errors.push(FieldError::invalid(field, quoted(ty), "must be object at the root"));
    }
    if embedded
        && !flag(schema, "x-kubernetes-preserve-unknown-fields")
        && properties(schema).next().is_none()
    {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(format!("{path}.properties"), detail));
    }
}

fn metadata(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let check = level == Level::Root || flag(schema, "x-kubernetes-embedded-resource");
    for (name, property) in properties(schema) {
        let field = format!("{path}.properties[{name}]");
        if check && matches!(name, "kind" | "apiVersion") && kind(property) != "string" {
            errors.push(FieldError::invalid(
                format!("{field}.type"),
                quoted(kind(property)),
                "must be string",
            ));
        }
        if name != "metadata" {
            continue;
        }
        if check && kind(property) != "object" {
            errors.push(FieldError::invalid(
                format!("{field}.type"),
                quoted(kind(property)),
                "must be object",
            ));
        }
        if level == Level::Root && !is_plain_metadata(property) {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            errors.push(FieldError::forbidden(field, detail));
        }
    }
}

/// Root metadata may restrict names, and nothing else.
fn is_plain_metadata(schema: &Value) -> bool {
    let names_only = properties(schema).all(|(name, _)| matches!(name, "name" | "generateName"));
    let fields = schema.as_map().into_iter().flat_map(Map::keys);
    names_only && fields.into_iter().all(|field| matches!(field.as_str(), "type" | "properties" | "default"))
}

fn value_validation(
    schema: &Value,
    skip_any: bool,
    skip_first: bool,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    if !skip_any {
        for (at, nested) in schema.items_at(&["anyOf"]).iter().enumerate() {
            nested_validation(nested, false, &format!("{path}.anyOf[{at}]"), errors);
        }
    }
    for (at, nested) in schema.items_at(&["allOf"]).iter().enumerate() {
        nested_validation(nested, skip_first && at == 0, &format!("{path}.allOf[{at}]"), errors);
    }
    for (at, nested) in schema.items_at(&["oneOf"]).iter().enumerate() {
        nested_validation(nested, false, &format!("{path}.oneOf[{at}]"), errors);
    }
    if let Some(nested) = schema.get("not").filter(|not| not.as_map().is_some()) {
        nested_validation(nested, false, &format!("{path}.not"), errors);
    }
    if let Some(text) = schema.str_at(&["pattern"]).filter(|text| !text.is_empty())
        && let Some(error) = Pattern::new(text).error()
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(format!("{path}.pattern"), quoted(text), detail));
    }
}

/// What may not stand under `allOf` and the like: anything that says what a field is.
const NESTED: [(&str, &str); 12] = [
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
];

fn nested_validation(schema: &Value, skip_any: bool, path: &str, errors: &mut Vec<FieldError>) {
    value_validation(schema, skip_any, false, path, errors);
    if let Some(items) = schema.get("items").filter(|items| items.as_map().is_some()) {
        nested_validation(items, false, &format!("{path}.items"), errors);
    }
    for (name, property) in properties(schema) {
        nested_validation(property, false, &format!("{path}.properties[{name}]"), errors);
    }
    for (field, detail) in NESTED {
        let set = match schema.get(field) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(value) => !value.is_empty() || matches!(field, "additionalProperties" | "default"),
        };
        if set {
            errors.push(FieldError::forbidden(format!("{path}.{field}"), detail));
        }
    }
    if !schema.items_at(&["x-kubernetes-validations"]).is_empty() {
        let field = format!("{path}.x-kubernetes-validations");
        errors.push(FieldError::forbidden(field, "must be empty to be structural"));
    }
    if properties(schema).any(|(name, _)| name == "metadata") {
        let detail = "must not be specified in a nested context";
        errors.push(FieldError::forbidden(format!("{path}.properties[metadata]"), detail));
    }
}

/// Every field under `allOf` and the like is also specified outside of it.
fn complete(schema: &Value, base: Option<&Value>, base_path: &str, path: &str, errors: &mut Vec<FieldError>) {
    let mut nested = |child: &Value, path: String| nested_complete(child, base, base_path, &path, errors);
    if let Some(not) = schema.get("not").filter(|not| not.as_map().is_some()) {
        nested(not, format!("{path}.not"));
    }
    for junctor in ["allOf", "anyOf", "oneOf"] {
        for (at, child) in schema.items_at(&[junctor]).iter().enumerate() {
            nested(child, format!("{path}.{junctor}[{at}]"));
        }
    }
}

fn nested_complete(
    schema: &Value,
    base: Option<&Value>,
    base_path: &str,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let Some(base) = base else {
        errors.push(FieldError::required(base_path, format!("because it is defined in {path}")));
        return;
    };
    complete(schema, Some(base), base_path, path, errors);
    if let Some(items) = schema.get("items").filter(|items| items.as_map().is_some()) {
        let base_items = base.get("items").filter(|items| items.as_map().is_some());
        nested_complete(items, base_items, &format!("{base_path}.items"), &format!("{path}.items"), errors);
    }
    for (name, property) in properties(schema) {
        let below = base.at(&["properties", name]);
        let (base_path, path) =
            (format!("{base_path}.properties[{name}]"), format!("{path}.properties[{name}]"));
        nested_complete(property, below, &base_path, &path, errors);
    }
}
