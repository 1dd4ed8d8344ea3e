//! Dictionaries. `set`, `unset` and the merging functions change the dictionary they are given.

use super::args::{any, as_map, map, rest, text};
use super::merge::{self, Mode};
use super::show::text_of;
use crate::types;
use crate::{Failure, Functions, Map, Value, signature};

pub(super) fn register(to: &mut Functions) {
    making(to);
    reading(to);
    changing(to);
    selecting(to);
    merging(to);
}

fn making(to: &mut Functions) {
    to.add("dict", signature!((...ANY) -> MAP), |context, args| {
        let entries = args.chunks(2).map(|pair| {
            let value = pair.get(1).cloned().unwrap_or_else(|| Value::str(""));
            Ok((text_of(context, any(pair, 0))?, value))
        });
        Ok(Value::Map(entries.collect::<Result<_, Failure>>()?))
    });
    for name in ["deepCopy", "mustDeepCopy"] {
        to.add(name, signature!((ANY) -> ANY), |_, args| match any(args, 0) {
            Value::Nil => Err(Failure::new("reflect: call of reflect.Value.Type on zero Value")),
            value => value.deep_copy(),
        });
    }
}

fn reading(to: &mut Functions) {
    to.add("get", signature!((MAP, STRING) -> ANY), |_, args| {
        Ok(map(args, 0).get(text(args, 1)).unwrap_or_else(|| Value::str("")))
    });
    to.add("hasKey", signature!((MAP, STRING) -> BOOL), |_, args| {
        Ok(map(args, 0).contains(text(args, 1)).into())
    });
    to.add("pluck", signature!((STRING, ...MAP) -> LIST), |_, args| {
        Ok(Value::list(rest(args, 1).iter().filter_map(|map| as_map(map).get(text(args, 0)))))
    });
    // Go gives keys and values in a different order each time; here the order is that of the keys.
    to.add("keys", signature!((...MAP) -> STRINGS), |_, args| {
        Ok(Value::strings(args.iter().flat_map(|map| as_map(map).keys())))
    });
    to.add("values", signature!((MAP) -> LIST), |_, args| Ok(Value::list(map(args, 0).values())));
    to.add("dig", signature!((...ANY) -> ANY), |_, args| dig(args));
}

fn changing(to: &mut Functions) {
    to.add("set", signature!((MAP, STRING, ANY) -> MAP), |_, args| {
        let map = map(args, 0);
        if map.is_nil() {
            return Err(Failure::new("assignment to entry in nil map"));
        }
        map.insert(text(args, 1).clone(), any(args, 2).clone());
        Ok(map.into())
    });
    to.add("unset", signature!((MAP, STRING) -> MAP), |_, args| {
        let map = map(args, 0);
        map.remove(text(args, 1));
        Ok(map.into())
    });
}

fn selecting(to: &mut Functions) {
    to.add("pick", signature!((MAP, ...STRING) -> MAP), |_, args| {
        let map = map(args, 0);
        let keys = rest(args, 1).iter().filter_map(Value::as_str);
        Ok(Value::map(keys.filter_map(|key| Some((key.clone(), map.get(key)?)))))
    });
    to.add("omit", signature!((MAP, ...STRING) -> MAP), |_, args| {
        let unwanted = |key: &str| rest(args, 1).iter().any(|arg| arg.as_str().is_some_and(|arg| arg == key));
        Ok(Value::map(map(args, 0).entries().into_iter().filter(|(key, _)| !unwanted(key))))
    });
}

fn merging(to: &mut Functions) {
    for (name, mode) in [("merge", Mode::Fill), ("mergeOverwrite", Mode::Overwrite)] {
        to.add(name, signature!((MAP, ...MAP) -> ANY), move |_, args| match merge::all(args, mode) {
            Ok(map) => Ok(map.into()),
            // Types that do not fit are passed over in silence; what Go panics about is not.
            Err(merge::Problem::Types) => Ok(Value::str("")),
            Err(problem) => Err(problem.into()),
        });
    }
    for (name, mode) in [("mustMerge", Mode::Fill), ("mustMergeOverwrite", Mode::Overwrite)] {
        to.add(name, signature!((MAP, ...MAP) -> ANY), move |_, args| Ok(merge::all(args, mode)?.into()));
    }
}

/// Follows keys through dictionaries: the last argument is the dictionary, the one before it the default.
fn dig(args: &[Value]) -> Result<Value, Failure> {
    let [keys @ .., default, last] = args else { return Err(too_few()) };
    if keys.is_empty() {
        return Err(too_few());
    }
    let mut map = plain_map(last)?;
    let keys = keys
        .iter()
        .map(|key| key.as_str().ok_or_else(|| conversion(key, "string")))
        .collect::<Result<Vec<_>, _>>()?;
    for (i, key) in keys.iter().enumerate() {
        let Some(value) = map.get(key) else { return Ok(default.clone()) };
        if i + 1 == keys.len() {
            return Ok(value);
        }
        map = plain_map(&value)?;
    }
    Ok(default.clone())
}

fn too_few() -> Failure {
    Failure::new("dig needs at least three arguments")
}

/// Only the plain type will do here: a declared one such as `common.Values` does not.
fn plain_map(value: &Value) -> Result<Map, Failure> {
    match value {
        Value::Map(map) if map.go_type() == &types::MAP => Ok(map.clone()),
        _ => Err(conversion(value, types::MAP.name)),
    }
}

fn conversion(value: &Value, wanted: &str) -> Failure {
    let actual = value.go_type().map_or("nil", |of| of.name);
    Failure::new(format!("interface conversion: interface {{}} is {actual}, not {wanted}"))
}
