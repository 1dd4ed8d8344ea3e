//! What a template leads to.

use std::borrow::Cow;

use super::error::FindError;
use crate::json;
use crate::patch::go;
use crate::value::Value;

/// A value of the object, or one that the template makes itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    /// The current value of a range over nothing, or over a null.
    Absent,
    /// A value of the object.
    Value(&'a Value),
    /// Text of the template.
    Text(&'a [u8]),
    /// A number of the template.
    Int(i64),
    /// A number of the template with a fraction.
    Float(f64),
    /// A truth value of the template.
    Bool(bool),
    /// One byte of a string: the children of a string are its bytes.
    Byte(u8),
}

impl<'a> Found<'a> {
    /// This as a value of its own.
    pub fn to_value(self) -> Value {
        match self {
            Found::Absent => Value::Null,
            Found::Value(value) => value.clone(),
            Found::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
            Found::Int(int) => int.into(),
            Found::Float(float) => float.into(),
            Found::Bool(set) => set.into(),
            Found::Byte(byte) => i64::from(byte).into(),
        }
    }

    /// Prints this: text bare, lists and maps as JSON, numbers in Go's form.
    pub(super) fn print(self, out: &mut Vec<u8>) {
        let text = match self {
            Found::Absent => "<no value>".into(),
            Found::Text(text) => return out.extend_from_slice(text),
            Found::Value(Value::Str(text)) => Cow::Borrowed(text.as_str()),
            Found::Value(value @ (Value::Seq(_) | Value::Map(_))) => json::go_string(value).into(),
            Found::Value(Value::Null) => "null".into(),
            Found::Value(value) => go::printed(value).into(),
            Found::Int(int) => int.to_string().into(),
            Found::Float(float) => go::float(float).into(),
            Found::Bool(set) => set.to_string().into(),
            Found::Byte(byte) => byte.to_string().into(),
        };
        out.extend_from_slice(text.as_bytes());
    }

    /// The items, if this is a list; `None` for a null, which has none.
    pub(super) fn items(self) -> Result<Option<&'a [Value]>, FindError> {
        match self {
            Found::Value(Value::Seq(items)) => Ok(Some(items)),
            Found::Value(Value::Null) => Ok(None),
            other => Err(FindError::NotAList(other.type_name())),
        }
    }

    /// The items that a filter looks at.
    pub(super) fn filterable(self) -> Result<&'a [Value], FindError> {
        let shown = match self {
            Found::Value(Value::Seq(items)) => return Ok(items),
            Found::Value(value) => go::printed(value),
            Found::Absent => "<invalid reflect.Value>".to_owned(),
            other => {
                let mut out = Vec::new();
                other.print(&mut out);
                String::from_utf8_lossy(&out).into_owned()
            }
        };
        Err(FindError::NotFilterable(shown))
    }

    /// What is in a map, a list or a string.
    pub(super) fn children(self) -> Box<dyn DoubleEndedIterator<Item = Found<'a>> + 'a> {
        match self {
            Found::Value(Value::Map(map)) => Box::new(map.iter().map(|(_, value)| Found::Value(value))),
            Found::Value(Value::Seq(items)) => Box::new(items.iter().map(Found::Value)),
            Found::Value(Value::Str(text)) => Box::new(text.bytes().map(Found::Byte)),
            Found::Text(text) => Box::new(text.iter().copied().map(Found::Byte)),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// The name of the Go type that the original has this in.
    fn type_name(self) -> &'static str {
        match self {
            Found::Absent => "nothing",
            Found::Value(value) => go::type_name(value),
            Found::Text(_) => "string",
            Found::Int(_) => "int",
            Found::Float(_) => "float64",
            Found::Bool(_) => "bool",
            Found::Byte(_) => "uint8",
        }
    }
}
