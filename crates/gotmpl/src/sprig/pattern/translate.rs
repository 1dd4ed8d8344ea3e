//! Reading an expression as Go does and writing it for the crate `regex`.
//!
//! Flags are applied here and do not appear in what is written: in Go, `(?i)` can even stand between an
//! expression and its `*`.

use std::fmt;

use super::{DEPTH, class};

/// The most that `{n,m}` may ask for, also when such counts multiply.
const MOST_REPEATS: i64 = 1_000;

/// What is wrong with an expression.
#[derive(Clone, Copy)]
pub(super) enum Code {
    CharRange,
    Escape,
    Large,
    MissingArgument,
    MissingBracket,
    MissingParen,
    NamedCapture,
    NestingDepth,
    PerlOperator,
    RepeatOperator,
    RepeatSize,
    TrailingBackslash,
    UnexpectedParen,
}

/// An error, with the part of the expression that it is about.
pub(super) struct Problem {
    code: Code,
    expression: String,
}

impl Problem {
    pub(super) fn new(code: Code, expression: &str) -> Self {
        Self { code, expression: expression.to_owned() }
    }

    pub(super) fn large(expression: &str) -> Self {
        Self::new(Code::Large, expression)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.code {
            Code::CharRange => "invalid character class range",
            Code::Escape => "invalid escape sequence",
            Code::Large => "expression too large",
            Code::MissingArgument => "missing argument to repetition operator",
            Code::MissingBracket => "missing closing ]",
            Code::MissingParen => "missing closing )",
            Code::NamedCapture => "invalid named capture",
            Code::NestingDepth => "expression nests too deeply",
            Code::PerlOperator => "invalid or unsupported Perl syntax",
            Code::RepeatOperator => "invalid nested repetition operator",
            Code::RepeatSize => "invalid repeat count",
            Code::TrailingBackslash => "trailing backslash at end of expression",
            Code::UnexpectedParen => "unexpected )",
        };
        write!(f, "error parsing regexp: {words}: `{}`", self.expression)
    }
}

/// An expression for the crate `regex`.
pub(super) struct Translated {
    pub(super) expression: String,
    pub(super) names: Vec<Option<String>>,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    dot_all: bool,
    lazy: bool,
}

/// What a repetition would apply to.
#[derive(Clone, Copy)]
struct Atom {
    /// Where it starts in what is written.
    start: usize,
    /// How often its parts can be repeated by counts.
    weight: i64,
    /// Whether it ends with an operator, so that another one needs parentheses.
    repeated: bool,
}

/// A parenthesis that is open.
struct Group {
    start: usize,
    flags: Flags,
    weight: i64,
}

struct Translator<'a> {
    whole: &'a str,
    rest: &'a str,
    out: String,
    names: Vec<Option<String>>,
    flags: Flags,
    groups: Vec<Group>,
    atom: Option<Atom>,
    /// The largest weight in the open group.
    weight: i64,
    /// The text from the operator just read on; two may not follow each other.
    last_repeat: Option<&'a str>,
}

pub(super) fn translate(expression: &str) -> Result<Translated, Problem> {
    let mut translator = Translator {
        whole: expression,
        rest: expression,
        out: String::with_capacity(expression.len() + 16),
        names: vec![None],
        flags: Flags::default(),
        groups: Vec::new(),
        atom: None,
        weight: 1,
        last_repeat: None,
    };
    while let Some(c) = translator.rest.chars().next() {
        let last_repeat = translator.last_repeat.take();
        translator.step(c, last_repeat)?;
    }
    if !translator.groups.is_empty() {
        return Err(Problem::new(Code::MissingParen, expression));
    }
    Ok(Translated { expression: translator.out, names: translator.names })
}

impl<'a> Translator<'a> {
    fn step(&mut self, c: char, last_repeat: Option<&'a str>) -> Result<(), Problem> {
        match c {
            '(' if self.rest.starts_with("(?") => return self.perl_group(),
            '(' => {
                self.names.push(None);
                self.open("(")?;
            }
            ')' => self.close()?,
            '|' => {
                self.out.push('|');
                self.atom = None;
            }
            '^' => self.push(if self.flags.multi_line { "(?m:^)" } else { r"\A" }),
            '$' => self.push(if self.flags.multi_line { "(?m:$)" } else { r"\z" }),
            '.' => self.push(if self.flags.dot_all { "(?s:.)" } else { r"[^\n]" }),
            '[' => {
                let (class, rest) = class::bracketed(self.rest)?;
                self.push_folded(&class);
                self.rest = rest;
                return Ok(());
            }
            '*' | '+' | '?' => {
                let before = self.rest;
                self.rest = &before[1..];
                return self.repeat(&before[..1], 0, before, last_repeat);
            }
            '{' => return self.count(last_repeat),
            '\\' => return self.backslash(),
            c => self.literal(u32::from(c)),
        }
        self.rest = &self.rest[c.len_utf8()..];
        Ok(())
    }

