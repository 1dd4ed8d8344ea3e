//! Operators, conversions and the way from a function's name to its code.

use lynceus_object::Str;

use super::error::EvalError;
use super::pattern::Pattern;
use super::value::Val;
use super::{authz, lists, net, quantity, semver, strings, time, url};
use crate::crd::ListType;

type Outcome = Result<Val, EvalError>;

/// Functions that belong together: `None` for a name that is not among them.
type Family = fn(&str, bool, &[Val]) -> Option<Outcome>;

/// Calls a function. The target of a method is the first of `args`.
pub(super) fn call(name: &str, method: bool, args: &[Val], pattern: Option<&Pattern>) -> Outcome {
    let families: [Family; 9] = [
        operator,
        conversion,
        lists::call,
        time::call,
        quantity::call,
        semver::call,
        net::call,
        url::call,
        authz::call,
    ];
    if let Some(outcome) = strings::call(name, args, pattern) {
        return outcome;
    }
    for family in families {
        if let Some(outcome) = family(name, method, args) {
            return outcome;
        }
    }
    Err(EvalError::Overload)
}

/// What a call costs: one, and a tenth of every character or item that has to be looked at.
pub(super) fn cost(name: &str, args: &[Val]) -> u64 {
    let cheap = matches!(
        name,
        "_[_]" | "_[?_]" | "size" | "type" | "dyn" | "_?_:_" | "!_" | "-_" | "hasValue" | "value"
    );
    if cheap {
        return 1;
    }
    if name == "check" {
        return authz::CHECK_COST;
    }
    let sizes: u64 = args.iter().map(|arg| size(arg).unwrap_or(0) as u64).sum();
    let squared = matches!(name, "sets.contains" | "sets.equivalent" | "sets.intersects");
    1 + if squared { args.iter().map(|arg| size(arg).unwrap_or(1) as u64).product() } else { sizes / 10 }
}

fn operator(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = |accept: &[std::cmp::Ordering]| match args {
        [a, b] => match a.compare(b) {
            Some(order) => Ok(Val::Bool(accept.contains(&order))),
            // NaN has no order and is not an error.
            None if is_number(a) && is_number(b) => Ok(Val::Bool(false)),
            None => Err(EvalError::Overload),
        },
        _ => Err(EvalError::Overload),
    };
    Some(match (name, args) {
        ("!_", [Val::Bool(b)]) => Ok(Val::Bool(!b)),
        ("-_", [Val::Int(i)]) => i.checked_neg().map(Val::Int).ok_or_else(overflow),
        ("-_", [Val::Double(d)]) => Ok(Val::Double(-d)),
        ("_==_", [a, b]) => Ok(Val::Bool(a.equals(b))),
        ("_!=_", [a, b]) => Ok(Val::Bool(!a.equals(b))),
        ("_<_", _) => order(&[Less]),
        ("_<=_", _) => order(&[Less, Equal]),
        ("_>_", _) => order(&[Greater]),
        ("_>=_", _) => order(&[Greater, Equal]),
        ("@in", [item, Val::List(items, _)]) => Ok(Val::Bool(items.iter().any(|known| known.equals(item)))),
        ("@in", [key, map @ (Val::Map(_) | Val::Fields(..))]) => Ok(Val::Bool(map.key(key).is_some())),
        ("@in", _) => Err(EvalError::Overload),
        ("_+_", [a, b]) => add(a, b),
        ("_-_" | "_*_" | "_/_" | "_%_", [a, b]) => arithmetic(name, a, b),
        ("type", [value]) => Ok(Val::Type(value.type_name().into())),
        ("dyn", [value]) => Ok(value.clone()),
        ("size", [value]) => size(value).map(|size| Val::Int(size as i64)).ok_or(EvalError::Overload),
        ("hasValue", [Val::Optional(value)]) => Ok(Val::Bool(value.is_some())),
        ("value", [Val::Optional(value)]) => match value {
            Some(value) => Ok((**value).clone()),
            None => Err(EvalError::failed("optional.none() dereference")),
        },
        ("unwrapOpt" | "optional.unwrap", [Val::List(items, _)]) => {
            Ok(Val::list(items.iter().filter_map(|item| match item {
                Val::Optional(value) => value.as_deref().cloned(),
                other => Some(other.clone()),
            })))
        }
        ("optional.none", []) => Ok(Val::Optional(None)),
        ("optional.of", [value]) => Ok(Val::Optional(Some(value.clone().into()))),
        ("optional.ofNonZeroValue", [value]) => {
            Ok(Val::Optional((!is_zero(value)).then(|| value.clone().into())))
        }
        _ => return None,
    })
}

fn is_number(value: &Val) -> bool {
    matches!(value, Val::Int(_) | Val::Uint(_) | Val::Double(_))
}

/// How many characters, bytes, items or entries.
pub(super) fn size(value: &Val) -> Option<usize> {
    Some(match value {
        Val::String(text) => text.chars().count(),
        Val::Bytes(bytes) => bytes.len(),
        Val::List(items, _) => items.len(),
        Val::Map(entries) => entries.len(),
        Val::Fields(map, _) => map.len(),
        _ => return None,
    })
}

