//! Whether an apply would change nothing at all, found out without making anything.
//!
//! Most comparisons find no difference, and most of their cost was to write both objects in their types' form, make a
//! patch between them and apply it. Here the two are only walked side by side. The answer is yes where that is certain,
//! and no wherever it takes more to tell: the full comparison then decides, so that nothing here has to be complete.

use lynceus_api::{FIELD_MANAGER, annotations};
use lynceus_object::schema::{self, Field, ListType, Scalar, Shape, TypeRef};
use lynceus_object::{Map, Object, Quantity, Str, Value, json, value};

use crate::kinds::type_of;
use crate::limits;
use crate::settings::Settings;

/// Whether an apply of `desired` is certain to leave `live` as it is.
pub(crate) fn is_unchanged(desired: &Object, live: &Object, settings: &Settings) -> bool {
    if settings.known_types.has(desired) || needs_normalising(desired, settings) {
        return false;
    }
    let ty = type_of(desired);
    let way = match ty {
        _ if settings.applies_on_server(desired) => Way::Apply,
        Some(_) => Way::Strategic,
        None => Way::Merge,
    };
    let ty = ty.unwrap_or_else(TypeRef::untyped);
    object_within(desired.map(), live.map(), ty, way, settings.ignores_status(desired))
        && match way {
            Way::Apply => owns_nothing_else(desired, live),
            Way::Strategic | Way::Merge => is_last_applied(desired, live),
        }
}

/// How an apply brings the two together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By a strategic merge patch.
    Strategic,
    /// By a JSON merge patch.
    Merge,
    /// On the server's side.
    Apply,
}

/// Kinds whose forms differ without meaning it.
fn needs_normalising(desired: &Object, settings: &Settings) -> bool {
    match (desired.group(), desired.kind()) {
        ("", "Secret") => desired.at(&["stringData"]).is_some(),
        ("", "Endpoints") => true,
        ("rbac.authorization.k8s.io", "ClusterRole" | "Role") => {
            desired.at(&["rules"]).is_none_or(Value::is_empty)
                || settings.ignore_aggregated_roles && desired.at(&["aggregationRule"]).is_some()
        }
        _ => false,
    }
}

/// Nothing that was applied is left out now, so that nothing has to be removed.
fn is_last_applied(desired: &Object, live: &Object) -> bool {
    let Some(text) = live.annotation(annotations::LAST_APPLIED) else { return true };
    if desired.at(&["metadata", "annotations"]).is_some() {
        return json::says(text, desired.value());
    }
    // Whoever writes the annotation writes the map that it is going to stand in as well.
    let mut written = desired.clone();
    written.set(&["metadata", "annotations"], value!({}));
    json::says(text, written.value())
}

fn object_within(desired: &Map, live: &Map, ty: TypeRef<'_>, way: Way, no_status: bool) -> bool {
    desired.iter().all(|(key, wanted)| match key.as_str() {
        "status" if no_status => true,
        "metadata" => {
            let ty = ty.child(key).unwrap_or_else(TypeRef::untyped);
            let maps = wanted.as_map().zip(live.get(key).and_then(Value::as_map));
            maps.is_some_and(|(wanted, found)| metadata_within(wanted, found, ty, way))
        }
        _ => field_within(key, wanted, live.get(key), ty, way),
    })
}

/// Names, labels and annotations. When and where it was made is nothing that a manifest says.
fn metadata_within(desired: &Map, live: &Map, ty: TypeRef<'_>, way: Way) -> bool {
    desired.iter().all(|(key, wanted)| match key.as_str() {
        "creationTimestamp" => true,
        "namespace" => live.get(key).is_none_or(|found| found == wanted),
        "managedFields" => false,
        "annotations" if wanted.is_empty() => way != Way::Apply,
        "annotations" if wanted.get(annotations::LAST_APPLIED).is_some() => false,
        _ => field_within(key, wanted, live.get(key), ty, way),
    })
}

fn field_within(key: &str, wanted: &Value, found: Option<&Value>, ty: TypeRef<'_>, way: Way) -> bool {
    match ty.shape() {
        // What a type does not know keeps an object from being written in its form.
        Shape::Struct => ty.field(key).is_some_and(|field| {
            value_within(wanted, found, Place { field: Some(field), ty: field.ty(), parent: ty }, way)
        }),
        Shape::Map(value) => value_within(wanted, found, Place { field: None, ty: value, parent: ty }, way),
        Shape::Any => value_within(wanted, found, Place { field: None, ty, parent: ty }, way),
        Shape::Scalar(_) | Shape::List(..) => found == Some(wanted),
    }
}