    /// Writes something that can be repeated.
    fn push(&mut self, text: &str) {
        self.atom = Some(Atom { start: self.out.len(), weight: 1, repeated: false });
        self.out.push_str(text);
    }

    fn push_folded(&mut self, text: &str) {
        if self.flags.fold_case { self.push(&format!("(?i:{text})")) } else { self.push(text) }
    }

    fn literal(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(c) => self.push_folded(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            // Surrogates are no characters, so nothing matches them.
            None => self.push("[a&&b]"),
        }
    }

    fn open(&mut self, written: &str) -> Result<(), Problem> {
        if self.groups.len() >= DEPTH as usize {
            return Err(Problem::new(Code::NestingDepth, self.whole));
        }
        self.groups.push(Group { start: self.out.len(), flags: self.flags, weight: self.weight });
        self.out.push_str(written);
        self.weight = 1;
        self.atom = None;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Problem> {
        let group = self.groups.pop().ok_or_else(|| Problem::new(Code::UnexpectedParen, self.whole))?;
        self.out.push(')');
        self.flags = group.flags;
        self.atom = Some(Atom { start: group.start, weight: self.weight, repeated: false });
        self.weight = self.weight.max(group.weight);
        Ok(())
    }

    /// `(?P<name>`, `(?<name>`, `(?i)`, `(?i-s:` …
    fn perl_group(&mut self) -> Result<(), Problem> {
        let text = self.rest;
        let named = text.strip_prefix("(?P<").filter(|name| !name.is_empty());
        if let Some(name) = named.or_else(|| text.strip_prefix("(?<").filter(|name| !name.is_empty())) {
            let (name, after) = name.split_once('>').ok_or_else(|| Problem::new(Code::NamedCapture, text))?;
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                let capture = &text[..text.len() - after.len()];
                return Err(Problem::new(Code::NamedCapture, capture));
            }
            self.names.push(Some(name.to_owned()));
            self.rest = after;
            return self.open("(");
        }
        self.flag_group()
    }

