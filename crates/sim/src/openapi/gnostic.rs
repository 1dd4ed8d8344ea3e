//! The version 2 document in protobuf, as client libraries of Go ask for it.
//!
//! The messages are those of gnostic's `openapi.v2`: tables from the names of the JSON document to
//! field numbers. Where gnostic wraps a value in messages of its own, a table has the numbers on the
//! way to it. What our documents never say is left out.

use lynceus_object::{Map, Value, yaml};

/// A message: its fields by their name in JSON, each with the numbers that lead to it.
struct Message {
    fields: &'static [(&'static str, &'static [u32], Shape)],
    /// The field that keeps what begins with `x-`.
    extensions: u32,
}

/// How a value is written.
enum Shape {
    Text,
    Flag,
    Int,
    Double,
    /// Any value, as YAML.
    Any,
    Message(&'static Message),
    /// A map, as pairs in the field with this number; the numbers lead to the value within a pair.
    Pairs(u32, &'static [u32], &'static Message),
    /// A schema, or whether anything goes.
    SchemaOrFlag,
    /// A parameter, which is wrapped as its place demands.
    Parameter,
    /// What a caller has to present: names with lists of words.
    Requirement,
}

use Shape::{Any, Double, Flag, Int, Pairs, Parameter, Requirement, SchemaOrFlag, Text};

static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", &[1], Text),
        ("info", &[2], Shape::Message(&INFO)),
        ("paths", &[8], Pairs(2, &[], &PATH)),
        ("definitions", &[9], Pairs(1, &[], &SCHEMA)),
        ("security", &[12], Requirement),
        ("securityDefinitions", &[13], Pairs(1, &[2], &API_KEY)),
    ],
    extensions: 16,
};

static INFO: Message = Message { fields: &[("title", &[1], Text), ("version", &[2], Text)], extensions: 7 };

static API_KEY: Message = Message {
    fields: &[("type", &[1], Text), ("name", &[2], Text), ("in", &[3], Text), ("description", &[4], Text)],
    extensions: 5,
};

static PATH: Message = Message {
    fields: &[
        ("get", &[2], Shape::Message(&OPERATION)),
        ("put", &[3], Shape::Message(&OPERATION)),
        ("post", &[4], Shape::Message(&OPERATION)),
        ("delete", &[5], Shape::Message(&OPERATION)),
        ("options", &[6], Shape::Message(&OPERATION)),
        ("head", &[7], Shape::Message(&OPERATION)),
        ("patch", &[8], Shape::Message(&OPERATION)),
        ("parameters", &[9], Parameter),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        ("tags", &[1], Text),
        ("summary", &[2], Text),
        ("description", &[3], Text),
        ("operationId", &[5], Text),
        ("produces", &[6], Text),
        ("consumes", &[7], Text),
        ("parameters", &[8], Parameter),
        ("responses", &[9], Pairs(1, &[1], &RESPONSE)),
        ("schemes", &[10], Text),
        ("deprecated", &[11], Flag),
        ("security", &[12], Requirement),
    ],
    extensions: 13,
};

static RESPONSE: Message = Message {
    fields: &[("description", &[1], Text), ("schema", &[2, 1], Shape::Message(&SCHEMA))],
    extensions: 5,
};

static BODY: Message = Message {
    fields: &[
        ("description", &[1], Text),
        ("name", &[2], Text),
        ("in", &[3], Text),
        ("required", &[4], Flag),
        ("schema", &[5], Shape::Message(&SCHEMA)),
    ],
    extensions: 6,
};

static PATH_PARAMETER: Message = Message {
    fields: &[
        ("required", &[1], Flag),
        ("in", &[2], Text),
        ("description", &[3], Text),
        ("name", &[4], Text),
        ("type", &[5], Text),
        ("format", &[6], Text),
        ("default", &[9], Any),
        ("uniqueItems", &[19], Flag),
    ],
    extensions: 22,
};

static QUERY_PARAMETER: Message = Message {
    fields: &[
        ("required", &[1], Flag),
        ("in", &[2], Text),
        ("description", &[3], Text),
        ("name", &[4], Text),
        ("type", &[6], Text),
        ("format", &[7], Text),
        ("default", &[10], Any),
        ("uniqueItems", &[20], Flag),
    ],
    extensions: 23,
};