/// The fields of a map side by side. Both are in order, and so are those of its type: what is looked for stands behind
/// what was found before.
fn fields_within(wanted: &Map, found: &Map, ty: TypeRef<'_>, way: Way) -> bool {
    let mut rest = found.iter();
    let mut next = |key: &Str| {
        let mut ahead = rest.clone();
        let value = ahead.find(|(name, _)| *name == key).map(|(_, value)| value)?;
        rest = ahead;
        Some(value)
    };
    match ty.shape() {
        Shape::Struct => {
            let mut fields = ty.fields();
            wanted.iter().all(|(key, wanted)| {
                let Some(field) = fields.find(|field| field.name() == key) else { return false };
                value_within(wanted, next(key), Place { field: Some(field), ty: field.ty(), parent: ty }, way)
            })
        }
        Shape::Map(value) => wanted.iter().all(|(key, wanted)| {
            value_within(wanted, next(key), Place { field: None, ty: value, parent: ty }, way)
        }),
        Shape::Any => wanted
            .iter()
            .all(|(key, wanted)| value_within(wanted, next(key), Place { field: None, ty, parent: ty }, way)),
        Shape::Scalar(_) | Shape::List(..) => wanted == found,
    }
}

/// Where a value stands: as which field, if it is one of a struct, with which type, and in what.
#[derive(Clone, Copy)]
struct Place<'s> {
    field: Option<Field<'s>>,
    ty: TypeRef<'s>,
    parent: TypeRef<'s>,
}

impl Place<'_> {
    /// Whether it is as if the value had not been set.
    fn leaves_out(self, value: &Value) -> bool {
        self.field.is_some_and(|field| schema::leaves_out(field, value))
    }

    /// The claim templates of a StatefulSet get defaults that only the server knows.
    fn is_claims(self) -> bool {
        self.field.is_some_and(|field| field.name() == "volumeClaimTemplates")
            && self.parent.name() == "StatefulSetSpec"
    }
}

fn value_within(wanted: &Value, found: Option<&Value>, place: Place<'_>, way: Way) -> bool {
    match (wanted, found) {
        (Value::Map(wanted), Some(Value::Map(found))) if !wanted.is_empty() => {
            map_within(wanted, found, place, way)
        }
        (Value::Seq(wanted), Some(Value::Seq(found))) if !wanted.is_empty() => {
            match way == Way::Strategic && place.is_claims() {
                true => items_within_plainly(wanted, found),
                false => items_within(wanted, found, place, way),
            }
        }
        (wanted, None) if place.leaves_out(wanted) => true,
        (wanted, Some(found)) if place.leaves_out(wanted) => place.leaves_out(found),
        // A merge patch cannot set to null, so that it is passed over.
        (Value::Null, _) => way == Way::Merge,
        (_, None) => false,
        (Value::Map(wanted), Some(Value::Map(found))) => map_within(wanted, found, place, way),
        (Value::Seq(wanted), Some(Value::Seq(found))) => wanted.is_empty() && found.is_empty(),
        (wanted, Some(found)) => scalar_within(wanted, found, place.ty),
    }
}

fn map_within(wanted: &Map, found: &Map, place: Place<'_>, way: Way) -> bool {
    let whole = match way {
        Way::Merge => false,
        Way::Apply => place.ty.is_atomic(),
        // Only the fields of structs say how they are merged.
        Way::Strategic => match place.field {
            Some(field) => field.merge().replace,
            None => !place.parent.is_untyped(),
        },
    };
    if whole {
        return wanted == found;
    }
    let retain = way == Way::Strategic && place.field.is_some_and(|field| field.merge().retain_keys);
    (!retain || retained(wanted, found, place.ty)) && fields_within(wanted, found, place.ty, way)
}

/// Whether nothing is lost by a patch that names the keys that stay. What the server fills in again is not lost.
fn retained(wanted: &Map, found: &Map, ty: TypeRef<'_>) -> bool {
    let filled_in = |key: &Str, value: &Value| {
        ty.name() == "DeploymentStrategy"
            && key == "rollingUpdate"
            && value.as_map().is_some_and(|map| {
                map.len() == 2
                    && ["maxSurge", "maxUnavailable"]
                        .iter()
                        .all(|name| map.get(name).and_then(Value::as_str) == Some("25%"))
            })
    };
    found
        .iter()
        .all(|(key, value)| wanted.get(key).is_some_and(|wanted| !wanted.is_null()) || filled_in(key, value))
}

fn items_within(wanted: &[Value], found: &[Value], place: Place<'_>, way: Way) -> bool {
    let keys = match (way, place.field) {
        (Way::Merge, _) => return items_within_plainly(wanted, found),
        (Way::Apply, _) => match place.ty.list_type() {
            ListType::Map(keys) => Keys::Several(keys),
            ListType::Atomic | ListType::Set => Keys::None,
        },
        (_, Some(field)) if field.merge().merge => field.merge().key.as_deref().map_or(Keys::None, Keys::One),
        _ => Keys::None,
    };
    let Some(item) = place.ty.item().filter(|_| !keys.is_none()) else { return wanted == found };
    let retain = way == Way::Strategic && place.field.is_some_and(|field| field.merge().retain_keys);
    wanted.len() == found.len()
        && wanted.len() <= limits::HURRIED_ITEMS
        && wanted.iter().zip(found).enumerate().all(|(at, (new, old))| {
            let (Value::Map(new), Value::Map(old)) = (new, old) else { return false };
            keys.tell_apart(new, &wanted[..at])
                && keys.are_in(old, way)
                && (!retain || retained(new, old, item))
                && fields_within(new, old, item, way)
        })
}

