//! What the script of a health check says.

use lynceus_object::{Object, Value};

use crate::error::ScriptError;
use crate::meter::World;
use crate::script::Script;

/// What a script said about an object's health, in the words it used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The status; empty if it said none.
    pub status: String,
    /// The message.
    pub message: String,
}

impl Script {
    /// Runs the script as a health check. `None` if it says nothing: nil, an empty table, or fields that are no text.
    pub fn health(&self, object: &Object, world: &World) -> Result<Option<Verdict>, ScriptError> {
        let said = self.run(object, &[], world)?;
        match &said {
            Value::Null => Ok(None),
            Value::Seq(items) if items.is_empty() => Ok(None),
            // A list cannot be read as a health either, and Argo CD takes that for an empty answer.
            Value::Seq(_) => Ok(None),
            Value::Map(_) => {
                let (Some(status), Some(message)) = (text(&said, "status"), text(&said, "message")) else {
                    return Ok(None);
                };
                Ok(Some(Verdict { status, message }))
            }
            other => Err(ScriptError::output(format!(
                "expect table output from Lua script, not {}",
                lua_type(other)
            ))),
        }
    }
}

/// A text field; empty if it is not there, `None` if it is something else. Names are found in any case, as by Go.
fn text(said: &Value, field: &str) -> Option<String> {
    let map = said.as_map()?;
    let exact = map.get(field);
    let value =
        exact.or_else(|| map.iter().find(|(key, _)| key.eq_ignore_ascii_case(field)).map(|(_, value)| value));
    match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::Str(text)) => Some(text.to_string()),
        Some(_) => None,
    }
}

/// What Lua calls the type of a value.
pub(crate) fn lua_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "boolean",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::Seq(_) | Value::Map(_) => "table",
    }
}
