//! Functions of values, and what other names mean.

use std::cmp::Ordering;

use super::eval::{Stop, error};
use super::term::{Format, Native, Special, Term};
use super::value::{Val, compare};
use super::{Ctx, arithmetic, path, regexp, text, time};

/// What a name that is not defined in jq means.
pub(super) fn find(name: &str, args: Vec<Term>) -> Result<Term, String> {
    let count = args.len();
    if let Some((.., special)) =
        SPECIAL.iter().find(|(known, counts, _)| *known == name && counts.contains(&count))
    {
        return Ok(Term::Special(*special, args));
    }
    if let Some((.., native)) = NATIVES.iter().find(|(known, arity, _)| *known == name && *arity == count) {
        return Ok(Term::Native(*native, args));
    }
    if let Some(native) = super::math::find(name, count) {
        return Ok(Term::Native(native, args));
    }
    Err(match (name, count) {
        ("now", 0) => "`now` would leave out other fields at another time".to_owned(),
        ("input" | "inputs", 0) => format!("`{name}` has no other input to read"),
        _ => format!("jq has no `{name}/{count}`"),
    })
}

const SPECIAL: [(&str, &[usize], Special); 15] = [
    ("empty", &[0], Special::Empty),
    ("path", &[1], Special::Path),
    ("getpath", &[1], Special::GetPath),
    ("_range", &[3], Special::Range),
    ("recurse", &[0, 1, 2], Special::Recurse),
    ("repeat", &[1], Special::Repeat),
    ("while", &[2], Special::While),
    ("until", &[2], Special::Until),
    ("first", &[1], Special::First),
    ("last", &[1], Special::Last),
    ("limit", &[2], Special::Limit),
    ("skip", &[2], Special::Skip),
    ("isempty", &[1], Special::IsEmpty),
    ("halt", &[0], Special::Halt),
    ("halt_error", &[0, 1], Special::Halt),
];

