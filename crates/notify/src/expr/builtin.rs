//! The functions of the language: those on texts, numbers and times. Lists and maps have a file of their own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_gotmpl::sprig::moments;
use lynceus_gotmpl::{Context, Failure, Str, Value, json};

use super::aggregate;
use super::collection;
use super::compare::{as_float, as_int};
use crate::limits;

/// The functions that ask something of each element: how many arguments they need, and which of them are asked (`p`).
pub(super) const PREDICATES: [(&str, usize, &str); 15] = [
    ("all", 2, "ep"),
    ("none", 2, "ep"),
    ("any", 2, "ep"),
    ("one", 2, "ep"),
    ("filter", 2, "ep"),
    ("map", 2, "ep"),
    ("count", 1, "ep"),
    ("sum", 1, "ep"),
    ("find", 2, "ep"),
    ("findIndex", 2, "ep"),
    ("findLast", 2, "ep"),
    ("findLastIndex", 2, "ep"),
    ("groupBy", 2, "ep"),
    ("sortBy", 2, "epe"),
    ("reduce", 2, "epe"),
];

/// All others.
pub(super) const NAMES: [&str; 56] = [
    "len",
    "type",
    "abs",
    "ceil",
    "floor",
    "round",
    "int",
    "float",
    "string",
    "trim",
    "trimPrefix",
    "trimSuffix",
    "upper",
    "lower",
    "split",
    "splitAfter",
    "replace",
    "repeat",
    "join",
    "indexOf",
    "lastIndexOf",
    "hasPrefix",
    "hasSuffix",
    "max",
    "min",
    "mean",
    "median",
    "toJSON",
    "fromJSON",
    "toBase64",
    "fromBase64",
    "now",
    "duration",
    "date",
    "first",
    "last",
    "get",
    "take",
    "keys",
    "values",
    "toPairs",
    "fromPairs",
    "reverse",
    "uniq",
    "concat",
    "flatten",
    "sort",
    "bitand",
    "bitor",
    "bitxor",
    "bitnand",
    "bitshl",
    "bitshr",
    "bitushr",
    "bitnot",
    "timezone",
];

/// Calls a function.
pub(super) fn call(
    context: &mut Context<'_>,
    name: &'static str,
    arguments: &[Value],
) -> Result<Value, Failure> {
    let wrong = || Failure::new(format!("{name} does not take {}", types(arguments)));
    let result = match (name, arguments) {
        ("len", [value]) => length(value),
        ("type", [value]) => Some(Value::str(kind(value))),
        ("abs" | "ceil" | "floor" | "round" | "int" | "float", [value]) => number(name, value),
        ("string", [value]) => Some(Value::Str(context.text(value)?)),
        ("bitnot", [value]) => as_whole(value).map(|value| Value::int(!value)),
        ("bitand" | "bitor" | "bitxor" | "bitnand", [left, right]) => bits(name, left, right),
        ("bitshl" | "bitshr" | "bitushr", [number, by]) => shifted(name, number, by)?,
        ("max" | "min" | "mean" | "median", _) => return aggregate::call(context, name, arguments),
        ("now", []) => Some(moments::now(context)),
        ("now", [zone]) => moments::within(&moments::now(context), zone),
        ("duration", [Value::Str(text)]) => Some(moments::parse_duration(text).map_err(Failure::new)?),
        ("date", [zone, Value::Str(text), layout @ ..]) if moments::is_zone(zone) => {
            Some(date(text, layout, Some(zone))?)
        }
        ("date", [Value::Str(text), layout @ ..]) => Some(date(text, layout, None)?),
        ("timezone", [Value::Str(name)]) => Some(moments::zone(name).map_err(Failure::new)?),
        ("toJSON", [value]) => Some(Value::Str(json::encode_in(context, value, json::Style::Pretty)?)),
        ("fromJSON", [Value::Str(text)]) => {
            context.charge(text.len().saturating_mul(16))?;
            Some(json::decode(text).map_err(|error| Failure::new(error.to_string()))?)
        }
        ("toBase64", [Value::Str(text)]) => {
            context.charge(text.len() * 2)?;
            Some(Value::str(STANDARD.encode(text.bytes())))
        }
        ("fromBase64", [Value::Str(text)]) => {
            let bytes = STANDARD.decode(text.bytes()).map_err(|error| Failure::new(error.to_string()))?;
            Some(Value::Str(Str::from_bytes(&bytes)))
        }
        (_, [Value::Str(text), rest @ ..]) if is_of_texts(name) => texts(context, name, text, rest)?,
        _ => return collection::call(context, name, arguments),
    };
    result.ok_or_else(wrong)
}

