//! The values that expressions work on.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_object::{Map, Quantity, Str, Value};

use super::authz::{Answer, Asking, DECISION, Question};
use super::semver::Semver;
use super::types::{ObjectTy, Ty};
use super::url::Url;
use crate::crd::ListType;

/// A value. Objects and maps that come from a resource are read as they are, field by field.
#[derive(Clone, Debug)]
pub enum Val {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(Str),
    /// `bytes`
    Bytes(Arc<[u8]>),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time in nanoseconds.
    Duration(i64),
    /// A list.
    List(Arc<[Val]>, ListType),
    /// A map that an expression made.
    Map(Arc<[(Val, Val)]>),
    /// A map of a resource, with the type of its values.
    Fields(Map, Ty),
    /// An object of a resource.
    Object(Map, Arc<ObjectTy>),
    /// The name of a type.
    Type(Str),
    /// A value that may be absent.
    Optional(Option<Arc<Val>>),
    /// `quantity()`
    Quantity(Quantity),
    /// `url()`
    Url(Arc<Url>),
    /// `ip()`
    Ip(IpAddr),
    /// `cidr()`
    Cidr(IpAddr, u8),
    /// `semver()`
    Semver(Arc<Semver>),
    /// `format.named()`
    Format(&'static str),
    /// `authorizer` and what is asked with it
    Question(Asking, Arc<Question>),
    /// `check()`
    Answer(Arc<Answer>),
}

impl Val {
    /// A list that is one value.
    pub fn list(items: impl IntoIterator<Item = Val>) -> Val {
        Val::List(items.into_iter().collect(), ListType::Atomic)
    }

    /// A string.
    pub fn text(text: impl Into<Str>) -> Val {
        Val::String(text.into())
    }

    /// Reads a resource's value as a type asks for it.
    pub fn lift(value: &Value, ty: &Ty) -> Val {
        match (value, ty) {
            (Value::Null, _) => Val::Null,
            (Value::Bool(b), _) => Val::Bool(*b),
            (Value::Int(i), Ty::Double) => Val::Double(*i as f64),
            (Value::Int(i), _) => Val::Int(*i),
            (Value::Float(f), Ty::Int) if f.fract() == 0.0 => Val::Int(*f as i64),
            (Value::Float(f), _) => Val::Double(*f),
            (Value::Str(text), Ty::Timestamp) => {
                super::time::timestamp(text).map_or_else(|| Val::String(text.clone()), Val::Timestamp)
            }
            (Value::Str(text), Ty::Duration) => {
                crate::crd::go_duration(text).map_or_else(|| Val::String(text.clone()), Val::Duration)
            }
            (Value::Str(text), Ty::Bytes) => {
                use base64::Engine;
                let decoded = base64::engine::general_purpose::STANDARD.decode(text.as_str());
                decoded.map_or_else(|_| Val::String(text.clone()), |bytes| Val::Bytes(bytes.into()))
            }
            (Value::Str(text), _) => Val::String(text.clone()),
            (Value::Seq(items), Ty::List(list)) => {
                Val::List(items.iter().map(|item| Val::lift(item, &list.item)).collect(), list.list.clone())
            }
            (Value::Seq(items), _) => Val::list(items.iter().map(|item| Val::lift(item, &Ty::Dyn))),
            (Value::Map(map), Ty::Object(object)) => Val::Object(map.clone(), object.clone()),
            (Value::Map(map), Ty::Map(types)) => Val::Fields(map.clone(), types.1.clone()),
            (Value::Map(map), _) => Val::Fields(map.clone(), Ty::Dyn),
        }
    }

