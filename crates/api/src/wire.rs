//! How a struct becomes JSON: written once, used for reading, writing and the schema.
//!
//! Go's encoder decides what stands on the wire, and `serde`'s derive cannot say the same in few words:
//! `omitempty` drops empty strings, lists and maps, `false` and `0`, but never a struct; `null` leaves a
//! field as it is; unknown fields have to survive. The macro [`wire!`] says all of it in one word per field.

use std::collections::BTreeMap;

use lynceus_object::{Str, Value, value};

use crate::word::{Open, Word};

/// A type that stands in a field of a wire struct.
pub(crate) trait Wire: Default {
    /// Whether Go's `omitempty` leaves the field out.
    fn is_zero(&self) -> bool;

    /// The structural schema; `docs` says whether descriptions are wanted.
    fn schema(docs: bool) -> Value;
}

macro_rules! scalar {
    ($ty:ty, $schema:tt, |$this:ident| $zero:expr) => {
        impl Wire for $ty {
            fn is_zero(&self) -> bool {
                let $this = self;
                $zero
            }

            fn schema(_: bool) -> Value {
                value!($schema)
            }
        }
    };
}

scalar!(Str, {"type": "string"}, |s| s.is_empty());
scalar!(bool, {"type": "boolean"}, |b| !*b);
scalar!(i64, {"type": "integer", "format": "int64"}, |i| *i == 0);

impl<T: Wire> Wire for Option<T> {
    fn is_zero(&self) -> bool {
        self.is_none()
    }

    fn schema(docs: bool) -> Value {
        T::schema(docs)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    fn schema(docs: bool) -> Value {
        with(value!({"type": "array"}), "items", T::schema(docs))
    }
}

impl<T: Wire> Wire for BTreeMap<Str, T> {
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    fn schema(docs: bool) -> Value {
        with(value!({"type": "object"}), "additionalProperties", T::schema(docs))
    }
}

impl<T: Word> Wire for Open<T> {
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    fn schema(_: bool) -> Value {
        let mut schema = value!({"type": "string"});
        if T::CLOSED {
            schema.set(&["enum"], T::ALL.iter().map(|word| word.as_str()).collect::<Value>());
        }
        schema
    }
}

/// Adds a part to a schema. Writing it inside `value!` would copy it at every level.
fn with(mut schema: Value, field: &str, part: Value) -> Value {
    schema.set(&[field], part);
    schema
}

/// Sets a property of a struct's schema, with its description and further constraints.
pub(crate) fn property(schema: &mut Value, name: &str, mut of: Value, docs: Option<&[&str]>, more: Value) {
    if let Some(docs) = docs {
        of.set(&["description"], sentence(docs));
    }
    if let Value::Map(more) = more {
        of.as_map_or_insert().extend(more);
    }
    schema.set(&["properties", name], of);
}

/// The lines of a doc comment as one line.
pub(crate) fn sentence(docs: &[&str]) -> String {
    docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Defines a struct as it stands on the wire.
///
/// Before each field stands when it is written, and behind it its JSON name:
/// `required` and `always` fields are always written, and the schema insists on the former;
/// `optional` fields are left out when empty, as `omitempty` does; `nonzero` ones when they equal
/// their default, as `omitzero` does. `=> {…}` adds constraints to the schema.
macro_rules! wire {
    (@written required $value:expr) => { true };
    (@written always $value:expr) => { true };
    (@written optional $value:expr) => { !$crate::wire::Wire::is_zero($value) };
    (@written nonzero $value:expr) => { *$value != Default::default() };
    (@insisted required) => { true };
    (@insisted $other:ident) => { false };
    (@more) => { lynceus_object::Value::Null };
    (@more $more:tt) => { lynceus_object::value!($more) };
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident $(=> $constraint:tt)? {
            $(
                $(#[doc = $field_doc:literal])+
                $when:ident $field:ident: $ty:ty = $json:literal $(=> $more:tt)?,
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[doc = $field_doc])+ pub $field: $ty,)*
            /// Fields that are not known here, kept as they came.
            pub extra: lynceus_object::Map,
        }

        impl $name {
            /// The names of its fields on the wire, in their order.
            pub const FIELDS: [&'static str; <[&str]>::len(&[$($json),*])] = [$($json),*];
        }

        impl $crate::wire::Wire for $name {
            fn is_zero(&self) -> bool {
                false
            }

            #[allow(unused_mut, reason = "a struct may have no required field")]
            fn schema(docs: bool) -> lynceus_object::Value {
                let mut schema = lynceus_object::value!({"type": "object", "properties": {}});
                let mut required: Vec<&str> = Vec::new();
                $(
                    $crate::wire::property(
                        &mut schema,
                        $json,
                        <$ty as $crate::wire::Wire>::schema(docs),
                        docs.then_some(&[$($field_doc),+]),
                        $crate::wire::wire!(@more $($more)?),
                    );
                    if $crate::wire::wire!(@insisted $when) {
                        required.push($json);
                    }
                )*
                if !required.is_empty() {
                    required.sort_unstable();
                    schema.set(&["required"], required);
                }
                if let lynceus_object::Value::Map(more) = $crate::wire::wire!(@more $($constraint)?) {
                    schema.as_map_or_insert().extend(more);
                }
                schema
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $(
                    if $crate::wire::wire!(@written $when &self.$field) {
                        map.serialize_entry($json, &self.$field)?;
                    }
                )*
                for (key, value) in self.extra.iter() {
                    map.serialize_entry(key.as_str(), value)?;
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;

                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut out = $name::default();
                        while let Some(key) = map.next_key::<lynceus_object::Str>()? {
                            match key.as_str() {
                                $($json => {
                                    if let Some(value) = $crate::wire::field(&mut map, $json)? {
                                        out.$field = value;
                                    }
                                })*
                                _ => {
                                    out.extra.insert(key, map.next_value::<lynceus_object::Value>()?);
                                }
                            }
                        }
                        Ok(out)
                    }
                }

                deserializer.deserialize_map(Fields)
            }
        }
    };
}
pub(crate) use wire;

/// Reads a field's value; `null` is no value, and an error says in which field it is.
pub(crate) fn field<'de, T, A>(map: &mut A, name: &str) -> Result<Option<T>, A::Error>
where
    T: serde::Deserialize<'de>,
    A: serde::de::MapAccess<'de>,
{
    use serde::de::Error;
    map.next_value::<Option<T>>().map_err(|error| A::Error::custom(format_args!("{name}: {error}")))
}
