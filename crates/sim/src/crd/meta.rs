//! The metadata of instances, and of objects embedded in them.

use lynceus_object::{Object, Value};

use super::schema::{Additional, Schema};
use super::shown::{quoted, shown};
use crate::error::FieldError;
use crate::kinds::validation::meta;
use crate::kinds::validation::names::{dns_1035_label, dns_subdomain};
use crate::kinds::validation::report::Report;

/// What is wrong with the metadata of a new instance.
pub(super) fn validate(object: &Object, namespaced: bool) -> Vec<FieldError> {
    let mut report = Report::default();
    meta::create_general(object, namespaced, dns_subdomain, &mut report);
    report.into_errors()
}

/// What is wrong with the changed metadata of an instance.
pub(super) fn validate_update(new: &Object, old: &Object) -> Vec<FieldError> {
    let mut report = Report::default();
    meta::update(new, old, &mut report);
    report.into_errors()
}

/// What is wrong with objects that stand inside an instance.
pub(crate) fn validate_embedded(value: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(value, schema, "", &mut errors);
    errors
}

fn walk(value: &Value, schema: &Schema, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Map(map) => {
            if schema.embedded {
                embedded(value, path, errors);
            }
            for (name, field) in map.iter() {
                if let Some(property) = schema.properties.get(name) {
                    let below = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                    walk(field, property, &below, errors);
                } else if let Some(Additional::Schema(other)) = &schema.additional {
                    walk(field, other, &format!("{path}[{name}]"), errors);
                }
            }
        }
        Value::Seq(items) => {
            if let Some(item_schema) = schema.items.as_deref() {
                for (at, item) in items.iter().enumerate() {
                    walk(item, item_schema, &format!("{path}[{at}]"), errors);
                }
            }
        }
        _ => {}
    }
}

fn embedded(value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for field in ["apiVersion", "kind"] {
        let place = format!("{path}.{field}");
        match value.get(field) {
            None => errors.push(FieldError::required(place, "")),
            Some(Value::Str(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(place, quoted(""), "must not be empty"));
            }
            Some(Value::Str(text)) if field == "kind" => {
                let problems = dns_1035_label(&text.to_lowercase());
                if !problems.is_empty() {
                    let detail =
                        format!("may have mixed case, but should otherwise match: {}", problems.join(","));
                    errors.push(FieldError::invalid(place, quoted(text), detail));
                }
            }
            Some(Value::Str(text)) if text.matches('/').count() > 1 => {
                let detail = format!("unexpected GroupVersion string: {text}");
                errors.push(FieldError::invalid(place, quoted(text), detail));
            }
            Some(Value::Str(_)) => {}
            Some(other) => errors.push(FieldError::invalid(place, shown(other), "must be a string")),
        }
    }
}
