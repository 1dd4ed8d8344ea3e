//! The functions of `string` whose work has to be counted.

use std::sync::Arc;

use mlua::{Lua, LuaString, MultiValue, Value, Variadic};

use super::format::{Argument, filled as formatted};
use super::pattern::{Capture, Match, Search};
use super::{Names, fits, number as numbers};
use crate::meter::Meter;

pub(super) fn functions(lua: &Lua, meter: &Arc<Meter>) -> mlua::Result<Names> {
    let function = |name, value| (name, Value::Function(value));
    let account = meter.clone();
    let repeat =
        lua.create_function(move |lua, (text, times, between): (LuaString, f64, Option<LuaString>)| {
            let between = between.map(|text| text.as_bytes().to_vec()).unwrap_or_default();
            let made = repeated(&text.as_bytes(), times, &between)?;
            account.charge(made.len() as u64 / 64)?;
            lua.create_string(made)
        })?;
    let account = meter.clone();
    let find = lua.create_function(
        move |lua, (text, pattern, from, plain): (LuaString, LuaString, Option<f64>, Option<bool>)| {
            find(lua, &text.as_bytes(), &pattern.as_bytes(), from, plain.unwrap_or_default(), &account)
        },
    )?;
    let account = meter.clone();
    let matched =
        lua.create_function(move |lua, (text, pattern, from): (LuaString, LuaString, Option<f64>)| {
            let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
            let Some(from) = start(from, text.len()) else { return nothing() };
            match Search::new(&text, &pattern, &account).find(from)? {
                Some(found) => captures(lua, &text, &found),
                None => nothing(),
            }
        })?;
    let account = meter.clone();
    let each = lua.create_function(move |lua, (text, pattern): (LuaString, LuaString)| {
        each(lua, text.as_bytes().to_vec(), pattern.as_bytes().to_vec(), account.clone())
    })?;
    let account = meter.clone();
    let replace = lua.create_function(
        move |lua, (text, pattern, by, most): (LuaString, LuaString, Value, Option<f64>)| {
            replace(lua, &text.as_bytes(), &pattern.as_bytes(), &by, most, &account)
        },
    )?;
    let account = meter.clone();
    let format = lua.create_function(move |lua, (template, given): (LuaString, Variadic<Value>)| {
        let given = given.into_iter().map(argument).collect::<mlua::Result<Vec<_>>>()?;
        let made = formatted(&template.as_bytes(), &given);
        account.charge(made.len() as u64 / 8)?;
        fits(made.len())?;
        lua.create_string(made)
    })?;
    let lower = lua.create_function(|lua, text: LuaString| lettered(lua, &text, char::to_lowercase))?;
    let upper = lua.create_function(|lua, text: LuaString| lettered(lua, &text, char::to_uppercase))?;
    Ok(vec![
        function("format", format),
        function("lower", lower),
        function("upper", upper),
        function("rep", repeat),
        function("find", find),
        function("match", matched),
        function("gmatch", each.clone()),
        function("gfind", each),
        function("gsub", replace),
    ])
}

/// A value for a template.
fn argument(value: Value) -> mlua::Result<Argument> {
    Ok(match value {
        Value::Nil => Argument::Nil,
        Value::Boolean(value) => Argument::Bool(value),
        Value::Integer(value) => Argument::Number(value as f64),
        Value::Number(value) => Argument::Number(value),
        Value::String(text) => Argument::Text(text.as_bytes().to_vec()),
        Value::Table(_) => Argument::Other("*lua.LTable", value.to_string()?),
        Value::Function(_) => Argument::Other("*lua.LFunction", value.to_string()?),
        other => Argument::Other("*lua.LUserData", other.to_string()?),
    })
}

/// A text in other letters, those beyond ASCII as well. A letter that would become several stays one, as in Go.
fn lettered<I: Iterator<Item = char>>(
    lua: &Lua,
    text: &LuaString,
    change: impl Fn(char) -> I,
) -> mlua::Result<LuaString> {
    let one = |letter: char| {
        let mut letters = change(letter);
        letters.next().filter(|_| letters.next().is_none()).unwrap_or(letter)
    };
    lua.create_string(text.to_string_lossy().chars().map(one).collect::<String>())
}

fn nothing() -> mlua::Result<MultiValue> {
    Ok(MultiValue::from_iter([Value::Nil]))
}

fn repeated(text: &[u8], times: f64, between: &[u8]) -> mlua::Result<Vec<u8>> {
    if times < 1.0 || text.len() + between.len() == 0 {
        return Ok(Vec::new());
    }
    fits(((text.len() + between.len()) as f64 * times) as usize)?;
    let parts = vec![text; times as usize];
    Ok(parts.join(between))
}

/// The place to begin at, from 0; `None` if it is beyond the end. Negative ones count from the end.
fn start(from: Option<f64>, length: usize) -> Option<usize> {
    let from = from.unwrap_or(1.0) as i64;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if from < 0 { (length + from).max(0) } else { (from - 1).max(0) };
    (at <= length).then(|| usize::try_from(at).unwrap_or_default())
}

fn find(
    lua: &Lua,
    text: &[u8],
    pattern: &[u8],
    from: Option<f64>,
    plain: bool,
    meter: &Meter,
) -> mlua::Result<MultiValue> {
    let Some(from) = start(from, text.len()) else { return nothing() };
    let special = pattern.iter().any(|letter| b"^$*+?.([%-".contains(letter));
    if plain || !special {
        meter.charge(text.len() as u64 / 8)?;
        let place = places(&text[from..], pattern).map(|at| from + at);
        return Ok(match place {
            Some(at) => MultiValue::from_iter([number(at + 1), number(at + pattern.len())]),
            None => MultiValue::from_iter([Value::Nil]),
        });
    }
    let Some(found) = Search::new(text, pattern, meter).find(from)? else { return nothing() };
    let mut answer = MultiValue::from_iter([number(found.start + 1), number(found.end)]);
    if !found.captures.is_empty() {
        answer.extend(captures(lua, text, &found)?);
    }
    Ok(answer)
}