/// The types of arguments, for errors.
pub(super) fn types(arguments: &[Value]) -> String {
    match arguments {
        [] => "nothing".to_owned(),
        _ => arguments.iter().map(Value::type_name).collect::<Vec<_>>().join(", "),
    }
}

/// Texts are counted in characters.
fn length(value: &Value) -> Option<Value> {
    let length = match value {
        Value::Str(text) => text.chars().count(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return None,
    };
    i64::try_from(length).ok().map(Value::int)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Bool(_) => "bool",
        Value::Int(_, int) => {
            if int.is_signed() {
                "int"
            } else {
                "uint"
            }
        }
        Value::Float(_) => "float",
        Value::Str(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "map",
        Value::Object(object) => match object.go_type().name {
            "func" => "func",
            // What a pointer points to counts.
            name if name.contains('.') => name.trim_start_matches('*'),
            _ => "struct",
        },
    }
}

fn as_whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value, _) => Some(*value),
        _ => None,
    }
}

fn number(name: &str, value: &Value) -> Option<Value> {
    if let Value::Str(text) = value {
        return match name {
            "int" => text.parse::<i64>().ok().map(Value::int),
            "float" => text.parse::<f64>().ok().map(Value::Float),
            _ => None,
        };
    }
    if name == "int"
        && let Some(nanos) = moments::nanos_of(value)
    {
        return Some(Value::int(nanos));
    }
    match (name, value) {
        ("int", _) => as_int(value).map(Value::int),
        ("float", _) => as_float(value).map(Value::Float),
        ("abs", Value::Int(value, int)) => Some(Value::Int(value.wrapping_abs(), *int)),
        ("abs", Value::Float(value)) => Some(Value::Float(value.abs())),
        ("ceil", _) => as_float(value).map(|value| Value::Float(value.ceil())),
        ("floor", _) => as_float(value).map(|value| Value::Float(value.floor())),
        ("round", _) => as_float(value).map(|value| Value::Float(value.round())),
        _ => None,
    }
}

fn bits(name: &str, left: &Value, right: &Value) -> Option<Value> {
    let (left, right) = (as_whole(left)?, as_whole(right)?);
    Some(Value::int(match name {
        "bitand" => left & right,
        "bitor" => left | right,
        "bitxor" => left ^ right,
        _ => left & !right,
    }))
}

/// Bits that are moved out are gone, however far.
fn shifted(name: &str, number: &Value, by: &Value) -> Result<Option<Value>, Failure> {
    let (Some(number), Some(by)) = (as_whole(number), as_whole(by)) else { return Ok(None) };
    let Ok(by) = u64::try_from(by) else {
        return Err(Failure::new(format!("{name} cannot move bits by {by}")));
    };
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    Ok(Some(Value::int(match name {
        "bitshl" => number.checked_shl(by).unwrap_or(0),
        "bitshr" => number >> by.min(63),
        _ => number.cast_unsigned().checked_shr(by).unwrap_or(0).cast_signed(),
    })))
}

/// The forms of times that `date` knows, as Go writes them.
const LAYOUTS: [&str; 7] = [
    "2006-01-02",
    "15:04:05",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05Z07:00",
    "02 Jan 06 15:04 MST",
    "Monday, 02-Jan-06 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 MST",
];

