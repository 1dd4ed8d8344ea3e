//! Patches: strategic ones, which look like what they change, and lists of operations on JSON.

mod json;
mod json_field;
mod patches;
mod strategic;
mod strategic_field;
mod targets;
#[cfg(test)]
mod tests;

pub(crate) use json_field::JsonPatch;
pub(crate) use patches::{Patch, PatchOptions, apply_patches};
pub(crate) use strategic_field::apply_strategic_patches;

use lynceus_object::{Map, Str, Value};

/// Makes strings of all labels or annotations, as Kustomize does when it sets them. None at all is no field at all.
fn set_texts(value: &mut Value, field: &str, text: impl Fn(&str, &Value) -> Str) {
    let Some(metadata) = value.get("metadata").and_then(|metadata| metadata.get(field)) else { return };
    let texts: Map = match metadata {
        Value::Map(map) if !map.is_empty() => {
            if map.values().all(|value| matches!(value, Value::Str(_))) {
                return;
            }
            map.iter().map(|(key, value)| (key.clone(), text(key, value))).collect()
        }
        _ => Map::new(),
    };
    if texts.is_empty() {
        value.remove(&["metadata", field]);
    } else {
        value.set(&["metadata", field], texts);
    }
}
