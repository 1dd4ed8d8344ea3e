//! Functions on strings.

use lynceus_object::Str;

use super::error::EvalError;
use super::pattern::Pattern;
use super::standard::to_text;
use super::value::Val;

type Outcome = Result<Val, EvalError>;

pub(super) fn call(name: &str, args: &[Val], pattern: Option<&Pattern>) -> Option<Outcome> {
    let flag = |found: bool| Some(Ok(Val::Bool(found)));
    let text = |text: Str| Some(Ok(Val::String(text)));
    match (name, args) {
        ("contains", [Val::String(a), Val::String(b)]) => flag(a.contains(b.as_str())),
        ("startsWith", [Val::String(a), Val::String(b)]) => flag(a.starts_with(b.as_str())),
        ("endsWith", [Val::String(a), Val::String(b)]) => flag(a.ends_with(b.as_str())),
        ("matches" | "find" | "findAll", [Val::String(a), Val::String(b), limit @ ..]) => {
            let fresh = pattern.is_none().then(|| Pattern::new(b));
            Some(regex(name, a, fresh.as_ref().or(pattern)?, limit))
        }
        ("charAt", [Val::String(a), Val::Int(at)]) => Some(char_at(a, *at)),
        ("indexOf" | "lastIndexOf", [Val::String(a), Val::String(b), rest @ ..]) => {
            Some(index_of(a, b, rest.first(), name == "lastIndexOf"))
        }
        ("lowerAscii", [Val::String(a)]) => text(a.to_ascii_lowercase()),
        ("upperAscii", [Val::String(a)]) => text(a.to_ascii_uppercase()),
        ("trim", [Val::String(a)]) => text(a.trim().into()),
        ("replace", [Val::String(a), Val::String(from), Val::String(to)]) => {
            text(a.replace(from.as_str(), to))
        }
        ("replace", [Val::String(a), Val::String(from), Val::String(to), Val::Int(times)]) => {
            text(usize::try_from(*times).map_or_else(
                |_| a.replace(from.as_str(), to),
                |n| a.as_str().replacen(from.as_str(), to, n).into(),
            ))
        }
        ("split", [Val::String(a), Val::String(by), rest @ ..]) => Some(split(a, by, rest.first())),
        ("substring", [Val::String(a), Val::Int(from), rest @ ..]) => Some(substring(a, *from, rest.first())),
        ("join", [Val::List(items, _), rest @ ..]) => {
            let by = match rest.first() {
                Some(Val::String(by)) => by.as_str(),
                _ => "",
            };
            let parts: Option<Vec<&str>> = items
                .iter()
                .map(|item| match item {
                    Val::String(part) => Some(part.as_str()),
                    _ => None,
                })
                .collect();
            Some(parts.map(|parts| Val::text(parts.join(by))).ok_or(EvalError::Overload))
        }
        ("format", [Val::String(form), Val::List(args, _)]) => Some(format(form, args)),
        ("jsonpatch.escapeKey", [Val::String(a)]) => text(a.replace("~", "~0").replace("/", "~1")),
        ("strings.quote", [Val::String(a)]) => text(crate::crd::quoted(a).into()),
        _ => None,
    }
}

fn regex(name: &str, text: &str, pattern: &Pattern, limit: &[Val]) -> Outcome {
    if let Some(error) = pattern.error() {
        return Err(EvalError::failed(error));
    }
    Ok(match name {
        "matches" => Val::Bool(pattern.is_match(text)),
        "find" => Val::text(pattern.find(text).unwrap_or_default()),
        _ => {
            let limit = match limit.first() {
                Some(Val::Int(limit)) if *limit >= 0 => *limit as usize,
                _ => usize::MAX,
            };
            Val::list(pattern.find_all(text, limit).into_iter().map(Val::text))
        }
    })
}

fn out_of_range(at: i64) -> EvalError {
    EvalError::failed(format!("index out of range: {at}"))
}

fn char_at(text: &str, at: i64) -> Outcome {
    let count = text.chars().count() as i64;
    if at == count {
        return Ok(Val::text(""));
    }
    usize::try_from(at)
        .ok()
        .and_then(|at| text.chars().nth(at))
        .map(|c| Val::text(c.to_string()))
        .ok_or_else(|| out_of_range(at))
}

fn index_of(text: &str, part: &str, from: Option<&Val>, last: bool) -> Outcome {
    let chars: Vec<char> = text.chars().collect();
    let wanted: Vec<char> = part.chars().collect();
    let limit = match from {
        Some(Val::Int(at)) if *at < 0 => return Err(out_of_range(*at)),
        Some(Val::Int(at)) if *at as usize > chars.len() => return Ok(Val::Int(-1)),
        Some(Val::Int(at)) => Some(*at as usize),
        _ => None,
    };
    if wanted.is_empty() {
        let at = if last { limit.unwrap_or(chars.len()) } else { limit.unwrap_or(0) };
        return Ok(Val::Int(at as i64));
    }
    let fits = |at: &usize| chars[*at..].starts_with(&wanted);
    let end = (chars.len() + 1).saturating_sub(wanted.len());
    let found = if last {
        (0..end.min(limit.map_or(end, |limit| limit + 1))).rev().find(fits)
    } else {
        (limit.unwrap_or(0)..end).find(fits)
    };
    Ok(Val::Int(found.map_or(-1, |at| at as i64)))
}

