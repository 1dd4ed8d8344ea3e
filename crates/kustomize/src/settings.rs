//! Reading configuration the way Go reads JSON into structs: a missing or `null` field is the empty value, names of
//! fields may differ in case, and what is of another type is an error.

use lynceus_object::{Str, Value};

use crate::error::KustomizeError;
use crate::fieldspec::FieldSpec;
use crate::id::Kind;

/// The field of a name; one that differs in case is taken if there is no other.
pub(crate) fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let map = value.as_map()?;
    let other_case = || map.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    map.get(name).or_else(other_case)
}

/// A text; empty if there is none.
pub(crate) fn text(value: &Value, name: &str) -> Result<Str, KustomizeError> {
    match field(value, name) {
        None | Some(Value::Null) => Ok(Str::new()),
        Some(Value::Str(text)) => Ok(text.clone()),
        Some(other) => Err(wrong_type(name, other, "string")),
    }
}

/// A list of texts; empty if there is none.
pub(crate) fn texts(value: &Value, name: &str) -> Result<Vec<Str>, KustomizeError> {
    let item = |item: &Value| match item {
        Value::Null => Ok(Str::new()),
        Value::Str(text) => Ok(text.clone()),
        other => Err(wrong_type(name, other, "string")),
    };
    list(value, name)?.iter().map(item).collect()
}

/// A truth value; false if there is none.
pub(crate) fn flag(value: &Value, name: &str) -> Result<bool, KustomizeError> {
    match field(value, name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(wrong_type(name, other, "bool")),
    }
}

/// A whole number; 0 if there is none.
pub(crate) fn int(value: &Value, name: &str) -> Result<i64, KustomizeError> {
    match field(value, name) {
        None | Some(Value::Null) => Ok(0),
        Some(Value::Int(number)) => Ok(*number),
        Some(other) => Err(wrong_type(name, other, "int64")),
    }
}

/// A list; empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], KustomizeError> {
    match field(value, name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Seq(items)) => Ok(items),
        Some(other) => Err(wrong_type(name, other, "list")),
    }
}

/// Texts by name, in the order of the names; empty if there are none.
pub(crate) fn text_map(value: &Value, name: &str) -> Result<Vec<(Str, Str)>, KustomizeError> {
    let fields = match field(value, name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Map(map)) => map,
        Some(other) => return Err(wrong_type(name, other, "map[string]string")),
    };
    let pair = |(key, value): (&Str, &Value)| match value {
        Value::Null => Ok((key.clone(), Str::new())),
        Value::Str(text) => Ok((key.clone(), text.clone())),
        other => Err(wrong_type(&format!("{name}.{key}"), other, "string")),
    };
    fields.iter().map(pair).collect()
}

/// A kind that is written in the three fields `group`, `version` and `kind`.
pub(crate) fn kind(value: &Value) -> Result<Kind, KustomizeError> {
    Ok(Kind { group: text(value, "group")?, version: text(value, "version")?, kind: text(value, "kind")? })
}

/// A list of field specs; empty if there is none.
pub(crate) fn field_specs(value: &Value, name: &str) -> Result<Vec<FieldSpec>, KustomizeError> {
    list(value, name)?.iter().map(|item| field_spec(item, name)).collect()
}

fn field_spec(value: &Value, name: &str) -> Result<FieldSpec, KustomizeError> {
    if !matches!(value, Value::Null | Value::Map(_)) {
        return Err(wrong_type(name, value, "FieldSpec"));
    }
    Ok(FieldSpec { kind: kind(value)?, path: text(value, "path")?, create: flag(value, "create")? })
}

/// Says so if a map has a field of another name than these.
pub(crate) fn only(value: &Value, names: &[&str]) -> Result<(), KustomizeError> {
    let Some(map) = value.as_map() else { return Ok(()) };
    match map.keys().find(|key| !names.iter().any(|name| name.eq_ignore_ascii_case(key))) {
        Some(unknown) => Err(KustomizeError::new(format!("unknown field {unknown:?}"))
            .hint(format!("the fields are {}", names.join(", ")))),
        None => Ok(()),
    }
}

fn wrong_type(name: &str, value: &Value, wanted: &str) -> KustomizeError {
    KustomizeError::new(format!("cannot unmarshal {} into field {name} of type {wanted}", value.type_name()))
}
