//! The types of CEL expressions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use lynceus_object::Str;

use super::parse::RESERVED;
use crate::crd::ListType;

/// The type of an expression or of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    /// Known only when the expression runs.
    Dyn,
    /// `null_type`
    Null,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `uint`
    Uint,
    /// `double`
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// A point in time.
    Timestamp,
    /// A span of time.
    Duration,
    /// The type of a type.
    Type,
    /// A list.
    List(Arc<ListTy>),
    /// A map.
    Map(Arc<(Ty, Ty)>),
    /// A map whose fields are known.
    Object(Arc<ObjectTy>),
    /// A value that may be absent.
    Optional(Arc<Ty>),
    /// A type of a function library, by name.
    Opaque(&'static str),
}

/// What is known of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListTy {
    /// The type of its items.
    pub item: Ty,
    /// How items are told apart, which decides what is equal and what `+` does.
    pub list: ListType,
}

/// What is known of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectTy {
    /// Field names as expressions write them, with the name in the object and the type.
    pub fields: BTreeMap<Str, (Str, Ty)>,
}

impl Ty {
    /// A plain list.
    pub fn list(item: Ty) -> Ty {
        Ty::List(Arc::new(ListTy { item, list: ListType::Atomic }))
    }

    /// A map.
    pub fn map(key: Ty, value: Ty) -> Ty {
        Ty::Map(Arc::new((key, value)))
    }

    /// A value that may be absent.
    pub fn optional(of: Ty) -> Ty {
        Ty::Optional(Arc::new(of))
    }

    /// Whether a value of the type `self` may stand where `wanted` is asked for.
    pub fn fits(&self, wanted: &Ty) -> bool {
        match (self, wanted) {
            (Ty::Dyn, _) | (_, Ty::Dyn) => true,
            (Ty::Null, Ty::Object(_) | Ty::Timestamp | Ty::Duration | Ty::Opaque(_) | Ty::Optional(_)) => {
                true
            }
            (Ty::List(a), Ty::List(b)) => a.item.fits(&b.item),
            (Ty::Map(a), Ty::Map(b)) => a.0.fits(&b.0) && a.1.fits(&b.1),
            (Ty::Optional(a), Ty::Optional(b)) => a.fits(b),
            (Ty::Object(a), Ty::Object(b)) => Arc::ptr_eq(a, b) || a == b,
            (a, b) => a == b,
        }
    }

    /// The type that holds both, [`Ty::Dyn`] if there is none narrower.
    pub fn join(&self, other: &Ty) -> Ty {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Ty::Null, b) if self.fits(b) => b.clone(),
            (a, Ty::Null) if other.fits(a) => a.clone(),
            (a, b) if a.fits(b) && !matches!(b, Ty::Dyn) && !matches!(a, Ty::Dyn) => b.clone(),
            _ => Ty::Dyn,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ty::Dyn => "dyn",
            Ty::Null => "null",
            Ty::Bool => "bool",
            Ty::Int => "int",
            Ty::Uint => "uint",
            Ty::Double => "double",
            Ty::String => "string",
            Ty::Bytes => "bytes",
            Ty::Timestamp => "timestamp",
            Ty::Duration => "duration",
            Ty::Type => "type",
            Ty::Object(_) => "object",
            Ty::Opaque(name) => name,
            Ty::List(list) => return write!(f, "list({})", list.item),
            Ty::Map(map) => return write!(f, "map({}, {})", map.0, map.1),
            Ty::Optional(of) => return write!(f, "optional_type({of})"),
        })
    }
}

/// Words of the language that are no names of variables either.
const LITERALS: [&str; 4] = ["true", "false", "null", "in"];

/// Whether a field's name is a word of the language.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || LITERALS.contains(&name)
}

/// A field name as an expression has to write it, if it can be written at all.
pub fn escape(name: &str) -> Option<Str> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(ecow::eco_format!("__{name}__"));
    }
    let mut out = Str::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (text, taken) = match c {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            c if c.is_ascii_alphanumeric() || c == '_' => (&rest[..1], 1),
            _ => return None,
        };
        out.push_str(text);
        rest = &rest[taken..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_rules_write_them() {
        for (name, escaped) in [
            ("replicas", Some("replicas")),
            ("namespace", Some("__namespace__")),
            ("x-prop", Some("x__dash__prop")),
            ("redact__d", Some("redact__underscores__d")),
            ("a.b/c", Some("a__dot__b__slash__c")),
            ("1a", None),
            ("é", None),
        ] {
            assert_eq!(escape(name).as_deref(), escaped);
        }
    }
}
