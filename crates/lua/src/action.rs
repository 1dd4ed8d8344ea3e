//! What a script makes of an object.

use lynceus_object::{Map, Object, Seq, Value};

use crate::error::ScriptError;
use crate::meter::World;
use crate::script::Script;
use crate::verdict::lua_type;

/// What is to be done with an object that an action made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is the object that was there, changed.
    Patch,
    /// It is a new one.
    Create,
}

impl Script {
    /// Runs the script as an action. It gives the changed object, or a list of objects with what to do with each.
    pub fn act(
        &self,
        object: &Object,
        parameters: &[(&str, Value)],
        world: &World,
    ) -> Result<Vec<(Operation, Object)>, ScriptError> {
        let mut made = match self.run(object, parameters, world)? {
            Value::Seq(items) => items.iter().map(step).collect::<Result<Vec<_>, _>>()?,
            Value::Map(map) => vec![(Operation::Patch, whole(&Value::Map(map))?)],
            other => {
                return Err(ScriptError::output(format!(
                    "expect table output from Lua script, not {}",
                    lua_type(&other)
                )));
            }
        };
        for (operation, made) in &mut made {
            if *operation == Operation::Patch {
                restore(made.value_mut(), object.value());
            }
        }
        Ok(made)
    }
}

fn step(item: &Value) -> Result<(Operation, Object), ScriptError> {
    let operation = match item.str_at(&["operation"]) {
        Some("patch") => Operation::Patch,
        Some("create") => Operation::Create,
        other => {
            return Err(ScriptError::output(format!(
                "unsupported operation: {:?}",
                other.unwrap_or_default()
            )));
        }
    };
    Ok((operation, whole(item.get("resource").unwrap_or(&Value::Null))?))
}

fn whole(value: &Value) -> Result<Object, ScriptError> {
    let object = Object::new(value.clone()).map_err(|value| {
        ScriptError::output(format!("the resource is no object but {}", lua_type(&value)))
    })?;
    if object.kind().is_empty() {
        return Err(ScriptError::output("the resource has no kind"));
    }
    Ok(object)
}

/// Lua cannot tell an empty map from an empty list. What was an empty map, and is empty still, becomes one again.
fn restore(made: &mut Value, was: &Value) {
    match (&mut *made, was) {
        (Value::Seq(items), Value::Map(_)) if items.is_empty() => *made = Value::Map(Map::new()),
        (Value::Map(fields), Value::Map(before)) => {
            for (key, value) in before.iter() {
                if let Some(field) = fields.get_mut(key) {
                    restore(field, value);
                }
            }
        }
        (Value::Seq(items), Value::Seq(before)) => restore_items(items, before),
        _ => {}
    }
}

fn restore_items(items: &mut Seq, before: &Seq) {
    for (item, was) in items.make_mut().iter_mut().zip(before.iter()) {
        restore(item, was);
    }
}