fn places(text: &[u8], wanted: &[u8]) -> Option<usize> {
    if wanted.is_empty() {
        return Some(0);
    }
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn number(value: usize) -> Value {
    Value::Number(value as f64)
}

/// What a match captured; all of it, if there are no parentheses.
fn captures(lua: &Lua, text: &[u8], found: &Match) -> mlua::Result<MultiValue> {
    if found.captures.is_empty() {
        let all = lua.create_string(&text[found.start..found.end])?;
        return Ok(MultiValue::from_iter([Value::String(all)]));
    }
    found.captures.iter().map(|capture| captured(lua, text, *capture)).collect()
}

fn captured(lua: &Lua, text: &[u8], capture: Capture) -> mlua::Result<Value> {
    match capture {
        Capture::Span(start, end) => Ok(Value::String(lua.create_string(&text[start..end])?)),
        Capture::Place(at) => Ok(number(at + 1)),
        Capture::Open(_) => Err(mlua::Error::runtime("unfinished capture")),
    }
}

/// `gmatch`: one match with every call.
fn each(lua: &Lua, text: Vec<u8>, pattern: Vec<u8>, meter: Arc<Meter>) -> mlua::Result<mlua::Function> {
    let mut from = Some(0);
    lua.create_function_mut(move |lua, _: MultiValue| {
        let Some(at) = from.filter(|at| *at <= text.len()) else { return nothing() };
        match Search::new(&text, &pattern, &meter).find(at)? {
            Some(found) => {
                from = Some(if found.end == found.start { found.end + 1 } else { found.end });
                captures(lua, &text, &found)
            }
            None => {
                from = None;
                nothing()
            }
        }
    })
}

/// `gsub`: by a text with `%1` in it, a table or a function.
fn replace(
    lua: &Lua,
    text: &[u8],
    pattern: &[u8],
    by: &Value,
    most: Option<f64>,
    meter: &Meter,
) -> mlua::Result<(LuaString, f64)> {
    let most = most.map_or(usize::MAX, |most| most.max(0.0) as usize);
    let mut search = Search::new(text, pattern, meter);
    let (mut made, mut at, mut count) = (Vec::new(), 0, 0);
    while count < most {
        let found = search.at(at)?;
        if let Some(found) = &found {
            count += 1;
            made.extend(replacement(lua, text, found, by)?);
            fits(made.len())?;
        }
        match found {
            Some(found) if found.end > at => at = found.end,
            _ if at < text.len() => {
                made.push(text[at]);
                at += 1;
            }
            _ => break,
        }
        if search.anchored() {
            break;
        }
    }
    made.extend_from_slice(text.get(at..).unwrap_or_default());
    meter.charge(made.len() as u64 / 64)?;
    Ok((lua.create_string(made)?, count as f64))
}

fn replacement(lua: &Lua, text: &[u8], found: &Match, by: &Value) -> mlua::Result<Vec<u8>> {
    let all = &text[found.start..found.end];
    let first = || Ok::<_, mlua::Error>(captures(lua, text, found)?.pop_front().unwrap_or(Value::Nil));
    let answer = match by {
        Value::String(template) => return filled(lua, text, found, &template.as_bytes()),
        Value::Number(_) | Value::Integer(_) => by.clone(),
        Value::Table(table) => table.get(first()?)?,
        Value::Function(function) => function.call(captures(lua, text, found)?)?,
        other => {
            let got = other.type_name();
            return Err(mlua::Error::runtime(format!(
                "bad argument #3 to 'gsub' (string/function/table expected, got {got})"
            )));
        }
    };
    match answer {
        Value::Nil | Value::Boolean(false) => Ok(all.to_vec()),
        other => Ok(written(&other)),
    }
}

/// A template with its captures put in.
fn filled(lua: &Lua, text: &[u8], found: &Match, template: &[u8]) -> mlua::Result<Vec<u8>> {
    let mut made = Vec::new();
    let mut letters = template.iter();
    while let Some(letter) = letters.next() {
        match (letter, *letter == b'%') {
            (letter, false) => made.push(*letter),
            (_, true) => match letters.next() {
                Some(b'0') => made.extend_from_slice(&text[found.start..found.end]),
                Some(digit) if digit.is_ascii_digit() => {
                    let index = usize::from(digit - b'1');
                    let mut all = captures(lua, text, found)?;
                    if index >= all.len() {
                        return Err(mlua::Error::runtime(format!("invalid capture index %{}", index + 1)));
                    }
                    made.extend(written(&all.remove(index).unwrap_or(Value::Nil)));
                }
                Some(b'%') => made.push(b'%'),
                // Argo CD leaves alone what is no capture.
                Some(other) => made.extend([b'%', *other]),
                None => made.push(b'%'),
            },
        }
        fits(made.len())?;
    }
    Ok(made)
}

/// What a replacement is written as. What is neither text nor number is nothing, as in Argo CD.
fn written(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.as_bytes().to_vec(),
        Value::Number(value) => numbers::text(*value).into_bytes(),
        Value::Integer(value) => value.to_string().into_bytes(),
        _ => Vec::new(),
    }
}
