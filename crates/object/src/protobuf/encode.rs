//! Objects to bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use super::wire::Writer;
use super::{MAGIC, ProtobufError};
use crate::object::Object;
use crate::schema::{Field, Scalar, Shape, TypeRef, Wire, builtin, scalar};
use crate::value::Value;

/// Writes an object of a built-in kind.
pub fn encode(object: &Object) -> Result<Vec<u8>, ProtobufError> {
    let (api_version, kind) = (object.api_version(), object.kind());
    let ty = builtin()
        .of_manifest(api_version, kind)
        .ok_or_else(|| ProtobufError::Kind { api_version: api_version.to_owned(), kind: kind.to_owned() })?;
    let mut out = Writer { bytes: MAGIC.to_vec() };
    out.message_field(1, |out| {
        out.bytes_field(1, api_version.as_bytes());
        out.bytes_field(2, kind.as_bytes());
        Ok::<(), ProtobufError>(())
    })?;
    out.message_field(2, |out| message(out, object.value(), ty))?;
    out.bytes_field(3, b"");
    out.bytes_field(4, b"");
    Ok(out.bytes)
}

/// Writes a message by its type, without anything around it.
pub fn encode_message(value: &Value, ty: TypeRef<'_>) -> Result<Vec<u8>, ProtobufError> {
    let mut out = Writer { bytes: Vec::new() };
    message(&mut out, value, ty)?;
    Ok(out.bytes)
}

/// Writes one event of a watch, with the length in front that frames it in the stream.
pub fn encode_watch_event(event: &str, object: &Object) -> Result<Vec<u8>, ProtobufError> {
    let object = encode(object)?;
    let mut out = Writer { bytes: vec![0; 4] };
    out.bytes_field(1, event.as_bytes());
    out.message_field(2, |out| {
        out.bytes_field(1, &object);
        Ok::<(), ProtobufError>(())
    })?;
    let length = u32::try_from(out.bytes.len() - 4).map_err(|_| ProtobufError::Overflow)?;
    out.bytes[..4].copy_from_slice(&length.to_be_bytes());
    Ok(out.bytes)
}

/// The fields of a struct, in the order of their numbers.
fn message(out: &mut Writer, value: &Value, ty: TypeRef<'_>) -> Result<(), ProtobufError> {
    let Some(definition) = ty.definition() else { return Ok(()) };
    for (number, wire) in &definition.wire {
        match wire {
            Wire::Field(index) => {
                if let Some(field) = ty.field_at(*index) {
                    field_of(out, *number, value.get(field.name()), field)?;
                }
            }
            // What identifies the kind is in the envelope.
            Wire::Embedded(_) if *number == 0 => {}
            Wire::Embedded(id) => {
                let inner = ty.sibling(*id);
                out.message_field(*number, |out| message(out, value, inner))?;
            }
        }
    }
    Ok(())
}

fn field_of(
    out: &mut Writer,
    number: u32,
    value: Option<&Value>,
    field: Field<'_>,
) -> Result<(), ProtobufError> {
    let (ty, name) = (field.ty(), field.name());
    match (value.filter(|value| !value.is_null()), ty.shape()) {
        (None, _) if field.is_pointer() => Ok(()),
        (None, Shape::List(..) | Shape::Map(_) | Shape::Any | Shape::Scalar(Scalar::Bytes)) => Ok(()),
        // Whatever Go holds by value is written, set or not.
        (None, _) => item(out, number, &Value::Null, ty, name),
        (Some(value), Shape::List(inner, _)) if ty.is_wrapped() => {
            out.message_field(number, |out| list(out, 1, value, inner, name))
        }
        (Some(value), Shape::List(inner, _)) => list(out, number, value, inner, name),
        (Some(value), Shape::Map(inner)) => {
            let map = value.as_map().ok_or_else(|| wrong(name, "map"))?;
            for (key, value) in map.iter() {
                out.message_field(number, |out| {
                    out.bytes_field(1, key.as_bytes());
                    entry(out, value, inner, name)
                })?;
            }
            Ok(())
        }
        (Some(value), _) => item(out, number, value, ty, name),
    }
}

/// The value of a map's entry.
fn entry(out: &mut Writer, value: &Value, ty: TypeRef<'_>, name: &str) -> Result<(), ProtobufError> {
    match ty.shape() {
        Shape::List(inner, _) if ty.is_wrapped() => {
            out.message_field(2, |out| list(out, 1, value, inner, name))
        }
        Shape::Scalar(Scalar::Bytes) if value.is_null() => Ok(()),
        _ => item(out, 2, value, ty, name),
    }
}

fn list(
    out: &mut Writer,
    number: u32,
    value: &Value,
    ty: TypeRef<'_>,
    name: &str,
) -> Result<(), ProtobufError> {
    if value.is_null() {
        return Ok(());
    }
    let items = value.as_seq().ok_or_else(|| wrong(name, "list"))?;
    items.iter().try_for_each(|value| item(out, number, value, ty, name))
}

