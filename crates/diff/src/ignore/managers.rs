//! Fields that a trusted manager wrote.

use lynceus_object::schema::{ListType, TypeRef};
use lynceus_object::{FieldPath, Object, Segment, Str, Value, json};

use crate::kinds::type_of;

/// Removes from both sides the fields that differ between them and that one of the managers wrote; says how many.
pub(super) fn remove_differing(managers: &[Str], desired: &mut Object, live: &mut Object) -> usize {
    let ty = type_of(desired).unwrap_or_else(TypeRef::untyped);
    let entries: Vec<Value> = live.value().items_at(&["metadata", "managedFields"]).to_vec();
    let trusted = entries.iter().filter(|entry| {
        entry.str_at(&["manager"]).is_some_and(|manager| managers.iter().any(|trusted| trusted == manager))
    });
    trusted
        .filter_map(|entry| entry.get("fieldsV1"))
        .map(|fields| remove(fields, desired.value_mut(), live.value_mut(), ty))
        .sum()
}

/// Walks a set of fields through both sides at once.
fn remove(fields: &Value, desired: &mut Value, live: &mut Value, ty: TypeRef<'static>) -> usize {
    let Some(fields) = fields.as_map() else { return 0 };
    let one = |(name, below): (&Str, &Value)| {
        if let Some(name) = name.strip_prefix("f:") {
            remove_field(name, below, desired, live, ty)
        } else if let Some(segment) = item_segment(name) {
            remove_item(&segment, below, desired, live, ty)
        } else {
            0
        }
    };
    fields.iter().map(one).sum()
}

fn remove_field(
    name: &str,
    below: &Value,
    desired: &mut Value,
    live: &mut Value,
    ty: TypeRef<'static>,
) -> usize {
    let (Value::Map(desired), Value::Map(live)) = (desired, live) else { return 0 };
    let (Some(a), Some(b)) = (desired.get(name), live.get(name)) else { return 0 };
    if a == b {
        return 0;
    }
    let child = ty.child(name).unwrap_or_else(TypeRef::untyped);
    if is_leaf(a, child) || is_leaf(b, child) {
        // A set names a leaf by nothing, or a `.`, below it.
        if is_member(below) {
            desired.remove(name);
            live.remove(name);
            return 1;
        }
        return 0;
    }
    match (desired.get_mut(name), live.get_mut(name)) {
        (Some(a), Some(b)) => remove(below, a, b, child),
        _ => 0,
    }
}

fn remove_item(
    segment: &Segment,
    below: &Value,
    desired: &mut Value,
    live: &mut Value,
    ty: TypeRef<'static>,
) -> usize {
    let Some(item) = ty.item() else { return 0 };
    let path = FieldPath::root().with(segment.clone());
    match (path.get_mut(desired), path.get_mut(live)) {
        (Some(a), Some(b)) => remove(below, a, b, item),
        _ => 0,
    }
}

fn is_member(below: &Value) -> bool {
    below.as_map().is_some_and(|map| map.is_empty() || map.contains("."))
}

/// Whether a value is owned whole: a scalar, or a list or map that is replaced as one.
fn is_leaf(value: &Value, ty: TypeRef<'static>) -> bool {
    match value {
        Value::Map(_) => ty.is_atomic(),
        Value::Seq(_) => matches!(ty.list_type(), ListType::Atomic),
        _ => true,
    }
}

/// Reads `k:{"name":"web"}`, `v:"x"` and `i:0`.
fn item_segment(name: &str) -> Option<Segment> {
    let parse = |text: &str| json::parse(text.as_bytes()).ok();
    match name.split_once(':')? {
        ("k", key) => match parse(key)? {
            Value::Map(key) => Some(Segment::Key(key)),
            _ => None,
        },
        ("v", value) => parse(value).map(Segment::Value),
        ("i", index) => index.parse().ok().map(Segment::Index),
        _ => None,
    }
}
