//! Merging the values of a chart with those of the charts that it depends on.
//!
//! Maps are shared where Helm shares them: what a template changes in `.Values.global` may be seen elsewhere.

use std::collections::BTreeSet;

use lynceus_gotmpl::{Map, Str, Value};

use super::convert::{shown, to_template};
use crate::dependencies::Node;
use crate::go::text;
use crate::warning::Warning;

/// What happens to nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A null takes a value away.
    Coalesce,
    /// Nulls are kept, because values are merged again later.
    Merge,
}

/// What Helm says about values that it leaves out.
pub(crate) type Warnings = Vec<Warning>;

/// Merges the values of a chart and of all below it under `values`, which win.
pub(crate) fn coalesce(
    chart: &Node,
    values: &Map,
    prefix: &str,
    mode: Mode,
    warnings: &mut Warnings,
) -> Result<(), String> {
    chart_values(chart, values, prefix, mode, warnings)?;
    let prefix = concat(prefix, &chart.name());
    for inner in &chart.dependencies {
        let name = inner.name();
        let table = match values.get(&name) {
            None => {
                let table = Map::default();
                values.insert(name.as_str(), Value::Map(table.clone()));
                table
            }
            Some(Value::Map(table)) => table,
            Some(other) => return Err(format!("type mismatch on {name}: {}", not_a_bool(&other))),
        };
        globals(&table, values, &prefix, warnings);
        coalesce(inner, &table, &prefix, mode, warnings)?;
    }
    Ok(())
}

/// Merges the globals of a chart into those of one below it.
fn globals(inner: &Map, outer: &Map, prefix: &str, warnings: &mut Warnings) {
    let into = match inner.get("global") {
        None => Map::default(),
        Some(Value::Map(map)) => map,
        Some(_) => {
            warnings
                .push(Warning::info("warning: skipping globals because destination global is not a table."));
            return;
        }
    };
    let from = match outer.get("global") {
        None => Map::default(),
        Some(Value::Map(map)) => map,
        Some(_) => {
            warnings.push(Warning::info("warning: skipping globals because source global is not a table."));
            return;
        }
    };
    for (key, value) in from.entries() {
        let there = into.get(&key);
        match (value, there) {
            (Value::Map(map), None) => {
                into.insert(key, Value::Map(shallow_copy(&map)));
            }
            (Value::Map(map), Some(Value::Map(there))) => {
                // What is further in is shared between all charts, and so is what is merged into it.
                let copy = shallow_copy(&map);
                tables(&copy, &there, &concat(prefix, &key), Mode::Merge, warnings);
                into.insert(key, Value::Map(copy));
            }
            (Value::Map(_), Some(_)) => {
                let key = text::quote(&key);
                warnings.push(Warning::info(format!(
                    "Conflict: cannot merge map onto non-map for {key}. Skipping."
                )));
            }
            (_, Some(Value::Map(_))) => {
                warnings.push(Warning::info(format!("key {key} is table. Skipping")));
            }
            (value, _) => {
                into.insert(key, value);
            }
        }
    }
    inner.insert("global", Value::Map(into));
}

fn shallow_copy(map: &Map) -> Map {
    map.entries().into_iter().collect()
}

/// Merges what a chart says itself under `values`.
fn chart_values(
    chart: &Node,
    values: &Map,
    prefix: &str,
    mode: Mode,
    warnings: &mut Warnings,
) -> Result<(), String> {
    let prefix = concat(prefix, &chart.name());
    if let Some(own) = chart.replaced_values() {
        let own = own.deep_copy().map_err(|failure| failure.to_string())?;
        for (key, value) in own.entries() {
            chart_value(chart, values, key, value, &prefix, mode, warnings);
        }
        return Ok(());
    }
    for (key, value) in chart.chart.values.iter() {
        // Once a chart has been merged, its values are there when it is merged again: no need to copy them.
        if !values.get(key).is_some_and(|there| covers(&there, value)) {
            let (key, value) = (Str::from(key.clone()), to_template(value));
            chart_value(chart, values, key, value, &prefix, mode, warnings);
        }
    }
    Ok(())
}

/// Merges one value of a chart under `values`.
fn chart_value(
    chart: &Node,
    values: &Map,
    key: Str,
    value: Value,
    prefix: &str,
    mode: Mode,
    warnings: &mut Warnings,
) {
    match values.get(&key) {
        Some(Value::Nil) if mode == Mode::Coalesce => {
            values.remove(&key);
        }
        Some(Value::Map(there)) => match value {
            Value::Map(own) => {
                let is_chart = chart.dependencies.iter().any(|inner| *inner.name() == *key);
                let mode = if is_chart { Mode::Merge } else { mode };
                if mode == Mode::Coalesce {
                    remove_nulls(&own);
                }
                tables(&there, &own, &concat(prefix, &key), mode, warnings);
            }
            Value::Nil => {}
            _ => {
                let message = format!("warning: skipped value for {prefix}.{key}: Not a table.");
                warnings.push(Warning::info(message));
            }
        },
        Some(_) => {}
        None => {
            if mode == Mode::Coalesce {
                match &value {
                    Value::Nil => return,
                    Value::Map(own) => remove_nulls(own),
                    _ => {}
                }
            }
            values.insert(key, value);
        }
    }
}

