//! Reading the files of `configurations`, the way Go reads JSON into structs: a missing or `null` field is the empty
//! value, names of fields may differ in case, a number or truth value where a text belongs is taken as text, and what
//! is of another type otherwise, or of an unknown name, is an error.

use lynceus_object::yaml::{self, Options};
use lynceus_object::{Str, Value};

use crate::config::NameReference;
use crate::error::KustomizeError;
use crate::fieldspec::FieldSpec;
use crate::id::Kind;
use crate::scalar;

const KIND: [&str; 3] = ["group", "version", "kind"];

/// A file of `configurations`.
pub(crate) struct ConfigFile(Value);

impl ConfigFile {
    /// Reads a file whose lists have these names.
    pub(crate) fn read(file: &[u8], names: &[&str]) -> Result<Self, KustomizeError> {
        let value = yaml::parse_with(file, &Options::default().strict())
            .map_err(|error| KustomizeError::new(error.to_string()))?;
        check(&value, names)?;
        Ok(ConfigFile(value))
    }

    /// The field specs of a list.
    pub(crate) fn field_specs(&self, name: &str) -> Result<Vec<FieldSpec>, KustomizeError> {
        field_specs(&self.0, name)
    }

    /// The name references of a list.
    pub(crate) fn name_references(&self, name: &str) -> Result<Vec<NameReference>, KustomizeError> {
        let reference = |value: &Value| {
            check(value, &[&KIND[..], &["fieldSpecs"]].concat())?;
            Ok(NameReference { target: kind(value)?, referrers: field_specs(value, "fieldSpecs")? })
        };
        list(&self.0, name)?.iter().map(reference).collect()
    }
}

fn field_specs(value: &Value, name: &str) -> Result<Vec<FieldSpec>, KustomizeError> {
    let spec = |value: &Value| {
        check(value, &[&KIND[..], &["path", "create"]].concat())?;
        Ok(FieldSpec { kind: kind(value)?, path: text(value, "path")?, create: flag(value, "create")? })
    };
    list(value, name)?.iter().map(spec).collect()
}

/// The kind of a field. Its parts lie in a structure inside of the one that is read, where Kustomize takes no number for
/// a text.
fn kind(value: &Value) -> Result<Kind, KustomizeError> {
    let part = |name: &str| match field(value, name) {
        Some(other @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => {
            Err(wrong_type(name, other, "string"))
        }
        _ => text(value, name),
    };
    let [group, version, kind] = KIND;
    Ok(Kind { group: part(group)?, version: part(version)?, kind: part(kind)? })
}

/// The field of a name; one that differs in case is taken if there is no other.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let map = value.as_map()?;
    let other_case = || map.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    map.get(name).or_else(other_case)
}

fn text(value: &Value, name: &str) -> Result<Str, KustomizeError> {
    let Some(value) = field(value, name) else { return Ok(Str::new()) };
    match value {
        Value::Str(text) => Ok(text.clone()),
        Value::Float(number) => Ok(scalar::float_text(*number).into()),
        other => match scalar::text(other) {
            Some(text) => Ok(text.into()),
            None => Err(wrong_type(name, other, "string")),
        },
    }
}

fn flag(value: &Value, name: &str) -> Result<bool, KustomizeError> {
    match field(value, name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(wrong_type(name, other, "bool")),
    }
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], KustomizeError> {
    match field(value, name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Seq(items)) => Ok(items),
        Some(other) => Err(wrong_type(name, other, "list")),
    }
}

/// Says so if a value is no map, or has a field of another name than these.
fn check(value: &Value, names: &[&str]) -> Result<(), KustomizeError> {
    let map = match value {
        Value::Null => return Ok(()),
        Value::Map(map) => map,
        other => return Err(wrong_type("configurations", other, "map")),
    };
    match map.keys().find(|key| !names.iter().any(|name| name.eq_ignore_ascii_case(key))) {
        Some(unknown) => Err(KustomizeError::new(format!("unknown field {:?}", unknown.as_str()))
            .hint(format!("the fields are {}", names.join(", ")))),
        None => Ok(()),
    }
}

fn wrong_type(name: &str, value: &Value, wanted: &str) -> KustomizeError {
    KustomizeError::new(format!("cannot unmarshal {} into field {name} of type {wanted}", value.type_name()))
}
