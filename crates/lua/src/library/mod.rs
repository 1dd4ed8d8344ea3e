//! What a script finds in its globals.

mod clock;
mod pattern;
mod text;

use std::sync::Arc;

use mlua::{Function, Lua, LuaString, Table, Value};

use crate::error::{ScriptError, ScriptErrorKind};
use crate::limits;
use crate::machine::Libraries;
use crate::meter::Meter;

/// The base functions that are taken as the interpreter has them. Those that read files or texts as programs, or tell
/// about the garbage, are not among them.
const BASE: [&str; 13] = [
    "_VERSION",
    "assert",
    "error",
    "getmetatable",
    "ipairs",
    "next",
    "rawequal",
    "rawget",
    "rawset",
    "select",
    "tonumber",
    "tostring",
    "type",
];

/// The text functions that are taken as they are: each goes over its text once.
const TEXT: [&str; 8] = ["byte", "char", "format", "len", "lower", "reverse", "sub", "upper"];

/// The functions of numbers. Chance is not among them: a check says the same of the same object.
const MATH: [&str; 27] = [
    "abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "deg", "exp", "floor", "fmod", "frexp",
    "huge", "ldexp", "log", "log10", "max", "min", "modf", "pi", "pow", "rad", "sin", "sinh", "sqrt", "tan",
];

/// Names and what they stand for.
type Names = Vec<(&'static str, Value)>;

/// The functions of one machine.
pub(crate) struct Library {
    base: Names,
    tables: Arc<Vec<(&'static str, Names)>>,
}

impl Library {
    pub(crate) fn new(lua: &Lua, libraries: Libraries, meter: &Arc<Meter>) -> mlua::Result<Self> {
        let mut base = taken(&lua.globals(), &BASE)?;
        let (own, list) = prelude(lua, meter)?;
        base.extend(taken(&own, &["pairs", "pcall", "xpcall"])?);
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
            tables.push(("math", taken(&lua.globals().raw_get("math")?, &MATH)?));
        }
        let tables = Arc::new(tables);
        base.push(("require", Value::Function(require(lua, tables.clone())?)));
        Ok(Library { base, tables })
    }

    /// Globals for one run, which may be changed at will: nobody else has them.
    pub(crate) fn globals(&self, lua: &Lua) -> mlua::Result<Table> {
        let globals = lua.create_table_with_capacity(0, self.base.len() + self.tables.len() + 3)?;
        for (name, value) in &self.base {
            globals.raw_set(*name, value)?;
        }
        for (name, functions) in self.tables.iter() {
            globals.raw_set(*name, copy(lua, functions)?)?;
        }
        globals.raw_set("_G", &globals)?;
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
fn prelude(lua: &Lua, meter: &Arc<Meter>) -> mlua::Result<(Table, Table)> {
    let account = meter.clone();
    let keys = lua.create_function(move |lua, table: Value| keys(lua, &table, &account))?;
    let account = meter.clone();
    let charge = lua.create_function(move |_, bytes: f64| account.charge(bytes as u64 / 64))?;
    let account = meter.clone();
    let caught = lua.create_function(move |_, error: Value| {
        if is_memory(&error) {
            account.run_out_of_memory();
        }
        Ok(())
    })?;
    let native: Table = lua.globals().raw_get("table")?;
    let concat: Function = native.raw_get("concat")?;
    lua.load(include_str!("prelude.lua")).set_name("=library").call((keys, charge, caught, concat))
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
