//! The functions on lists and maps.

use lynceus_gotmpl::{Context, Failure, List, Str, Value};

use super::builtin::types;
use super::compare::{as_int, equal};
use super::member::fetch;
use super::predicate::{is_descending, sorted};

/// Calls a function.
pub(super) fn call(
    context: &mut Context<'_>,
    name: &'static str,
    arguments: &[Value],
) -> Result<Value, Failure> {
    let wrong = || Failure::new(format!("{name} does not take {}", types(arguments)));
    if let [Value::List(list), ..] = arguments {
        context.step(list.len())?;
        context.charge(list.len() * 32)?;
    }
    let result = match (name, arguments) {
        // What has no such element has none; that is no mistake.
        ("first", [of]) => fetch(of, &Value::int(0)).ok(),
        ("last", [of]) => fetch(of, &Value::int(-1)).ok(),
        ("get", [Value::Nil, _]) => Some(Value::Nil),
        ("get", [of, key]) => Some(fetch(of, key).unwrap_or_default()),
        ("take", [Value::List(list), most]) => take(list, most),
        ("join", [Value::List(list), glue @ ..]) => join(context, list, glue)?,
        ("keys", [Value::Map(map)]) => Some(Value::list(map.keys().into_iter().map(Value::Str))),
        ("values", [Value::Map(map)]) => Some(Value::list(map.values())),
        ("toPairs", [Value::Map(map)]) => Some(Value::list(
            map.entries().into_iter().map(|(key, value)| Value::list([Value::Str(key), value])),
        )),
        ("fromPairs", [Value::List(list)]) => from_pairs(list),
        ("reverse", [Value::List(list)]) => Some(Value::list(list.to_vec().into_iter().rev())),
        ("uniq", [Value::List(list)]) => Some(unique(context, list)?),
        ("concat", [_, ..]) => concat(arguments),
        ("flatten", [Value::List(list)]) => Some(flatten(context, list)?),
        ("sort", [Value::List(list), direction @ ..]) if list.as_bytes().is_none() => {
            let descending = match direction {
                [] => false,
                [word] => is_descending(word).map_err(Failure::new)?,
                _ => return Err(wrong()),
            };
            let pairs = list.to_vec().into_iter().map(|item| (item.clone(), item)).collect();
            Some(Value::list(sorted(pairs, descending).map_err(Failure::new)?))
        }
        _ => None,
    };
    match (name, result) {
        (_, Some(value)) => Ok(value),
        ("first" | "last", None) if arguments.len() == 1 => Ok(Value::Nil),
        _ => Err(wrong()),
    }
}

fn take(list: &List, most: &Value) -> Option<Value> {
    let Value::Int(..) = most else { return None };
    let most = usize::try_from(as_int(most)?).ok()?;
    match list.as_bytes() {
        Some(bytes) => Some(Value::List(List::bytes(&bytes[..most.min(bytes.len())]))),
        None => Some(Value::list(list.to_vec().into_iter().take(most))),
    }
}

fn join(context: &mut Context<'_>, list: &List, glue: &[Value]) -> Result<Option<Value>, Failure> {
    let glue = match glue {
        [] => "",
        [Value::Str(glue)] => glue.as_str(),
        _ => return Ok(None),
    };
    let mut text = String::new();
    for (at, item) in list.to_vec().iter().enumerate() {
        let Value::Str(item) = item else { return Ok(None) };
        context.charge(item.len() + glue.len())?;
        if at > 0 {
            text.push_str(glue);
        }
        text.push_str(item);
    }
    Ok(Some(Value::str(text)))
}

fn from_pairs(list: &List) -> Option<Value> {
    let mut items: Vec<(Str, Value)> = Vec::new();
    for pair in list.to_vec() {
        let Value::List(pair) = pair else { return None };
        let [Value::Str(key), value] = pair.to_vec().try_into().ok().map(|pair: [Value; 2]| pair)? else {
            return None;
        };
        items.push((key, value));
    }
    Some(Value::map(items))
}

fn unique(context: &mut Context<'_>, list: &List) -> Result<Value, Failure> {
    let mut found: Vec<Value> = Vec::new();
    for item in list.to_vec() {
        context.step(found.len())?;
        if !found.iter().any(|known| equal(known, &item)) {
            found.push(item);
        }
    }
    Ok(Value::list(found))
}

fn concat(lists: &[Value]) -> Option<Value> {
    let mut items = Vec::new();
    for list in lists {
        let Value::List(list) = list else { return None };
        items.extend(list.to_vec());
    }
    Some(Value::list(items))
}

fn flatten(context: &mut Context<'_>, list: &List) -> Result<Value, Failure> {
    let mut items = Vec::new();
    let mut waiting: Vec<Value> = list.to_vec().into_iter().rev().collect();
    while let Some(value) = waiting.pop() {
        context.step(1)?;
        match value {
            Value::List(list) => {
                context.charge(list.len() * 32)?;
                waiting.extend(list.to_vec().into_iter().rev());
            }
            value => items.push(value),
        }
    }
    Ok(Value::list(items))
}

/// The parts of a text between separators, at most so many if that is not negative; `keep` leaves each its separator.
pub(super) fn split(text: &str, by: &str, most: i64, keep: bool) -> Vec<String> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most == 0 {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while parts.len() + 1 < most {
        let found = if by.is_empty() {
            rest.char_indices().nth(1).map(|(at, _)| (at, at))
        } else {
            rest.find(by).map(|at| (at, at + by.len()))
        };
        let Some((end, next)) = found else { break };
        parts.push(rest[..if keep { next } else { end }].to_owned());
        rest = &rest[next..];
    }
    if !(by.is_empty() && text.is_empty()) {
        parts.push(rest.to_owned());
    }
    parts
}
