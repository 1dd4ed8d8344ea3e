//! A value as a place where `serde` puts data.

use serde::ser::{self, Serialize, Serializer};

use super::TypedError;
use crate::map::Map;
use crate::path::Segment;
use crate::value::{Seq, Str, Value};

/// An error on its way up; each level adds the step that led to it.
#[derive(Debug)]
pub(super) struct WriteError {
    problem: String,
    /// The steps to the field, the last one first.
    steps: Vec<Segment>,
}

impl WriteError {
    pub(super) fn into_typed(self) -> TypedError {
        TypedError { path: self.steps.into_iter().rev().collect(), problem: self.problem }
    }

    fn below(mut self, step: Segment) -> Self {
        self.steps.push(step);
        self
    }
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for WriteError {}

impl ser::Error for WriteError {
    fn custom<T: std::fmt::Display>(problem: T) -> Self {
        WriteError { problem: problem.to_string(), steps: Vec::new() }
    }
}

/// Makes a value of whatever is written to it.
pub(super) struct Writer;

type Written = Result<Value, WriteError>;

impl Serializer for Writer {
    type Ok = Value;
    type Error = WriteError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Wrapped<Items>;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Wrapped<Fields>;

    fn serialize_bool(self, value: bool) -> Written {
        Ok(Value::Bool(value))
    }

    fn serialize_i8(self, value: i8) -> Written {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i16(self, value: i16) -> Written {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i32(self, value: i32) -> Written {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i64(self, value: i64) -> Written {
        Ok(Value::Int(value))
    }

    fn serialize_u8(self, value: u8) -> Written {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Written {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u32(self, value: u32) -> Written {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u64(self, value: u64) -> Written {
        Ok(value.into())
    }

    fn serialize_f32(self, value: f32) -> Written {
        Ok(Value::Float(value.into()))
    }

    fn serialize_f64(self, value: f64) -> Written {
        Ok(Value::Float(value))
    }

    fn serialize_char(self, value: char) -> Written {
        Ok(Value::Str(value.into()))
    }

    fn serialize_str(self, value: &str) -> Written {
        Ok(Value::Str(value.into()))
    }

    /// Bytes are base64 in JSON, as Go writes them.
    fn serialize_bytes(self, value: &[u8]) -> Written {
        use base64::Engine as _;
        Ok(base64::engine::general_purpose::STANDARD.encode(value).into())
    }

    fn serialize_none(self) -> Written {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Written {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Written {
        Ok(Value::Str(variant.into()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        let value = value.serialize(Writer).map_err(|error| error.below(Segment::Field(variant.into())))?;
        Ok(wrap(variant, value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items, WriteError> {
        Ok(Items(Seq::with_capacity(len.unwrap_or(0))))
    }

    fn serialize_tuple(self, len: usize) -> Result<Items, WriteError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Items, WriteError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Wrapped<Items>, WriteError> {
        Ok(Wrapped { variant, inner: self.serialize_seq(Some(len))? })
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Fields, WriteError> {
        Ok(Fields { fields: Vec::with_capacity(len.unwrap_or(0)), key: None })
    }

    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<Fields, WriteError> {
        self.serialize_map(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Wrapped<Fields>, WriteError> {
        Ok(Wrapped { variant, inner: self.serialize_map(Some(len))? })
    }
}

fn wrap(variant: &str, value: Value) -> Value {
    Value::Map(Map::from_iter([(variant, value)]))
}

/// A list that is being written.
pub(super) struct Items(Seq);

impl Items {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        let index = self.0.len();
        let value = value.serialize(Writer).map_err(|error| error.below(Segment::Index(index)))?;
        self.0.push(value);
        Ok(())
    }
}

/// A map that is being written.
pub(super) struct Fields {
    fields: Vec<(Str, Value)>,
    key: Option<Str>,
}

impl Fields {
    fn add<T: Serialize + ?Sized>(&mut self, key: Str, value: &T) -> Result<(), WriteError> {
        let value = value.serialize(Writer).map_err(|error| error.below(Segment::Field(key.clone())))?;
        self.fields.push((key, value));
        Ok(())
    }

    fn into_value(self) -> Value {
        Value::Map(self.fields.into_iter().collect())
    }
}

/// The content of an enum's variant that is being written.
pub(super) struct Wrapped<T> {
    variant: &'static str,
    inner: T,
}

impl ser::SerializeSeq for Items {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.add(value)
    }

    fn end(self) -> Written {
        Ok(Value::Seq(self.0))
    }
}

impl ser::SerializeTuple for Items {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.add(value)
    }

    fn end(self) -> Written {
        Ok(Value::Seq(self.0))
    }
}

impl ser::SerializeTupleStruct for Items {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.add(value)
    }

    fn end(self) -> Written {
        Ok(Value::Seq(self.0))
    }
}

impl ser::SerializeTupleVariant for Wrapped<Items> {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.inner.add(value)
    }

    fn end(self) -> Written {
        Ok(wrap(self.variant, Value::Seq(self.inner.0)))
    }
}

impl ser::SerializeMap for Fields {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.key = Some(match key.serialize(Writer)? {
            Value::Str(key) => key,
            Value::Int(key) => ecow::eco_format!("{key}"),
            Value::Bool(key) => ecow::eco_format!("{key}"),
            _ => return Err(ser::Error::custom("a key has to be a string")),
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        match self.key.take() {
            Some(key) => self.add(key, value),
            None => Err(ser::Error::custom("a value was written before its key")),
        }
    }

    fn end(self) -> Written {
        Ok(self.into_value())
    }
}

impl ser::SerializeStruct for Fields {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.add(key.into(), value)
    }

    fn end(self) -> Written {
        Ok(self.into_value())
    }
}

impl ser::SerializeStructVariant for Wrapped<Fields> {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.inner.add(key.into(), value)
    }

    fn end(self) -> Written {
        Ok(wrap(self.variant, self.inner.into_value()))
    }
}
