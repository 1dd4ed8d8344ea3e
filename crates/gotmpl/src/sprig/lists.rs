//! Lists. Each function takes lists of any element type and most give a new `[]interface {}`.

use std::borrow::Cow;

use super::args::{NIL_DEREFERENCE, any, int, list, rest};
use super::cast::to_int;
use super::equal::deep_equal;
use super::show::{text_of, texts_of};
use crate::{Context, Failure, Functions, List, Signature, Str, Value, signature, types};

pub(super) fn register(to: &mut Functions) {
    for name in ["list", "tuple"] {
        to.add(name, signature!((...ANY) -> LIST), |_, args| Ok(Value::list(args.to_vec())));
    }
    ends(to);
    growing(to);
    filtering(to);
    cutting(to);
    to.add("sortAlpha", signature!((ANY) -> STRINGS), |context, args| sort_alpha(context, any(args, 0)));
}

/// Adds a function and its `must` twin. The first panics where the second returns an error, which a template
/// cannot tell apart.
fn twice(
    to: &mut Functions,
    names: [&'static str; 2],
    signature: Signature,
    body: fn(&mut Context<'_>, &[Value]) -> Result<Value, Failure>,
) {
    for name in names {
        to.add(name, signature, body);
    }
}

fn ends(to: &mut Functions) {
    twice(to, ["first", "mustFirst"], signature!((ANY) -> ANY), |_, args| {
        Ok(list(any(args, 0), "Cannot find first on type")?.get(0).unwrap_or_default())
    });
    twice(to, ["last", "mustLast"], signature!((ANY) -> ANY), |_, args| {
        let list = list(any(args, 0), "Cannot find last on type")?;
        Ok(list.len().checked_sub(1).and_then(|at| list.get(at)).unwrap_or_default())
    });
    twice(to, ["rest", "mustRest"], signature!((ANY) -> LIST), |_, args| {
        let items = list(any(args, 0), "Cannot find rest on type")?.to_vec();
        Ok(items.split_first().map_or_else(nil_list, |(_, rest)| Value::list(rest.to_vec())))
    });
    twice(to, ["initial", "mustInitial"], signature!((ANY) -> LIST), |_, args| {
        let items = list(any(args, 0), "Cannot find initial on type")?.to_vec();
        Ok(items.split_last().map_or_else(nil_list, |(_, initial)| Value::list(initial.to_vec())))
    });
}

fn nil_list() -> Value {
    Value::List(List::nil(&types::LIST))
}

fn growing(to: &mut Functions) {
    for names in [["append", "mustAppend"], ["push", "mustPush"]] {
        twice(to, names, signature!((ANY, ANY) -> LIST), |context, args| {
            let mut items = list(any(args, 0), "Cannot push on type")?.to_vec();
            charge(context, items.len())?;
            items.push(any(args, 1).clone());
            Ok(items.into())
        });
    }
    twice(to, ["prepend", "mustPrepend"], signature!((ANY, ANY) -> LIST), |context, args| {
        let mut items = list(any(args, 0), "Cannot prepend on type")?.to_vec();
        charge(context, items.len())?;
        items.insert(0, any(args, 1).clone());
        Ok(items.into())
    });
    to.add("concat", signature!((...ANY) -> ANY), |context, args| {
        let mut all = Vec::new();
        for arg in args {
            let list = list(arg, "Cannot concat type").map_err(|failure| match failure.message() {
                NIL_DEREFERENCE => failure,
                message => Failure::new(format!("{message} as list")),
            })?;
            charge(context, list.len())?;
            all.extend(list.to_vec());
        }
        Ok(if all.is_empty() { nil_list() } else { all.into() })
    });
    twice(to, ["reverse", "mustReverse"], signature!((ANY) -> LIST), |context, args| {
        let mut items = list(any(args, 0), "Cannot find reverse on type")?.to_vec();
        charge(context, items.len())?;
        items.reverse();
        Ok(items.into())
    });
}

fn charge(context: &mut Context<'_>, items: usize) -> Result<(), Failure> {
    context.charge(items.saturating_mul(32))
}

fn filtering(to: &mut Functions) {
    twice(to, ["compact", "mustCompact"], signature!((ANY) -> LIST), |_, args| {
        let items = list(any(args, 0), "Cannot compact on type")?.to_vec();
        Ok(Value::list(items.into_iter().filter(Value::truth)))
    });
    twice(to, ["uniq", "mustUniq"], signature!((ANY) -> LIST), |context, args| {
        let mut unique: Vec<Value> = Vec::new();
        for item in list(any(args, 0), "Cannot find uniq on type")?.to_vec() {
            if !contains(context, &unique, &item)? {
                unique.push(item);
            }
        }
        Ok(unique.into())
    });
    twice(to, ["without", "mustWithout"], signature!((ANY, ...ANY) -> LIST), |context, args| {
        let mut kept = Vec::new();
        for item in list(any(args, 0), "Cannot find without on type")?.to_vec() {
            if !contains(context, rest(args, 1), &item)? {
                kept.push(item);
            }
        }
        Ok(kept.into())
    });
    twice(to, ["has", "mustHas"], signature!((ANY, ANY) -> BOOL), |context, args| {
        if any(args, 1).is_nil() {
            return Ok(false.into());
        }
        let items = list(any(args, 1), "Cannot find has on type")?.to_vec();
        contains(context, &items, any(args, 0)).map(Value::from)
    });
}

fn contains(context: &mut Context<'_>, items: &[Value], wanted: &Value) -> Result<bool, Failure> {
    context.step(items.len() / 8)?;
    for item in items {
        if deep_equal(wanted, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn cutting(to: &mut Functions) {
    twice(to, ["slice", "mustSlice"], signature!((ANY, ...ANY) -> ANY), |_, args| slice(args));
    twice(to, ["chunk", "mustChunk"], signature!((INT, ANY) -> LISTS), chunk);
}

/// A part of a list, of the list's own type.
fn slice(args: &[Value]) -> Result<Value, Failure> {
    let list = list(any(args, 0), "list should be type of slice or array but")?;
    let length = list.len();
    if length == 0 {
        return Ok(Value::Nil);
    }
    let start = rest(args, 1).first().map_or(0, to_int);
    let end = rest(args, 1).get(1).map_or_else(|| i64::try_from(length).unwrap_or(i64::MAX), to_int);
    let bounds = (usize::try_from(start).ok(), usize::try_from(end).ok());
    let (Some(from), Some(until)) = bounds else { return Err(outside()) };
    if from > until || until > length {
        return Err(outside());
    }
    Ok(match list.as_bytes() {
        Some(bytes) => List::bytes(&bytes[from..until]).into(),
        None => List::typed(list.go_type(), list.to_vec()[from..until].to_vec()).into(),
    })
}

fn outside() -> Failure {
    Failure::new("reflect.Value.Slice: slice index out of bounds")
}

fn chunk(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
    let (size, list) = (int(args, 0), list(any(args, 1), "Cannot chunk type")?);
    charge(context, list.len())?;
    let items = list.to_vec();
    let Some(size) = usize::try_from(size).ok().filter(|&size| size > 0) else {
        return chunk_of_odd_size(size, items.len());
    };
    let chunks = items.chunks(size).map(|chunk| Value::list(chunk.to_vec())).collect();
    Ok(List::typed(&types::LISTS, chunks).into())
}

/// Sizes that make no sense: what Go's arithmetic leads to.
fn chunk_of_odd_size(size: i64, length: usize) -> Result<Value, Failure> {
    let steps = u64::try_from(length).unwrap_or(u64::MAX).saturating_sub(1);
    if size < 0 && (1..=size.unsigned_abs()).contains(&steps) {
        return Ok(List::typed(&types::LISTS, Vec::new()).into());
    }
    Err(Failure::new("runtime error: makeslice: len out of range"))
}

/// Texts in order. A `[]string` is sorted in place, as in the original: whoever holds it sees it.
fn sort_alpha(context: &mut Context<'_>, value: &Value) -> Result<Value, Failure> {
    match value {
        Value::List(list) if list.go_type() == &types::STRINGS => {
            if let Some(mut items) = list.write() {
                sort_texts(&mut items, Value::as_str);
            }
            Ok(value.clone())
        }
        _ => match value.underlying() {
            Value::List(_) => {
                let mut texts = texts_of(context, value)?;
                sort_texts(&mut texts, |text| Some(text));
                Ok(Value::strings(texts))
            }
            _ => Ok(Value::strings([text_of(context, value)?])),
        },
    }
}

/// Sorts by the bytes that Go has. The order of texts is that of their bytes, unless some of them are not UTF-8.
fn sort_texts<T>(items: &mut [T], text: impl Fn(&T) -> Option<&Str>) {
    let bytes = |item: &T| text(item).map(|text| text.bytes().into_owned());
    if items.iter().filter_map(&text).all(|text| matches!(text.bytes(), Cow::Borrowed(_))) {
        items.sort_by(|a, b| text(a).map(Str::as_str).cmp(&text(b).map(Str::as_str)));
    } else {
        items.sort_by_cached_key(bytes);
    }
}