    /// The name that `type()` gives.
    pub fn type_name(&self) -> &'static str {
        match self {
            Val::Null => "null_type",
            Val::Bool(_) => "bool",
            Val::Int(_) => "int",
            Val::Uint(_) => "uint",
            Val::Double(_) => "double",
            Val::String(_) => "string",
            Val::Bytes(_) => "bytes",
            Val::Timestamp(_) => "google.protobuf.Timestamp",
            Val::Duration(_) => "google.protobuf.Duration",
            Val::List(..) => "list",
            Val::Map(_) | Val::Fields(..) => "map",
            Val::Object(..) => "object",
            Val::Type(_) => "type",
            Val::Optional(_) => "optional_type",
            Val::Quantity(_) => "kubernetes.Quantity",
            Val::Url(_) => "kubernetes.URL",
            Val::Ip(_) => "net.IP",
            Val::Cidr(..) => "net.CIDR",
            Val::Semver(_) => "kubernetes.Semver",
            Val::Format(_) => "kubernetes.NamedFormat",
            Val::Question(asking, _) => asking.type_name(),
            Val::Answer(_) => DECISION,
        }
    }

    /// The name of the type in the original's own code, which its messages show.
    pub(super) fn go_name(&self) -> &'static str {
        match self {
            Val::Null => "types.Null",
            Val::Bool(_) => "types.Bool",
            Val::Int(_) => "types.Int",
            Val::Uint(_) => "types.Uint",
            Val::Double(_) => "types.Double",
            Val::String(_) => "types.String",
            Val::Bytes(_) => "types.Bytes",
            Val::Timestamp(_) => "types.Timestamp",
            Val::Duration(_) => "types.Duration",
            Val::Optional(_) => "*types.Optional",
            other => other.type_name(),
        }
    }

    /// The entries of a map, in key order for those of a resource.
    pub(super) fn entries(&self) -> Option<Vec<(Val, Val)>> {
        match self {
            Val::Map(entries) => Some(entries.to_vec()),
            Val::Fields(map, ty) => Some(
                map.iter().map(|(key, value)| (Val::String(key.clone()), Val::lift(value, ty))).collect(),
            ),
            _ => None,
        }
    }

    /// The value of a key, in a map.
    pub(super) fn key(&self, key: &Val) -> Option<Val> {
        match (self, key) {
            (Val::Fields(map, ty), Val::String(name)) => map.get(name).map(|value| Val::lift(value, ty)),
            (Val::Map(entries), key) => {
                entries.iter().find(|(candidate, _)| candidate.equals(key)).map(|(_, value)| value.clone())
            }
            _ => None,
        }
    }

    /// A field by the name that expressions use.
    pub(super) fn field(&self, name: &Str) -> Option<Val> {
        match self {
            Val::Object(map, ty) => {
                let (json, field_ty) = ty.fields.get(name)?;
                map.get(json).map(|value| Val::lift(value, field_ty))
            }
            Val::Fields(..) | Val::Map(_) => self.key(&Val::String(name.clone())),
            _ => None,
        }
    }

    /// Equality as expressions see it: numbers of different types by value, `set` and `map` lists
    /// without order.
    pub fn equals(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Null, Val::Null) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::String(a), Val::String(b)) | (Val::Type(a), Val::Type(b)) => a == b,
            (Val::Bytes(a), Val::Bytes(b)) => a == b,
            (Val::Timestamp(a), Val::Timestamp(b)) => a == b,
            (Val::Duration(a), Val::Duration(b)) => a == b,
            (Val::Int(_) | Val::Uint(_) | Val::Double(_), Val::Int(_) | Val::Uint(_) | Val::Double(_)) => {
                self.compare(other) == Some(Ordering::Equal)
            }
            (Val::List(a, kind), Val::List(b, other_kind)) => {
                a.len() == b.len()
                    && match (kind, other_kind) {
                        (ListType::Atomic, _) | (_, ListType::Atomic) => {
                            a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
                        }
                        _ => a.iter().all(|item| b.iter().any(|candidate| candidate.equals(item))),
                    }
            }
            (Val::Object(a, ty), Val::Object(b, _)) => same_fields(a, b, |name| {
                ty.fields.values().find(|(json, _)| json == name).map_or(Ty::Dyn, |(_, ty)| ty.clone())
            }),
            (Val::Object(a, _), Val::Fields(b, ty))
            | (Val::Fields(a, ty), Val::Object(b, _) | Val::Fields(b, _)) => {
                same_fields(a, b, |_| ty.clone())
            }
            (Val::Map(_) | Val::Fields(..), Val::Map(_) | Val::Fields(..)) => {
                let (Some(a), Some(b)) = (self.entries(), other.entries()) else { return false };
                a.len() == b.len()
                    && a.iter().all(|(key, value)| other.key(key).is_some_and(|v| v.equals(value)))
            }
            (Val::Optional(a), Val::Optional(b)) => match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) => a.equals(b),
                _ => false,
            },
            (Val::Quantity(a), Val::Quantity(b)) => a == b,
            (Val::Url(a), Val::Url(b)) => a == b,
            (Val::Ip(a), Val::Ip(b)) => a == b,
            (Val::Cidr(a, n), Val::Cidr(b, m)) => a == b && n == m,
            (Val::Semver(a), Val::Semver(b)) => a == b,
            (Val::Format(a), Val::Format(b)) => a == b,
            _ => false,
        }
    }

    /// Order, where there is one.
    pub fn compare(&self, other: &Val) -> Option<Ordering> {
        match (self, other) {
            (Val::Bool(a), Val::Bool(b)) => Some(a.cmp(b)),
            (Val::Int(a), Val::Int(b)) => Some(a.cmp(b)),
            (Val::Uint(a), Val::Uint(b)) => Some(a.cmp(b)),
            (Val::Int(a), Val::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
            (Val::Uint(a), Val::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
            (Val::Double(a), Val::Double(b)) => a.partial_cmp(b),
            (Val::Double(a), Val::Int(b)) => a.partial_cmp(&(*b as f64)),
            (Val::Int(a), Val::Double(b)) => (*a as f64).partial_cmp(b),
            (Val::Double(a), Val::Uint(b)) => a.partial_cmp(&(*b as f64)),
            (Val::Uint(a), Val::Double(b)) => (*a as f64).partial_cmp(b),
            (Val::String(a), Val::String(b)) => Some(a.as_str().cmp(b.as_str())),
            (Val::Bytes(a), Val::Bytes(b)) => Some(a.cmp(b)),
            (Val::Timestamp(a), Val::Timestamp(b)) => Some(a.cmp(b)),
            (Val::Duration(a), Val::Duration(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// The value as a resource would hold it, where it can.
    pub fn to_value(&self) -> Option<Value> {
        Some(match self {
            Val::Null => Value::Null,
            Val::Bool(b) => Value::Bool(*b),
            Val::Int(i) => Value::Int(*i),
            Val::Uint(u) => Value::from(*u),
            Val::Double(d) => Value::Float(*d),
            Val::String(text) => Value::Str(text.clone()),
            Val::List(items, _) => Value::Seq(items.iter().map(Val::to_value).collect::<Option<_>>()?),
            Val::Fields(map, _) | Val::Object(map, _) => Value::Map(map.clone()),
            Val::Map(entries) => {
                let fields: Option<Vec<(Str, Value)>> = entries
                    .iter()
                    .map(|(key, value)| match key {
                        Val::String(name) => Some((name.clone(), value.to_value()?)),
                        _ => None,
                    })
                    .collect();
                Value::Map(fields?.into_iter().collect())
            }
            _ => return None,
        })
    }
}

fn same_fields(a: &Map, b: &Map, ty: impl Fn(&Str) -> Ty) -> bool {
    a.len() == b.len()
        && a.iter().all(|(name, value)| {
            let ty = ty(name);
            b.get(name).is_some_and(|other| Val::lift(value, &ty).equals(&Val::lift(other, &ty)))
        })
}
