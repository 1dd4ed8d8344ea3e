//! Strings. Go counts bytes where nothing else is said, and so do `trunc`, `substr`, `abbrev` and `wrap`.

use super::args::{any, int, text};
use super::cases;
use super::runes::{is_digit, is_letter, runes, to_lower, to_title, to_upper};
use super::show::{text_of, texts_of};
use super::wrap::{abbreviate, wrap};
use crate::format::quote::{double, push_double};
use crate::{Context, Failure, Functions, Map, Str, Value, signature, types};

pub(super) fn register(to: &mut Functions) {
    trimming(to);
    letters(to);
    pieces(to);
    search(to);
    showing(to);
    padding(to);
}

fn trimming(to: &mut Functions) {
    to.add("trim", signature!((STRING) -> STRING), |_, args| Ok(text(args, 0).trim().into()));
    for name in ["trimall", "trimAll"] {
        to.add(name, signature!((STRING, STRING) -> STRING), |_, args| {
            let unwanted = text(args, 0);
            Ok(text(args, 1).trim_matches(|c| unwanted.contains(c)).into())
        });
    }
    to.add("trimSuffix", signature!((STRING, STRING) -> STRING), |_, args| {
        let whole = text(args, 1);
        Ok(whole.strip_suffix(text(args, 0).as_str()).unwrap_or(whole).into())
    });
    to.add("trimPrefix", signature!((STRING, STRING) -> STRING), |_, args| {
        let whole = text(args, 1);
        Ok(whole.strip_prefix(text(args, 0).as_str()).unwrap_or(whole).into())
    });
    to.add("nospace", signature!((STRING) -> STRING), |_, args| Ok(without_space(text(args, 0)).into()));
}

fn letters(to: &mut Functions) {
    to.add("upper", signature!((STRING) -> STRING), |_, args| Ok(mapped(text(args, 0), to_upper)));
    to.add("lower", signature!((STRING) -> STRING), |_, args| Ok(mapped(text(args, 0), to_lower)));
    to.add("title", signature!((STRING) -> STRING), |_, args| Ok(title(text(args, 0)).into()));
    to.add("untitle", signature!((STRING) -> STRING), |_, args| Ok(untitle(text(args, 0)).into()));
    to.add("initials", signature!((STRING) -> STRING), |_, args| Ok(initials(text(args, 0)).into()));
    to.add("swapcase", signature!((STRING) -> STRING), |_, args| Ok(cases::swap(text(args, 0)).into()));
    to.add("camelcase", signature!((STRING) -> STRING), |_, args| Ok(cases::pascal(text(args, 0)).into()));
    to.add("snakecase", signature!((STRING) -> STRING), |_, args| {
        Ok(cases::joined(text(args, 0), '_').into())
    });
    to.add("kebabcase", signature!((STRING) -> STRING), |_, args| {
        Ok(cases::joined(text(args, 0), '-').into())
    });
}

fn pieces(to: &mut Functions) {
    to.add("trunc", signature!((INT, STRING) -> STRING), |_, args| {
        Ok(trunc(int(args, 0), text(args, 1)).into())
    });
    to.add("substr", signature!((INT, INT, STRING) -> STRING), |_, args| {
        substr(int(args, 0), int(args, 1), text(args, 2)).map(Value::Str)
    });
    to.add("abbrev", signature!((INT, STRING) -> STRING), |_, args| {
        let (width, text) = (int(args, 0), text(args, 1));
        if width < 4 { Ok(text.clone().into()) } else { abbreviate(text, 0, width).map(Value::Str) }
    });
    to.add("abbrevboth", signature!((INT, INT, STRING) -> STRING), |_, args| {
        let (left, right, text) = (int(args, 0), int(args, 1), text(args, 2));
        if right < 4 || left > 0 && right < 7 {
            return Ok(text.clone().into());
        }
        abbreviate(text, left, right).map(Value::Str)
    });
    to.add("split", signature!((STRING, STRING) -> STRING_MAP), |_, args| {
        Ok(numbered(split(text(args, 1), text(args, 0), -1)))
    });
    to.add("splitn", signature!((STRING, INT, STRING) -> STRING_MAP), |_, args| {
        Ok(numbered(split(text(args, 2), text(args, 0), int(args, 1))))
    });
    to.add("splitList", signature!((STRING, STRING) -> STRINGS), |_, args| {
        Ok(Value::strings(split(text(args, 1), text(args, 0), -1)))
    });
}