fn split(text: &str, by: &str, limit: Option<&Val>) -> Outcome {
    let pieces: Vec<&str> = match limit {
        Some(Val::Int(0)) => Vec::new(),
        Some(Val::Int(n)) if *n > 0 && by.is_empty() => {
            let mut pieces: Vec<&str> = text.split("").filter(|piece| !piece.is_empty()).collect();
            pieces.truncate(*n as usize);
            pieces
        }
        Some(Val::Int(n)) if *n > 0 => text.splitn(*n as usize, by).collect(),
        _ if by.is_empty() => text.split("").filter(|piece| !piece.is_empty()).collect(),
        _ => text.split(by).collect(),
    };
    Ok(Val::list(pieces.into_iter().map(Val::text)))
}

fn substring(text: &str, from: i64, to: Option<&Val>) -> Outcome {
    let count = text.chars().count() as i64;
    let to = match to {
        Some(Val::Int(to)) => *to,
        _ => count,
    };
    if from < 0 || from > count {
        return Err(out_of_range(from));
    }
    if to < 0 || to > count {
        return Err(out_of_range(to));
    }
    if from > to {
        return Err(EvalError::failed(format!("invalid substring range. start: {from}, end: {to}")));
    }
    Ok(Val::text(text.chars().skip(from as usize).take((to - from) as usize).collect::<String>()))
}

fn format(form: &str, args: &[Val]) -> Outcome {
    let mut out = String::with_capacity(form.len() + 16);
    let mut args = args.iter();
    let mut chars = form.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut precision = None;
        if chars.peek() == Some(&'.') {
            chars.next();
            let digits: String = std::iter::from_fn(|| chars.next_if(char::is_ascii_digit)).collect();
            precision = digits.parse::<usize>().ok().filter(|precision| *precision <= 100);
        }
        let verb = chars.next().ok_or_else(|| EvalError::failed("unexpected end of string"))?;
        if verb == '%' {
            out.push('%');
            continue;
        }
        let arg = args.next().ok_or_else(|| EvalError::failed("index 0 out of range"))?;
        out.push_str(&format_one(verb, precision, arg)?);
    }
    Ok(Val::text(out))
}

fn format_one(verb: char, precision: Option<usize>, arg: &Val) -> Result<String, EvalError> {
    let precision = precision.unwrap_or(6);
    Ok(match (verb, arg) {
        ('s', value) => shown(value),
        ('d', Val::Int(i)) => i.to_string(),
        ('d', Val::Uint(u)) => u.to_string(),
        ('d', Val::Double(d)) if d.fract() == 0.0 => format!("{d:.0}"),
        ('f', Val::Double(d)) => format!("{d:.precision$}"),
        ('f', Val::Int(i)) => format!("{:.precision$}", *i as f64),
        ('e', Val::Double(d)) => {
            let text = format!("{d:.precision$e}");
            match text.split_once('e') {
                Some((mantissa, exponent)) => {
                    let (sign, digits) =
                        exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
                    format!("{mantissa}e{sign}{digits:0>2}")
                }
                None => text,
            }
        }
        ('b', Val::Int(i)) => format!("{i:b}"),
        ('b', Val::Bool(b)) => u8::from(*b).to_string(),
        ('x', Val::Int(i)) => format!("{i:x}"),
        ('X', Val::Int(i)) => format!("{i:X}"),
        ('x', Val::String(text)) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ('X', Val::String(text)) => text.bytes().map(|byte| format!("{byte:02X}")).collect(),
        ('o', Val::Int(i)) => format!("{i:o}"),
        ('d' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o', other) => {
            return Err(EvalError::failed(format!(
                "error during formatting: no formatting function for {} with '%{verb}'",
                other.type_name()
            )));
        }
        _ => {
            return Err(EvalError::failed(format!(
                "could not parse formatting clause: unrecognized formatting clause \"{verb}\""
            )));
        }
    })
}

/// A value as `%s` prints it.
fn shown(value: &Val) -> String {
    match value {
        Val::Null => "null".into(),
        Val::List(items, _) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Val::Map(_) | Val::Fields(..) => {
            let mut entries: Vec<String> = value
                .entries()
                .unwrap_or_default()
                .iter()
                .map(|(key, value)| format!("{}: {}", shown(key), shown(value)))
                .collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        other => to_text(other).unwrap_or_default(),
    }
}
