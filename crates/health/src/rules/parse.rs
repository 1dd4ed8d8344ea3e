//! Reads the file of checks.

use std::collections::HashMap;

use lynceus_api::{HealthStatusCode, Word as _};
use lynceus_object::Value;

use super::Table;
use super::model::{
    Alternative, Form, Group, Operand, Part, Path, Relation, Rule, Saying, Step, Template, Test,
};

/// A line that has something in it.
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

type Parsed<T> = Result<T, String>;

/// Reads the checks, and tells which lines cannot be read.
pub(super) fn table(text: &str) -> (Table, Vec<String>) {
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .map(|(index, text)| Line {
            number: index + 1,
            indent: text.len() - text.trim_start().len(),
            text: text.trim(),
        })
        .filter(|line| !line.text.is_empty() && line.text != "#" && !line.text.starts_with("# "))
        .collect();
    let mut reader = Reader { lines: &lines, at: 0, defined: HashMap::new(), errors: Vec::new() };
    let mut table = Table::default();
    while let Some(line) = reader.peek() {
        reader.stanza(line.text, &mut table);
    }
    (table, reader.errors)
}

struct Reader<'a> {
    lines: &'a [Line<'a>],
    at: usize,
    defined: HashMap<&'a str, Vec<Step>>,
    errors: Vec<String>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Line<'a>> {
        self.lines.get(self.at)
    }

    /// The kinds of a stanza, over as many lines as they take, and its steps.
    fn stanza(&mut self, first: &'a str, table: &mut Table) {
        let mut names: Vec<&'a str> = Vec::new();
        while let Some(line) = self.peek()
            && line.indent == 0
        {
            names.extend(line.text.split_whitespace());
            self.at += 1;
        }
        let steps = self.block(0);
        if let Some(name) = first.strip_prefix("define ") {
            self.defined.insert(name.trim(), steps);
            return;
        }
        let index = table.checks.len();
        table.checks.push(steps);
        for name in names {
            match name.split_once('/') {
                Some((group, "*")) => match group.strip_prefix('*') {
                    Some(end) => table.wide.push((end.into(), index)),
                    None => {
                        table.groups.insert(group.into(), index);
                    }
                },
                Some((group, kind)) => {
                    table.exact.entry(group.into()).or_default().insert(kind.into(), index);
                }
                None => self.errors.push(format!("{name:?} has no group")),
            }
        }
    }

    /// The steps that stand deeper than their parent.
    fn block(&mut self, parent: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some(line) = self.peek()
            && line.indent > parent
        {
            self.at += 1;
            match self.step(line, &mut steps) {
                Ok(()) => {}
                Err(error) => self.errors.push(format!("line {}: {error}: {}", line.number, line.text)),
            }
        }
        steps
    }

    fn step(&mut self, line: &'a Line<'a>, steps: &mut Vec<Step>) -> Parsed<()> {
        if let Some(name) = line.text.strip_prefix("use ") {
            let defined = self.defined.get(name).ok_or("nothing is defined by this name")?;
            steps.extend(defined.iter().cloned());
        } else if let Some(tests) = line.text.strip_prefix("when ") {
            let inner = self.block(line.indent);
            steps.push(Step::When(groups(tests)?, inner));
        } else if !line.text.contains("->") {
            let (list, backwards) = list(line.text)?;
            let rules = self.block(line.indent).into_iter().map(|step| match step {
                Step::Rule(rule) => Ok(rule),
                _ => Err("only rules may stand here".to_owned()),
            });
            steps.push(Step::Each { list, backwards, rules: rules.collect::<Parsed<_>>()? });
        } else {
            steps.push(Step::Rule(rule(line.text)?));
        }
        Ok(())
    }
}

/// `conditions`, `each .status.nodes`, `conditions last`.
fn list(text: &str) -> Parsed<(Path, bool)> {
    let (text, backwards) = match text.strip_suffix(" last") {
        Some(text) => (text, true),
        None => (text, false),
    };
    if text == "conditions" {
        return Ok((path("status.conditions")?, backwards));
    }
    let list = text.strip_prefix("each .").ok_or("neither a rule nor a list")?;
    Ok((path(list)?, backwards))
}

fn rule(text: &str) -> Parsed<Rule> {
    let (tests, said) = text.split_once("->").ok_or("no arrow")?;
    let said = said.trim();
    let (status, message) = said.split_once(' ').unwrap_or((said, ""));
    let saying = match status {
        "none" => Saying::Nothing,
        "skip" => Saying::Skip,
        status => {
            let status = HealthStatusCode::parse(status).ok_or("no such status")?;
            Saying::Health(status, template(message)?)
        }
    };
    Ok(Rule { groups: groups(tests)?, saying })
}

pub(super) fn groups(text: &str) -> Parsed<Vec<Group>> {
    let mut groups = Vec::new();
    let mut group = Group { not: false, tests: Vec::new() };
    for word in words(text) {
        match word {
            "&" => groups.push(std::mem::replace(&mut group, Group { not: false, tests: Vec::new() })),
            "no" => group.not = true,
            word => tests(word, &mut group.tests)?,
        }
    }
    if !group.tests.is_empty() {
        groups.push(group);
    }
    Ok(groups)
}

/// Splits at spaces outside of quotes.
pub(crate) fn words(text: &str) -> Vec<&str> {
    split(text, |letter| letter.is_whitespace()).into_iter().filter(|word| !word.is_empty()).collect()
}

