//! Merging: of templates, where only what is empty is filled, and of parameters, where the later wins.

use std::collections::BTreeMap;

use lynceus_object::{Map, Str, Value};

use crate::param::{Param, Params};

/// Fields that are one value, whatever stands in them.
const WHOLE: [&str; 1] = ["valuesObject"];

/// Fills what is empty in `into` with what `from` has. Lists are taken as a whole.
pub(crate) fn fill(into: &mut Value, from: &Value) {
    match (&mut *into, from) {
        (Value::Map(into), Value::Map(from)) => fill_map(into, from),
        (into, from) if is_empty(into) => *into = from.clone(),
        _ => {}
    }
}

fn fill_map(into: &mut Map, from: &Map) {
    for (key, value) in from.iter() {
        match into.get_mut(key) {
            Some(own) if WHOLE.contains(&key.as_str()) && !is_empty(own) => {}
            Some(own) => fill(own, value),
            None => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Whether Go would take it for the zero of its type.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(bool) => !bool,
        Value::Int(int) => *int == 0,
        Value::Float(float) => *float == 0.0,
        Value::Str(text) => text.is_empty(),
        Value::Seq(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
    }
}

/// Puts parameters over others: maps are merged, everything else is replaced.
pub(crate) fn put_over(into: &mut Params, from: &Params) {
    for (key, param) in from {
        match into.get_mut(key) {
            Some(own) => put(own, param),
            None => {
                into.insert(key.clone(), param.clone());
            }
        }
    }
}

fn put(into: &mut Param, from: &Param) {
    match (&mut *into, from) {
        (Param::Map(into), Param::Map(from)) => put_over(into, from),
        (Param::TextMap(into), Param::TextMap(from)) => {
            into.extend(from.iter().map(|(key, text)| (key.clone(), text.clone())));
        }
        // Argo CD stops at maps of different types; what is meant is plain.
        (Param::Map(into), Param::TextMap(from)) => put_over(into, &opened(from)),
        (Param::TextMap(texts), Param::Map(from)) => {
            let mut merged = opened(texts);
            put_over(&mut merged, from);
            *into = Param::Map(merged);
        }
        (into, from) => *into = from.clone(),
    }
}

fn opened(texts: &BTreeMap<Str, Str>) -> Params {
    texts.iter().map(|(key, text)| (key.clone(), Param::Text(text.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{json, value};

    #[test]
    fn a_template_is_filled_where_it_is_empty() {
        let mut into = value!({"metadata": {"name": "own", "labels": {"a": "1"}}, "spec": {"project": "", "sources": [], "n": 0}});
        let from = value!({"metadata": {"name": "base", "labels": {"a": "2", "b": "3"}}, "spec": {"project": "p", "sources": [1], "n": 2}});
        fill(&mut into, &from);
        let expected = r#"{"metadata":{"labels":{"a":"1","b":"3"},"name":"own"},"spec":{"n":2,"project":"p","sources":[1]}}"#;
        assert_eq!(json::to_string(&into), expected);
    }

    #[test]
    fn values_of_a_chart_are_not_mixed() {
        let mut into = value!({"helm": {"valuesObject": {"a": 1}}});
        fill(&mut into, &value!({"helm": {"valuesObject": {"b": 2}, "releaseName": "r"}}));
        assert_eq!(json::to_string(&into), r#"{"helm":{"releaseName":"r","valuesObject":{"a":1}}}"#);
    }
}
