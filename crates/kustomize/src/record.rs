//! Values to the structures of a kustomization, as Go's JSON decoder makes them.
//!
//! Names of fields may be written in any case, `null` is as good as nothing, and what does not fit is told with the
//! path to it. A kustomization is read strictly: a field that nobody knows is an error, and `1` is no text. The
//! configuration of a plugin is read leniently: unknown fields are passed over, and a number where a text is wanted is
//! taken as the text.

use std::collections::BTreeMap;

use lynceus_object::{FieldPath, Segment, Str, Value, json};

/// How exactly a value has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As a kustomization is read.
    Strict,
    /// As the configuration of most plugins is read.
    Lenient,
    /// As the configuration of those plugins is read whose structure lies inside of another one: fields that nobody
    /// knows are passed over, but a number is no text.
    Inner,
}

/// What does not fit, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DecodeError {
    /// The way to it, the innermost step first.
    steps: Vec<Segment>,
    /// What is wrong.
    pub(crate) problem: String,
}

impl DecodeError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        DecodeError { steps: Vec::new(), problem: problem.into() }
    }

    /// A value of one type where another is wanted.
    pub(crate) fn mismatch(value: &Value, wanted: &str) -> Self {
        let found = match value {
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::Float(_) => "number",
            other => other.type_name(),
        };
        DecodeError::new(format!("cannot unmarshal {found} into a field of type {wanted}"))
    }

    /// The same error below a step.
    #[must_use]
    pub(crate) fn below(mut self, step: Segment) -> Self {
        self.steps.push(step);
        self
    }

    /// The path to what is wrong.
    pub(crate) fn path(&self) -> FieldPath {
        self.steps.iter().rev().cloned().collect()
    }
}

/// What can be made of a value.
pub(crate) trait Decode: Sized {
    /// Makes it.
    fn decode(value: &Value, mode: Mode) -> Result<Self, DecodeError>;
}

impl Decode for Str {
    fn decode(value: &Value, mode: Mode) -> Result<Self, DecodeError> {
        match value {
            Value::Null => Ok(Str::new()),
            Value::Str(text) => Ok(text.clone()),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) if mode == Mode::Lenient => {
                Ok(json::to_string(value).into())
            }
            other => Err(DecodeError::mismatch(other, "string")),
        }
    }
}

impl Decode for bool {
    fn decode(value: &Value, _: Mode) -> Result<Self, DecodeError> {
        match value {
            Value::Null => Ok(false),
            Value::Bool(known) => Ok(*known),
            other => Err(DecodeError::mismatch(other, "bool")),
        }
    }
}

impl Decode for i64 {
    fn decode(value: &Value, _: Mode) -> Result<Self, DecodeError> {
        match value {
            Value::Null => Ok(0),
            Value::Int(number) => Ok(*number),
            other => other.as_int().ok_or_else(|| DecodeError::mismatch(other, "int64")),
        }
    }
}

impl Decode for Value {
    fn decode(value: &Value, _: Mode) -> Result<Self, DecodeError> {
        Ok(value.clone())
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(value: &Value, mode: Mode) -> Result<Self, DecodeError> {
        if value.is_null() { Ok(None) } else { T::decode(value, mode).map(Some) }
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(value: &Value, mode: Mode) -> Result<Self, DecodeError> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Seq(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    T::decode(item, mode).map_err(|error| error.below(Segment::Index(index)))
                })
                .collect(),
            other => Err(DecodeError::mismatch(other, "list")),
        }
    }
}

impl<T: Decode> Decode for BTreeMap<Str, T> {
    fn decode(value: &Value, mode: Mode) -> Result<Self, DecodeError> {
        match value {
            Value::Null => Ok(BTreeMap::new()),
            Value::Map(map) => map
                .iter()
                .map(|(key, value)| {
                    let decoded =
                        T::decode(value, mode).map_err(|error| error.below(Segment::Field(key.clone())))?;
                    Ok((key.clone(), decoded))
                })
                .collect(),
            other => Err(DecodeError::mismatch(other, "map")),
        }
    }
}