fn is_zero(value: &Val) -> bool {
    match value {
        Val::Null | Val::Bool(false) | Val::Int(0) | Val::Uint(0) | Val::Duration(0) => true,
        Val::Double(d) => *d == 0.0,
        Val::Object(map, _) => map.is_empty(),
        other => size(other) == Some(0),
    }
}

fn overflow() -> EvalError {
    EvalError::failed("integer overflow")
}

fn add(a: &Val, b: &Val) -> Outcome {
    match (a, b) {
        (Val::Int(a), Val::Int(b)) => a.checked_add(*b).map(Val::Int).ok_or_else(overflow),
        (Val::Uint(a), Val::Uint(b)) => {
            a.checked_add(*b).map(Val::Uint).ok_or_else(|| EvalError::failed("unsigned integer overflow"))
        }
        (Val::Double(a), Val::Double(b)) => Ok(Val::Double(a + b)),
        (Val::String(a), Val::String(b)) => {
            let mut out = a.clone();
            out.push_str(b);
            Ok(Val::String(out))
        }
        (Val::Bytes(a), Val::Bytes(b)) => Ok(Val::Bytes([&a[..], &b[..]].concat().into())),
        (Val::List(a, kind), Val::List(b, _)) => Ok(concat(a, b, kind)),
        (Val::Timestamp(at), Val::Duration(nanos)) | (Val::Duration(nanos), Val::Timestamp(at)) => {
            time::shift(*at, *nanos)
        }
        (Val::Duration(a), Val::Duration(b)) => {
            a.checked_add(*b).map(Val::Duration).ok_or_else(|| EvalError::failed("duration overflow"))
        }
        _ => Err(EvalError::Overload),
    }
}

/// Joins lists: `set` lists take what they lack, `map` lists also replace what has the same key.
fn concat(a: &[Val], b: &[Val], kind: &ListType) -> Val {
    let mut out = a.to_vec();
    match kind {
        ListType::Atomic => out.extend_from_slice(b),
        ListType::Set => {
            for item in b {
                if !out.iter().any(|known| known.equals(item)) {
                    out.push(item.clone());
                }
            }
        }
        ListType::Map(keys) => {
            for item in b {
                let same = |known: &Val| {
                    keys.iter().all(|key| match (json_field(known, key), json_field(item, key)) {
                        (Some(a), Some(b)) => a == b,
                        (None, None) => true,
                        _ => false,
                    })
                };
                match out.iter_mut().find(|known| same(known)) {
                    Some(known) => *known = item.clone(),
                    None => out.push(item.clone()),
                }
            }
        }
    }
    Val::List(out.into(), kind.clone())
}

fn json_field(value: &Val, name: &Str) -> Option<lynceus_object::Value> {
    match value {
        Val::Object(map, _) | Val::Fields(map, _) => map.get(name).cloned(),
        _ => None,
    }
}

fn arithmetic(name: &str, a: &Val, b: &Val) -> Outcome {
    let zero = || EvalError::failed(if name == "_%_" { "modulus by zero" } else { "division by zero" });
    match (name, a, b) {
        ("_-_", Val::Int(a), Val::Int(b)) => a.checked_sub(*b).map(Val::Int).ok_or_else(overflow),
        ("_*_", Val::Int(a), Val::Int(b)) => a.checked_mul(*b).map(Val::Int).ok_or_else(overflow),
        ("_/_" | "_%_", Val::Int(_), Val::Int(0)) | ("_/_" | "_%_", Val::Uint(_), Val::Uint(0)) => {
            Err(zero())
        }
        ("_/_", Val::Int(a), Val::Int(b)) => a.checked_div(*b).map(Val::Int).ok_or_else(overflow),
        ("_%_", Val::Int(a), Val::Int(b)) => a.checked_rem(*b).map(Val::Int).ok_or_else(overflow),
        ("_-_", Val::Uint(a), Val::Uint(b)) => {
            a.checked_sub(*b).map(Val::Uint).ok_or_else(|| EvalError::failed("unsigned integer overflow"))
        }
        ("_*_", Val::Uint(a), Val::Uint(b)) => {
            a.checked_mul(*b).map(Val::Uint).ok_or_else(|| EvalError::failed("unsigned integer overflow"))
        }
        ("_/_", Val::Uint(a), Val::Uint(b)) => Ok(Val::Uint(a / b)),
        ("_%_", Val::Uint(a), Val::Uint(b)) => Ok(Val::Uint(a % b)),
        ("_-_", Val::Double(a), Val::Double(b)) => Ok(Val::Double(a - b)),
        ("_*_", Val::Double(a), Val::Double(b)) => Ok(Val::Double(a * b)),
        ("_/_", Val::Double(a), Val::Double(b)) => Ok(Val::Double(a / b)),
        ("_-_", Val::Timestamp(a), Val::Timestamp(b)) => {
            let nanos = a.as_nanosecond() - b.as_nanosecond();
            i64::try_from(nanos).map(Val::Duration).map_err(|_| EvalError::failed("duration overflow"))
        }
        ("_-_", Val::Timestamp(at), Val::Duration(nanos)) => time::shift(*at, nanos.saturating_neg()),
        ("_-_", Val::Duration(a), Val::Duration(b)) => {
            a.checked_sub(*b).map(Val::Duration).ok_or_else(|| EvalError::failed("duration overflow"))
        }
        _ => Err(EvalError::Overload),
    }
}