fn search(to: &mut Functions) {
    to.add("contains", signature!((STRING, STRING) -> BOOL), |_, args| {
        Ok(text(args, 1).contains(text(args, 0).as_str()).into())
    });
    to.add("hasPrefix", signature!((STRING, STRING) -> BOOL), |_, args| {
        Ok(text(args, 1).starts_with(text(args, 0).as_str()).into())
    });
    to.add("hasSuffix", signature!((STRING, STRING) -> BOOL), |_, args| {
        Ok(text(args, 1).ends_with(text(args, 0).as_str()).into())
    });
    to.add("replace", signature!((STRING, STRING, STRING) -> STRING), |context, args| {
        let (old, new, text) = (text(args, 0), text(args, 1), text(args, 2));
        if !text.contains(old.as_str()) {
            return Ok(text.clone().into());
        }
        let times = text.matches(old.as_str()).count();
        context.charge(text.len().saturating_add(times.saturating_mul(new.len())))?;
        Ok(text.replace(old.as_str(), new).into())
    });
    to.add("plural", signature!((STRING, STRING, INT) -> STRING), |_, args| {
        Ok(text(args, if int(args, 2) == 1 { 0 } else { 1 }).clone().into())
    });
}

fn showing(to: &mut Functions) {
    to.add("toString", signature!((ANY) -> STRING), |context, args| {
        Ok(text_of(context, any(args, 0))?.into())
    });
    to.add("toStrings", signature!((ANY) -> STRINGS), |context, args| match any(args, 0) {
        // A list that has the type already is handed on, not copied.
        same @ Value::List(list) if list.go_type() == &types::STRINGS => Ok(same.clone()),
        other => Ok(Value::strings(texts_of(context, other)?)),
    });
    to.add("join", signature!((STRING, ANY) -> STRING), |context, args| {
        let (separator, texts) = (text(args, 0), texts_of(context, any(args, 1))?);
        let length: usize = texts.iter().map(|text| text.len().saturating_add(separator.len())).sum();
        context.charge(length)?;
        Ok(texts.join(separator.as_str()).into())
    });
    to.add_appending("quote", signature!((...ANY) -> STRING), |context, args| {
        match args {
            [Value::Str(text)] => push_double(&mut context.out, text),
            _ => {
                let text = joined(args, |value| Ok(double(&text_of(context, value)?).into()))?;
                context.out.push_str(&text);
            }
        }
        Ok(())
    });
    to.add("squote", signature!((...ANY) -> STRING), |context, args| {
        joined(args, |value| Ok(format!("'{}'", context.text(value)?).into())).map(Value::from)
    });
    to.add("cat", signature!((...ANY) -> STRING), |context, args| {
        joined(args, |value| context.text(value)).map(Value::from)
    });
}

fn padding(to: &mut Functions) {
    to.add("repeat", signature!((INT, STRING) -> STRING), |context, args| {
        repeat(context, text(args, 1), int(args, 0)).map(Value::from)
    });
    to.add_appending("indent", signature!((INT, STRING) -> STRING), |context, args| {
        indent(context, args, "")
    });
    to.add_appending("nindent", signature!((INT, STRING) -> STRING), |context, args| {
        indent(context, args, "\n")
    });
    to.add("wrap", signature!((INT, STRING) -> STRING), |context, args| {
        wrap(context, text(args, 1), int(args, 0), "\n", false)
    });
    to.add("wrapWith", signature!((INT, STRING, STRING) -> STRING), |context, args| {
        let separator = text(args, 1);
        let separator = if separator.is_empty() { "\n" } else { separator.as_str() };
        wrap(context, text(args, 2), int(args, 0), separator, true)
    });
}

fn mapped(text: &Str, map: fn(char) -> char) -> Value {
    Value::Str(runes(text).map(map).collect::<String>().into())
}

/// Texts with a space between them; nil has none.
fn joined(args: &[Value], show: impl FnMut(&Value) -> Result<Str, Failure>) -> Result<String, Failure> {
    let texts = args.iter().filter(|value| !value.is_nil()).map(show).collect::<Result<Vec<_>, _>>()?;
    Ok(texts.join(" "))
}

/// Removes space, byte by byte as the original does. If any is found, bytes above 127 come out as Latin-1.
fn without_space(text: &Str) -> Str {
    let bytes = text.bytes();
    let kept: String = bytes.iter().map(|&byte| char::from(byte)).filter(|c| !c.is_whitespace()).collect();
    if kept.chars().count() == bytes.len() { text.clone() } else { kept.into() }
}

/// The first byte of every word, as a Latin-1 character.
fn initials(text: &Str) -> String {
    let mut after_gap = true;
    let mut letters = String::new();
    for c in text.bytes().iter().map(|&byte| char::from(byte)) {
        let gap = c.is_whitespace();
        if after_gap && !gap {
            letters.push(c);
        }
        after_gap = gap;
    }
    letters
}

