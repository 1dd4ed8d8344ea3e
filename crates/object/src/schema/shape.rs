//! What becomes of an object that passes through Go's types: fields that go, fields that appear.

use super::model::{Field, Scalar, Shape, TypeRef};
use super::scalar;
use crate::map::Map;
use crate::value::{Str, Value};

/// Drops the fields that the type does not have, as decoding into it does.
pub fn prune_unknown(value: &mut Value, ty: TypeRef<'_>) {
    // Looking first keeps a shared object shared.
    if has_unknown(value, ty) {
        prune(value, ty);
    }
}

fn has_unknown(value: &Value, ty: TypeRef<'_>) -> bool {
    if ty.is_untyped() {
        return false;
    }
    match value {
        Value::Map(map) if matches!(ty.shape(), Shape::Struct | Shape::Map(_)) => {
            map.iter().any(|(name, value)| ty.child(name).is_none_or(|ty| has_unknown(value, ty)))
        }
        Value::Seq(items) => ty.item().is_some_and(|item| items.iter().any(|value| has_unknown(value, item))),
        _ => false,
    }
}

fn prune(value: &mut Value, ty: TypeRef<'_>) {
    if ty.is_untyped() {
        return;
    }
    match value {
        Value::Map(map) if matches!(ty.shape(), Shape::Struct | Shape::Map(_)) => {
            map.retain(|name, value| {
                let Some(child) = ty.child(name) else { return false };
                prune(value, child);
                true
            });
        }
        Value::Seq(items) => {
            if let Some(item) = ty.item() {
                items.make_mut().iter_mut().for_each(|value| prune(value, item));
            }
        }
        _ => {}
    }
}

/// Adds the fields that Go prints even when nothing was set, such as `status: {}`.
pub fn fill_zero(value: &mut Value, ty: TypeRef<'_>) {
    fill_zero_beside(value, None, ty);
}

/// The same for an object that may share parts with one in which nothing is missing, which are not looked at.
pub fn fill_zero_beside(value: &mut Value, known: Option<&Value>, ty: TypeRef<'_>) {
    // Looking first keeps a shared object shared.
    if lacks_zero(value, known, ty) {
        add_zero(value, ty);
    }
}

fn add_zero(value: &mut Value, ty: TypeRef<'_>) {
    each_child(value, ty, &mut fill_zero);
    if let Value::Map(map) = value {
        fill_fields(map, ty);
    }
}

/// Whether [`fill_zero`] has anything to add.
fn lacks_zero(value: &Value, known: Option<&Value>, ty: TypeRef<'_>) -> bool {
    if ty.is_untyped() || known.is_some_and(|known| value.is_same(known)) {
        return false;
    }
    let is_container = |value: &Value| matches!(value, Value::Map(_) | Value::Seq(_));
    match value {
        Value::Map(map) => {
            let lacks = |(name, value, known): (&Str, &Value, Option<&Value>)| {
                is_container(value)
                    && !known.is_some_and(|known| value.is_same(known))
                    && ty.child(name).is_some_and(|child| lacks_zero(value, known, child))
            };
            map.beside(known.and_then(Value::as_map)).any(lacks)
                || ty
                    .always_printed()
                    .any(|field| !map.contains(field.name()) && printed_zero(field).is_some())
        }
        Value::Seq(items) => {
            let known = known.and_then(Value::as_seq).unwrap_or(&[]);
            ty.item().is_some_and(|item| {
                items.iter().enumerate().any(|(at, value)| lacks_zero(value, known.get(at), item))
            })
        }
        _ => false,
    }
}

fn fill_fields(map: &mut Map, ty: TypeRef<'_>) {
    for field in ty.always_printed() {
        if !map.contains(field.name())
            && let Some(zero) = printed_zero(field)
        {
            map.insert(field.name(), zero);
        }
    }
}

/// Removes the fields that Go leaves out because they are empty, and those that are `null`.
pub fn drop_empty(value: &mut Value, ty: TypeRef<'_>) {
    each_child(value, ty, &mut drop_empty);
    if let (Value::Map(map), Shape::Struct) = (value, ty.shape()) {
        drop_fields(map, ty);
    }
}

fn drop_fields(map: &mut Map, ty: TypeRef<'_>) {
    map.retain(|name, value| ty.field(name).is_none_or(|field| !is_omitted(field, value)));
}