/// What tells the items of a list apart.
enum Keys<'k> {
    None,
    One(&'k str),
    Several(&'k [Str]),
}

impl Keys<'_> {
    fn is_none(&self) -> bool {
        matches!(self, Keys::None)
    }

    fn all(&self, mut holds: impl FnMut(&str) -> bool) -> bool {
        match self {
            Keys::None => true,
            Keys::One(key) => holds(key),
            Keys::Several(keys) => keys.iter().all(|key| holds(key)),
        }
    }

    /// Whether an item has its own keys, which no item before it has.
    fn tell_apart(&self, item: &Map, before: &[Value]) -> bool {
        let has = |key: &str| item.get(key).is_some_and(|value| !value.is_null());
        // A key that is left out has its default on the server's side, which is for the full comparison to find.
        let named = match self {
            Keys::Several(keys) => keys.iter().any(|key| has(key)),
            _ => self.all(has),
        };
        named && !before.iter().any(|other| self.all(|key| other.get(key) == item.get(key)))
    }

    fn are_in(&self, item: &Map, way: Way) -> bool {
        way == Way::Apply || self.all(|key| item.contains(key))
    }
}

/// Items by their place, each with at least what is wanted: what others added to them is not compared.
fn items_within_plainly(wanted: &[Value], found: &[Value]) -> bool {
    fn within(wanted: &Value, found: &Value) -> bool {
        match (wanted, found) {
            (Value::Map(wanted), Value::Map(found)) => {
                wanted.iter().all(|(key, wanted)| found.get(key).is_some_and(|found| within(wanted, found)))
            }
            (Value::Seq(wanted), Value::Seq(found)) => items_within_plainly(wanted, found),
            (wanted, found) => wanted == found,
        }
    }
    wanted.len() == found.len() && wanted.iter().zip(found).all(|(wanted, found)| within(wanted, found))
}

fn scalar_within(wanted: &Value, found: &Value, ty: TypeRef<'_>) -> bool {
    let Shape::Scalar(scalar) = ty.shape() else { return wanted == found && ty.is_untyped() };
    if !fits(scalar, wanted) {
        return false;
    }
    wanted == found || scalar == Scalar::Quantity && same_quantity(wanted, found)
}

/// Whether a value can be read as what the type has there; if not, the whole object is compared as it is written.
fn fits(scalar: Scalar, value: &Value) -> bool {
    match scalar {
        Scalar::String | Scalar::Bytes | Scalar::Time | Scalar::MicroTime | Scalar::Duration => {
            matches!(value, Value::Str(_))
        }
        Scalar::Bool => matches!(value, Value::Bool(_)),
        Scalar::Int32 | Scalar::Int64 => matches!(value, Value::Int(_)),
        Scalar::Float64 => matches!(value, Value::Int(_) | Value::Float(_)),
        Scalar::IntOrString => matches!(value, Value::Int(_) | Value::Str(_)),
        Scalar::Quantity => matches!(value, Value::Int(_) | Value::Float(_) | Value::Str(_)),
        _ => true,
    }
}

fn same_quantity(a: &Value, b: &Value) -> bool {
    let (Value::Str(a), Value::Str(b)) = (a, b) else { return false };
    match (Quantity::wire_text(a.trim()), Quantity::wire_text(b.trim())) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Whether everything that we own by an apply is still desired. The two are known to be alike by now, item by item.
fn owns_nothing_else(desired: &Object, live: &Object) -> bool {
    let entries = live.value().items_at(&["metadata", "managedFields"]).iter();
    let mut ours = entries.filter(|entry| {
        let word = |field: &str| entry.str_at(&[field]).unwrap_or_default();
        word("manager") == FIELD_MANAGER && word("operation") == "Apply" && word("subresource").is_empty()
    });
    ours.all(|entry| match entry.get("fieldsV1") {
        None => true,
        Some(fields) => is_desired(fields, desired.value(), live.value()),
    })
}

fn is_desired(fields: &Value, desired: &Value, live: &Value) -> bool {
    let Value::Map(fields) = fields else { return false };
    fields.iter().all(|(name, below)| {
        let Some((sort, name)) = name.split_once(':') else { return name == "." };
        let next = match (sort, desired, live) {
            ("f", Value::Map(desired), Value::Map(live)) => desired.get(name).zip(live.get(name)),
            ("k", Value::Seq(desired), Value::Seq(live)) => {
                let has = |item: &Value| item.as_map().is_some_and(|item| json::covers(name, item));
                live.iter().position(has).and_then(|at| desired.get(at).zip(live.get(at)))
            }
            ("v", Value::Seq(desired), _) => {
                desired.iter().find(|item| json::says(name, item)).map(|item| (item, item))
            }
            _ => None,
        };
        next.is_some_and(|(desired, live)| below.is_empty() || is_desired(below, desired, live))
    })
}