/// A time that is written in a layout, or in one of the usual ones; a name behind the layout is that of the zone that counts.
fn date(text: &str, layout: &[Value], zone: Option<&Value>) -> Result<Value, Failure> {
    let read = |layout: &str, zone: Option<&Value>| match zone {
        Some(zone) => moments::parse_in(layout, text, zone),
        None => moments::parse(layout, text),
    };
    match layout {
        [] => LAYOUTS
            .iter()
            .find_map(|layout| read(layout, zone).ok())
            .ok_or_else(|| Failure::new(format!("{text:?} is no date"))),
        [Value::Str(layout)] => read(layout, zone).map_err(Failure::new),
        [Value::Str(layout), Value::Str(name)] => {
            let zone = moments::zone(name).map_err(Failure::new)?;
            read(layout, Some(&zone)).map_err(Failure::new)
        }
        _ => Err(Failure::new("date takes a text, a layout and the name of a zone")),
    }
}

fn is_of_texts(name: &str) -> bool {
    matches!(
        name,
        "trim"
            | "trimPrefix"
            | "trimSuffix"
            | "upper"
            | "lower"
            | "split"
            | "splitAfter"
            | "replace"
            | "repeat"
            | "indexOf"
            | "lastIndexOf"
            | "hasPrefix"
            | "hasSuffix"
    )
}

fn texts(
    context: &mut Context<'_>,
    name: &str,
    text: &Str,
    rest: &[Value],
) -> Result<Option<Value>, Failure> {
    context.step(text.len() / 16)?;
    context.charge(text.len())?;
    let place = |found: Option<usize>| Value::int(found.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1));
    Ok(Some(match (name, rest) {
        ("trim", []) => Value::str(text.trim()),
        ("trim", [Value::Str(set)]) => Value::str(text.trim_matches(|c| set.contains(c))),
        ("trimPrefix", []) => Value::str(text.strip_prefix(' ').unwrap_or(text)),
        ("trimPrefix", [Value::Str(part)]) => Value::str(text.strip_prefix(part.as_str()).unwrap_or(text)),
        ("trimSuffix", []) => Value::str(text.strip_suffix(' ').unwrap_or(text)),
        ("trimSuffix", [Value::Str(part)]) => Value::str(text.strip_suffix(part.as_str()).unwrap_or(text)),
        ("upper", []) => Value::str(text.to_uppercase()),
        ("lower", []) => Value::str(text.to_lowercase()),
        ("hasPrefix", [Value::Str(part)]) => Value::Bool(text.starts_with(part.as_str())),
        ("hasSuffix", [Value::Str(part)]) => Value::Bool(text.ends_with(part.as_str())),
        ("indexOf", [Value::Str(part)]) => place(text.find(part.as_str())),
        ("lastIndexOf", [Value::Str(part)]) => place(text.rfind(part.as_str())),
        ("split" | "splitAfter", [Value::Str(by), most @ ..]) => {
            let most = match most {
                [] => -1,
                [most] => as_int(most).unwrap_or(-1),
                _ => return Ok(None),
            };
            context.charge(text.len().saturating_mul(32))?;
            Value::strings(collection::split(text, by, most, name == "splitAfter"))
        }
        ("replace", [Value::Str(from), Value::Str(to), most @ ..]) => {
            let most = match most {
                [] => None,
                [most] => as_int(most).and_then(|most| usize::try_from(most).ok()),
                _ => return Ok(None),
            };
            context.charge(text.len().saturating_add(1).saturating_mul(to.len().saturating_add(1)))?;
            match most {
                None => Value::str(text.replace(from.as_str(), to)),
                Some(most) => Value::str(text.replacen(from.as_str(), to, most)),
            }
        }
        ("repeat", [times]) => {
            let times = as_int(times).filter(|times| (0..=limits::RANGE).contains(times));
            let Some(times) = times.and_then(|times| usize::try_from(times).ok()) else {
                return Err(Failure::new(format!("repeat takes a number up to {}", limits::RANGE)));
            };
            context.charge(text.len().saturating_mul(times))?;
            Value::str(text.repeat(times))
        }
        _ => return Ok(None),
    }))
}