/// The object as Go prints it after reading it: [`prune_unknown`], [`drop_empty`], [`fill_zero`], and
/// times, durations and quantities in their usual form.
pub fn round_trip(value: &mut Value, ty: TypeRef<'_>) {
    prune_unknown(value, ty);
    let (Value::Map(map), Shape::Struct) = (&mut *value, ty.shape()) else {
        return to_printed(value, ty);
    };
    // A part with nothing to do, such as the spec of an object whose status is written, stays shared.
    for (name, part) in map.iter_mut() {
        if let Some(child) = ty.child(name)
            && !is_settled(part, child)
        {
            to_printed(part, child);
        }
    }
    drop_fields(map, ty);
    fill_fields(map, ty);
}

fn to_printed(value: &mut Value, ty: TypeRef<'_>) {
    canonical(value, ty);
    drop_empty(value, ty);
    fill_zero(value, ty);
}

/// Whether an object is beyond doubt as Go prints it: a check finds nothing wrong with it, and a round trip has nothing
/// to do. That is so for most of what is written again, and finding it out copies nothing.
pub fn is_settled(value: &Value, ty: TypeRef<'_>) -> bool {
    is_settled_beside(value, None, ty)
}

/// The same for an object that may share parts with one that is settled, which are not looked at.
fn is_settled_beside(value: &Value, known: Option<&Value>, ty: TypeRef<'_>) -> bool {
    if known.is_some_and(|known| value.is_same(known)) {
        return true;
    }
    match (ty.shape(), value) {
        (Shape::Any, _) => true,
        (Shape::Struct, Value::Map(map)) => {
            let printed = |field: Field<'_>| map.contains(field.name()) || printed_zero(field).is_none();
            has_settled_fields(map, known, ty) && ty.always_printed().all(printed)
        }
        (Shape::Map(inner), Value::Map(map)) => {
            map.iter().all(|(_, value)| !value.is_null() && is_settled(value, inner))
        }
        (Shape::List(inner, _), Value::Seq(items)) => {
            let known = known.and_then(Value::as_seq).unwrap_or(&[]);
            items
                .iter()
                .enumerate()
                .all(|(at, item)| !item.is_null() && is_settled_beside(item, known.get(at), inner))
        }
        (Shape::Scalar(kind), value) => scalar::is_settled(kind, value),
        _ => false,
    }
}

/// Makes an object as Go prints it where nothing but fields of the object itself is missing, such as an empty status.
/// Says whether it could: where it did nothing, the object has to be checked.
pub fn settle(value: &mut Value, known: Option<&Value>, ty: TypeRef<'_>) -> bool {
    let (Shape::Struct, Value::Map(map)) = (ty.shape(), &mut *value) else {
        return is_settled_beside(value, known, ty);
    };
    let is_settled = has_settled_fields(map, known, ty);
    if is_settled {
        fill_fields(map, ty);
    }
    is_settled
}

/// Whether the fields that are there are settled.
fn has_settled_fields(map: &Map, known: Option<&Value>, ty: TypeRef<'_>) -> bool {
    map.beside(known.and_then(Value::as_map)).all(|(name, value, known)| {
        known.is_some_and(|known| value.is_same(known)) || is_settled_field(name, value, known, ty)
    })
}

fn is_settled_field(name: &str, value: &Value, known: Option<&Value>, ty: TypeRef<'_>) -> bool {
    match ty.field(name) {
        Some(field) => {
            !is_omitted(field, value) && (value.is_null() || is_settled_beside(value, known, field.ty()))
        }
        None => ty.rest().is_some_and(|rest| is_settled_beside(value, known, rest)),
    }
}

fn each_child(value: &mut Value, ty: TypeRef<'_>, visit: &mut dyn FnMut(&mut Value, TypeRef<'_>)) {
    if ty.is_untyped() {
        return;
    }
    match value {
        Value::Map(map) => {
            for (name, value) in map.iter_mut() {
                if let Some(child) = ty.child(name)
                    && matches!(value, Value::Map(_) | Value::Seq(_))
                {
                    visit(value, child);
                }
            }
        }
        Value::Seq(items) => {
            if let Some(item) = ty.item() {
                items.make_mut().iter_mut().for_each(|value| visit(value, item));
            }
        }
        _ => {}
    }
}

/// What Go prints for a field that nothing set; none if it prints nothing.
pub(super) fn printed_zero(field: Field<'_>) -> Option<Value> {
    if field.omits_zero() {
        return None;
    }
    if field.is_pointer() {
        return (!field.omits_empty()).then_some(Value::Null);
    }
    match field.ty().shape() {
        // Only these are structs to Go, which `omitempty` does not leave out.
        Shape::Struct => Some(zero(field.ty())),
        Shape::Scalar(kind) if kind.is_struct() => Some(zero(field.ty())),
        _ => (!field.omits_empty()).then(|| zero(field.ty())),
    }
}

