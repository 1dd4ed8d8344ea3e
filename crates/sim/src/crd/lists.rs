//! Items of `set` and `map` lists appear once.

use lynceus_object::{Map, Value};

use super::schema::{Additional, ListType, Schema};
use super::shown::shown;
use crate::error::FieldError;

/// Every second appearance of an item, in every list of the value whose schema asks for it.
pub(crate) fn duplicates(value: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut out = Vec::new();
    walk(value, schema, "", &mut out);
    out
}

fn walk(value: &Value, schema: &Schema, path: &str, out: &mut Vec<FieldError>) {
    match value {
        Value::Map(map) => {
            for (name, field) in map.iter() {
                if let Some(property) = schema.properties.get(name) {
                    let below = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                    walk(field, property, &below, out);
                } else if let Some(Additional::Schema(other)) = &schema.additional {
                    walk(field, other, &format!("{path}[{name}]"), out);
                }
            }
        }
        Value::Seq(items) => {
            match &schema.list {
                ListType::Atomic => {}
                ListType::Set => repeated(items, path, out),
                ListType::Map(keys) => map_items(items, keys, path, out),
            }
            if let Some(item_schema) = schema.items.as_deref() {
                for (at, item) in items.iter().enumerate() {
                    walk(item, item_schema, &format!("{path}[{at}]"), out);
                }
            }
        }
        _ => {}
    }
}

fn map_items(items: &[Value], keys: &[lynceus_object::Str], path: &str, out: &mut Vec<FieldError>) {
    for (at, item) in items.iter().enumerate() {
        if !matches!(item, Value::Map(_) | Value::Null) {
            let detail = "must be an object for an array of list-type map";
            return out.push(FieldError::invalid(format!("{path}[{at}]"), shown(item), detail));
        }
    }
    let found: Vec<Value> = items
        .iter()
        .map(|item| {
            let fields = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
            Value::Map(fields.collect::<Map>())
        })
        .collect();
    repeated(&found, path, out);
}

fn repeated(items: &[Value], path: &str, out: &mut Vec<FieldError>) {
    let mut seen: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let times = seen.entry(shown(item)).or_default();
        *times += 1;
        if *times == 2 {
            out.push(FieldError::duplicate(format!("{path}[{at}]"), shown(item)));
        }
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn the_second_appearance_is_named() {
        let schema = Schema::compile(&value!({"type": "object", "properties": {
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "m": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
                  "items": {"type": "object", "properties": {"n": {"type": "string"}}}}}}));
        let object =
            value!({"s": ["a", "b", "a", "a"], "m": [{"n": "x", "v": 1}, {"n": "x", "v": 2}, {}, {}]});
        let found: Vec<String> = duplicates(&object, &schema).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "m[1]: Duplicate value: {\"n\":\"x\"}",
                "m[3]: Duplicate value: {}",
                "s[2]: Duplicate value: \"a\"",
            ]
        );
    }
}
