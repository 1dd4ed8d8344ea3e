//! The fields in which two objects differ.

use lynceus_object::{Map, Value, json};
use std::fmt;

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// Where it stands, such as `spec.source.targetRevision`.
    pub path: String,
    /// What it was, if it was there.
    pub before: Option<Value>,
    /// What it is to be, if it is to be there.
    pub after: Option<Value>,
}

impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| json::to_string(value);
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{}: {} -> {}", self.path, text(before), text(after)),
            (None, Some(after)) => write!(f, "{}: + {}", self.path, text(after)),
            (Some(before), None) => write!(f, "{}: - {}", self.path, text(before)),
            (None, None) => f.write_str(&self.path),
        }
    }
}

/// The fields that differ, in their order. Lists of one length are told item by item, others as a whole.
pub(super) fn changes(before: &Value, after: &Value) -> Vec<FieldChange> {
    let mut found = Vec::new();
    compare(&mut found, String::new(), Some(before), Some(after));
    found
}

fn compare(found: &mut Vec<FieldChange>, path: String, before: Option<&Value>, after: Option<&Value>) {
    match (before, after) {
        (Some(Value::Map(before)), Some(Value::Map(after))) => compare_maps(found, &path, before, after),
        (Some(Value::Seq(before)), Some(Value::Seq(after))) if before.len() == after.len() => {
            for (at, (before, after)) in before.iter().zip(after.iter()).enumerate() {
                compare(found, format!("{path}[{at}]"), Some(before), Some(after));
            }
        }
        (before, after) if before == after => {}
        (before, after) => {
            found.push(FieldChange { path, before: before.cloned(), after: after.cloned() });
        }
    }
}

fn compare_maps(found: &mut Vec<FieldChange>, path: &str, before: &Map, after: &Map) {
    let added = after.keys().filter(|key| !before.contains(key));
    let mut keys: Vec<&str> = before.keys().chain(added).map(|key| key.as_str()).collect();
    keys.sort_unstable();
    for key in keys {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        compare(found, path, before.get(key), after.get(key));
    }
}