/// `list[i]`, `map[key]`.
pub(super) fn index(of: &Val, at: &Val) -> Outcome {
    if let Val::Optional(_) = of {
        return index_optional(of, at);
    }
    match (of, at) {
        (Val::List(items, _), _) => {
            let position = whole(at).ok_or(EvalError::Overload)?;
            usize::try_from(position)
                .ok()
                .and_then(|position| items.get(position).cloned())
                .ok_or_else(|| EvalError::failed(format!("index out of bounds: {position}")))
        }
        (Val::Map(_) | Val::Fields(..), key) => {
            of.key(key).ok_or_else(|| EvalError::NoKey(to_text(key).unwrap_or_default()))
        }
        _ => Err(EvalError::Overload),
    }
}

/// `list[?i]`, `map[?key]`: none where there is nothing.
pub(super) fn index_optional(of: &Val, at: &Val) -> Outcome {
    match of {
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(value)) => index_optional(value, at),
        Val::List(..) | Val::Map(_) | Val::Fields(..) => {
            Ok(Val::Optional(index(of, at).ok().map(Into::into)))
        }
        _ => Err(EvalError::Overload),
    }
}

fn whole(value: &Val) -> Option<i64> {
    match value {
        Val::Int(i) => Some(*i),
        Val::Uint(u) => i64::try_from(*u).ok(),
        Val::Double(d) if d.fract() == 0.0 => Some(*d as i64),
        _ => None,
    }
}

fn conversion(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    let [value] = args else { return None };
    let range = || EvalError::failed("unsigned integer overflow");
    Some(match (name, value) {
        ("int", Val::Int(_))
        | ("uint", Val::Uint(_))
        | ("double", Val::Double(_))
        | ("bool", Val::Bool(_))
        | ("bytes", Val::Bytes(_)) => Ok(value.clone()),
        ("int", Val::Uint(u)) => i64::try_from(*u).map(Val::Int).map_err(|_| overflow()),
        ("int", Val::Double(d)) if d.abs() < 9.2e18 => Ok(Val::Int(*d as i64)),
        ("int" | "uint", Val::Double(_)) if name == "int" => Err(overflow()),
        ("int", Val::String(text)) => text.parse().map(Val::Int).map_err(|_| unreadable("int")),
        ("int", Val::Timestamp(at)) => Ok(Val::Int(at.as_second())),
        ("int", Val::Duration(nanos)) => Ok(Val::Int(*nanos)),
        ("uint", Val::Int(i)) => u64::try_from(*i).map(Val::Uint).map_err(|_| range()),
        ("uint", Val::Double(d)) if (0.0..1.8e19).contains(d) => Ok(Val::Uint(*d as u64)),
        ("uint", Val::Double(_)) => Err(range()),
        ("uint", Val::String(text)) => text.parse().map(Val::Uint).map_err(|_| unreadable("uint")),
        ("double", Val::Int(i)) => Ok(Val::Double(*i as f64)),
        ("double", Val::Uint(u)) => Ok(Val::Double(*u as f64)),
        ("double", Val::String(text)) => text.parse().map(Val::Double).map_err(|_| unreadable("double")),
        ("bool", Val::String(text)) => match text.as_str() {
            "1" | "t" | "true" | "TRUE" | "True" => Ok(Val::Bool(true)),
            "0" | "f" | "false" | "FALSE" | "False" => Ok(Val::Bool(false)),
            _ => Err(unreadable("bool")),
        },
        ("bytes", Val::String(text)) => Ok(Val::Bytes(text.as_bytes().into())),
        ("string", value) => to_text(value).map(Val::text).ok_or(EvalError::Overload),
        ("int" | "uint" | "double" | "bool" | "bytes", _) => Err(EvalError::Overload),
        _ => return None,
    })
}

fn unreadable(to: &str) -> EvalError {
    EvalError::failed(format!("type conversion error from 'string' to '{to}'"))
}

/// A scalar as `string()` writes it.
pub(super) fn to_text(value: &Val) -> Option<String> {
    Some(match value {
        Val::Bool(b) => b.to_string(),
        Val::Int(i) => i.to_string(),
        Val::Uint(u) => u.to_string(),
        Val::Double(d) => crate::crd::float_text(*d),
        Val::String(text) | Val::Type(text) => text.to_string(),
        Val::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok()?,
        Val::Timestamp(at) => at.to_string(),
        Val::Duration(nanos) => time::duration_text(*nanos),
        Val::Ip(ip) => ip.to_string(),
        Val::Cidr(ip, bits) => format!("{ip}/{bits}"),
        _ => return None,
    })
}
