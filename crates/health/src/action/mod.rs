//! What can be done with an object besides syncing it: restart, pause, suspend, promote.
//!
//! An action is a function from an object to the objects that follow from it: the same one changed, or new ones. Nobody
//! is asked and nothing is written here. Users bring actions of their own in Lua, which come first.

mod special;
mod table;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lynceus_lua::{Offer, Operation, ScriptError, World};
use lynceus_object::{Object, Str, Value};

use crate::Customizations;
use table::{Action, Edit};

/// Why an action cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// There is none of this name.
    #[error("{kind} has no action {name:?}")]
    Unknown {
        /// The kind of the object.
        kind: String,
        /// The name that was asked for.
        name: String,
    },
    /// A parameter is missing or cannot be used.
    #[error("parameter {name}: {reason}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The object is not in a state in which this can be done.
    #[error("{0}")]
    State(String),
    /// The user's script failed.
    #[error("the script of the action has failed")]
    Script(#[from] ScriptError),
}

/// The parameters of a call, by name.
pub type Parameters<'a> = [(&'a str, Value)];

/// The objects that an action gives, with what is to be done with each.
pub type Outcome = Result<Vec<(Operation, Object)>, ActionError>;

/// The built-in actions that an object offers, in the order of their names.
pub fn offers(object: &Object) -> Vec<Offer> {
    let actions = table::of(object.group(), object.kind()).iter().filter(|action| !action.is_hidden(object));
    actions.map(|action| offer(action, object)).collect()
}

fn offer(action: &Action, object: &Object) -> Offer {
    let title = special::title(action, object).unwrap_or_else(|| action.title.clone());
    Offer { disabled: action.is_disabled(object), title, ..action.offer() }
}

/// Runs a built-in action.
pub fn act(object: &Object, name: &str, parameters: &Parameters<'_>, now: Timestamp) -> Outcome {
    let action = table::of(object.group(), object.kind()).iter().find(|action| *action.name == *name);
    let Some(action) = action else {
        return Err(ActionError::Unknown { kind: object.kind().to_owned(), name: name.to_owned() });
    };
    let mut changed = object.clone();
    for edit in &action.edits {
        match edit {
            Edit::Set(path, value) => changed.set(&borrowed(path), filled(value, now)),
            Edit::Change(path, value) => {
                let is_set = changed
                    .at(&borrowed(path))
                    .is_some_and(|old| !matches!(old, Value::Null | Value::Bool(false)));
                if is_set {
                    changed.set(&borrowed(path), value.clone());
                }
            }
            Edit::Unset(path) => {
                changed.remove(&borrowed(path));
            }
            Edit::Do(what) => return special::run(what, changed, parameters, now),
        }
    }
    Ok(vec![(Operation::Patch, changed)])
}

fn borrowed(path: &[Box<str>]) -> Vec<&str> {
    path.iter().map(|field| &**field).collect()
}

/// A value with the time put in.
fn filled(value: &Value, now: Timestamp) -> Value {
    match value {
        Value::Str(text) if text.contains("{now}") => text.replace("{now}", &written(now)).into(),
        other => other.clone(),
    }
}

/// The time to the second, without a zone.
fn written(now: Timestamp) -> String {
    let at = TimeZone::UTC.to_datetime(now);
    let (year, month, day) = (at.year(), at.month(), at.day());
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

impl Customizations {
    /// The actions that an object offers: the user's, and ours unless the user has his own and does not want both.
    pub fn offers(&self, object: &Object, world: &World) -> Result<Vec<Offer>, ActionError> {
        let Some(own) = self.actions(object) else { return Ok(offers(object)) };
        let mut all = own.discovery.as_ref().map_err(Clone::clone)?.discover(object, world)?;
        if own.merge {
            let own: Vec<Str> = all.iter().map(|offer| offer.name.clone()).collect();
            all.extend(offers(object).into_iter().filter(|offer| !own.contains(&offer.name)));
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Runs an action: the user's if there is one of this name, ours otherwise.
    pub fn act(&self, object: &Object, name: &str, parameters: &Parameters<'_>, world: &World) -> Outcome {
        match self.actions(object).and_then(|own| own.definitions.get(name)) {
            Some(script) => Ok(script.as_ref().map_err(Clone::clone)?.act(object, parameters, world)?),
            None => act(object, name, parameters, world.now),
        }
    }
}

#[cfg(test)]
mod tests;
