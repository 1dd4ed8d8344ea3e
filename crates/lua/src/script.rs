//! A script: compiled when it is read, and run as often as wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lynceus_object::{Object, Value};

use crate::error::{ScriptError, ScriptErrorKind};
use crate::limits;
use crate::machine::{Given, Libraries, Machine};
use crate::meter::World;

/// A script that is known to be Lua. Cloning is cheap, and every machine compiles it at most once.
#[derive(Clone, Debug)]
pub struct Script {
    id: u64,
    text: Arc<str>,
    libraries: Libraries,
}

impl Script {
    /// Reads a script.
    pub fn compile(text: &str, libraries: Libraries) -> Result<Self, ScriptError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if text.len() > limits::SCRIPT_BYTES {
            let message = format!("the script is longer than {} bytes", limits::SCRIPT_BYTES);
            return Err(ScriptError::new(ScriptErrorKind::Limit, None, message));
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Machine::with(libraries, |machine| machine.compile(id, text).map(drop))?;
        Ok(Script { id, text: text.into(), libraries })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Runs the script on an object and gives what it returned, as JSON; nothing is null.
    pub fn run(
        &self,
        object: &Object,
        parameters: &[(&str, Value)],
        world: &World,
    ) -> Result<Value, ScriptError> {
        self.given(Given::Object(object.value(), parameters), world)
    }

    /// Runs the script on values that it finds under these names, and gives what it returned. Other than in an action, an empty
    /// map that is given stays one where it is returned.
    pub fn run_with(&self, values: &[(&str, Value)], world: &World) -> Result<Value, ScriptError> {
        self.given(Given::Names(values), world)
    }

    fn given(&self, given: Given<'_>, world: &World) -> Result<Value, ScriptError> {
        Machine::with(self.libraries, |machine| {
            let function = machine.compile(self.id, &self.text)?;
            machine.run(&function, given, world)
        })
    }
}

/// Two scripts are the same if they do the same.
impl PartialEq for Script {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.libraries == other.libraries
    }
}