static SCHEMA: Message = Message {
    fields: &[
        ("$ref", &[1], Text),
        ("format", &[2], Text),
        ("title", &[3], Text),
        ("description", &[4], Text),
        ("default", &[5], Any),
        ("multipleOf", &[6], Double),
        ("maximum", &[7], Double),
        ("exclusiveMaximum", &[8], Flag),
        ("minimum", &[9], Double),
        ("exclusiveMinimum", &[10], Flag),
        ("maxLength", &[11], Int),
        ("minLength", &[12], Int),
        ("pattern", &[13], Text),
        ("maxItems", &[14], Int),
        ("minItems", &[15], Int),
        ("uniqueItems", &[16], Flag),
        ("maxProperties", &[17], Int),
        ("minProperties", &[18], Int),
        ("required", &[19], Text),
        ("enum", &[20], Any),
        ("additionalProperties", &[21], SchemaOrFlag),
        ("type", &[22, 1], Text),
        ("items", &[23, 1], Shape::Message(&SCHEMA)),
        ("allOf", &[24], Shape::Message(&SCHEMA)),
        ("properties", &[25], Pairs(1, &[], &SCHEMA)),
        ("example", &[30], Any),
    ],
    extensions: 31,
};

/// The document as bytes.
pub(super) fn encode(document: &Value) -> Vec<u8> {
    message(document, &DOCUMENT)
}

fn message(value: &Value, shape: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in value.as_map().into_iter().flat_map(Map::iter) {
        if let Some((_, way, shape)) = shape.fields.iter().find(|(known, ..)| *known == name) {
            field(&mut out, name, way, shape, value);
        } else if name.starts_with("x-") {
            pair(&mut out, shape.extensions, name, &any(value));
        }
    }
    out
}

/// Writes a field: several times if the value is a list, unless lists are what the field holds.
fn field(out: &mut Vec<u8>, name: &str, way: &[u32], shape: &Shape, value: &Value) {
    let repeats = !matches!(shape, Any) || name == "enum";
    match value {
        Value::Seq(items) if repeats => items.iter().for_each(|item| single(out, way, shape, item)),
        _ => single(out, way, shape, value),
    }
}

fn single(out: &mut Vec<u8>, way: &[u32], shape: &Shape, value: &Value) {
    match (shape, value) {
        (Text, Value::Str(text)) => wrapped(out, way, text.as_bytes()),
        (Flag, Value::Bool(flag)) => number(out, way, u64::from(*flag)),
        (Int, Value::Int(int)) => number(out, way, int.cast_unsigned()),
        (Double, Value::Int(int)) => double(out, way, *int as f64),
        (Double, Value::Float(float)) => double(out, way, *float),
        (Any, value) => wrapped(out, way, &any(value)),
        (Shape::Message(shape), value) => wrapped(out, way, &message(value, shape)),
        (Pairs(number, within, shape), Value::Map(map)) => {
            let mut pairs = Vec::new();
            for (name, value) in map.iter() {
                let mut content = Vec::new();
                match within {
                    [] => content = message(value, shape),
                    _ => wrapped(&mut content, within, &message(value, shape)),
                }
                pair(&mut pairs, *number, name, &content);
            }
            wrapped(out, way, &pairs);
        }
        (SchemaOrFlag, Value::Bool(flag)) => number(out, &[way, &[2]].concat(), u64::from(*flag)),
        (SchemaOrFlag, schema) => wrapped(out, &[way, &[1]].concat(), &message(schema, &SCHEMA)),
        (Parameter, parameter) => {
            let (place, shape): (&[u32], _) = match parameter.str_at(&["in"]) {
                Some("body") => (&[1, 1], &BODY),
                Some("path") => (&[1, 2, 4], &PATH_PARAMETER),
                _ => (&[1, 2, 3], &QUERY_PARAMETER),
            };
            wrapped(out, &[way, place].concat(), &message(parameter, shape));
        }
        (Requirement, Value::Map(map)) => {
            let mut pairs = Vec::new();
            for (name, words) in map.iter() {
                let mut list = Vec::new();
                field(&mut list, name, &[1], &Text, words);
                pair(&mut pairs, 1, name, &list);
            }
            wrapped(out, way, &pairs);
        }
        _ => {}
    }
}

/// A value that may be anything: a message that has it as YAML.
fn any(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    wrapped(&mut out, &[2], yaml::to_string(value).as_bytes());
    out
}

