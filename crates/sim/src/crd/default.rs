//! Fills in defaults, and drops the nulls that a schema does not allow.

use lynceus_object::Value;

use super::schema::{Additional, Schema};

/// Removes `null` where the schema has no default for it and does not call it nullable.
pub(crate) fn drop_nulls(value: &mut Value, schema: Option<&Schema>) {
    match value {
        Value::Map(map) => {
            if !map.values().any(|field| matches!(field, Value::Null | Value::Map(_) | Value::Seq(_))) {
                return;
            }
            map.retain(|name, field| {
                let below = schema.and_then(|schema| schema.field(name));
                if field.is_null() && below.is_some_and(|below| !below.nullable && below.default.is_none()) {
                    return false;
                }
                drop_nulls(field, below);
                true
            });
        }
        Value::Seq(items) if items.iter().any(|item| matches!(item, Value::Map(_) | Value::Seq(_))) => {
            let below = schema.and_then(|schema| schema.items.as_deref());
            items.make_mut().iter_mut().for_each(|item| drop_nulls(item, below));
        }
        _ => {}
    }
}

/// Sets every absent field that has a default, and every `null` that may not be one.
pub(crate) fn fill(value: &mut Value, schema: &Schema) {
    if !schema.has_defaults {
        return;
    }
    match value {
        Value::Map(map) => {
            for (name, property) in &schema.properties {
                if let Some(default) = &property.default
                    && map.get(name).is_none_or(|field| field.is_null() && !property.nullable)
                {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, field) in map.iter_mut() {
                if let Some(property) = schema.properties.get(name) {
                    fill(field, property);
                } else if let Some(Additional::Schema(other)) = &schema.additional {
                    fill_other(field, other);
                }
            }
        }
        Value::Seq(items) => {
            if let Some(item_schema) = schema.items.as_deref() {
                items.make_mut().iter_mut().for_each(|item| fill_other(item, item_schema));
            }
        }
        _ => {}
    }
}

fn fill_other(value: &mut Value, schema: &Schema) {
    if value.is_null()
        && !schema.nullable
        && let Some(default) = &schema.default
    {
        *value = default.clone();
    }
    fill(value, schema);
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn filled(schema: Value, mut object: Value) -> Value {
        let schema = Schema::compile(&schema);
        drop_nulls(&mut object, Some(&schema));
        fill(&mut object, &schema);
        object
    }

    #[test]
    fn absent_and_null_fields_get_their_default() {
        let schema = value!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "a": {"type": "string", "default": "x"},
            "b": {"type": "string", "nullable": true, "default": "y"},
            "c": {"type": "string"},
            "d": {"type": "object", "default": {}, "properties": {"e": {"type": "integer", "default": 3}}}}}}});
        assert_eq!(
            filled(schema.clone(), value!({"spec": {"a": null, "b": null, "c": null}})),
            value!({"spec": {"a": "x", "b": null, "d": {"e": 3}}})
        );
        assert_eq!(filled(schema, value!({})), value!({}), "no default reaches a map that is not there");
    }

    #[test]
    fn items_and_additional_properties_are_filled() {
        let item = value!({"type": "object", "properties": {"p": {"type": "string", "default": "TCP"}}});
        let schema = value!({"type": "object", "properties": {
            "l": {"type": "array", "items": item}, "m": {"type": "object", "additionalProperties": item}}});
        assert_eq!(
            filled(schema, value!({"l": [{}, {"p": "UDP"}], "m": {"k": {}}})),
            value!({"l": [{"p": "TCP"}, {"p": "UDP"}], "m": {"k": {"p": "TCP"}}})
        );
    }
}
