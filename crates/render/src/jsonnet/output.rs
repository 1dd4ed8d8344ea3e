//! What a program gives, as manifests.

use lynceus_object::{Map, Value};
use rsjsonnet_lang::program::{self, ValueKind};

use super::Problem;
use crate::limits;

/// What each value costs beside its text.
const VALUE_BYTES: u64 = 8;

/// The manifests that a program gives: one object, or a list of them. As in Argo CD, null is nothing, and a list in a
/// list is a mistake.
pub(super) fn manifests(value: &program::Value<'_>) -> Result<Vec<Value>, Problem> {
    let mut reader = Reader { bytes: 0 };
    let wrong = |value: &Value| Problem {
        hint: Some(match value {
            Value::Str(_) => {
                "return the objects themselves and not their text, or read it with std.parseYaml"
            }
            Value::Seq(_) => "join the lists with std.flattenArrays",
            _ => "a program gives one manifest, or a list of them",
        }),
        ..Problem::new(format!("the program gives {} where a manifest should be", name(value)))
    };
    let values = match reader.read(value, 0)? {
        Value::Null => Vec::new(),
        Value::Seq(values) => values.into_iter().collect(),
        one => vec![one],
    };
    let objects: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    match objects.iter().find(|value| !matches!(value, Value::Map(_))) {
        Some(other) => Err(wrong(other)),
        None => Ok(objects),
    }
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::Str(_) => "a string",
        Value::Seq(_) => "a list",
        Value::Map(_) => "an object",
    }
}

/// Counts what it reads: a few lines of Jsonnet can give a list of lists of lists that no memory holds.
struct Reader {
    bytes: u64,
}

impl Reader {
    fn spend(&mut self, bytes: usize) -> Result<(), Problem> {
        self.bytes += VALUE_BYTES + bytes as u64;
        if self.bytes > limits::JSONNET_OUTPUT_BYTES {
            let limit = limits::JSONNET_OUTPUT_BYTES;
            return Err(Problem::new(format!("the program gives more than {limit} bytes of manifests")));
        }
        Ok(())
    }

    fn read(&mut self, value: &program::Value<'_>, depth: usize) -> Result<Value, Problem> {
        if depth > limits::JSONNET_OUTPUT_DEPTH {
            let limit = limits::JSONNET_OUTPUT_DEPTH;
            return Err(Problem::new(format!("what the program gives nests deeper than {limit} levels")));
        }
        self.spend(0)?;
        Ok(match value.kind() {
            ValueKind::Null => Value::Null,
            ValueKind::Bool(value) => Value::Bool(value),
            ValueKind::Number(number) => self::number(number),
            ValueKind::String(text) => {
                self.spend(text.len())?;
                Value::Str(text.as_str().into())
            }
            ValueKind::Array(items) => {
                let read: Result<_, Problem> = items.iter().map(|item| self.read(item, depth + 1)).collect();
                Value::Seq(read?)
            }
            ValueKind::Object(fields) => {
                let mut map = Map::default();
                for (name, value) in fields {
                    self.spend(name.value().len())?;
                    map.insert(name.value(), self.read(&value, depth + 1)?);
                }
                Value::Map(map)
            }
            ValueKind::Function => {
                return Err(Problem {
                    hint: Some("call it, or hide the field that holds it with `::`"),
                    ..Problem::new("the program gives a function, which cannot be written down")
                });
            }
        })
    }
}

/// Jsonnet has one kind of number. Argo CD's evaluator writes a whole one without a point, and what has no point and fits is
/// read back as a whole one.
fn number(number: f64) -> Value {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number) {
        Value::Int(number as i64)
    } else {
        Value::Float(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_whole_as_far_as_they_fit() {
        assert_eq!(number(3.0), Value::Int(3));
        assert_eq!(number(-0.0), Value::Int(0));
        assert_eq!(number(9.22e18), Value::Int(9_220_000_000_000_000_000));
        assert_eq!(number(-9_223_372_036_854_775_808.0), Value::Int(i64::MIN));
        assert_eq!(number(9_223_372_036_854_775_808.0), Value::Float(9_223_372_036_854_775_808.0));
        assert_eq!(number(1e300), Value::Float(1e300));
        assert_eq!(number(0.5), Value::Float(0.5));
    }
}