const NATIVES: &[(&str, usize, Native)] = &[
    ("length", 0, length),
    ("utf8bytelength", 0, |_, val, _| Ok(Val::count(string("utf8bytelength", &val)?.len()))),
    ("type", 0, |_, val, _| Ok(Val::text(val.type_name()))),
    ("keys", 0, keys),
    ("has", 1, has),
    ("add", 0, |ctx, val, _| arithmetic::sum(ctx, items("add", &val)?.into_iter())),
    ("toboolean", 0, to_boolean),
    ("tonumber", 0, to_number),
    ("tostring", 0, |ctx, val, _| Ok(Val::Str(text::to_string(ctx, &val)?.into()))),
    ("tojson", 0, |ctx, val, _| Ok(Val::Str(text::to_json(ctx, &val)?.into()))),
    ("fromjson", 0, |ctx, val, _| text::from_json(ctx, string("fromjson", &val)?)),
    ("format", 1, |ctx, val, args| {
        Ok(Val::Str(text::formatted(ctx, &format(string("format", &args[0])?), &val)?.into()))
    }),
    ("reverse", 0, |_, val, _| Ok(Val::arr(list("reverse", &val)?.iter().rev().cloned().collect()))),
    ("contains", 1, |ctx, val, args| contains(ctx, &val, &args[0]).map(Val::Bool)),
    ("inside", 1, |ctx, val, args| contains(ctx, &args[0], &val).map(Val::Bool)),
    ("indices", 1, |ctx, val, args| indices(ctx, &val, &args[0])),
    ("index", 1, |ctx, val, args| one_of(indices(ctx, &val, &args[0])?, false)),
    ("rindex", 1, |ctx, val, args| one_of(indices(ctx, &val, &args[0])?, true)),
    ("startswith", 1, |_, val, args| {
        Ok(Val::Bool(two("startswith", &val, args)?.starts_with(string("startswith", &args[0])?)))
    }),
    ("endswith", 1, |_, val, args| {
        Ok(Val::Bool(two("endswith", &val, args)?.ends_with(string("endswith", &args[0])?)))
    }),
    ("ltrimstr", 1, |_, val, args| trimmed(&val, args, true, false)),
    ("rtrimstr", 1, |_, val, args| trimmed(&val, args, false, true)),
    ("trimstr", 1, |_, val, args| trimmed(&val, args, true, true)),
    ("ltrim", 0, |_, val, _| Ok(Val::text(string("ltrim", &val)?.trim_start()))),
    ("rtrim", 0, |_, val, _| Ok(Val::text(string("rtrim", &val)?.trim_end()))),
    ("trim", 0, |_, val, _| Ok(Val::text(string("trim", &val)?.trim()))),
    ("explode", 0, |ctx, val, _| Ok(Val::arr(explode(ctx, string("explode", &val)?)?))),
    ("implode", 0, implode),
    ("split", 1, |ctx, val, args| arithmetic::split(ctx, string("split", &val)?, string("split", &args[0])?)),
    ("join", 1, join),
    ("ascii_downcase", 0, |_, val, _| {
        Ok(Val::Str(string("ascii_downcase", &val)?.to_ascii_lowercase().into()))
    }),
    ("ascii_upcase", 0, |_, val, _| Ok(Val::Str(string("ascii_upcase", &val)?.to_ascii_uppercase().into()))),
    ("flatten", 0, |ctx, val, _| flatten(ctx, &val, f64::INFINITY)),
    ("flatten", 1, |ctx, val, args| match args[0].float() {
        Some(depth) if depth >= 0.0 => flatten(ctx, &val, depth),
        _ => error("flatten needs a depth that is not negative"),
    }),
    ("min", 0, |ctx, val, _| least(ctx, &val, &val, true)),
    ("max", 0, |ctx, val, _| least(ctx, &val, &val, false)),
    ("_min_by", 1, |ctx, val, args| least(ctx, &val, &args[0], true)),
    ("_max_by", 1, |ctx, val, args| least(ctx, &val, &args[0], false)),
    ("sort", 0, |ctx, val, _| Ok(Val::arr(values(sorted(ctx, &val, &val)?)))),
    ("_sort_by", 1, |ctx, val, args| Ok(Val::arr(values(sorted(ctx, &val, &args[0])?)))),
    ("_group_by", 1, |ctx, val, args| {
        Ok(Val::arr(groups(sorted(ctx, &val, &args[0])?).into_iter().map(Val::arr).collect()))
    }),
    ("unique", 0, |ctx, val, _| Ok(firsts(groups(sorted(ctx, &val, &val)?)))),
    ("_unique_by", 1, |ctx, val, args| Ok(firsts(groups(sorted(ctx, &val, &args[0])?)))),
    ("transpose", 0, transpose),
    ("bsearch", 1, bsearch),
    ("setpath", 2, |ctx, mut val, args| {
        path::set(ctx, &mut val, list("setpath", &args[0])?, &args[1])?;
        Ok(val)
    }),
    ("delpaths", 1, |ctx, val, args| {
        let paths = list("delpaths", &args[0])?;
        ctx.charge(48 * paths.len() as u64)?;
        let paths: Result<Vec<_>, _> =
            paths.iter().map(|path| list("delpaths", path).map(<[Val]>::to_vec)).collect();
        path::delete(ctx, val, &paths?)
    }),
    ("error", 0, |_, val, _| Err(Stop::Error(val))),
    ("error", 1, |_, _, args| Err(Stop::Error(args[0].clone()))),
    ("_match", 3, regexp::matches),
    ("_captures", 0, regexp::captures),
    ("gmtime", 0, time::gmtime),
    // The machine's time zone is none of a rule's business.
    ("localtime", 0, time::gmtime),
    ("mktime", 0, time::mktime),
    ("strftime", 1, time::strftime),
    ("strflocaltime", 1, time::strftime),
    ("strptime", 1, time::strptime),
    ("builtins", 0, |_, _, _| Ok(builtins())),
    ("modulemeta", 0, |_, val, _| error(format!("modulemeta cannot be applied to: {}", val.type_name()))),
];

pub(super) fn format(name: &str) -> Format {
    match name {
        "text" => Format::Text,
        "json" => Format::Json,
        "html" => Format::Html,
        "uri" => Format::Uri,
        "urid" => Format::Urid,
        "csv" => Format::Csv,
        "tsv" => Format::Tsv,
        "sh" => Format::Sh,
        "base64" => Format::Base64,
        "base64d" => Format::Base64d,
        other => Format::Other(other.to_owned()),
    }
}

pub(super) fn misfit<T>(name: &str, val: &Val) -> Result<T, Stop> {
    error(format!("{name} cannot be applied to: {}", val.type_name()))
}

