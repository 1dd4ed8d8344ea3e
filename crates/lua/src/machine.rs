//! One interpreter: made once, used for many runs, with nothing left of the run before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_object::Value;
use mlua::chunk::ChunkMode;
use mlua::debug::Debug;
use mlua::{Function, HookTriggers, Lua, LuaOptions, MultiValue, StdLib, Table, VmState};

use crate::error::{ScriptError, ScriptErrorKind};
use crate::library::Library;
use crate::meter::{Meter, World};
use crate::{convert, limits, source};

/// Which libraries a script finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Libraries {
    /// The base functions, `table`, and `os` with `time` and `date`.
    #[default]
    Closed,
    /// `string` and `math` as well: `useOpenLibs`.
    Open,
}

/// Machines that wait for work: making one takes longer than running a small script.
static IDLE: [Mutex<Vec<Machine>>; 2] = [const { Mutex::new(Vec::new()) }; 2];

pub(crate) struct Machine {
    lua: Lua,
    meter: Arc<Meter>,
    library: Library,
    compiled: HashMap<u64, Compiled>,
}

/// A script as one machine has it.
#[derive(Clone)]
pub(crate) struct Compiled {
    function: Function,
    /// Whether it was rewritten, and needs the joint.
    joined: bool,
}

impl Machine {
    /// Has something done by a machine, which goes back to the others unless it is spent.
    pub(crate) fn with<T>(
        libraries: Libraries,
        work: impl FnOnce(&mut Machine) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        let idle = &IDLE[libraries as usize];
        let waiting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut machine = match waiting {
            Some(machine) => machine,
            None => Machine::new(libraries).map_err(|error| ScriptError::from_lua(&error))?,
        };
        let done = work(&mut machine);
        let spent = done.as_ref().is_err_and(|error| error.kind == ScriptErrorKind::Limit);
        if !spent && !machine.meter.exhausted() {
            let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < limits::IDLE_MACHINES {
                idle.push(machine);
            }
        }
        done
    }

    fn new(libraries: Libraries) -> mlua::Result<Self> {
        let native = match libraries {
            Libraries::Closed => StdLib::TABLE,
            Libraries::Open => StdLib::TABLE | StdLib::STRING | StdLib::MATH,
        };
        let lua = Lua::new_with(native, LuaOptions::default())?;
        let meter = Arc::new(Meter::default());
        let library = Library::new(&lua, libraries, &meter)?;
        watch(&lua, meter.clone(), limits::PERIOD)?;
        lua.set_memory_limit(lua.used_memory() + limits::MEMORY)?;
        Ok(Machine { lua, meter, library, compiled: HashMap::new() })
    }

    /// The function that a script is, compiled at most once.
    pub(crate) fn compile(&mut self, id: u64, text: &str) -> Result<Compiled, ScriptError> {
        if let Some(compiled) = self.compiled.get(&id) {
            return Ok(compiled.clone());
        }
        // What the rewriting breaks, and what is no Lua to begin with, is read as it was written.
        let joined = source::joined(text).and_then(|text| self.load(&text).ok());
        let compiled = match joined {
            Some(function) => Compiled { function, joined: true },
            None => {
                let function = self.load(&source::escaped(text));
                let function = function.map_err(|error| ScriptError::from_lua(&error))?;
                Compiled { function, joined: false }
            }
        };
        if self.compiled.len() >= limits::COMPILED {
            self.compiled.clear();
        }
        self.compiled.insert(id, compiled.clone());
        Ok(compiled)
    }

    fn load(&self, text: &str) -> mlua::Result<Function> {
        self.lua.load(text).set_name("=<string>").set_mode(ChunkMode::Text).into_function()
    }

    /// Runs a script and gives what it returned last; nothing is null.
    pub(crate) fn run(
        &self,
        script: &Compiled,
        given: Given<'_>,
        world: &World,
    ) -> Result<Value, ScriptError> {
        self.meter.begin(world);
        let mark = match given {
            Given::Names(_) => Some(self.lua.create_table().map_err(|error| ScriptError::from_lua(&error))?),
            Given::Object(..) => None,
        };
        let returned = self.call(script, given, mark.as_ref());
        if self.meter.exhausted() {
            let told = returned.as_ref().err().and_then(|error| ScriptError::from_lua(error).line);
            let line = self.meter.line().or(told);
            return Err(ScriptError::new(ScriptErrorKind::Limit, line, self.meter.reason()));
        }
        let mut returned = returned.map_err(|error| ScriptError::from_lua(&error))?;
        convert::from_lua(&returned.pop_back().unwrap_or(mlua::Value::Nil), mark.as_ref())
    }

    /// Everything that a script can reach is made anew here: its globals, the tables of the libraries, the object.
    fn call(&self, script: &Compiled, given: Given<'_>, mark: Option<&Table>) -> mlua::Result<MultiValue> {
        let globals = self.library.globals(&self.lua, script.joined)?;
        let fill = |table: &Table, values: &[(&str, Value)]| {
            let set = |(name, value): &(&str, Value)| {
                table.raw_set(*name, convert::to_lua(&self.lua, value, mark)?)
            };
            values.iter().try_for_each(set)
        };
        match given {
            Given::Object(object, parameters) => {
                globals.raw_set("obj", convert::to_lua(&self.lua, object, mark)?)?;
                let table = self.lua.create_table()?;
                fill(&table, parameters)?;
                globals.raw_set("actionParams", table)?;
            }
            Given::Names(values) => fill(&globals, values)?,
        }
        script.function.set_environment(globals)?;
        script.function.call(())
    }
}

/// What a script is given.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    /// An object and the parameters of an action, as Argo CD gives them.
    Object(&'a Value, &'a [(&'a str, Value)]),
    /// Values by names of the caller's. Empty maps stay maps.
    Names(&'a [(&'a str, Value)]),
}

/// Has instructions counted. A script that catches the error of the end gets the next one with its next instruction,
/// and so on until nothing is left that could catch.
fn watch(lua: &Lua, meter: Arc<Meter>, period: u32) -> mlua::Result<()> {
    lua.set_hook(HookTriggers::new().every_nth_instruction(period), move |lua, debug| {
        let memory = lua.used_memory();
        if let Err(error) = meter.tick(period, memory) {
            meter.ended_at(line(debug));
            let again = error.clone();
            lua.set_hook(HookTriggers::new().every_nth_instruction(1), move |_, _| Err(again.clone()))?;
            return Err(error);
        }
        let wanted = if memory > limits::HEAVY { limits::HEAVY_PERIOD } else { limits::PERIOD };
        if wanted != period {
            watch(lua, meter.clone(), wanted)?;
        }
        Ok(VmState::Continue)
    })
}

/// The line of the script, if it is the script that is at work and not the library.
fn line(debug: &Debug<'_>) -> Option<u32> {
    let source = debug.source();
    let line = debug.current_line().filter(|_| source.short_src.as_deref() == Some("<string>"))?;
    u32::try_from(line).ok()
}