/// The zero of a type as Go prints it.
pub(crate) fn zero(ty: TypeRef<'_>) -> Value {
    match ty.shape() {
        Shape::Any | Shape::List(..) | Shape::Map(_) => Value::Null,
        Shape::Struct => {
            let mut value = Value::Map(Map::new());
            fill_zero(&mut value, ty);
            value
        }
        Shape::Scalar(kind) => match kind {
            Scalar::String => Value::Str(Str::new()),
            Scalar::Bool => Value::Bool(false),
            Scalar::Int32 | Scalar::Int64 | Scalar::Float64 | Scalar::IntOrString => Value::Int(0),
            Scalar::Quantity => "0".into(),
            Scalar::Duration => "0s".into(),
            _ => Value::Null,
        },
    }
}

impl Scalar {
    /// Whether Go holds it as a struct, so that `omitempty` has no effect.
    pub(crate) fn is_struct(self) -> bool {
        !matches!(
            self,
            Scalar::String | Scalar::Bool | Scalar::Int32 | Scalar::Int64 | Scalar::Float64 | Scalar::Bytes
        )
    }
}

/// Whether Go prints nothing at all for a field with this value, as if it had not been set.
pub fn leaves_out(field: Field<'_>, value: &Value) -> bool {
    is_omitted(field, value) && printed_zero(field).is_none()
}

fn is_omitted(field: Field<'_>, value: &Value) -> bool {
    if value.is_null() {
        // What is always printed as `null` stays; the rest comes back as its zero.
        return printed_zero(field) != Some(Value::Null);
    }
    if field.is_pointer() || !field.omits_empty() {
        return false;
    }
    match field.ty().shape() {
        Shape::Scalar(kind) if kind.is_struct() => false,
        Shape::Scalar(_) => is_zero(value),
        Shape::List(..) | Shape::Map(_) => value.is_empty(),
        Shape::Struct | Shape::Any => false,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(set) => !set,
        Value::Int(number) => *number == 0,
        Value::Float(number) => *number == 0.0,
        other => other.is_empty(),
    }
}

fn canonical(value: &mut Value, ty: TypeRef<'_>) {
    match ty.shape() {
        Shape::Scalar(kind) => {
            if let Some(usual) = usual_form(kind, value) {
                *value = usual;
            }
        }
        Shape::Struct | Shape::Map(_) => {
            let Value::Map(map) = value else { return };
            let in_map = matches!(ty.shape(), Shape::Map(_));
            for (name, value) in map.iter_mut() {
                let Some(child) = ty.child(name) else { continue };
                if in_map && value.is_null() {
                    *value = zero(child);
                }
                canonical(value, child);
            }
        }
        Shape::List(item, _) => {
            let Value::Seq(items) = value else { return };
            for value in items.make_mut() {
                if value.is_null() {
                    *value = zero(item);
                }
                canonical(value, item);
            }
        }
        Shape::Any => {}
    }
}

