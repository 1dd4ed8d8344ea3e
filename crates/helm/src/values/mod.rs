//! Values: reading them, putting those of the user together, and merging them with those of the charts.

mod coalesce;
mod convert;
mod literal;
mod origin;
mod scan;
mod set;
mod user;

use lynceus_object::{Map, Value, yaml};

pub(crate) use coalesce::{Mode, Warnings, coalesce, merge_tables, table};
pub(crate) use convert::{base64, from_template, shown, to_template, to_template_map};
pub use origin::Origin;
pub(crate) use origin::{Layer, at, in_layers};
pub use user::{UserValues, ValueOptions, ValuesFile};

use crate::go::decode;
use crate::limits;

/// Why values could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValuesError {
    /// The document is not YAML, or not a map.
    #[error("cannot unmarshal yaml document: {0}")]
    Document(String),
    /// The text cannot be cut into documents.
    #[error("error reading yaml document: {0}")]
    Separator(String),
    /// A file of values cannot be read.
    #[error("failed to parse {file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: Box<ValuesError>,
    },
    /// A text of `--set` and its like cannot be read.
    #[error("failed parsing {flag} data: {reason}")]
    Set {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A text of `--set-json` cannot be read.
    #[error("failed parsing --set-json data {0}")]
    Json(String),
    /// A whole map of `--set-json` cannot be read.
    #[error("failed parsing --set-json data JSON: {0}")]
    JsonMap(String),
}

/// Reads a file of values: documents that are merged, every number a float, as `sigs.k8s.io/yaml` has it.
pub(crate) fn read(data: &[u8]) -> Result<Map, ValuesError> {
    let options = yaml::Options { max_bytes: limits::MAX_VALUES_BYTES, ..yaml::Options::default() };
    let mut values = Map::new();
    for document in yaml::documents(data, &options) {
        let value = document.result.map_err(|error| match error.problem.as_ref() {
            problem if problem.starts_with("invalid Yaml document separator") => {
                ValuesError::Separator(error.to_string())
            }
            _ => ValuesError::Document(format!("error converting YAML to JSON: {error}")),
        })?;
        match floats(value) {
            Value::Map(map) => merge_maps(&mut values, map),
            Value::Null => {}
            other => return Err(ValuesError::Document(decode::not_a(&other, "map[string]interface {}"))),
        }
    }
    Ok(values)
}

/// The value with every number a float, as Go's JSON decoder has them.
pub(crate) fn floats(value: Value) -> Value {
    match value {
        Value::Int(int) => Value::Float(int as f64),
        Value::Seq(items) => items.into_iter().map(floats).collect::<Vec<Value>>().into(),
        Value::Map(map) => {
            let map: Map = map.into_iter().map(|(key, value)| (key, floats(value))).collect();
            Value::Map(map)
        }
        other => other,
    }
}

/// Merges `from` into `into`: maps are merged, everything else is replaced.
pub(crate) fn merge_maps(into: &mut Map, from: Map) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Map(old)), Value::Map(new)) => merge_maps(old, new),
            (Some(old), value) => *old = value,
            (None, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &Map) -> String {
        lynceus_object::json::to_string(&Value::Map(values.clone()))
    }

    #[test]
    fn documents_are_merged_and_numbers_are_floats() {
        let values = read(b"a: {b: 1, c: 2}\n---\na: {b: 3}\nd: [1]\n").unwrap();
        assert_eq!(text(&values), r#"{"a":{"b":3,"c":2},"d":[1]}"#);
        assert!(matches!(values.get("d").unwrap().as_seq().unwrap()[0], Value::Float(_)));
        assert_eq!(text(&read(b"").unwrap()), "{}");
        assert_eq!(text(&read(b"# nothing\n").unwrap()), "{}");
    }

    #[test]
    fn what_is_no_map_is_told_as_go_tells_it() {
        assert_eq!(
            read(b"- a").unwrap_err().to_string(),
            "cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal \
             array into Go value of type map[string]interface {}"
        );
    }
}
