//! Regular expressions.
//!
//! The engine takes time in proportion to the text and the pattern; both are bounded, and the work is counted.

use std::rc::Rc;

use regex::{Regex, RegexBuilder};

use super::Ctx;
use super::eval::{Stop, error};
use super::value::Val;
use crate::limits;

impl Ctx {
    fn regex(&self, pattern: &str, flags: &str) -> Result<Rc<Regex>, Stop> {
        let key = (pattern.to_owned(), flags.to_owned());
        if let Some(known) = self.regexes.borrow().get(&key) {
            return Ok(known.clone());
        }
        if flags.chars().any(|flag| !"gim".contains(flag)) {
            return error(format!("unsupported regular expression flag: {flags:?}"));
        }
        // To build one takes long, and a program could build many.
        self.work(20_000 + 500 * pattern.len() as u64)?;
        let built = RegexBuilder::new(&translated(pattern))
            .case_insensitive(flags.contains('i'))
            .dot_matches_new_line(flags.contains('m'))
            .size_limit(limits::JQ_PATTERN)
            .dfa_size_limit(limits::JQ_PATTERN)
            .build();
        let built = Rc::new(built.map_err(|_| Stop::Error(Val::text("invalid regular expression")))?);
        self.regexes.borrow_mut().insert(key, built.clone());
        Ok(built)
    }
}

/// `_match(pattern; flags; testing)`.
pub(super) fn matches(ctx: &Ctx, input: Val, args: &[Val]) -> Result<Val, Stop> {
    let [Val::Str(pattern), flags, testing] = args else { return error("a pattern is not a text") };
    let flags = match flags {
        Val::Null => "",
        Val::Str(flags) => flags,
        _ => return error("flags are not a text"),
    };
    let Val::Str(text) = &input else {
        return error(format!("match cannot be applied to: {}", input.type_name()));
    };
    let regex = ctx.regex(pattern, flags)?;
    let effort = (text.len() as u64).saturating_mul(1 + pattern.len() as u64 / 4);
    ctx.work(effort)?;
    if testing.truth() {
        return Ok(Val::Bool(regex.is_match(text)));
    }
    let all = if flags.contains('g') { usize::MAX } else { 1 };
    let mut found = Vec::new();
    // Where the last one ended, in bytes and in characters.
    let mut known = (0, 0);
    let mut after = None;
    for captures in regex.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        // Go does not take nothing right behind a match.
        if whole.is_empty() && after == Some(whole.start()) {
            continue;
        }
        after = Some(whole.end());
        if found.len() == all {
            break;
        }
        // An empty place costs a look at the rest of the text.
        ctx.work(64 + pattern.len() as u64 + (text.len() - whole.start()) as u64 / 64)?;
        known.1 += text[known.0..whole.start()].chars().count();
        known.0 = whole.start();
        let mut groups = Vec::new();
        for (name, group) in regex.capture_names().zip(captures.iter()).skip(1) {
            ctx.charge(256)?;
            let name = name.map_or(Val::Null, Val::text);
            let (offset, length, string) = match group {
                None => (Val::Int(-1), 0, Val::Null),
                Some(group) => {
                    ctx.charge(group.end() as u64 - whole.start() as u64)?;
                    let before = text[whole.start()..group.start()].chars().count();
                    (Val::count(known.1 + before), group.as_str().chars().count(), Val::text(group.as_str()))
                }
            };
            groups.push(Val::record([
                ("name", name),
                ("offset", offset),
                ("length", Val::count(length)),
                ("string", string),
            ]));
        }
        ctx.charge(512 + whole.len() as u64)?;
        found.push(Val::record([
            ("offset", Val::count(known.1)),
            ("length", Val::count(whole.as_str().chars().count())),
            ("string", Val::text(whole.as_str())),
            ("captures", Val::arr(groups)),
        ]));
    }
    Ok(Val::arr(found))
}

/// The named groups of a match as an object.
pub(super) fn captures(_: &Ctx, input: Val, _: &[Val]) -> Result<Val, Stop> {
    let Val::Arr(groups) = &input else { return error("captures are not an array") };
    let named = groups.items.iter().filter_map(|group| match group {
        Val::Obj(group) => match (group.map.get("name"), group.map.get("string")) {
            (Some(Val::Str(name)), Some(text)) => Some((name.clone(), text.clone())),
            _ => None,
        },
        _ => None,
    });
    Ok(Val::obj(named.collect()))
}

/// A pattern of Go as the engine here writes it: classes are of ASCII, and what is in brackets has fewer signs of its own.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() * 2);
    let mut in_class = false;
    let mut rest = pattern.chars().peekable();
    while let Some(sign) = rest.next() {
        match (sign, in_class) {
            ('\\', _) => escape(&mut rest, in_class, &mut out),
            ('[', false) => {
                in_class = true;
                out.push('[');
                for first in ['^', ']'] {
                    if rest.next_if_eq(&first).is_some() {
                        out.push_str(if first == ']' { "\\]" } else { "^" });
                    }
                }
            }
            ('[', true) if rest.peek() == Some(&':') => {
                out.push('[');
                for sign in rest.by_ref() {
                    out.push(sign);
                    if sign == ']' {
                        break;
                    }
                }
            }
            (']', true) => {
                in_class = false;
                out.push(']');
            }
            ('[' | '&' | '~', true) => out.extend(['\\', sign]),
            (other, _) => out.push(other),
        }
    }
    out
}

fn escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, in_class: bool, out: &mut String) {
    match rest.next() {
        Some('d') => out.push_str("[0-9]"),
        Some('D') => out.push_str("[^0-9]"),
        Some('w') => out.push_str("[0-9A-Za-z_]"),
        Some('W') => out.push_str("[^0-9A-Za-z_]"),
        Some('s') => out.push_str("[\\t\\n\\x0C\\r ]"),
        Some('S') => out.push_str("[^\\t\\n\\x0C\\r ]"),
        Some('b') if !in_class => out.push_str("(?-u:\\b)"),
        Some('Q') if !in_class => {
            let mut quoted: String = rest.by_ref().collect();
            let after = quoted.find("\\E").map(|end| quoted.split_off(end));
            out.push_str(&regex::escape(&quoted));
            out.push_str(&translated(after.as_deref().and_then(|after| after.get(2..)).unwrap_or_default()));
        }
        Some(other) => out.extend(['\\', other]),
        None => out.push('\\'),
    }
}
