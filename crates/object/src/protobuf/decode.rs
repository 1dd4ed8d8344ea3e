//! Bytes to objects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use super::wire::{Piece, Reader};
use super::{CONTENT_TYPE, MAGIC, ProtobufError};
use crate::limits::PROTOBUF_DEPTH;
use crate::map::Map;
use crate::object::Object;
use crate::schema::{Field, Scalar, Shape, TypeRef, Wire, builtin, drop_empty, fill_zero, scalar};
use crate::value::{Str, Value};

/// Reads an object that names its kind. It comes out as Go prints it in JSON.
pub fn decode(bytes: &[u8]) -> Result<Object, ProtobufError> {
    decode_as(bytes, "", "")
}

/// Reads an object; `api_version` and `kind` are what it is if the envelope does not say.
pub fn decode_as(bytes: &[u8], api_version: &str, kind: &str) -> Result<Object, ProtobufError> {
    let envelope = Envelope::read(bytes)?;
    let or = |found: Str, default: &str| if found.is_empty() { default.into() } else { found };
    let (api_version, kind) = (or(envelope.api_version, api_version), or(envelope.kind, kind));
    let value = if matches!(envelope.content_type, "" | CONTENT_TYPE) {
        let ty = builtin().of_manifest(&api_version, &kind).ok_or_else(|| ProtobufError::Kind {
            api_version: api_version.to_string(),
            kind: kind.to_string(),
        })?;
        whole(envelope.raw, ty)?
    } else {
        json(envelope.raw, "raw")?
    };
    let mut object = Object::new(value).map_err(|_| ProtobufError::Text { field: "raw".to_owned() })?;
    object.set(&["apiVersion"], api_version);
    object.set(&["kind"], kind);
    Ok(object)
}

/// Reads a message by its type. What Go holds by value and the bytes do not have is not made up.
pub fn decode_message(bytes: &[u8], ty: TypeRef<'_>) -> Result<Value, ProtobufError> {
    let mut map = Map::new();
    message(bytes, ty, &mut map, 0)?;
    Ok(Value::Map(map))
}

/// What stands around an object and says what it is.
struct Envelope<'b> {
    api_version: Str,
    kind: Str,
    raw: &'b [u8],
    content_type: &'b str,
}

impl<'b> Envelope<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, ProtobufError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(ProtobufError::Magic)?;
        let mut envelope = Envelope { api_version: Str::new(), kind: Str::new(), raw: &[], content_type: "" };
        let mut reader = Reader::new(rest);
        while let Some((number, piece)) = reader.next()? {
            match (number, piece) {
                (1, Piece::Bytes(meta)) => {
                    let mut meta = Reader::new(meta);
                    while let Some((number, piece)) = meta.next()? {
                        match (number, piece) {
                            (1, Piece::Bytes(text)) => {
                                envelope.api_version = utf8(text, "apiVersion")?.into()
                            }
                            (2, Piece::Bytes(text)) => envelope.kind = utf8(text, "kind")?.into(),
                            _ => {}
                        }
                    }
                }
                (2, Piece::Bytes(raw)) => envelope.raw = raw,
                (4, Piece::Bytes(text)) => envelope.content_type = utf8(text, "contentType")?,
                _ => {}
            }
        }
        Ok(envelope)
    }
}

fn whole(bytes: &[u8], ty: TypeRef<'_>) -> Result<Value, ProtobufError> {
    let mut map = Map::new();
    message(bytes, ty, &mut map, 0)?;
    let mut value = Value::Map(map);
    drop_empty(&mut value, ty);
    fill_zero(&mut value, ty);
    Ok(value)
}