/// A scalar as Go prints it after reading it, where that is another form than that of JSON.
pub fn usual_form(kind: Scalar, value: &Value) -> Option<Value> {
    match (kind, value) {
        // Go's zero time prints as nothing.
        (Scalar::Time | Scalar::MicroTime, Value::Str(text)) if text == "0001-01-01T00:00:00Z" => {
            Some(Value::Null)
        }
        (Scalar::Time, Value::Str(text)) => {
            scalar::parse_time(text).map(|time| scalar::print_time(time).into())
        }
        (Scalar::MicroTime, Value::Str(text)) => {
            scalar::parse_time(text).map(|time| scalar::print_micro_time(time).into())
        }
        (Scalar::Duration, Value::Str(text)) => {
            scalar::parse_duration(text).map(|nanos| scalar::print_duration(nanos).into())
        }
        (Scalar::Quantity, value) => scalar::quantity_text(value).map(Value::Str),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::builtin;
    use crate::value;

    fn typed(value: &Value) -> TypeRef<'static> {
        builtin().of(&crate::Object::new(value.clone()).expect("map").gvk()).expect("kind")
    }

    #[test]
    fn fields_without_omitempty_appear_with_their_zero() {
        let mut object = value!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
            "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}});
        let ty = typed(&object);
        fill_zero(&mut object, ty);
        assert_eq!(
            object,
            value!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
                "spec": {"selector": null, "strategy": {}, "template": {"metadata": {}, "spec":
                    {"containers": [{"name": "c", "resources": {}}]}}},
                "status": {}})
        );
    }

    #[test]
    fn what_is_settled_is_what_a_check_and_a_round_trip_leave_alone() {
        for (pod, wanted) in [
            (value!({"metadata": {"name": "a"}, "spec": {"containers": null}, "status": {}}), true),
            (value!({"metadata": {"name": "a"}, "spec": {"containers": null}}), false),
            (
                value!({"metadata": {"name": "a", "labels": {}}, "spec": {"containers": null}, "status": {}}),
                false,
            ),
            (
                value!({"metadata": {"name": "a"}, "spec": {"containers": null, "nope": 1}, "status": {}}),
                false,
            ),
            (value!({"metadata": {"name": 1}, "spec": {"containers": null}, "status": {}}), false),
            (value!({"metadata": {"name": "a"}, "spec": {"containers": [null]}, "status": {}}), false),
            (
                value!({"metadata": {"name": "a"}, "spec": {"containers": null}, "status": {"startTime": "2026-01-28T23:59:59Z"}}),
                true,
            ),
            (
                value!({"metadata": {"name": "a"}, "spec": {"containers": null}, "status": {"startTime": "2026-02-30T23:59:59Z"}}),
                false,
            ),
            (
                value!({"metadata": {"name": "a"}, "spec": {"containers": null}, "status": {"startTime": "0001-01-01T00:00:00Z"}}),
                false,
            ),
            (
                value!({"metadata": {"name": "a"}, "spec": {"containers": null, "overhead": {"cpu": "100m"}}, "status": {}}),
                true,
            ),
            (
                value!({"metadata": {"name": "a"}, "spec": {"containers": null, "overhead": {"cpu": "0.1"}}, "status": {}}),
                false,
            ),
        ] {
            let mut pod = pod;
            pod.set(&["apiVersion"], "v1");
            pod.set(&["kind"], "Pod");
            let ty = typed(&pod);
            assert_eq!(is_settled(&pod, ty), wanted, "{pod:?}");
            let mut settled = pod.clone();
            if settle(&mut settled, None, ty) {
                assert!(is_settled(&settled, ty), "{settled:?}");
            } else {
                assert_eq!(settled, pod);
            }
            let mut after = pod.clone();
            round_trip(&mut after, ty);
            let unchanged = after == pod && crate::schema::check(&pod, ty).is_empty();
            assert_eq!(unchanged, wanted, "{pod:?}");
        }
    }

    #[test]
    fn a_round_trip_drops_what_go_would_not_print() {
        let mut object = value!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "a", "labels": {}, "annotations": null, "creationTimestamp": null},
            "spec": {"ports": [{"port": 80, "nodePort": 0, "nope": 1}], "selector": {"a": "b"}, "clusterIP": ""},
            "status": null});
        let ty = typed(&object);
        round_trip(&mut object, ty);
        assert_eq!(
            object,
            value!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
                "spec": {"ports": [{"port": 80, "targetPort": 0}], "selector": {"a": "b"}},
                "status": {"loadBalancer": {}}})
        );
    }

    #[test]
    fn unknown_fields_are_dropped_at_every_depth() {
        let mut object = value!({"apiVersion": "v1", "kind": "Pod", "x": 1,
            "spec": {"containers": [{"name": "c", "y": {"z": 1}}]}});
        let ty = typed(&object);
        prune_unknown(&mut object, ty);
        assert_eq!(
            object,
            value!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c"}]}})
        );
    }

    #[test]
    fn quantities_come_out_in_canonical_form() {
        let mut object = value!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [
            {"name": "c", "resources": {"limits": {"cpu": 1, "memory": "1024Mi"}}}]}});
        let ty = typed(&object);
        round_trip(&mut object, ty);
        let limits = object.items_at(&["spec", "containers"])[0].at(&["resources", "limits"]);
        assert_eq!(limits, Some(&value!({"cpu": "1", "memory": "1Gi"})));
    }

    #[test]
    fn times_come_out_in_utc() {
        let mut object = value!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "creationTimestamp": "2026-01-01T01:00:00+01:00"}});
        let ty = typed(&object);
        round_trip(&mut object, ty);
        assert_eq!(object.str_at(&["metadata", "creationTimestamp"]), Some("2026-01-01T00:00:00Z"));
    }
}