/// One value under a number; `null` is the zero of its type.
fn item(
    out: &mut Writer,
    number: u32,
    value: &Value,
    ty: TypeRef<'_>,
    name: &str,
) -> Result<(), ProtobufError> {
    match ty.shape() {
        Shape::Struct => out.message_field(number, |out| message(out, value, ty)),
        Shape::Scalar(kind) => scalar_of(out, number, value, kind, name),
        Shape::Any | Shape::List(..) | Shape::Map(_) => Ok(()),
    }
}

fn scalar_of(
    out: &mut Writer,
    number: u32,
    value: &Value,
    kind: Scalar,
    name: &str,
) -> Result<(), ProtobufError> {
    match kind {
        Scalar::String => out.bytes_field(number, text(value, name)?.as_bytes()),
        Scalar::Bool => out.varint_field(number, boolean(value, name)?.into()),
        Scalar::Int32 | Scalar::Int64 => out.varint_field(number, integer(value, name)? as u64),
        Scalar::Float64 => {
            let float = if value.is_null() { Some(0.0) } else { value.as_float() };
            out.fixed64_field(number, float.ok_or_else(|| wrong(name, "number"))?.to_bits());
        }
        Scalar::Bytes => {
            let bytes = STANDARD.decode(text(value, name)?).map_err(|_| wrong(name, "base64 string"))?;
            out.bytes_field(number, &bytes);
        }
        _ => return out.message_field(number, |out| special(out, value, kind, name)),
    }
    Ok(())
}

/// The types that are messages on the wire and something else in JSON.
fn special(out: &mut Writer, value: &Value, kind: Scalar, name: &str) -> Result<(), ProtobufError> {
    match kind {
        Scalar::Time | Scalar::MicroTime => {
            if !text(value, name)?.is_empty() {
                let time = scalar::parse_time(text(value, name)?).ok_or_else(|| wrong(name, "time"))?;
                let nanos = if kind == Scalar::Time { 0 } else { micros(time) * 1_000 };
                out.varint_field(1, seconds(time) as u64);
                out.varint_field(2, nanos as u64);
            }
        }
        Scalar::Duration => {
            let text = text(value, name)?;
            let text = if text.is_empty() { "0" } else { text };
            let nanos = scalar::parse_duration(text).ok_or_else(|| wrong(name, "duration"))?;
            out.varint_field(1, nanos as u64);
        }
        Scalar::IntOrString => {
            let (kind, number, text) = match value {
                Value::Str(text) => (1, 0, text.as_str()),
                other => (0, integer(other, name)?, ""),
            };
            out.varint_field(1, kind);
            out.varint_field(2, number as u64);
            out.bytes_field(3, text.as_bytes());
        }
        Scalar::Quantity => {
            let text = scalar::quantity_text(value).ok_or_else(|| wrong(name, "quantity"))?;
            out.bytes_field(1, text.as_bytes());
        }
        Scalar::SchemaOrArray | Scalar::SchemaOrBool | Scalar::SchemaOrStrings => {
            return schema_or(out, value, kind, name);
        }
        _ if value.is_null() => {}
        _ => {
            let json = serde_json::to_vec(value).map_err(|_| wrong(name, "JSON value"))?;
            out.bytes_field(1, &json);
        }
    }
    Ok(())
}

fn schema_or(out: &mut Writer, value: &Value, kind: Scalar, name: &str) -> Result<(), ProtobufError> {
    let Some(schema) = builtin().named("apiextensions/v1.JSONSchemaProps") else { return Ok(()) };
    let number = if kind == Scalar::SchemaOrBool { 2 } else { 1 };
    match (kind, value) {
        (_, Value::Map(_)) => {
            // A schema stands for "yes", with conditions.
            if kind == Scalar::SchemaOrBool {
                out.varint_field(1, 1);
            }
            out.message_field(number, |out| message(out, value, schema))
        }
        (Scalar::SchemaOrBool, Value::Bool(allows)) => {
            out.varint_field(1, (*allows).into());
            Ok(())
        }
        (Scalar::SchemaOrArray, Value::Seq(_)) => list(out, 2, value, schema, name),
        (Scalar::SchemaOrStrings, Value::Seq(items)) => {
            for item in items {
                out.bytes_field(2, text(item, name)?.as_bytes());
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn seconds(time: Timestamp) -> i64 {
    time.as_nanosecond().div_euclid(1_000_000_000) as i64
}

fn micros(time: Timestamp) -> i64 {
    (time.as_nanosecond().rem_euclid(1_000_000_000) / 1_000) as i64
}

fn text<'v>(value: &'v Value, name: &str) -> Result<&'v str, ProtobufError> {
    match value {
        Value::Null => Ok(""),
        Value::Str(text) => Ok(text),
        _ => Err(wrong(name, "string")),
    }
}

fn boolean(value: &Value, name: &str) -> Result<bool, ProtobufError> {
    match value {
        Value::Null => Ok(false),
        other => other.as_bool().ok_or_else(|| wrong(name, "boolean")),
    }
}

fn integer(value: &Value, name: &str) -> Result<i64, ProtobufError> {
    match value {
        Value::Null => Ok(0),
        other => other.as_int().ok_or_else(|| wrong(name, "whole number")),
    }
}

fn wrong(field: &str, wanted: &'static str) -> ProtobufError {
    ProtobufError::Type { field: field.to_owned(), wanted }
}