/// Reads the fields of a struct into `map`, where those of embedded structs end up too.
fn message(bytes: &[u8], ty: TypeRef<'_>, map: &mut Map, depth: usize) -> Result<(), ProtobufError> {
    if depth > PROTOBUF_DEPTH {
        return Err(ProtobufError::Depth);
    }
    let Some(definition) = ty.definition() else { return Ok(()) };
    let mut reader = Reader::new(bytes);
    while let Some((number, piece)) = reader.next()? {
        // A field that this version does not know is not an error.
        let Ok(at) = definition.wire.binary_search_by_key(&number, |(number, _)| *number) else { continue };
        match &definition.wire[at].1 {
            Wire::Embedded(id) => {
                let Piece::Bytes(inner) = piece else { return Err(unexpected(&piece, ty.name())) };
                message(inner, ty.sibling(*id), map, depth + 1)?;
            }
            Wire::Field(index) => {
                if let Some(field) = ty.field_at(*index) {
                    read_field(&piece, field, map, depth)?;
                }
            }
        }
    }
    Ok(())
}

fn read_field(piece: &Piece<'_>, field: Field<'_>, map: &mut Map, depth: usize) -> Result<(), ProtobufError> {
    let (ty, name) = (field.ty(), field.name());
    match (ty.shape(), piece) {
        (Shape::List(inner, _), Piece::Bytes(bytes)) if ty.is_wrapped() => {
            map.insert(name, wrapped(bytes, inner, name, depth)?);
        }
        (Shape::List(inner, _), piece) => {
            let items = map.entry(name).as_seq_or_insert();
            match (piece, packed(inner)) {
                // Numbers may also come in one run.
                (Piece::Bytes(bytes), true) => {
                    let mut reader = Reader::new(bytes);
                    while !reader.is_done() {
                        items.push(item(&Piece::Varint(reader.varint()?), inner, name, depth)?);
                    }
                }
                _ => items.push(item(piece, inner, name, depth)?),
            }
        }
        (Shape::Map(inner), Piece::Bytes(bytes)) => {
            let (key, value) = entry(bytes, inner, name, depth)?;
            map.entry(name).as_map_or_insert().insert(key, value);
        }
        (Shape::Struct, Piece::Bytes(bytes)) => {
            // A message that comes in parts is merged.
            message(bytes, ty, map.entry(name).as_map_or_insert(), depth + 1)?;
        }
        _ => drop(map.insert(name, item(piece, ty, name, depth)?)),
    }
    Ok(())
}

fn packed(ty: TypeRef<'_>) -> bool {
    matches!(ty.shape(), Shape::Scalar(Scalar::Bool | Scalar::Int32 | Scalar::Int64))
}

fn wrapped(bytes: &[u8], ty: TypeRef<'_>, name: &str, depth: usize) -> Result<Value, ProtobufError> {
    let mut items = Vec::new();
    let mut reader = Reader::new(bytes);
    while let Some((number, piece)) = reader.next()? {
        if number == 1 {
            items.push(item(&piece, ty, name, depth + 1)?);
        }
    }
    Ok(items.into())
}

fn entry(bytes: &[u8], ty: TypeRef<'_>, name: &str, depth: usize) -> Result<(Str, Value), ProtobufError> {
    let mut key = Str::new();
    let mut value = None;
    let mut reader = Reader::new(bytes);
    while let Some((number, piece)) = reader.next()? {
        match (number, &piece) {
            (1, Piece::Bytes(text)) => key = utf8(text, name)?.into(),
            (2, Piece::Bytes(bytes)) if ty.is_wrapped() => {
                value = ty.item().map(|inner| wrapped(bytes, inner, name, depth)).transpose()?;
            }
            (2, _) => value = Some(item(&piece, ty, name, depth)?),
            _ => {}
        }
    }
    Ok((key, value.unwrap_or_else(|| crate::schema::zero(ty))))
}