    fn flag_group(&mut self) -> Result<(), Problem> {
        let text = self.rest;
        let mut flags = self.flags;
        let (mut value, mut seen) = (true, false);
        let mut rest = &text[2..];
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                'i' => flags.fold_case = value,
                'm' => flags.multi_line = value,
                's' => flags.dot_all = value,
                'U' => flags.lazy = value,
                '-' if value => {
                    (value, seen) = (false, false);
                    continue;
                }
                ':' | ')' if value || seen => {
                    self.rest = rest;
                    if c == ':' {
                        self.open("(?:")?;
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            seen = true;
        }
        Err(Problem::new(Code::PerlOperator, &text[..text.len() - rest.len()]))
    }

    /// `{2}`, `{2,}`, `{2,5}`; anything else is a brace.
    fn count(&mut self, last_repeat: Option<&'a str>) -> Result<(), Problem> {
        let before = self.rest;
        let Some((least, most, after)) = parse_count(before) else {
            self.rest = &before[1..];
            self.literal(u32::from('{'));
            return Ok(());
        };
        let written = &before[..before.len() - after.len()];
        let valid = |count: i64| (0..=MOST_REPEATS).contains(&count);
        if !valid(least) || most.is_some_and(|most| !valid(most) || most < least) {
            return Err(Problem::new(Code::RepeatSize, written));
        }
        self.rest = after;
        self.repeat(written, most.unwrap_or(least), before, last_repeat)
    }

    /// Writes an operator. `times` is how often a count repeats, 0 for other operators.
    fn repeat(
        &mut self,
        operator: &str,
        times: i64,
        before: &'a str,
        last_repeat: Option<&'a str>,
    ) -> Result<(), Problem> {
        let mut lazy = self.flags.lazy;
        if let Some(after) = self.rest.strip_prefix('?') {
            lazy = !lazy;
            self.rest = after;
        }
        let until_here = |text: &'a str| &text[..text.len() - self.rest.len()];
        if let Some(last) = last_repeat {
            return Err(Problem::new(Code::RepeatOperator, until_here(last)));
        }
        let Some(mut atom) = self.atom else {
            return Err(Problem::new(Code::MissingArgument, until_here(before)));
        };
        if atom.repeated {
            self.out.insert_str(atom.start, "(?:");
            self.out.push(')');
        }
        atom.weight *= times.max(1);
        if atom.weight > MOST_REPEATS {
            return Err(Problem::new(Code::RepeatSize, until_here(before)));
        }
        self.out.push_str(operator);
        self.out.push_str(if lazy { "?" } else { "" });
        self.weight = self.weight.max(atom.weight);
        self.atom = Some(Atom { repeated: true, ..atom });
        self.last_repeat = Some(before);
        Ok(())
    }

    fn backslash(&mut self) -> Result<(), Problem> {
        let text = self.rest;
        let simple = match text.as_bytes().get(1) {
            Some(b'A') => Some(r"\A"),
            Some(b'z') => Some(r"\z"),
            Some(b'b') => Some(r"(?-u:\b)"),
            Some(b'B') => Some(r"(?-u:\B)"),
            Some(b'C') => return Err(Problem::new(Code::Escape, r"\C")),
            Some(b'Q') => {
                let (literal, rest) = text[2..].split_once(r"\E").unwrap_or((&text[2..], ""));
                literal.chars().for_each(|c| self.literal(u32::from(c)));
                self.rest = rest;
                return Ok(());
            }
            _ => None,
        };
        if let Some(written) = simple {
            self.push(written);
            self.rest = &text[2..];
        } else if let Some((class, rest)) = class::unicode(text)? {
            self.push_folded(&class);
            self.rest = rest;
        } else if let Some((class, rest)) = class::perl(text) {
            self.push_folded(class);
            self.rest = rest;
        } else {
            let (code, rest) = escape_at(text)?;
            self.literal(code);
            self.rest = rest;
        }
        Ok(())
    }
}

/// A count in braces: the least, the most if there is one, and what follows. Numbers too large are -1.
fn parse_count(text: &str) -> Option<(i64, Option<i64>, &str)> {
    let (least, rest) = parse_number(text.strip_prefix('{')?)?;
    let (most, rest) = match rest.strip_prefix(',') {
        None => (Some(least), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => parse_number(rest).map(|(most, rest)| (Some(most), rest))?,
    };
    Some((least, most, rest.strip_prefix('}')?))
}

fn parse_number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let leading_zero = digits.len() > 1 && digits.starts_with('0');
    if digits.is_empty() || leading_zero {
        return None;
    }
    Some((if digits.len() > 9 { -1 } else { digits.parse().ok()? }, rest))
}

/// The character that an escape stands for, and what follows it.
pub(super) fn escape_at(text: &str) -> Result<(u32, &str), Problem> {
    let after_backslash = &text[1..];
    let Some(c) = after_backslash.chars().next() else {
        return Err(Problem::new(Code::TrailingBackslash, ""));
    };
    let rest = &after_backslash[c.len_utf8()..];
    let invalid = |rest: &str| Err(Problem::new(Code::Escape, &text[..text.len() - rest.len()]));
    let octal = |text: &str| text.starts_with(|c: char| c.is_digit(8));
    match c {
        '1'..='7' if !octal(rest) => invalid(rest),
        '0'..='7' => {
            let more = rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let digits = &after_backslash[..1 + more];
            Ok((u32::from_str_radix(digits, 8).unwrap_or_default(), &rest[more..]))
        }
        'x' => hexadecimal(text, rest),
        'a' => Ok((7, rest)),
        'f' => Ok((12, rest)),
        'n' => Ok((10, rest)),
        'r' => Ok((13, rest)),
        't' => Ok((9, rest)),
        'v' => Ok((11, rest)),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok((u32::from(c), rest)),
        _ => invalid(rest),
    }
}

/// `\x41`, `\x{1F600}`
fn hexadecimal<'a>(text: &'a str, digits: &'a str) -> Result<(u32, &'a str), Problem> {
    let invalid = |rest: &str| Err(Problem::new(Code::Escape, &text[..text.len() - rest.len()]));
    let mut chars = digits.chars();
    let Some(inner) = digits.strip_prefix('{') else {
        // Two digits. The complaint covers both characters, whatever they are.
        let (first, second) = (chars.next(), chars.next());
        let rest = chars.as_str();
        return match (first.and_then(|c| c.to_digit(16)), second.and_then(|c| c.to_digit(16))) {
            (Some(high), Some(low)) => Ok((high * 16 + low, rest)),
            _ => invalid(rest),
        };
    };
    let mut code = 0u32;
    for (at, c) in inner.char_indices() {
        let rest = &inner[at + c.len_utf8()..];
        match c.to_digit(16) {
            None if c == '}' && at > 0 => return Ok((code, rest)),
            None => return invalid(rest),
            Some(digit) => code = code * 16 + digit,
        }
        if code > u32::from(char::MAX) {
            return invalid(rest);
        }
    }
    invalid("")
}
