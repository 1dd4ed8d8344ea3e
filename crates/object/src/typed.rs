//! Values to and from Rust types, without a detour through text.

mod de;
mod ser;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::path::FieldPath;
use crate::value::Value;

/// Why a value and a type do not fit, and at which field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct TypedError {
    /// The field, as far as it is known.
    pub path: FieldPath,
    /// What is wrong with it.
    pub problem: String,
}

impl std::fmt::Display for TypedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_root() {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.path, self.problem)
        }
    }
}

/// Reads a Rust type from a value.
pub fn to_typed<T: DeserializeOwned>(value: &Value) -> Result<T, TypedError> {
    T::deserialize(de::Reader::new(value)).map_err(de::ReadError::into_typed)
}

/// Makes a value of a Rust type.
pub fn from_typed<T: Serialize + ?Sized>(typed: &T) -> Result<Value, TypedError> {
    typed.serialize(ser::Writer).map_err(ser::WriteError::into_typed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::value;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    #[derive(Default)]
    struct Spec {
        replicas: Option<i32>,
        min_ready_seconds: u64,
        containers: Vec<Container>,
        labels: BTreeMap<String, String>,
        policy: Policy,
        #[serde(flatten)]
        other: BTreeMap<String, Value>,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Container {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    enum Policy {
        #[default]
        Always,
        Limited {
            times: u8,
        },
        Named(String),
        Pair(i32, bool),
    }

    fn example() -> Value {
        value!({
            "replicas": 3,
            "minReadySeconds": 5,
            "containers": [{"name": "a", "weight": 0.5}, {"name": "b"}],
            "labels": {"app": "web"},
            "policy": {"Limited": {"times": 2}},
            "extra": {"kept": [1, null]},
        })
    }

    #[test]
    fn goes_there_and_back() {
        let spec: Spec = to_typed(&example()).unwrap();
        assert_eq!(spec.replicas, Some(3));
        assert_eq!(spec.other["extra"], value!({"kept": [1, null]}));
        assert_eq!(from_typed(&spec).unwrap(), example());
    }

    #[test]
    fn every_form_of_an_enum() {
        for policy in [value!("Always"), value!({"Named": "x"}), value!({"Pair": [1, true]})] {
            let typed: Policy = to_typed(&policy).unwrap();
            assert_eq!(from_typed(&typed).unwrap(), policy);
        }
    }

    #[test]
    fn whole_floats_are_integers() {
        let spec: Spec = to_typed(&value!({"replicas": 3.0, "minReadySeconds": 4.0})).unwrap();
        assert_eq!((spec.replicas, spec.min_ready_seconds), (Some(3), 4));
    }

    #[test]
    fn errors_name_the_field_and_not_the_value() {
        let check = |value: Value, expected: &str| {
            assert_eq!(to_typed::<Spec>(&value).unwrap_err().to_string(), expected);
        };
        check(value!({"replicas": "secret"}), "replicas: expected i32, found a string");
        check(
            value!({"containers": [{"name": "a"}, {"name": 7}]}),
            "containers[1].name: expected a string, found an integer",
        );
        check(value!({"containers": [{}]}), "containers[0]: missing field `name`");
        check(value!({"labels": {"a.b/c": []}}), "labels.a.b/c: expected a string, found a list");
        check(value!({"minReadySeconds": -1}), "minReadySeconds: the value is not u64");
        check(value!([]), "expected struct Spec, found a list");
    }
}