fn string<'v>(name: &str, val: &'v Val) -> Result<&'v str, Stop> {
    match val {
        Val::Str(text) => Ok(text),
        other => misfit(name, other),
    }
}

fn list<'v>(name: &str, val: &'v Val) -> Result<&'v [Val], Stop> {
    match val {
        Val::Arr(list) => Ok(&list.items),
        other => misfit(name, other),
    }
}

/// The items of a list, or the values of an object.
fn items(name: &str, val: &Val) -> Result<Vec<Val>, Stop> {
    match val {
        Val::Arr(list) => Ok(list.items.clone()),
        Val::Obj(fields) => Ok(fields.map.values().cloned().collect()),
        other => misfit(name, other),
    }
}

/// The text of two that have to be texts.
fn two<'v>(name: &str, val: &'v Val, args: &[Val]) -> Result<&'v str, Stop> {
    string(name, &args[0])?;
    string(name, val)
}

fn trimmed(val: &Val, args: &[Val], left: bool, right: bool) -> Result<Val, Stop> {
    let mut text = two("trimstr", val, args)?;
    let part = string("trimstr", &args[0])?;
    if left {
        text = text.strip_prefix(part).unwrap_or(text);
    }
    if right {
        text = text.strip_suffix(part).unwrap_or(text);
    }
    Ok(Val::text(text))
}

fn length(ctx: &Ctx, val: Val, _: &[Val]) -> Result<Val, Stop> {
    Ok(match &val {
        Val::Null | Val::Gone => Val::Int(0),
        Val::Bool(_) => return misfit("length", &val),
        Val::Int(i) if *i >= 0 => val,
        Val::Int(_) => arithmetic::negate(&val)?,
        Val::Float(f) => Val::Float(f.abs()),
        Val::Str(text) => {
            ctx.charge(text.len() as u64)?;
            Val::count(text.chars().count())
        }
        Val::Arr(list) => Val::count(list.items.len()),
        Val::Obj(fields) => Val::count(fields.map.len()),
    })
}

fn keys(_: &Ctx, val: Val, _: &[Val]) -> Result<Val, Stop> {
    match &val {
        Val::Arr(list) => Ok(Val::arr((0..list.items.len()).map(Val::count).collect())),
        Val::Obj(fields) => Ok(Val::arr(fields.map.keys().cloned().map(Val::Str).collect())),
        other => misfit("keys", other),
    }
}

fn has(_: &Ctx, val: Val, args: &[Val]) -> Result<Val, Stop> {
    match (&val, &args[0]) {
        (Val::Null, _) => Ok(Val::Bool(false)),
        (Val::Obj(fields), Val::Str(key)) => Ok(Val::Bool(fields.map.contains_key(key))),
        (Val::Arr(list), key @ (Val::Int(_) | Val::Float(_))) => {
            let at = key.int().and_then(|at| usize::try_from(at).ok());
            Ok(Val::Bool(at.is_some_and(|at| at < list.items.len())))
        }
        _ => misfit("has", &val),
    }
}

fn to_boolean(_: &Ctx, val: Val, _: &[Val]) -> Result<Val, Stop> {
    match &val {
        Val::Bool(_) => Ok(val),
        Val::Str(text) if &**text == "true" => Ok(Val::Bool(true)),
        Val::Str(text) if &**text == "false" => Ok(Val::Bool(false)),
        other => misfit("toboolean", other),
    }
}

fn to_number(_: &Ctx, val: Val, _: &[Val]) -> Result<Val, Stop> {
    match &val {
        Val::Int(_) | Val::Float(_) => Ok(val),
        Val::Str(text) => {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            let sound = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
                && digits.starts_with(|sign: char| sign.is_ascii_digit() || sign == '.');
            let number = match text.parse() {
                Ok(number) => Some(Val::Int(number)),
                Err(_) => text.parse().ok().map(Val::Float),
            };
            match number.filter(|_| sound) {
                Some(number) => Ok(number),
                None => error("tonumber: not a number"),
            }
        }
        other => misfit("tonumber", other),
    }
}

