//! Parameters: what generators give and templates are filled with.

use std::collections::BTreeMap;

use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::types::{MAPS, STRING_MAP};
use lynceus_object::{Str, Value};

use crate::limits;

/// The parameters of one Application.
pub type Params = BTreeMap<Str, Param>;

/// One parameter, with the type that Argo CD gives it: Go templates can tell a list of texts from a list of anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that never was JSON, such as the id of a repository.
    Int(i64),
    /// Any number that was JSON or YAML.
    Float(f64),
    /// A text.
    Text(Str),
    /// A list of texts.
    Texts(Vec<Str>),
    /// A map of texts.
    TextMap(BTreeMap<Str, Str>),
    /// A list of anything.
    List(Vec<Param>),
    /// A list of sets of parameters.
    Maps(Vec<Params>),
    /// A map of anything.
    Map(Params),
}

impl Param {
    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&Str> {
        match self {
            Param::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What Go's `%v` prints; or why there is no text for it, which must not count as an empty one.
    pub(crate) fn printed(&self) -> Result<Str, String> {
        match self {
            Param::Text(text) => Ok(text.clone()),
            other => gotmpl::format::text(&other.to_template(), limits::TEXT_BYTES)
                .map(|text| text.as_str().into())
                .map_err(|_| format!("it has more than {} bytes as a text", limits::TEXT_BYTES)),
        }
    }

    /// The value for a Go template.
    pub(crate) fn to_template(&self) -> gotmpl::Value {
        match self {
            Param::Null => gotmpl::Value::Nil,
            Param::Bool(bool) => gotmpl::Value::Bool(*bool),
            Param::Int(int) => gotmpl::Value::int64(*int),
            Param::Float(float) => gotmpl::Value::Float(*float),
            Param::Text(text) => gotmpl::Value::Str(text.clone().into()),
            Param::Texts(texts) => gotmpl::Value::strings(texts.iter().cloned()),
            Param::TextMap(map) => gotmpl::Value::Map(gotmpl::Map::typed(&STRING_MAP, texts(map))),
            Param::List(items) => gotmpl::Value::list(items.iter().map(Param::to_template)),
            Param::Maps(items) if items.is_empty() => gotmpl::Value::List(gotmpl::List::nil(&MAPS)),
            Param::Maps(items) => {
                let items = items.iter().map(to_template).collect();
                gotmpl::Value::List(gotmpl::List::typed(&MAPS, items))
            }
            Param::Map(map) => to_template(map),
        }
    }

    /// The value as JSON has it, for keys of a merge.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Param::Null => Value::Null,
            Param::Bool(bool) => Value::Bool(*bool),
            Param::Int(int) => Value::Int(*int),
            Param::Float(float) => Value::Float(*float),
            Param::Text(text) => Value::Str(text.clone()),
            Param::Texts(texts) => texts.iter().map(|text| Value::Str(text.clone())).collect(),
            Param::TextMap(map) => {
                Value::Map(map.iter().map(|(key, text)| (key.clone(), Value::Str(text.clone()))).collect())
            }
            Param::List(items) => items.iter().map(Param::to_json).collect(),
            Param::Maps(items) => items.iter().map(to_json).collect(),
            Param::Map(map) => to_json(map),
        }
    }
}

fn texts(map: &BTreeMap<Str, Str>) -> BTreeMap<gotmpl::Str, gotmpl::Value> {
    map.iter().map(|(key, text)| (key.clone().into(), gotmpl::Value::Str(text.clone().into()))).collect()
}

/// All parameters as what a Go template begins with.
pub(crate) fn to_template(params: &Params) -> gotmpl::Value {
    gotmpl::Value::map(params.iter().map(|(key, param)| (key.clone(), param.to_template())))
}

/// All parameters as JSON.
pub(crate) fn to_json(params: &Params) -> Value {
    Value::Map(params.iter().map(|(key, param)| (key.clone(), param.to_json())).collect())
}

/// The parameters in a map of JSON or YAML; none if it is something else.
pub(crate) fn params_of(value: &Value) -> Option<Params> {
    let map = value.as_map()?;
    Some(map.iter().map(|(key, value)| (key.clone(), Param::from(value))).collect())
}

/// What a value is, for people.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::Str(_) => "a string",
        Value::Seq(_) => "a list",
        Value::Map(_) => "a map",
    }
}

impl From<&Value> for Param {
    /// Every number of JSON is a `float64` in Go.
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Param::Null,
            Value::Bool(bool) => Param::Bool(*bool),
            Value::Int(int) => Param::Float(*int as f64),
            Value::Float(float) => Param::Float(*float),
            Value::Str(text) => Param::Text(text.clone()),
            Value::Seq(items) => Param::List(items.iter().map(Param::from).collect()),
            Value::Map(map) => {
                Param::Map(map.iter().map(|(key, value)| (key.clone(), Param::from(value))).collect())
            }
        }
    }
}

impl From<&str> for Param {
    fn from(text: &str) -> Self {
        Param::Text(text.into())
    }
}

impl From<String> for Param {
    fn from(text: String) -> Self {
        Param::Text(text.into())
    }
}

impl From<Str> for Param {
    fn from(text: Str) -> Self {
        Param::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn numbers_print_as_go_prints_floats() {
        let printed = |value: Value| Param::from(&value).printed().expect("a text");
        assert_eq!(printed(value!(3)), "3");
        assert_eq!(printed(value!(10_000_000)), "1e+07");
        assert_eq!(printed(value!({"a": [1, null]})), "map[a:[1 <nil>]]");
    }

    #[test]
    fn what_is_too_large_for_a_text_is_not_an_empty_one() {
        let long = Param::Texts(vec!["x".repeat(limits::TEXT_BYTES).into(); 2]);
        let told = long.printed().expect_err("more than a text may have");
        assert!(told.ends_with("bytes as a text"), "{told}");
    }
}
