//! Values together with their types: which parts of an object are one thing, and how two are compared.

mod alike;
mod compare;
mod list;
mod members;
mod merge;
mod reconcile;
mod remove;
mod validate;

pub(super) use alike::{Alike, is_alike};
pub(super) use compare::{Comparison, compare};
pub(super) use members::members;
pub(super) use merge::merge;
pub(super) use reconcile::reconcile;
pub(super) use remove::remove;
pub(super) use validate::{fits, validate};

use crate::schema::{ListType, Scalar, Shape, TypeRef};
use crate::value::Value;

/// What a value is to server-side apply.
#[derive(Clone, Copy)]
enum Atom<'s> {
    Scalar,
    List(TypeRef<'s>, &'s ListType),
    Map,
}

impl Atom<'_> {
    fn is_same_sort(self, other: Atom<'_>) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// What a value of this type is; where the type leaves it open, the value decides.
fn atom<'s>(ty: TypeRef<'s>, value: Option<&Value>) -> Atom<'s> {
    static ATOMIC: ListType = ListType::Atomic;
    match ty.shape() {
        Shape::List(item, list) => Atom::List(item, list),
        Shape::Map(_) | Shape::Struct => Atom::Map,
        Shape::Scalar(kind) if !is_open(kind) => Atom::Scalar,
        Shape::Scalar(_) | Shape::Any => match value {
            Some(Value::Seq(_)) => Atom::List(TypeRef::untyped(), &ATOMIC),
            Some(Value::Map(_) | Value::Null) | None => Atom::Map,
            Some(_) => Atom::Scalar,
        },
    }
}

/// Types that take more than one sort of JSON.
fn is_open(kind: Scalar) -> bool {
    matches!(
        kind,
        Scalar::IntOrString
            | Scalar::Quantity
            | Scalar::Raw
            | Scalar::Fields
            | Scalar::Json
            | Scalar::SchemaOrArray
            | Scalar::SchemaOrBool
            | Scalar::SchemaOrStrings
    )
}

/// The type of what stands under a key of a map.
fn child<'s>(ty: TypeRef<'s>, key: &str) -> TypeRef<'s> {
    ty.child(key).unwrap_or_else(TypeRef::untyped)
}

/// Whether the key is a field that the type names.
fn is_named(ty: TypeRef<'_>, key: &str) -> bool {
    ty.field(key).is_some()
}

/// Whether a map is one thing that is owned and replaced whole. Objects of an unknown kind are.
fn is_whole(ty: TypeRef<'_>) -> bool {
    ty.is_atomic() || matches!(ty.shape(), Shape::Scalar(Scalar::Raw))
}