fn contains(ctx: &Ctx, whole: &Val, part: &Val) -> Result<bool, Stop> {
    ctx.work(1)?;
    match (whole, part) {
        (Val::Str(whole), Val::Str(part)) => {
            ctx.charge(whole.len() as u64)?;
            Ok(whole.contains(&**part))
        }
        (Val::Arr(whole), Val::Arr(part)) => {
            for part in &part.items {
                let mut found = false;
                for whole in &whole.items {
                    found = found || within(ctx, whole, part)?;
                }
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Val::Obj(whole), Val::Obj(part)) => {
            for (key, part) in &part.map {
                match whole.map.get(key) {
                    Some(whole) if within(ctx, whole, part)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Val::Null, Val::Null) => Ok(true),
        (Val::Bool(a), Val::Bool(b)) if a == b => Ok(true),
        _ => match (whole.float(), part.float()) {
            (Some(a), Some(b)) => Ok(a == b),
            _ => misfit("contains", whole),
        },
    }
}

/// Of what is inside, what cannot be compared is not contained.
fn within(ctx: &Ctx, whole: &Val, part: &Val) -> Result<bool, Stop> {
    match contains(ctx, whole, part) {
        Err(Stop::Error(_)) => Ok(false),
        other => other,
    }
}

fn indices(ctx: &Ctx, val: &Val, wanted: &Val) -> Result<Val, Stop> {
    Ok(match (val, wanted) {
        (Val::Null, _) => Val::Null,
        (Val::Arr(list), Val::Arr(wanted)) => Val::arr(path::indices(ctx, &list.items, &wanted.items)?),
        (Val::Arr(list), wanted) => Val::arr(path::indices(ctx, &list.items, std::slice::from_ref(wanted))?),
        (Val::Str(text), Val::Str(wanted)) => {
            let (text, wanted) = (explode(ctx, text)?, explode(ctx, wanted)?);
            Val::arr(path::indices(ctx, &text, &wanted)?)
        }
        _ => return misfit("indices", val),
    })
}

fn one_of(found: Val, last: bool) -> Result<Val, Stop> {
    let Val::Arr(found) = found else { return Ok(Val::Null) };
    let one = if last { found.items.last() } else { found.items.first() };
    Ok(one.cloned().unwrap_or(Val::Null))
}

fn explode(ctx: &Ctx, text: &str) -> Result<Vec<Val>, Stop> {
    ctx.charge(24 * text.len() as u64)?;
    Ok(text.chars().map(|sign| Val::Int(i64::from(sign as u32))).collect())
}

fn implode(ctx: &Ctx, val: Val, _: &[Val]) -> Result<Val, Stop> {
    let codes = list("implode", &val)?;
    ctx.charge(4 * codes.len() as u64)?;
    let mut text = String::new();
    for code in codes {
        let Some(code) = code.int() else { return misfit("implode", code) };
        text.push(u32::try_from(code).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
    }
    Ok(Val::Str(text.into()))
}

fn join(ctx: &Ctx, val: Val, args: &[Val]) -> Result<Val, Stop> {
    let parts = items("join", &val)?;
    if parts.is_empty() {
        return Ok(Val::text(""));
    }
    ctx.charge(args[0].weight().saturating_mul(parts.len() as u64))?;
    let mut all = Vec::with_capacity(2 * parts.len());
    for (at, part) in parts.into_iter().enumerate() {
        all.push(if at == 0 { Val::text("") } else { args[0].clone() });
        all.push(match part {
            Val::Bool(_) | Val::Int(_) | Val::Float(_) => Val::Str(text::to_json(ctx, &part)?.into()),
            other => other,
        });
    }
    arithmetic::sum(ctx, all.into_iter())
}

fn flatten(ctx: &Ctx, val: &Val, depth: f64) -> Result<Val, Stop> {
    let mut flat = Vec::new();
    flatten_into(ctx, &items("flatten", val)?, depth, &mut flat)?;
    Ok(Val::arr(flat))
}

fn flatten_into(ctx: &Ctx, items: &[Val], depth: f64, flat: &mut Vec<Val>) -> Result<(), Stop> {
    for item in items {
        ctx.charge(24)?;
        match item {
            Val::Arr(inner) if depth != 0.0 => flatten_into(ctx, &inner.items, depth - 1.0, flat)?,
            other => flat.push(other.clone()),
        }
    }
    Ok(())
}

fn least(ctx: &Ctx, val: &Val, by: &Val, smallest: bool) -> Result<Val, Stop> {
    let (vals, keys) = (list("min", val)?, list("min", by)?);
    ctx.work(by.size())?;
    let mut best = 0;
    for (at, key) in keys.iter().enumerate().skip(1) {
        if (compare(&keys[best], key) == Ordering::Greater) == smallest {
            best = at;
        }
    }
    Ok(vals.get(best).cloned().unwrap_or(Val::Null))
}

fn sorted(ctx: &Ctx, val: &Val, by: &Val) -> Result<Vec<(Val, Val)>, Stop> {
    let (vals, keys) = (list("sort", val)?, list("sort", by)?);
    let rounds = u64::from(usize::BITS - vals.len().leading_zeros());
    ctx.work(by.size().saturating_mul(1 + rounds))?;
    ctx.charge(48 * vals.len() as u64)?;
    let mut pairs: Vec<_> = keys.iter().cloned().zip(vals.iter().cloned()).collect();
    // What is no number comes before itself, which no sorting takes; it is the least, and all are alike.
    pairs.sort_by(|(a, _), (b, _)| match (a, b) {
        _ if is_nan(a) && is_nan(b) => Ordering::Equal,
        _ if has_nan(a) || has_nan(b) => text_order(a, b),
        _ => compare(a, b),
    });
    Ok(pairs)
}

fn is_nan(val: &Val) -> bool {
    matches!(val, Val::Float(f) if f.is_nan())
}

fn has_nan(val: &Val) -> bool {
    match val {
        Val::Arr(list) => list.items.iter().any(is_nan),
        other => is_nan(other),
    }
}

/// An order in which what is no number is equal to itself.
fn text_order(a: &Val, b: &Val) -> Ordering {
    match (a, b) {
        (Val::Arr(a), Val::Arr(b)) => {
            let pairs = a.items.iter().zip(&b.items);
            let first = pairs.map(|(a, b)| text_order(a, b)).find(|order| order.is_ne());
            first.unwrap_or(a.items.len().cmp(&b.items.len()))
        }
        _ if is_nan(a) && is_nan(b) => Ordering::Equal,
        _ => compare(a, b),
    }
}

fn values(pairs: Vec<(Val, Val)>) -> Vec<Val> {
    pairs.into_iter().map(|(_, val)| val).collect()
}

fn groups(pairs: Vec<(Val, Val)>) -> Vec<Vec<Val>> {
    let mut groups: Vec<Vec<Val>> = Vec::new();
    let mut last: Option<Val> = None;
    for (key, val) in pairs {
        match groups.last_mut() {
            Some(group) if last.as_ref().is_some_and(|last| compare(last, &key).is_eq()) => group.push(val),
            _ => groups.push(vec![val]),
        }
        last = Some(key);
    }
    groups
}

fn firsts(groups: Vec<Vec<Val>>) -> Val {
    Val::arr(groups.into_iter().filter_map(|group| group.into_iter().next()).collect())
}

fn transpose(ctx: &Ctx, val: Val, _: &[Val]) -> Result<Val, Stop> {
    let rows = list("transpose", &val)?;
    let rows: Vec<&[Val]> = rows.iter().map(|row| list("transpose", row)).collect::<Result<_, _>>()?;
    let width = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    ctx.charge((24 * width as u64).saturating_mul(rows.len() as u64 + 2))?;
    let column = |at: usize| rows.iter().map(|row| row.get(at).cloned().unwrap_or(Val::Null)).collect();
    Ok(Val::arr((0..width).map(|at| Val::arr(column(at))).collect()))
}

fn bsearch(ctx: &Ctx, val: Val, args: &[Val]) -> Result<Val, Stop> {
    let items = list("bsearch", &val)?;
    ctx.work(args[0].size().saturating_mul(64))?;
    let at = items.partition_point(|item| compare(item, &args[0]).is_lt());
    let found = items.get(at).is_some_and(|item| compare(item, &args[0]).is_eq());
    Ok(Val::Int(if found { at as i64 } else { -1 - at as i64 }))
}

fn builtins() -> Val {
    let defined = super::defs().iter().map(|def| format!("{}/{}", def.name, def.params.len()));
    let natives = NATIVES.iter().filter(|(name, ..)| !name.starts_with('_'));
    let natives = natives.map(|(name, count, _)| format!("{name}/{count}"));
    let special = SPECIAL
        .iter()
        .flat_map(|(name, counts, _)| counts.iter().map(move |count| format!("{name}/{count}")));
    Val::arr(defined.chain(natives).chain(special).map(|name| Val::Str(name.into())).collect())
}
