//! Values in and out.

use lynceus_object::{Map, Seq, Value};
use mlua::{Lua, Table};

use crate::error::ScriptError;
use crate::limits;

/// A value as a script sees it. What is null is not there at all. Lua cannot tell an empty map from an empty list: with a mark,
/// which becomes its metatable, an empty map is known again by [`from_lua`].
pub(crate) fn to_lua(lua: &Lua, value: &Value, mark: Option<&Table>) -> mlua::Result<mlua::Value> {
    enter(lua, value, mark, 0)
}

fn enter(lua: &Lua, value: &Value, mark: Option<&Table>, depth: usize) -> mlua::Result<mlua::Value> {
    if depth > limits::DEPTH {
        return Err(mlua::Error::runtime(format!("the object nests deeper than {}", limits::DEPTH)));
    }
    Ok(match value {
        Value::Null => mlua::Value::Nil,
        Value::Bool(value) => mlua::Value::Boolean(*value),
        Value::Int(value) => mlua::Value::Number(*value as f64),
        Value::Float(value) => mlua::Value::Number(*value),
        Value::Str(text) => mlua::Value::String(lua.create_string(text.as_bytes())?),
        Value::Seq(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for item in items {
                table.raw_push(enter(lua, item, mark, depth + 1)?)?;
            }
            mlua::Value::Table(table)
        }
        Value::Map(map) => {
            let table = lua.create_table_with_capacity(0, map.len())?;
            if map.is_empty() && mark.is_some() {
                table.set_metatable(mark.cloned())?;
            }
            for (key, value) in map.iter() {
                table.raw_set(key.as_str(), enter(lua, value, mark, depth + 1)?)?;
            }
            mlua::Value::Table(table)
        }
    })
}

/// What a script returned. A table is a list if its first key is a number, and an empty one is an empty list, because Lua
/// cannot tell, unless it has the mark of an empty map.
pub(crate) fn from_lua(value: &mlua::Value, mark: Option<&Table>) -> Result<Value, ScriptError> {
    leave(value, mark, 0)
}

fn leave(value: &mlua::Value, mark: Option<&Table>, depth: usize) -> Result<Value, ScriptError> {
    if depth > limits::DEPTH {
        return Err(ScriptError::output("cannot encode recursively nested tables to JSON"));
    }
    Ok(match value {
        mlua::Value::Nil => Value::Null,
        mlua::Value::Boolean(value) => Value::Bool(*value),
        mlua::Value::Integer(value) => Value::Int(*value),
        mlua::Value::Number(value) => number(*value)?,
        mlua::Value::String(text) => Value::from(text.to_string_lossy()),
        mlua::Value::Table(table) => return content(table, mark, depth),
        other => {
            return Err(ScriptError::output(format!("cannot encode {} to JSON", other.type_name())));
        }
    })
}

fn number(value: f64) -> Result<Value, ScriptError> {
    /// Whole numbers beyond this are not exact in a script.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !value.is_finite() {
        return Err(ScriptError::output("cannot encode a number that is infinite or none to JSON"));
    }
    let whole = value.fract() == 0.0 && value.abs() <= EXACT;
    Ok(if whole { Value::Int(value as i64) } else { Value::Float(value) })
}

fn content(table: &Table, mark: Option<&Table>, depth: usize) -> Result<Value, ScriptError> {
    let length = table.raw_len();
    let mut items = Seq::with_capacity(length);
    for item in table.sequence_values::<mlua::Value>() {
        items.push(leave(&item.map_err(|error| ScriptError::from_lua(&error))?, mark, depth + 1)?);
    }
    let mut map = Map::new();
    let mut numbers = 0;
    for pair in table.pairs::<mlua::Value, mlua::Value>() {
        let (key, value) = pair.map_err(|error| ScriptError::from_lua(&error))?;
        match key {
            mlua::Value::String(key) => {
                map.insert(key.to_string_lossy(), leave(&value, mark, depth + 1)?);
            }
            mlua::Value::Integer(_) | mlua::Value::Number(_) => numbers += 1,
            _ => return Err(ScriptError::output("cannot encode mixed or invalid key types")),
        }
    }
    match (numbers, map.is_empty()) {
        (0, false) => Ok(Value::Map(map)),
        (_, false) => Err(ScriptError::output("cannot encode mixed or invalid key types")),
        (numbers, true) if numbers != items.len() => Err(ScriptError::output("cannot encode sparse array")),
        (0, true) if mark.is_some() && table.metatable().as_ref() == mark => Ok(Value::Map(map)),
        (_, true) => Ok(Value::Seq(items)),
    }
}
