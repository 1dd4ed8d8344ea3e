//! Metadata of an instance, and of objects that stand inside one, has the types that it always has.

use lynceus_object::Value;
use lynceus_object::schema::{self, ProblemKind, TypeRef};

use super::schema::{Additional, Schema};
use super::shown::shown;

/// Refuses metadata of the wrong types and drops what it does not know; says what was dropped.
pub(super) fn coerce(value: &mut Value, schema: &Schema) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    node(value, schema, true, "", &mut unknown)?;
    Ok(unknown)
}

fn node(
    value: &mut Value,
    schema: &Schema,
    is_object: bool,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    // Most schemas have no objects in them, and are not walked.
    if !is_object && !schema.has_objects {
        return Ok(());
    }
    match value {
        Value::Map(_) => {
            if is_object {
                object(value, path, unknown)?;
            }
            let Value::Map(map) = value else { return Ok(()) };
            for (name, field) in map.iter_mut() {
                if let Some(property) = schema.properties.get(name) {
                    node(field, property, property.embedded, &join(path, name), unknown)?;
                } else if let Some(Additional::Schema(other)) = &schema.additional {
                    node(field, other, other.embedded, &format!("{path}[{name}]"), unknown)?;
                }
            }
        }
        Value::Seq(items) => {
            let Some(item_schema) = schema.items.as_deref() else { return Ok(()) };
            if !item_schema.embedded && !item_schema.has_objects {
                return Ok(());
            }
            for (at, item) in items.make_mut().iter_mut().enumerate() {
                node(item, item_schema, item_schema.embedded, &format!("{path}[{at}]"), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn object(value: &mut Value, path: &str, unknown: &mut Vec<String>) -> Result<(), String> {
    for field in ["apiVersion", "kind"] {
        if let Some(found) = value.get(field).filter(|found| !matches!(found, Value::Str(_))) {
            return Err(format!("{}: Invalid value: {}: must be a string", join(path, field), shown(found)));
        }
    }
    let Some(ty) = schema::builtin().named("meta/v1.ObjectMeta") else { return Ok(()) };
    let Some(metadata) = value.as_map_mut().and_then(|map| map.get_mut("metadata")) else { return Ok(()) };
    metadata_fields(metadata, ty, path, unknown)
}

fn metadata_fields(
    metadata: &mut Value,
    ty: TypeRef<'_>,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let problems = schema::check(metadata, ty);
    if let Some(problem) = schema::decoding_error(&problems) {
        return Err(match path {
            "" => problem.to_string(),
            path => format!("{path}.metadata: Invalid value: {}: {problem}", shown(metadata)),
        });
    }
    for problem in problems {
        if problem.kind == ProblemKind::Unknown {
            unknown.push(format!("{}.{}", join(path, "metadata"), problem.path));
        }
    }
    let created = metadata.get("creationTimestamp").is_some_and(|time| !time.is_null());
    schema::round_trip(metadata, ty);
    if !created {
        metadata.remove(&["creationTimestamp"]);
    }
    Ok(())
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