/// A name and what it stands for, in one field.
fn pair(out: &mut Vec<u8>, number: u32, name: &str, content: &[u8]) {
    let mut pair = Vec::new();
    wrapped(&mut pair, &[1], name.as_bytes());
    wrapped(&mut pair, &[2], content);
    wrapped(out, &[number], &pair);
}

/// Writes bytes into the field that the numbers lead to.
fn wrapped(out: &mut Vec<u8>, way: &[u32], content: &[u8]) {
    innermost(out, way, &|out, number| {
        varint(out, u64::from(number) << 3 | 2);
        varint(out, content.len() as u64);
        out.extend_from_slice(content);
    });
}

fn number(out: &mut Vec<u8>, way: &[u32], value: u64) {
    innermost(out, way, &|out, number| {
        varint(out, u64::from(number) << 3);
        varint(out, value);
    });
}

fn double(out: &mut Vec<u8>, way: &[u32], value: f64) {
    innermost(out, way, &|out, number| {
        varint(out, u64::from(number) << 3 | 1);
        out.extend_from_slice(&value.to_le_bytes());
    });
}

/// Lets the last field on the way be written, and the messages around it.
fn innermost(out: &mut Vec<u8>, way: &[u32], write: &dyn Fn(&mut Vec<u8>, u32)) {
    match way {
        [] => {}
        [number] => write(out, *number),
        [outer, rest @ ..] => {
            let mut inner = Vec::new();
            innermost(&mut inner, rest, write);
            wrapped(out, &[*outer], &inner);
        }
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    /// A message as text: numbers, and what they hold, in the manner of `protoc --decode_raw`.
    fn raw(mut bytes: &[u8]) -> Option<String> {
        let take = |bytes: &mut &[u8]| {
            let mut value = 0u64;
            for shift in (0..64).step_by(7) {
                let (first, rest) = bytes.split_first()?;
                *bytes = rest;
                value |= u64::from(first & 0x7f) << shift;
                if *first < 0x80 {
                    return Some(value);
                }
            }
            None
        };
        let mut out = Vec::new();
        while !bytes.is_empty() {
            let tag = take(&mut bytes)?;
            let number = tag >> 3;
            match tag & 7 {
                0 => out.push(format!("{number}:{}", take(&mut bytes)?)),
                1 => {
                    let (head, rest) = bytes.split_first_chunk()?;
                    bytes = rest;
                    out.push(format!("{number}:{:?}", f64::from_le_bytes(*head)));
                }
                2 => {
                    let length = usize::try_from(take(&mut bytes)?).ok()?;
                    let content = bytes.get(..length)?;
                    bytes = &bytes[length..];
                    let text = std::str::from_utf8(content).ok().filter(|text| {
                        !text.is_empty() && text.chars().all(|c| c == '\n' || !c.is_control())
                    });
                    out.push(match text {
                        Some(text) => format!("{number}:{text:?}"),
                        None => format!("{number}{{{}}}", raw(content)?),
                    });
                }
                _ => return None,
            }
        }
        Some(out.join(" "))
    }

    #[test]
    fn schemas_have_their_types_and_extensions() {
        let schema = value!({"type": "object", "required": ["a", "b"], "maximum": 1.5, "maxItems": 300,
            "x-kubernetes-list-map-keys": ["name"], "additionalProperties": {"type": "string"}, "unknown": 1});
        assert_eq!(
            raw(&message(&schema, &SCHEMA)).unwrap(),
            "21{1{22{1:\"string\"}}} 14:300 7:1.5 19:\"a\" 19:\"b\" 22{1:\"object\"} \
             31{1:\"x-kubernetes-list-map-keys\" 2{2:\"- name\\n\"}}"
        );
    }

    #[test]
    fn parameters_are_wrapped_as_their_place_demands() {
        let operation = value!({"parameters": [
            {"in": "path", "name": "p", "required": true}, {"in": "query", "name": "q"},
            {"in": "body", "name": "b", "schema": {"$ref": "#/definitions/x"}}],
            "responses": {"200": {"description": "OK"}}});
        assert_eq!(
            raw(&message(&operation, &OPERATION)).unwrap(),
            "8{1{2{4{2:\"path\" 4:\"p\" 1:1}}}} 8{1{2{3{2:\"query\" 4:\"q\"}}}} \
             8{1{1{3:\"body\" 2:\"b\" 5{1:\"#/definitions/x\"}}}} 9{1{1:\"200\" 2{1{1:\"OK\"}}}}"
        );
    }
}