/// Capitals at the start of words, where a word ends at what is neither letter, digit nor underscore.
fn title(text: &str) -> String {
    let mut before = ' ';
    let mut capitalised = |c: char| {
        let starts = match before {
            '_' => false,
            b if b.is_ascii() => !b.is_ascii_alphanumeric(),
            b => !is_letter(b) && !is_digit(b) && b.is_whitespace(),
        };
        before = c;
        if starts { to_title(c) } else { c }
    };
    runes(text).map(&mut capitalised).collect()
}

fn untitle(text: &str) -> String {
    let mut starts = true;
    let mut lowered = |c: char| {
        if c.is_whitespace() {
            starts = true;
            return c;
        }
        if std::mem::take(&mut starts) { to_lower(c) } else { c }
    };
    runes(text).map(&mut lowered).collect()
}

/// The first bytes, or with a negative length the last ones.
fn trunc(length: i64, text: &Str) -> Str {
    let bytes = text.bytes();
    let wanted = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    if wanted >= bytes.len() {
        text.clone()
    } else if length < 0 {
        Str::from_bytes(&bytes[bytes.len() - wanted..])
    } else {
        Str::from_bytes(&bytes[..wanted])
    }
}

fn substr(start: i64, end: i64, text: &Str) -> Result<Str, Failure> {
    let bytes = text.bytes();
    let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let (from, to) = match (start, end) {
        (..0, end) => (0, end),
        (start, end) if end < 0 || end > length => (start, length),
        both => both,
    };
    let outside = |what: String| Failure::new(format!("runtime error: slice bounds out of range {what}"));
    if to < 0 {
        return Err(outside(format!("[:{to}]")));
    }
    if to > length {
        return Err(outside(format!("[:{to}] with length {length}")));
    }
    if from > to {
        return Err(outside(format!("[{from}:{to}]")));
    }
    let at = |position: i64| usize::try_from(position).unwrap_or_default();
    Ok(Str::from_bytes(&bytes[at(from)..at(to)]))
}

/// Go's `strings.SplitN`: all pieces if `most` is negative, none if it is 0; the last piece has the rest.
pub(super) fn split(text: &Str, separator: &Str, most: i64) -> Vec<Str> {
    let Ok(most) = usize::try_from(if most < 0 { i64::MAX } else { most }) else { return Vec::new() };
    match (most, separator.is_empty()) {
        (0, _) => Vec::new(),
        (_, false) => text.splitn(most, separator.as_str()).map(Str::from).collect(),
        (_, true) => {
            let mut pieces = Vec::new();
            let mut rest = text.as_str();
            while let Some(c) = rest.chars().next() {
                if pieces.len() + 1 == most {
                    break;
                }
                pieces.push(Str::from(c));
                rest = &rest[c.len_utf8()..];
            }
            if !rest.is_empty() {
                pieces.push(rest.into());
            }
            pieces
        }
    }
}

/// Pieces as `split` gives them to templates: `_0`, `_1` …
fn numbered(pieces: Vec<Str>) -> Value {
    let items = pieces.into_iter().enumerate();
    let items = items.map(|(i, piece)| (Str::from(format!("_{i}")), Value::Str(piece))).collect();
    Value::Map(Map::typed(&types::STRING_MAP, items))
}

fn repeat(context: &mut Context<'_>, text: &str, times: i64) -> Result<String, Failure> {
    let times = self::times(times)?;
    context.charge(text.len().saturating_mul(times))?;
    Ok(text.repeat(if text.is_empty() { 0 } else { times }))
}

/// How often Go's `strings.Repeat` repeats.
fn times(times: i64) -> Result<usize, Failure> {
    usize::try_from(times).map_err(|_| Failure::new("strings: negative Repeat count"))
}

/// Prints padding before the text and after every line break in it.
fn indent(context: &mut Context<'_>, args: &[Value], before: &str) -> Result<(), Failure> {
    let text = text(args, 1);
    let width = times(int(args, 0))?;
    context.charge(width)?;
    let breaks = text.as_bytes().iter().filter(|&&byte| byte == b'\n').count();
    let length = text.len().saturating_add(width.saturating_mul(breaks.saturating_add(1)));
    context.charge(length)?;
    let out = &mut context.out;
    out.reserve(length + before.len());
    out.push_str(before);
    pad(out, width);
    let mut rest = text.as_str();
    while let Some(end) = rest.as_bytes().iter().position(|&byte| byte == b'\n') {
        let (line, after) = rest.split_at(end + 1);
        out.push_str(line);
        pad(out, width);
        rest = after;
    }
    out.push_str(rest);
    Ok(())
}

fn pad(out: &mut String, width: usize) {
    const SPACES: &str = "                                ";
    let mut left = width;
    while left > 0 {
        let some = left.min(SPACES.len());
        out.push_str(&SPACES[..some]);
        left -= some;
    }
}
