//! A value as a source of data for `serde`.

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use super::TypedError;
use crate::path::Segment;
use crate::value::{Str, Value};

/// An error on its way up; each level adds the step that led to it.
#[derive(Debug)]
pub(super) struct ReadError {
    problem: String,
    /// The steps to the field, the last one first.
    steps: Vec<Segment>,
}

impl ReadError {
    pub(super) fn into_typed(self) -> TypedError {
        TypedError { path: self.steps.into_iter().rev().collect(), problem: self.problem }
    }

    fn below(mut self, step: Segment) -> Self {
        self.steps.push(step);
        self
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: std::fmt::Display>(problem: T) -> Self {
        ReadError { problem: problem.to_string(), steps: Vec::new() }
    }

    /// The text of the value is left out: it may be a secret.
    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = match found {
            Unexpected::Bool(_) => "a boolean",
            Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
            Unexpected::Float(_) => "a number",
            Unexpected::Str(_) | Unexpected::Char(_) => "a string",
            Unexpected::Unit | Unexpected::Option => "null",
            Unexpected::Seq => "a list",
            Unexpected::Map => "a map",
            _ => "something else",
        };
        ReadError::custom(format_args!("expected {expected}, found {found}"))
    }

    fn invalid_value(_found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        ReadError::custom(format_args!("the value is not {expected}"))
    }
}

/// A value that is being read.
pub(super) struct Reader<'v> {
    value: &'v Value,
}

impl<'v> Reader<'v> {
    pub(super) fn new(value: &'v Value) -> Self {
        Reader { value }
    }

    fn wrong_type(&self, expected: &dyn de::Expected) -> ReadError {
        let found = match self.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(bool) => Unexpected::Bool(*bool),
            Value::Int(int) => Unexpected::Signed(*int),
            Value::Float(float) => Unexpected::Float(*float),
            Value::Str(text) => Unexpected::Str(text),
            Value::Seq(_) => Unexpected::Seq,
            Value::Map(_) => Unexpected::Map,
        };
        de::Error::invalid_type(found, expected)
    }
}

impl<'v> Deserializer<'v> for Reader<'v> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(bool) => visitor.visit_bool(*bool),
            Value::Int(int) => visitor.visit_i64(*int),
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Str(text) => visitor.visit_borrowed_str(text),
            Value::Seq(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Map(map) => visitor.visit_map(Fields { fields: map.iter(), pending: None }),
        }
    }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'v>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'v>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Str(name) => visitor.visit_enum(Variant { name, content: None }),
            Value::Map(map) if map.len() == 1 => match map.iter().next() {
                Some((name, content)) => visitor.visit_enum(Variant { name, content: Some(content) }),
                None => Err(self.wrong_type(&visitor)),
            },
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    /// An integer may be asked for where a number without a fraction stands.
    fn deserialize_i64<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value.as_int() {
            Some(int) => visitor.visit_i64(int),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_i32<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u32<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u64<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'v>>
        bool i8 i16 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier
    }
}

struct Items<'v> {
    items: &'v [Value],
    next: usize,
}

impl<'v> SeqAccess<'v> for Items<'v> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(Reader::new(item)).map(Some).map_err(|error| error.below(Segment::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Fields<'v, I> {
    fields: I,
    pending: Option<(&'v Str, &'v Value)>,
}

impl<'v, I: Iterator<Item = (&'v Str, &'v Value)>> MapAccess<'v> for Fields<'v, I> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'v>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.pending = self.fields.next();
        let Some((key, _)) = self.pending else { return Ok(None) };
        let read = seed.deserialize(BorrowedStrDeserializer::<ReadError>::new(key));
        read.map(Some).map_err(|error| error.below(Segment::Field(key.clone())))
    }

    fn next_value_seed<T: DeserializeSeed<'v>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let Some((key, value)) = self.pending.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(Reader::new(value)).map_err(|error| error.below(Segment::Field(key.clone())))
    }
}

struct Variant<'v> {
    name: &'v Str,
    content: Option<&'v Value>,
}

impl<'v> EnumAccess<'v> for Variant<'v> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'v>>(self, seed: T) -> Result<(T::Value, Self), ReadError> {
        let name: StrDeserializer<'_, ReadError> = self.name.as_str().into_deserializer();
        let variant = seed.deserialize(name)?;
        Ok((variant, self))
    }
}

impl<'v> VariantAccess<'v> for Variant<'v> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(content) => Err(Reader::new(content).wrong_type(&"nothing")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'v>>(self, seed: T) -> Result<T::Value, ReadError> {
        static NULL: Value = Value::Null;
        let step = Segment::Field(self.name.clone());
        seed.deserialize(Reader::new(self.content.unwrap_or(&NULL))).map_err(|error| error.below(step))
    }

    fn tuple_variant<V: Visitor<'v>>(self, _len: usize, visitor: V) -> Result<V::Value, ReadError> {
        match self.content {
            Some(content) => Reader::new(content).deserialize_any(visitor),
            None => Err(de::Error::invalid_type(Unexpected::Unit, &visitor)),
        }
    }

    fn struct_variant<V: Visitor<'v>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.tuple_variant(0, visitor)
    }
}
