//! Functions on lists and sets.

use std::cmp::Ordering;

use super::error::EvalError;
use super::standard;
use super::value::Val;

type Outcome = Result<Val, EvalError>;

pub(super) fn call(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    if let ("lists.range", [Val::Int(count)]) = (name, args) {
        let count = (*count).clamp(0, 1_000_000);
        return Some(Ok(Val::list((0..count).map(Val::Int))));
    }
    let [Val::List(items, kind), rest @ ..] = args else { return None };
    let same = |list: Vec<Val>| Some(Ok(Val::List(list.into(), kind.clone())));
    match (name, rest) {
        ("isSorted", []) => Some(is_sorted(items)),
        ("sum", []) => Some(sum(items)),
        ("min", []) => Some(extreme(items, Ordering::Less, "min")),
        ("max", []) => Some(extreme(items, Ordering::Greater, "max")),
        ("indexOf", [item]) => Some(Ok(position(items.iter().position(|known| known.equals(item))))),
        ("lastIndexOf", [item]) => Some(Ok(position(items.iter().rposition(|known| known.equals(item))))),
        ("slice", [Val::Int(from), Val::Int(to)]) => Some(slice(items, *from, *to)),
        ("flatten", []) => same(flatten(items, 1)),
        ("flatten", [Val::Int(depth)]) if *depth < 0 => {
            Some(Err(EvalError::failed("level must be non-negative")))
        }
        ("flatten", [Val::Int(depth)]) => same(flatten(items, *depth)),
        ("distinct", []) => {
            let mut out: Vec<Val> = Vec::new();
            for item in items.iter() {
                if !out.iter().any(|known| known.equals(item)) {
                    out.push(item.clone());
                }
            }
            same(out)
        }
        ("reverse", []) => same(items.iter().rev().cloned().collect()),
        ("sort", []) => Some(sort_by(items.iter().map(|item| (item.clone(), item.clone())).collect())),
        ("first", []) => Some(Ok(Val::Optional(items.first().map(|item| item.clone().into())))),
        ("last", []) => Some(Ok(Val::Optional(items.last().map(|item| item.clone().into())))),
        ("sets.contains", [Val::List(other, _)]) => Some(Ok(Val::Bool(holds_all(items, other)))),
        ("sets.equivalent", [Val::List(other, _)]) => {
            Some(Ok(Val::Bool(holds_all(items, other) && holds_all(other, items))))
        }
        ("sets.intersects", [Val::List(other, _)]) => {
            Some(Ok(Val::Bool(items.iter().any(|item| other.iter().any(|known| known.equals(item))))))
        }
        _ => None,
    }
}

/// Sorts values by their keys.
pub(super) fn sort_by(mut pairs: Vec<(Val, Val)>) -> Outcome {
    let comparable = pairs.windows(2).all(|pair| matches!(pair, [(a, _), (b, _)] if a.compare(b).is_some()));
    if !comparable {
        return Err(EvalError::failed("list elements must be comparable"));
    }
    pairs.sort_by(|(a, _), (b, _)| a.compare(b).unwrap_or(Ordering::Equal));
    Ok(Val::list(pairs.into_iter().map(|(_, value)| value)))
}

fn position(found: Option<usize>) -> Val {
    Val::Int(found.map_or(-1, |at| at as i64))
}

fn holds_all(items: &[Val], wanted: &[Val]) -> bool {
    wanted.iter().all(|item| items.iter().any(|known| known.equals(item)))
}

fn is_sorted(items: &[Val]) -> Outcome {
    for pair in items.windows(2) {
        if let [a, b] = pair {
            match a.compare(b) {
                Some(Ordering::Greater) => return Ok(Val::Bool(false)),
                Some(_) => {}
                None => return Err(EvalError::Overload),
            }
        }
    }
    Ok(Val::Bool(true))
}

fn sum(items: &[Val]) -> Outcome {
    let Some((first, rest)) = items.split_first() else { return Ok(Val::Int(0)) };
    rest.iter()
        .try_fold(first.clone(), |total, item| standard::call("_+_", false, &[total, item.clone()], None))
}

fn extreme(items: &[Val], wanted: Ordering, name: &str) -> Outcome {
    let Some((first, rest)) = items.split_first() else {
        return Err(EvalError::failed(format!("{name} called on empty list")));
    };
    rest.iter().try_fold(first.clone(), |best, item| match item.compare(&best) {
        Some(order) if order == wanted => Ok(item.clone()),
        Some(_) => Ok(best),
        None => Err(EvalError::Overload),
    })
}

fn slice(items: &[Val], from: i64, to: i64) -> Outcome {
    let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) else {
        return Err(EvalError::failed(format!("cannot slice({from}, {to}), negative indexes not supported")));
    };
    match items.get(from..to) {
        Some(part) => Ok(Val::list(part.iter().cloned())),
        None => Err(EvalError::failed(format!("cannot slice({from}, {to}), list is length {}", items.len()))),
    }
}

fn flatten(items: &[Val], depth: i64) -> Vec<Val> {
    let mut out = Vec::new();
    for item in items {
        match item {
            Val::List(inner, _) if depth > 0 => out.extend(flatten(inner, depth - 1)),
            other => out.push(other.clone()),
        }
    }
    out
}