/// The name among `names` that a key stands for: itself, or else the same in another case.
pub(crate) fn known_name(names: &[&'static str], key: &str) -> Option<&'static str> {
    let same = names.iter().find(|name| **name == key);
    same.or_else(|| names.iter().find(|name| name.eq_ignore_ascii_case(key))).copied()
}

/// What is said of a field that nobody knows.
pub(crate) fn unknown_field(key: &str, mode: Mode) -> Result<(), DecodeError> {
    match mode {
        Mode::Strict => {
            let problem = format!("unknown field {}", json::to_string(&Value::from(key)));
            Err(DecodeError::new(problem).below(Segment::Field(key.into())))
        }
        Mode::Lenient | Mode::Inner => Ok(()),
    }
}

/// A structure and how it is made of a map: `field: Type = "name in the map"`.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $record:ident {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $name:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $visibility struct $record {
            $( $(#[$field_meta])* pub(crate) $field: $type, )*
        }

        impl $crate::record::Decode for $record {
            fn decode(
                value: &lynceus_object::Value,
                mode: $crate::record::Mode,
            ) -> Result<Self, $crate::record::DecodeError> {
                let map = match value {
                    lynceus_object::Value::Map(map) => map,
                    lynceus_object::Value::Null => return Ok(Self::default()),
                    other => return Err($crate::record::DecodeError::mismatch(other, stringify!($record))),
                };
                let mut record = Self::default();
                for (key, value) in map.iter() {
                    match $crate::record::known_name(&[$($name),*], key) {
                        $(
                            Some($name) => {
                                record.$field = $crate::record::Decode::decode(value, mode)
                                    .map_err(|error| error.below(lynceus_object::Segment::Field(key.clone())))?;
                            }
                        )*
                        _ => $crate::record::unknown_field(key, mode)?,
                    }
                }
                Ok(record)
            }
        }
    };
}

pub(crate) use record;

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    record! {
        /// An example.
        struct Example {
            name: Str = "name",
            count: i64 = "count",
            inner: Option<Box<Inner>> = "inner",
            labels: BTreeMap<Str, Str> = "labels",
        }
    }

    record! {
        /// What is in it.
        struct Inner {
            items: Vec<Str> = "items",
        }
    }

    impl<T: Decode> Decode for Box<T> {
        fn decode(value: &Value, mode: Mode) -> Result<Self, DecodeError> {
            T::decode(value, mode).map(Box::new)
        }
    }

    fn check(value: &Value, mode: Mode, expected: Result<Example, (&str, &str)>) {
        let decoded = Example::decode(value, mode);
        let told = decoded.as_ref().map_err(|error| (error.path().to_string(), error.problem.clone()));
        match (told, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found, expected),
            (Err((path, problem)), Err(expected)) => assert_eq!((path.as_str(), problem.as_str()), expected),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn names_are_taken_in_any_case_and_null_is_nothing() {
        let expected = Example { name: "a".into(), ..Example::default() };
        check(&value!({"NAME": "a", "inner": null, "labels": null}), Mode::Strict, Ok(expected));
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_path() {
        check(
            &value!({"inner": {"items": ["a", 1]}}),
            Mode::Strict,
            Err(("inner.items[1]", "cannot unmarshal number into a field of type string")),
        );
        check(
            &value!({"inner": {"itemz": []}}),
            Mode::Strict,
            Err(("inner.itemz", "unknown field \"itemz\"")),
        );
    }

    #[test]
    fn a_plugin_takes_numbers_for_texts_and_passes_over_what_it_does_not_know() {
        let labels = BTreeMap::from([("a".into(), "1".into()), ("b".into(), "true".into())]);
        let expected = Example { labels, ..Example::default() };
        check(&value!({"labels": {"a": 1, "b": true}, "other": 1}), Mode::Lenient, Ok(expected));
    }
}
