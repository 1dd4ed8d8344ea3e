//! How an item of a list is told apart from the others.

use crate::map::Map;
use crate::path::Segment;
use crate::schema::{ListType, TypeRef};
use crate::value::Value;

/// The step that leads to an item, or why there is none.
pub(super) fn step(item: &Value, ty: TypeRef<'_>, list: &ListType) -> Result<Segment, String> {
    match list {
        ListType::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListType::Map(keys) => {
            let map = match item {
                Value::Map(map) => map,
                Value::Null => {
                    return Err("associative list with keys may not have a null element".to_owned());
                }
                _ => return Err("associative list with keys may not have non-map elements".to_owned()),
            };
            let mut key = Map::new();
            for name in keys {
                let default = || ty.field(name).and_then(|field| field.default());
                if let Some(value) = map.get(name).or_else(default) {
                    key.insert(name.clone(), value.clone());
                }
            }
            if key.is_empty() && !keys.is_empty() {
                let names: Vec<String> = keys.iter().map(|name| format!("{name:?}")).collect();
                return Err(format!(
                    "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                    names.join(" ")
                ));
            }
            Ok(Segment::Key(key))
        }
        ListType::Set => match item {
            Value::Map(_) => Err("associative list without keys has an element that's a map type".to_owned()),
            Value::Seq(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null".to_owned())
            }
            scalar => Ok(Segment::Value(scalar.clone())),
        },
    }
}

/// The items of a list with their steps, in order; items without a step are passed over.
pub(super) fn steps<'v>(items: &'v [Value], ty: TypeRef<'_>, list: &ListType) -> Vec<(Segment, &'v Value)> {
    items.iter().filter_map(|item| Some((step(item, ty, list).ok()?, item))).collect()
}
