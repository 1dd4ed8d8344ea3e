//! How much work a schema is before anything is checked against it.
//!
//! A chain of a hundred thousand references would take the stack, and thirty choices that each refer twice to the
//! next would never end. Neither is a schema that anybody means.

use std::collections::HashMap;

use serde_json::Value;

use crate::limits;

/// Refuses a schema that takes too many steps, or leads too deep, for a single value.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let mut names = HashMap::new();
    anchors(schema, &mut names);
    let mut walk = Walk { root: schema, anchors: names, known: HashMap::new() };
    walk.all(schema)
}

/// The schemas that have names of their own.
fn anchors<'a>(schema: &'a Value, names: &mut HashMap<&'a str, &'a Value>) {
    match schema {
        Value::Object(fields) => {
            for key in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                if let Some(name) = fields.get(key).and_then(Value::as_str) {
                    names.insert(name.trim_start_matches('#'), schema);
                }
            }
            fields.values().for_each(|inner| anchors(inner, names));
        }
        Value::Array(items) => items.iter().for_each(|inner| anchors(inner, names)),
        _ => {}
    }
}

/// How many schemas a value meets at one schema, and how deep they stand inside each other.
#[derive(Clone, Copy)]
struct Cost {
    steps: u64,
    depth: usize,
}

struct Walk<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    /// What was found out, by the address of the schema; nothing while it is being found out.
    known: HashMap<*const Value, Option<Cost>>,
}

impl<'a> Walk<'a> {
    /// Looks at every schema, wherever it stands.
    fn all(&mut self, schema: &'a Value) -> Result<(), String> {
        match schema {
            Value::Object(fields) => {
                self.cost(schema, 0)?;
                fields.values().try_for_each(|inner| self.all(inner))
            }
            Value::Array(items) => items.iter().try_for_each(|inner| self.all(inner)),
            _ => Ok(()),
        }
    }

    fn cost(&mut self, schema: &'a Value, above: usize) -> Result<Cost, String> {
        if above > limits::MAX_SCHEMA_DEPTH {
            return Err(format!("the schema leads through more than {} others", limits::MAX_SCHEMA_DEPTH));
        }
        let key = std::ptr::from_ref(schema);
        match self.known.get(&key) {
            Some(Some(cost)) if above + cost.depth <= limits::MAX_SCHEMA_DEPTH => return Ok(*cost),
            // A circle is told by who checks values.
            Some(None) => return Ok(Cost { steps: 1, depth: 0 }),
            _ => {}
        }
        self.known.insert(key, None);
        let mut cost = Cost { steps: 1, depth: 0 };
        for inner in self.inner(schema) {
            let found = self.cost(inner, above + 1)?;
            cost.steps = cost.steps.saturating_add(found.steps);
            cost.depth = cost.depth.max(found.depth + 1);
        }
        if cost.steps > limits::MAX_SCHEMA_STEPS {
            return Err(format!("the schema takes more than {} steps for a value", limits::MAX_SCHEMA_STEPS));
        }
        self.known.insert(key, Some(cost));
        Ok(cost)
    }

    /// The schemas that the same value has to meet too.
    fn inner(&self, schema: &'a Value) -> Vec<&'a Value> {
        let Value::Object(fields) = schema else { return Vec::new() };
        let mut inner = Vec::new();
        for (key, value) in fields {
            match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    inner.extend(value.as_str().and_then(|reference| self.target(reference)));
                }
                "allOf" | "anyOf" | "oneOf" => inner.extend(value.as_array().into_iter().flatten()),
                "not" | "if" | "then" | "else" => inner.push(value),
                "dependentSchemas" | "dependencies" => {
                    inner.extend(value.as_object().into_iter().flat_map(|fields| fields.values()));
                }
                _ => {}
            }
        }
        inner
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment.replace("%24", "$").replace("%25", "%"));
        }
        self.anchors.get(fragment).copied()
    }
}