/// Whether to merge a value under what is there would change nothing and say nothing. Nulls are left to the merge.
fn covers(there: &Value, value: &lynceus_object::Value) -> bool {
    use lynceus_object::Value::{Map, Null};
    match (there, value) {
        (Value::Nil, _) | (_, Null) => false,
        (Value::Map(there), Map(map)) => {
            let there = there.read();
            !there.values().any(Value::is_nil)
                && map
                    .iter()
                    .all(|(key, value)| there.get(key.as_str()).is_some_and(|there| covers(there, value)))
        }
        // A table and something else do not go together, which is told.
        (Value::Map(_), _) | (_, Map(_)) => false,
        _ => true,
    }
}

/// Merges `from` under `into`, keeping nulls or not.
pub(crate) fn merge_tables(into: &Map, from: &Map, mode: Mode, warnings: &mut Warnings) {
    tables(into, from, "", mode, warnings);
}

fn tables(into: &Map, from: &Map, prefix: &str, mode: Mode, warnings: &mut Warnings) {
    let nulls: Vec<Str> =
        into.read().iter().filter(|(_, value)| value.is_nil()).map(|(key, _)| key.clone()).collect();
    let mut was_there = BTreeSet::new();
    for key in nulls {
        if from.insert(key.clone(), Value::Nil).is_some_and(|value| !value.is_nil()) {
            was_there.insert(key);
        }
    }
    for (key, value) in from.entries() {
        match (into.get(&key), value) {
            // Who says null to a default takes it away; a null for nothing stays.
            (Some(Value::Nil), _) if mode == Mode::Coalesce && was_there.contains(&key) => {
                into.remove(&key);
            }
            (None, value) => {
                into.insert(key, value);
            }
            (Some(Value::Map(there)), Value::Map(value)) => {
                tables(&there, &value, &concat(prefix, &key), mode, warnings);
            }
            (Some(_), Value::Map(value)) => warnings.push(Warning::info(format!(
                "warning: cannot overwrite table with non table for {} ({})",
                concat(prefix, &key),
                shown(&Value::Map(value))
            ))),
            (Some(Value::Map(_)), value) if !value.is_nil() => warnings.push(Warning::info(format!(
                "warning: destination for {} is a table. Ignoring non-table value ({})",
                concat(prefix, &key),
                shown(&value)
            ))),
            (Some(_), _) => {}
        }
    }
}

fn remove_nulls(map: &Map) {
    for (key, value) in map.entries() {
        match value {
            Value::Nil => {
                map.remove(&key);
            }
            Value::Map(inner) => remove_nulls(&inner),
            _ => {}
        }
    }
}

fn concat(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// What `%t` prints for something that is neither true nor false.
fn not_a_bool(value: &Value) -> String {
    match value {
        Value::Nil => "%!t(<nil>)".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::List(list) => {
            let items: Vec<String> = list.to_vec().iter().map(not_a_bool).collect();
            format!("[{}]", items.join(" "))
        }
        other => format!("%!t({}={})", other.type_name(), shown(other)),
    }
}

/// The table at a path of names with dots between them, or which of the names is none.
pub(crate) fn table(values: &Map, path: &str) -> Result<Map, String> {
    path.split('.').try_fold(values.clone(), |table, name| match table.get(name) {
        Some(Value::Map(map)) => Ok(map),
        _ => Err(format!("{} is not a table", text::quote(name))),
    })
}

#[cfg(test)]
mod tests {
    use lynceus_object::yaml;

    use super::*;

    #[test]
    fn only_what_a_merge_would_neither_change_nor_tell_of_is_covered() {
        let there = to_template(&yaml::parse_str("{a: 1, b: {c: x, d: []}, n: {o: null}}").unwrap());
        for value in ["{b: {c: {}}}", "{b: 3}", "{a: {}}", "{b: {e: 1}}", "{a: null}", "{n: {}}"] {
            assert!(!covers(&there, &yaml::parse_str(value).unwrap()), "{value}");
        }
        for value in ["{}", "{a: 2}", "{b: {c: y}}", "{b: {d: 1, c: 2}, a: []}"] {
            assert!(covers(&there, &yaml::parse_str(value).unwrap()), "{value}");
        }
    }
}