fn item(piece: &Piece<'_>, ty: TypeRef<'_>, name: &str, depth: usize) -> Result<Value, ProtobufError> {
    let Shape::Scalar(kind) = ty.shape() else {
        let Piece::Bytes(bytes) = piece else { return Err(unexpected(piece, name)) };
        let mut map = Map::new();
        message(bytes, ty, &mut map, depth + 1)?;
        return Ok(Value::Map(map));
    };
    match (kind, piece) {
        (Scalar::String, Piece::Bytes(text)) => Ok(utf8(text, name)?.into()),
        (Scalar::Bytes, Piece::Bytes(bytes)) => Ok(STANDARD.encode(bytes).into()),
        (Scalar::Bool, Piece::Varint(number)) => Ok(Value::Bool(*number != 0)),
        (Scalar::Int32, Piece::Varint(number)) => Ok(Value::Int((*number as i32).into())),
        (Scalar::Int64, Piece::Varint(number)) => Ok(Value::Int(*number as i64)),
        (Scalar::Float64, Piece::Fixed64(bits)) => Ok(float(f64::from_bits(*bits))),
        (Scalar::String | Scalar::Bytes | Scalar::Bool, _) => Err(unexpected(piece, name)),
        (Scalar::Int32 | Scalar::Int64 | Scalar::Float64, _) => Err(unexpected(piece, name)),
        (_, Piece::Bytes(bytes)) => special(bytes, kind, name, depth + 1),
        _ => Err(unexpected(piece, name)),
    }
}

/// Numbers without a fraction are printed without one.
fn float(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 9.0e15 {
        true => Value::Int(number as i64),
        false => Value::Float(number),
    }
}

/// The types that are messages on the wire and something else in JSON.
fn special(bytes: &[u8], kind: Scalar, name: &str, depth: usize) -> Result<Value, ProtobufError> {
    if matches!(kind, Scalar::SchemaOrArray | Scalar::SchemaOrBool | Scalar::SchemaOrStrings) {
        return schema_or(bytes, kind, name, depth);
    }
    let mut numbers = [0_u64; 3];
    let mut content: &[u8] = &[];
    let mut reader = Reader::new(bytes);
    while let Some((number, piece)) = reader.next()? {
        match piece {
            Piece::Varint(value) => {
                if let Some(slot) = numbers.get_mut(number as usize) {
                    *slot = value;
                }
            }
            Piece::Bytes(bytes) => content = bytes,
            Piece::Fixed64(_) | Piece::Other(_) => {}
        }
    }
    let [_, first, second] = numbers;
    Ok(match kind {
        Scalar::Time | Scalar::MicroTime if bytes.is_empty() => Value::Null,
        Scalar::Time => scalar::print_time(time(first as i64, 0, name)?).into(),
        Scalar::MicroTime => scalar::print_micro_time(time(first as i64, second as i32, name)?).into(),
        Scalar::Duration => scalar::print_duration(first as i64).into(),
        Scalar::IntOrString if first == 1 => utf8(content, name)?.into(),
        Scalar::IntOrString => Value::Int((second as i32).into()),
        Scalar::Quantity => {
            let text = utf8(content, name)?;
            scalar::quantity_text(&text.into()).unwrap_or_else(|| text.into()).into()
        }
        _ if content.is_empty() => Value::Null,
        Scalar::Raw if content.starts_with(&MAGIC) => decode(content)?.into_value(),
        _ => json(content, name)?,
    })
}

fn schema_or(bytes: &[u8], kind: Scalar, name: &str, depth: usize) -> Result<Value, ProtobufError> {
    let Some(schema) = builtin().named("apiextensions/v1.JSONSchemaProps") else { return Ok(Value::Null) };
    let schema_number = if kind == Scalar::SchemaOrBool { 2 } else { 1 };
    let (mut found, mut list, mut allows) = (None, Vec::new(), false);
    let mut reader = Reader::new(bytes);
    while let Some((number, piece)) = reader.next()? {
        match piece {
            Piece::Bytes(_) if number == schema_number => found = Some(item(&piece, schema, name, depth)?),
            Piece::Bytes(text) if kind == Scalar::SchemaOrStrings => list.push(utf8(text, name)?.into()),
            Piece::Bytes(_) => list.push(item(&piece, schema, name, depth)?),
            Piece::Varint(number) => allows = number != 0,
            Piece::Fixed64(_) | Piece::Other(_) => {}
        }
    }
    let finished = |mut value: Value| {
        drop_empty(&mut value, schema);
        fill_zero(&mut value, schema);
        value
    };
    Ok(match (kind, found) {
        (Scalar::SchemaOrBool, None) => Value::Bool(allows),
        (_, Some(schema)) => finished(schema),
        (Scalar::SchemaOrArray, None) if !list.is_empty() => list.into_iter().map(finished).collect(),
        (_, None) if list.is_empty() => Value::Null,
        (_, None) => list.into(),
    })
}

