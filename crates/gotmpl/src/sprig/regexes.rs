//! Regular expressions.

use std::rc::Rc;

use super::args::{int, text};
use super::pattern::{Pattern, expand};
use crate::{Context, Failure, Functions, List, Str, Value, signature, types};

/// What a function does with a compiled expression and its arguments.
type Use = fn(&mut Context<'_>, &Pattern, &[Value]) -> Result<Value, Failure>;

type Compile = fn(&mut Context<'_>, &str) -> Result<Rc<Pattern>, Failure>;

pub(super) fn register(to: &mut Functions) {
    to.add("regexMatch", signature!((STRING, STRING) -> BOOL), |context, args| {
        Ok(Pattern::compile(context, text(args, 0))
            .is_ok_and(|pattern| pattern.regex.is_match(text(args, 1)))
            .into())
    });
    to.add("mustRegexMatch", signature!((STRING, STRING) -> BOOL), |context, args| {
        Ok(Pattern::compile(context, text(args, 0))?.regex.is_match(text(args, 1)).into())
    });
    to.add("regexQuoteMeta", signature!((STRING) -> STRING), |_, args| Ok(quote_meta(text(args, 0)).into()));
    let find_all = signature!((STRING, STRING, INT) -> STRINGS);
    twice(to, ["regexFindAll", "mustRegexFindAll"], find_all, |_, pattern, args| {
        Ok(strings(find_all_of(pattern, text(args, 1), int(args, 2))))
    });
    twice(to, ["regexFind", "mustRegexFind"], signature!((STRING, STRING) -> STRING), |_, pattern, args| {
        Ok(pattern.regex.find(text(args, 1)).map_or("", |found| found.as_str()).into())
    });
    let replace = signature!((STRING, STRING, STRING) -> STRING);
    twice(to, ["regexReplaceAll", "mustRegexReplaceAll"], replace, |context, pattern, args| {
        replace_all(context, pattern, text(args, 1), text(args, 2), false)
    });
    twice(to, ["regexReplaceAllLiteral", "mustRegexReplaceAllLiteral"], replace, |context, pattern, args| {
        replace_all(context, pattern, text(args, 1), text(args, 2), true)
    });
    let split = signature!((STRING, STRING, INT) -> STRINGS);
    twice(to, ["regexSplit", "mustRegexSplit"], split, |_, pattern, args| {
        Ok(split_all(pattern, text(args, 0).is_empty(), text(args, 1), int(args, 2)))
    });
}

/// Adds a function that panics about a wrong expression, and its `must` twin, which returns the error.
fn twice(to: &mut Functions, names: [&'static str; 2], signature: crate::Signature, body: Use) {
    let compile: [Compile; 2] = [Pattern::must_compile, Pattern::compile];
    for (name, compile) in names.into_iter().zip(compile) {
        to.add(name, signature, move |context, args| {
            let pattern = compile(context, text(args, 0))?;
            body(context, &pattern, args)
        });
    }
}

/// Strings, or the nil slice if there are none.
fn strings(items: Vec<Str>) -> Value {
    if items.is_empty() { List::nil(&types::STRINGS).into() } else { Value::strings(items) }
}

/// As many matches as wanted, all if the number is negative.
fn find_all_of(pattern: &Pattern, text: &str, most: i64) -> Vec<Str> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    pattern.regex.find_iter(text).take(most).map(|found| found.as_str().into()).collect()
}

fn replace_all(
    context: &mut Context<'_>,
    pattern: &Pattern,
    text: &str,
    replacement: &str,
    literal: bool,
) -> Result<Value, Failure> {
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for groups in pattern.regex.captures_iter(text) {
        let Some(found) = groups.get(0) else { continue };
        let before = replaced.len();
        replaced.push_str(&text[end..found.start()]);
        if literal {
            replaced.push_str(replacement);
        } else {
            expand(&mut replaced, replacement, &groups, &pattern.names);
        }
        context.charge(replaced.len() - before)?;
        end = found.end();
    }
    replaced.push_str(&text[end..]);
    Ok(replaced.into())
}

/// The text between matches: at most so many pieces, of which the last has the rest.
fn split_all(pattern: &Pattern, empty_expression: bool, text: &str, most: i64) -> Value {
    if most == 0 {
        return strings(Vec::new());
    }
    if !empty_expression && text.is_empty() {
        return Value::strings([""]);
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut pieces: Vec<Str> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for found in pattern.regex.find_iter(text).take(most) {
        if pieces.len() >= most - 1 {
            break;
        }
        end = found.start();
        // An empty match at the very start separates nothing.
        if found.end() > 0 {
            pieces.push(text[start..end].into());
        }
        start = found.end();
    }
    if end != text.len() {
        pieces.push(text[start..].into());
    }
    Value::strings(pieces)
}

fn quote_meta(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}
