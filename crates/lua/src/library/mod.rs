//! What a script finds in its globals.

mod chance;
mod clock;
mod format;
mod number;
mod pattern;
mod text;

use std::sync::Arc;

use mlua::{Function, Lua, LuaString, Table, Value};

use crate::error::{ScriptError, ScriptErrorKind};
use crate::limits;
use crate::machine::Libraries;
use crate::meter::Meter;
use crate::source::JOINT;

/// The base functions that are taken as the interpreter has them. Those that read files or texts as programs, or tell
/// about the garbage, are not among them.
const BASE: [&str; 9] =
    ["error", "getmetatable", "ipairs", "next", "rawequal", "rawget", "rawset", "select", "type"];

/// The text functions that are taken as they are: each goes over its text once.
const TEXT: [&str; 5] = ["byte", "char", "len", "reverse", "sub"];

/// The functions of numbers. Chance is one of our own: a check says the same of the same object.
const MATH: [&str; 25] = [
    "abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "deg", "exp", "floor", "fmod", "frexp",
    "ldexp", "max", "min", "modf", "pi", "pow", "rad", "sin", "sinh", "sqrt", "tan", "tanh",
];

/// Names and what they stand for.
type Names = Vec<(&'static str, Value)>;

/// The functions of one machine.
pub(crate) struct Library {
    base: Names,
    tables: Arc<Vec<(&'static str, Names)>>,
    joint: Function,
}

impl Library {
    pub(crate) fn new(lua: &Lua, libraries: Libraries, meter: &Arc<Meter>) -> mlua::Result<Self> {
        let mut base = taken(&lua.globals(), &BASE)?;
        let (own, list, numbers, joint, functions) = prelude(lua, meter)?;
        lua.set_type_metatable::<Function>(Some(functions));
        base.extend(taken(&own, &["assert", "pairs", "pcall", "tostring", "xpcall"])?);
        base.push(("_VERSION", Value::String(lua.create_string("Lua 5.1")?)));
        base.push(("tonumber", Value::Function(to_number(lua)?)));
        base.push(("setmetatable", Value::Function(set_metatable(lua)?)));
        base.push(("print", Value::Function(lua.create_function(|_, _: mlua::MultiValue| Ok(()))?)));
        base.push(("collectgarbage", Value::Function(lua.create_function(|_, _: mlua::MultiValue| Ok(0))?)));
        let native: Table = lua.globals().raw_get("table")?;
        let unpack: Value = native.raw_get("unpack")?;
        base.push(("unpack", unpack.clone()));
        let mut table = taken(&list, &["concat", "getn", "insert", "maxn", "remove", "sort"])?;
        table.push(("unpack", unpack));
        let mut tables = vec![("os", clock::functions(lua, meter)?), ("table", table)];
        if libraries == Libraries::Open {
            let native: Table = lua.globals().raw_get("string")?;
            let mut string = taken(&native, &TEXT)?;
            string.extend(text::functions(lua, meter)?);
            protect_texts(lua, &string)?;
            tables.push(("string", string));
            let mut math = taken(&lua.globals().raw_get("math")?, &MATH)?;
            math.extend(taken(&numbers, &["mod"])?);
            math.extend(chance::functions(lua, meter)?);
            // The interpreter's own has a base, and none for ten.
            let natural = lua.create_function(|_, number: f64| Ok(number.ln()))?;
            math.push(("log", Value::Function(natural)));
            math.push(("log10", Value::Function(lua.create_function(|_, number: f64| Ok(number.log10()))?)));
            // Go's largest number, where Lua itself has one without an end.
            math.push(("huge", Value::Number(f64::MAX)));
            tables.push(("math", math));
        }
        let tables = Arc::new(tables);
        base.push(("require", Value::Function(require(lua, tables.clone())?)));
        Ok(Library { base, tables, joint })
    }

    /// Globals for one run, which may be changed at will: nobody else has them. A script that was rewritten takes the joint
    /// out of them before it begins.
    pub(crate) fn globals(&self, lua: &Lua, joined: bool) -> mlua::Result<Table> {
        let globals = lua.create_table_with_capacity(0, self.base.len() + self.tables.len() + 4)?;
        for (name, value) in &self.base {
            globals.raw_set(*name, value)?;
        }
        for (name, functions) in self.tables.iter() {
            globals.raw_set(*name, copy(lua, functions)?)?;
        }
        globals.raw_set("_G", &globals)?;
        if joined {
            globals.raw_set(JOINT, &self.joint)?;
        }
        Ok(globals)
    }
}

fn copy(lua: &Lua, functions: &Names) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(0, functions.len())?;
    for (name, value) in functions {
        table.raw_set(*name, value)?;
    }
    Ok(table)
}

fn taken(from: &Table, names: &[&'static str]) -> mlua::Result<Names> {
    names.iter().map(|name| Ok((*name, from.raw_get(*name)?))).collect()
}

/// The functions that are written in Lua.
fn prelude(lua: &Lua, meter: &Arc<Meter>) -> mlua::Result<(Table, Table, Table, Function, Table)> {
    let account = meter.clone();
    let keys = lua.create_function(move |lua, table: Value| keys(lua, &table, &account))?;
    let account = meter.clone();
    let charge = lua.create_function(move |_, bytes: f64| account.charge(bytes as u64 / 64))?;
    let account = meter.clone();
    let caught = lua.create_function(move |lua, error: Value| {
        if is_memory(&error) {
            account.run_out_of_memory();
        }
        match error {
            Value::Error(error) => {
                let text = ScriptError::from_lua(&error).to_string();
                lua.create_string(text).map(Value::String)
            }
            error => Ok(error),
        }
    })?;
    let written = lua.create_function(|lua, value: f64| lua.create_string(number::text(value)))?;
    let native: Table = lua.globals().raw_get("table")?;
    let concat: Function = native.raw_get("concat")?;
    lua.load(include_str!("prelude.lua")).set_name("=library").call((keys, charge, caught, written, concat))
}

/// Reads numbers as Argo CD does.
fn to_number(lua: &Lua) -> mlua::Result<Function> {
    lua.create_function(|_, (value, base): (Value, Option<f64>)| match value {
        Value::Number(number) => Ok(Some(number)),
        Value::Integer(number) => Ok(Some(number as f64)),
        Value::String(text) => Ok(number::read(&text.to_string_lossy(), base.map(|base| base as u32))),
        _ => Ok(None),
    })
}

/// Whether what was caught is the lack of memory.
fn is_memory(error: &Value) -> bool {
    match error {
        Value::String(text) => *text == "not enough memory",
        Value::Error(error) => ScriptError::from_lua(error).kind == ScriptErrorKind::Limit,
        _ => false,
    }
}

/// The keys of a table in a defined order, and how many there are.
fn keys(lua: &Lua, table: &Value, meter: &Meter) -> mlua::Result<(Table, usize)> {
    let Value::Table(table) = table else {
        let got = table.type_name();
        return Err(mlua::Error::runtime(format!("bad argument #1 to 'pairs' (table expected, got {got})")));
    };
    let mut numbers: Vec<f64> = Vec::new();
    let mut texts: Vec<LuaString> = Vec::new();
    let mut others: Vec<Value> = Vec::new();
    for pair in table.pairs::<Value, Value>() {
        match pair?.0 {
            Value::Number(number) => numbers.push(number),
            Value::Integer(number) => numbers.push(number as f64),
            Value::String(text) => texts.push(text),
            other => others.push(other),
        }
    }
    numbers.sort_by(f64::total_cmp);
    texts.sort_by_cached_key(|text| text.as_bytes().to_vec());
    let count = numbers.len() + texts.len() + others.len();
    meter.charge(count as u64)?;
    let order = lua.create_table_with_capacity(count, 0)?;
    for number in numbers {
        order.raw_push(number)?;
    }
    for text in texts {
        order.raw_push(text)?;
    }
    for other in others {
        order.raw_push(other)?;
    }
    Ok((order, count))
}

/// A finalizer runs while nobody counts, so that no table may have one. It counts only if it is there when the metatable
/// is set.
fn set_metatable(lua: &Lua) -> mlua::Result<Function> {
    let native: Function = lua.globals().raw_get("setmetatable")?;
    lua.create_function(move |_, (table, metatable): (Value, Value)| {
        if let Value::Table(metatable) = &metatable
            && !metatable.raw_get::<Value>("__gc")?.is_nil()
        {
            return Err(mlua::Error::runtime("a metatable must not have __gc"));
        }
        native.call::<Value>((table, metatable))
    })
}

/// Texts have methods, `("a"):upper()`, through a metatable that all of them share. Scripts get neither it nor the table
/// behind it.
fn protect_texts(lua: &Lua, functions: &Names) -> mlua::Result<()> {
    let metatable = lua.create_table()?;
    metatable.raw_set("__index", copy(lua, functions)?)?;
    metatable.raw_set("__metatable", false)?;
    lua.set_type_metatable::<LuaString>(Some(metatable));
    Ok(())
}

/// Only what is there anyway can be required.
fn require(lua: &Lua, tables: Arc<Vec<(&'static str, Names)>>) -> mlua::Result<Function> {
    lua.create_function(move |lua, name: String| match tables.iter().find(|(table, _)| *table == name) {
        Some((_, functions)) => copy(lua, functions),
        None => Err(mlua::Error::runtime(format!("module {name} not found"))),
    })
}

/// Refuses texts that are too long to make.
fn fits(bytes: usize) -> mlua::Result<()> {
    if bytes > limits::TEXT_BYTES {
        return Err(mlua::Error::runtime("resulting string too large"));
    }
    Ok(())
}
