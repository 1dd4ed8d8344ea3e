//! Taking fields out of an object.

use super::{Atom, atom, child, is_whole, list};
use crate::apply::set::FieldSet;
use crate::path::Segment;
use crate::schema::{ListType, TypeRef};
use crate::value::Value;

/// The value without the fields of the set; `null` where nothing is left.
pub(crate) fn remove(value: &Value, fields: &FieldSet, ty: TypeRef<'_>) -> Value {
    match (atom(ty, Some(value)), value) {
        (Atom::Scalar, value) => value.clone(),
        (Atom::List(item, kind), Value::Seq(items)) if *kind != ListType::Atomic => {
            let kept: Vec<Value> =
                items.iter().filter_map(|value| remove_item(value, fields, item, kind)).collect();
            if kept.is_empty() { Value::Null } else { kept.into() }
        }
        (Atom::Map, Value::Map(map)) if !is_whole(ty) => {
            let mut kept = map.clone();
            for (key, value) in map.iter() {
                let step = Segment::Field(key.clone());
                if fields.has_member(&step) {
                    kept.remove(key);
                } else if let Some(below) = fields.below(&step).filter(|below| !below.is_empty()) {
                    kept.insert(key.clone(), remove(value, below, child(ty, key)));
                }
            }
            if kept.is_empty() { Value::Null } else { Value::Map(kept) }
        }
        _ => Value::Null,
    }
}

fn remove_item(value: &Value, fields: &FieldSet, ty: TypeRef<'_>, kind: &ListType) -> Option<Value> {
    let Ok(step) = list::step(value, ty, kind) else { return Some(value.clone()) };
    if fields.has_member(&step) {
        return None;
    }
    match fields.below(&step).filter(|below| !below.is_empty()) {
        Some(below) => Some(remove(value, below, ty)),
        None => Some(value.clone()),
    }
}
