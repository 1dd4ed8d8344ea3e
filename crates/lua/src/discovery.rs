//! Which actions a script offers.

use lynceus_object::{Object, Str, Value};

use crate::error::ScriptError;
use crate::meter::World;
use crate::script::Script;
use crate::verdict::lua_type;

/// An action that can be run on an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub name: Str,
    /// Whether it cannot be run now.
    pub disabled: bool,
    /// The names of the parameters that it takes.
    pub parameters: Vec<Str>,
    /// The icon that pages show.
    pub icon: Str,
    /// What people are shown instead of the name.
    pub title: Str,
}

impl Script {
    /// Runs the script as the discovery of actions, which are given by name.
    pub fn discover(&self, object: &Object, world: &World) -> Result<Vec<Offer>, ScriptError> {
        match self.run(object, &[], world)? {
            Value::Seq(items) if items.is_empty() => Ok(Vec::new()),
            Value::Map(actions) => Ok(actions.iter().map(|(name, action)| offer(name, action)).collect()),
            Value::Seq(_) => {
                Err(ScriptError::output("the actions are a list; they have to be a table by name"))
            }
            other => Err(ScriptError::output(format!(
                "expect table output from Lua script, not {}",
                lua_type(&other)
            ))),
        }
    }
}

fn offer(name: &Str, action: &Value) -> Offer {
    let text = |field| action.str_at(&[field]).unwrap_or_default().into();
    let parameters = action.items_at(&["params"]).iter();
    Offer {
        name: action.str_at(&["name"]).map_or_else(|| name.clone(), Into::into),
        disabled: action.bool_at(&["disabled"]).unwrap_or_default(),
        parameters: parameters.filter_map(|parameter| parameter.str_at(&["name"])).map(Into::into).collect(),
        icon: text("iconClass"),
        title: text("displayName"),
    }
}