fn split(text: &str, separator: impl Fn(char) -> bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, letter) in text.char_indices() {
        match quote {
            Some(open) if open == letter => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            None if separator(letter) => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            None => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

const RELATIONS: [(&str, Relation); 7] = [
    ("!=", Relation::Unequal),
    ("^=", Relation::Prefix),
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    ("=", Relation::Equal),
    (">", Relation::Greater),
    ("<", Relation::Less),
];

/// One word of tests. A name with a capital is the type of a condition, and what follows its status.
fn tests(word: &str, tests: &mut Vec<Test>) -> Parsed<()> {
    let found = RELATIONS
        .iter()
        .filter_map(|(sign, relation)| Some((outside(word, sign)?, *sign, *relation)))
        .min_by_key(|(at, _, _)| *at);
    let (subject, compared) = match found {
        Some((at, sign, relation)) => (&word[..at], Some((relation, &word[at + sign.len()..]))),
        None => (word, None),
    };
    let (subject, compared) = if subject.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        let kinds = subject.split('|').map(|kind| Operand::Literal(kind.into())).collect();
        tests.push(Test { subject: item("type"), relation: Relation::Equal, values: kinds });
        match compared {
            Some(compared) => ("status", Some(compared)),
            None => return Ok(()),
        }
    } else {
        (subject, compared)
    };
    let test = match compared {
        Some((relation, values)) => Test {
            subject: operand(subject)?,
            relation,
            values: split(values, |letter| letter == '|').into_iter().map(value).collect::<Parsed<_>>()?,
        },
        None => presence(subject)?,
    };
    tests.push(test);
    Ok(())
}

/// Where a sign stands outside of quotes.
fn outside(word: &str, sign: &str) -> Option<usize> {
    let before = word.split('"').next().unwrap_or_default();
    match before.find(sign) {
        Some(at) => Some(at),
        // A quoted field name may come before the sign.
        None => word.rfind('"').and_then(|quote| word[quote..].find(sign).map(|at| quote + at)),
    }
}

fn presence(word: &str) -> Parsed<Test> {
    let (word, not) = word.strip_prefix('!').map_or((word, false), |word| (word, true));
    let (word, truth) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
    let relation = match (truth, not) {
        (false, false) => Relation::Present,
        (false, true) => Relation::Absent,
        (true, false) => Relation::True,
        (true, true) => Relation::NotTrue,
    };
    Ok(Test { subject: operand(word)?, relation, values: Vec::new() })
}

fn item(field: &str) -> Operand {
    Operand::Item(vec![field.into()])
}

fn operand(text: &str) -> Parsed<Operand> {
    if text.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        let (kind, field) = text.split_once('.').ok_or("a type of conditions without a field")?;
        return Ok(Operand::Condition(kind.into(), path(field)?));
    }
    Ok(match (text.strip_prefix('.'), text.strip_prefix("#.")) {
        (Some(field), _) => Operand::Root(path(field)?),
        (None, Some(field)) => Operand::Length(path(field)?),
        (None, None) => Operand::Item(path(text)?),
    })
}

/// A path whose fields may be quoted.
pub(crate) fn path(text: &str) -> Result<Vec<Box<str>>, String> {
    let fields: Path =
        split(text, |letter| letter == '.').into_iter().map(|field| unquoted(field).into()).collect();
    if fields.iter().any(|field| field.is_empty()) {
        return Err(format!("{text:?} is no path"));
    }
    Ok(fields)
}

fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// What a field is compared with: a quoted text, a field, a number, a truth, or a bare text.
fn value(text: &str) -> Parsed<Operand> {
    if unquoted(text).len() != text.len() {
        return Ok(Operand::Literal(unquoted(text).into()));
    }
    Ok(match text {
        "true" => Operand::Literal(Value::Bool(true)),
        "false" => Operand::Literal(Value::Bool(false)),
        _ if text.starts_with('.') || text.starts_with("#.") => operand(text)?,
        _ => match (text.strip_prefix('@'), text.parse::<i64>()) {
            (Some(field), _) => Operand::Item(path(field)?),
            (None, Ok(number)) => Operand::Literal(Value::Int(number)),
            (None, Err(_)) => Operand::Literal(text.into()),
        },
    })
}

fn template(text: &str) -> Parsed<Template> {
    let text = match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(quoted) => quoted,
        None => text.trim(),
    };
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}').ok_or("a brace is not closed")?;
        if !before.is_empty() {
            parts.push(Part::Text(before.into()));
        }
        parts.push(field(inside)?);
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.into()));
    }
    Ok(Template(parts))
}

/// What stands in braces.
fn field(text: &str) -> Parsed<Part> {
    let (prefix, rest) = match text.strip_prefix('\'').and_then(|rest| rest.split_once('\'')) {
        Some((prefix, rest)) if !rest.is_empty() => (prefix, rest),
        _ => ("", text),
    };
    let (rest, form) = match (rest.strip_suffix(":lower"), rest.strip_suffix(":join")) {
        (Some(rest), _) => (rest, Form::Lower),
        (None, Some(rest)) => (rest, Form::Joined),
        (None, None) => (rest, Form::Plain),
    };
    let alternatives = split(rest, |letter| letter == '|').into_iter().map(|text| {
        let (text, filled) = text.strip_suffix('?').map_or((text, false), |text| (text, true));
        let operand = match unquoted(text).len() == text.len() {
            true => operand(text)?,
            false => Operand::Literal(unquoted(text).into()),
        };
        Ok(Alternative { operand, filled })
    });
    Ok(Part::Field { prefix: prefix.into(), alternatives: alternatives.collect::<Parsed<_>>()?, form })
}
