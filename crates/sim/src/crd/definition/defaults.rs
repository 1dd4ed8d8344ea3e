//! Defaults have to satisfy the schema that they stand in.

use lynceus_object::Value;

use crate::crd::prune::prune_part;
use crate::crd::schema::Schema;
use crate::crd::shown::shown;
use crate::crd::{rule, validate as values};
use crate::error::FieldError;

/// What is wrong with the defaults of a schema.
pub(super) fn validate(schema: &Schema, source: &Value, path: &str) -> Vec<FieldError> {
    let mut with_rules = schema.clone();
    rule::attach(&mut with_rules, source, true);
    let mut errors = Vec::new();
    walk(&with_rules, path, true, &mut errors);
    errors
}

fn walk(schema: &Schema, path: &str, is_root: bool, errors: &mut Vec<FieldError>) {
    if let Some(default) = &schema.default {
        check(schema, default, &format!("{path}.default"), errors);
    }
    if let Some(items) = schema.items.as_deref() {
        walk(items, &format!("{path}.items"), false, errors);
    }
    for (name, property) in &schema.properties {
        // Defaults of root metadata are forbidden, which is said elsewhere.
        if is_root && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") {
            continue;
        }
        walk(property, &format!("{path}.properties[{name}]"), false, errors);
    }
}

fn check(schema: &Schema, default: &Value, field: &str, errors: &mut Vec<FieldError>) {
    let mut pruned = default.clone();
    prune_part(&mut pruned, schema);
    if pruned != *default {
        errors.push(FieldError::invalid(field, shown(default), "must not have unknown fields"));
    }
    let problems = values::validate(default, schema, field);
    if problems.is_empty() {
        errors.extend(rule::run(default, Some(default), schema, field));
        errors.extend(rule::run(default, None, schema, field));
    } else {
        errors.extend(problems);
    }
}