fn time(seconds: i64, nanos: i32, name: &str) -> Result<Timestamp, ProtobufError> {
    Timestamp::new(seconds, nanos.clamp(0, 999_999_999))
        .map_err(|_| ProtobufError::Text { field: name.to_owned() })
}

fn utf8<'b>(bytes: &'b [u8], name: &str) -> Result<&'b str, ProtobufError> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufError::Text { field: name.to_owned() })
}

fn json(bytes: &[u8], name: &str) -> Result<Value, ProtobufError> {
    serde_json::from_slice(bytes).map_err(|_| ProtobufError::Text { field: name.to_owned() })
}

fn unexpected(piece: &Piece<'_>, name: &str) -> ProtobufError {
    ProtobufError::WireType { wire: piece.wire_type(), field: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::encode;
    use crate::value;

    fn round(value: Value) -> Value {
        let object = Object::new(value).expect("map");
        decode(&encode(&object).expect("encode")).expect("decode").into_value()
    }

    #[test]
    fn a_namespace_has_the_bytes_that_kubectl_sends() {
        let namespace = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "demo"},
            "spec": {}, "status": {}});
        let bytes = encode(&Object::new(namespace.clone()).expect("map")).expect("encode");
        let metadata = b"\n\x14\n\x04demo\x12\0\x1a\0\"\0*\x002\x008\0B\0";
        let expected = [
            b"k8s\0\n\x0f\n\x02v1\x12\tNamespace",
            b"\x12\x1c".as_slice(),
            metadata,
            b"\x12\0\x1a\x02\n\0",
            b"\x1a\0\"\0",
        ]
        .concat();
        assert_eq!(bytes, expected);
        assert_eq!(decode(&bytes).expect("decode").into_value(), namespace);
    }

    #[test]
    fn types_with_a_form_of_their_own_survive() {
        let pod = value!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"a": "b", "c": ""},
                "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}]},
            "spec": {
                "containers": [{"name": "c", "resources": {"limits": {"cpu": "500m"}},
                    "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 5},
                    "readinessProbe": {"httpGet": {"port": 80}}}],
                "volumes": [{"name": "v", "configMap": {"name": "cm", "defaultMode": 0}}],
                "terminationGracePeriodSeconds": 0,
            },
            "status": {"podIPs": [{"ip": "10.0.0.1"}]},
        });
        assert_eq!(round(pod.clone()), pod);
    }

    #[test]
    fn schemas_of_definitions_survive() {
        let definition = value!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "a.b.c"},
            "spec": {"group": "b.c", "names": {"plural": "a", "kind": "A"}, "scope": "Namespaced", "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "additionalProperties": {"type": "string", "default": "x"}},
                    "list": {"type": "array", "items": {"type": "integer", "maximum": 1.5, "minimum": 1}},
                    "free": {"type": "object", "additionalProperties": true},
                }}},
            }]},
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null},
        });
        assert_eq!(round(definition.clone()), definition);
    }

    #[test]
    fn broken_bytes_are_errors() {
        assert_eq!(decode(b"{}"), Err(ProtobufError::Magic));
        assert_eq!(decode(b"k8s\0\x12\x05a"), Err(ProtobufError::Truncated));
        assert_eq!(
            decode(b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
            Err(ProtobufError::Overflow)
        );
        let unknown = Object::new(value!({"apiVersion": "e.org/v1", "kind": "X"})).expect("map");
        assert!(matches!(encode(&unknown), Err(ProtobufError::Kind { .. })));
    }

    #[test]
    fn nesting_has_an_end() {
        // properties { value { properties { ... } } } of a schema
        let mut schema = Vec::new();
        for _ in 0..PROTOBUF_DEPTH + 10 {
            let mut writer = crate::protobuf::wire::Writer::default();
            writer.bytes_field(28, &schema);
            schema = writer.bytes;
        }
        let ty = builtin().named("apiextensions/v1.JSONSchemaProps").expect("schema");
        assert_eq!(message(&schema, ty, &mut Map::new(), 0), Err(ProtobufError::Depth));
    }
}
