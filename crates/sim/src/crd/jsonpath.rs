//! The part of JSONPath that printer columns and scale paths use.

use lynceus_object::{Str, Value};

/// A parsed path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(Str),
    Index(i64),
    Any,
    /// `[?(@.type=="Ready")]`
    Filter {
        path: JsonPath,
        equal: bool,
        wanted: Value,
    },
    /// `..name`
    Deep(Str),
}

impl JsonPath {
    /// Reads `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status`, `.a['b.c']`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("..") {
                let (name, after) = word(after)?;
                steps.push(Step::Deep(name));
                rest = after;
            } else if let Some(after) = rest.strip_prefix('.') {
                if let Some(after) = after.strip_prefix('*') {
                    steps.push(Step::Any);
                    rest = after;
                } else if after.is_empty() || after.starts_with('[') {
                    rest = after;
                } else {
                    let (name, after) = word(after)?;
                    steps.push(Step::Field(name));
                    rest = after;
                }
            } else if let Some(after) = rest.strip_prefix('[') {
                let (inside, after) = bracket(after)?;
                steps.push(subscript(inside)?);
                rest = after;
            } else {
                return None;
            }
        }
        Some(JsonPath(steps))
    }

    /// Everything the path leads to, in order.
    pub fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut here = vec![value];
        for step in &self.0 {
            here = here.into_iter().flat_map(|value| step.follow(value)).collect();
        }
        here
    }

    /// The fields of a path that is nothing but fields.
    pub fn fields(&self) -> Option<Vec<&str>> {
        let plain = |step: &'_ Step| match step {
            Step::Field(_) => true,
            Step::Index(_) | Step::Any | Step::Filter { .. } | Step::Deep(_) => false,
        };
        self.0.iter().all(plain).then(|| {
            self.0
                .iter()
                .filter_map(|step| match step {
                    Step::Field(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect()
        })
    }
}

impl Step {
    fn follow<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match (self, value) {
            (Step::Field(name), value) => value.get(name).into_iter().collect(),
            (Step::Index(at), Value::Seq(items)) => {
                let at = if *at < 0 { *at + items.len() as i64 } else { *at };
                usize::try_from(at).ok().and_then(|at| items.get(at)).into_iter().collect()
            }
            (Step::Any, Value::Seq(items)) => items.iter().collect(),
            (Step::Any, Value::Map(map)) => map.values().collect(),
            (Step::Filter { path, equal, wanted }, Value::Seq(items)) => items
                .iter()
                .filter(|item| path.find(item).first().is_some_and(|found| (*found == wanted) == *equal))
                .collect(),
            (Step::Deep(name), value) => deep(name, value),
            _ => Vec::new(),
        }
    }
}

fn deep<'v>(name: &str, value: &'v Value) -> Vec<&'v Value> {
    let mut out: Vec<&Value> = value.get(name).into_iter().collect();
    match value {
        Value::Map(map) => map.values().for_each(|field| out.extend(deep(name, field))),
        Value::Seq(items) => items.iter().for_each(|item| out.extend(deep(name, item))),
        _ => {}
    }
    out
}

/// A field name; a dot in it is written `\.`.
fn word(text: &str) -> Option<(Str, &str)> {
    let mut name = Str::new();
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '.' | '[' if !escaped => return (!name.is_empty()).then(|| (name, &text[at..])),
            c => {
                escaped = false;
                name.push(c);
            }
        }
    }
    (!name.is_empty()).then_some((name, ""))
}

/// What stands in a bracket, up to its own closing one.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn subscript(text: &str) -> Option<Step> {
    let text = text.trim();
    if text == "*" {
        return Some(Step::Any);
    }
    if let Some(name) = unquote(text) {
        return Some(Step::Field(name));
    }
    if let Some(condition) = text.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        let (left, right, equal) = match condition.split_once("==") {
            Some((left, right)) => (left, right, true),
            None => condition.split_once("!=").map(|(left, right)| (left, right, false))?,
        };
        let path = JsonPath::parse(left.trim().strip_prefix('@')?)?;
        let right = right.trim();
        let wanted = match unquote(right) {
            Some(text) => Value::Str(text),
            None => serde_json::from_str(right).ok()?,
        };
        return Some(Step::Filter { path, equal, wanted });
    }
    text.parse().ok().map(Step::Index)
}

fn unquote(text: &str) -> Option<Str> {
    ['\'', '"'].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).map(Str::from)
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn paths_find_what_columns_show() {
        let object = value!({"spec": {"ports": [{"p": 80}, {"p": 443}]}, "metadata": {"labels": {"a.b/c": "x"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]}});
        for (path, expected) in [
            (".spec.ports[1].p", "[443]"),
            (".spec.ports[*].p", "[80,443]"),
            (".spec.ports[-1].p", "[443]"),
            (".status.conditions[?(@.type==\"Ready\")].status", "[\"True\"]"),
            (".status.conditions[?(@.type!='Ready')].status", "[\"False\"]"),
            (".metadata.labels['a.b/c']", "[\"x\"]"),
            (".metadata.labels.a\\.b/c", "[\"x\"]"),
            (".spec.nope", "[]"),
            ("..p", "[80,443]"),
        ] {
            let found: Vec<&Value> = JsonPath::parse(path).unwrap().find(&object);
            assert_eq!(serde_json::to_string(&found).unwrap(), expected, "{path}");
        }
        assert_eq!(JsonPath::parse("spec"), None);
    }
}
