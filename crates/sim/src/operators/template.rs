//! Values with holes in them, which expressions fill.

use lynceus_object::{Map, Str, Value};

use super::declaration::{Fault, Fields};
use crate::cel::{Env, Program, Val};

/// The field of a map that is made of a list.
const EACH: &str = "$each";

/// What an expression may cost. Those of an operator are short, and looked at often.
const BUDGET: u64 = 1_000_000;

/// A value in which texts may hold expressions: `${self.metadata.name}`.
#[derive(Debug)]
pub(crate) enum Template {
    /// As it stands.
    Plain(Value),
    /// Nothing but an expression, which gives the value.
    Whole(Program),
    /// Expressions among other text.
    Text(Vec<Piece>),
    List(Vec<Template>),
    Map(Vec<(Str, Template)>),
    /// A map with a field for each item of a list.
    Each(Box<Each>),
}

/// `$each: {in: …, as: item, key: …, value: …}`, since CEL makes no maps of lists.
#[derive(Debug)]
pub(crate) struct Each {
    items: Program,
    name: Str,
    key: Template,
    value: Template,
}

#[derive(Debug)]
pub(crate) enum Piece {
    Words(String),
    Hole(Program),
}

/// What the names in expressions stand for.
pub(crate) type Scope<'a> = Vec<(&'a str, Val)>;

impl Template {
    /// Reads a value. What is wrong is told with the path below it.
    pub(crate) fn read(value: &Value, env: &Env) -> Result<Self, Fault> {
        Ok(match value {
            Value::Str(text) if text.contains("${") => Template::text(text, env)?,
            Value::Seq(items) => {
                let read =
                    |(index, item)| Template::read(item, env).map_err(|fault: Fault| fault.at_index(index));
                Template::List(items.iter().enumerate().map(read).collect::<Result<_, _>>()?)
            }
            Value::Map(map) if map.get(EACH).is_some() => {
                let each = Each::read(map, env).map_err(|fault| fault.at_field(EACH))?;
                Template::Each(Box::new(each))
            }
            Value::Map(map) => {
                let mut fields = Vec::new();
                for (name, value) in map.iter() {
                    let read = Template::read(value, env).map_err(|fault| fault.at_field(name))?;
                    fields.push((name.clone(), read));
                }
                Template::Map(fields)
            }
            other => Template::Plain(other.clone()),
        })
    }

    fn text(text: &str, env: &Env) -> Result<Self, Fault> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((words, after)) = rest.split_once("${") {
            let end = end_of_hole(after)
                .ok_or_else(|| Fault::new(format!("{text:?} has a hole without an end")))?;
            let program = compile(&after[..end], env)?;
            if words.is_empty() && pieces.is_empty() && end + 1 == after.len() {
                return Ok(Template::Whole(program));
            }
            pieces.push(Piece::Words(words.to_owned()));
            pieces.push(Piece::Hole(program));
            rest = &after[end + 1..];
        }
        pieces.push(Piece::Words(rest.to_owned()));
        Ok(Template::Text(pieces))
    }

    /// The value with its holes filled. What comes to null is left out of maps and lists.
    pub(crate) fn fill(&self, scope: &Scope<'_>) -> Result<Value, String> {
        Ok(match self {
            Template::Plain(value) => value.clone(),
            Template::Whole(program) => {
                let value = run(program, scope)?;
                value
                    .to_value()
                    .ok_or_else(|| format!("a {} is nothing that an object can hold", value.type_name()))?
            }
            Template::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Words(words) => text.push_str(words),
                        Piece::Hole(program) => text.push_str(&shown(&run(program, scope)?)?),
                    }
                }
                Value::from(text)
            }
            Template::List(items) => {
                let filled: Vec<Value> =
                    items.iter().map(|item| item.fill(scope)).collect::<Result<_, _>>()?;
                Value::from(filled.into_iter().filter(|value| !value.is_null()).collect::<Vec<_>>())
            }
            Template::Each(each) => each.fill(scope)?,
            Template::Map(fields) => {
                let mut map = Map::new();
                for (name, field) in fields {
                    let value = field.fill(scope)?;
                    if !value.is_null() {
                        map.insert(name.clone(), value);
                    }
                }
                Value::Map(map)
            }
        })
    }

    /// The text that it comes to; empty for null.
    pub(crate) fn fill_text(&self, scope: &Scope<'_>) -> Result<String, String> {
        Ok(match self.fill(scope)? {
            Value::Null => String::new(),
            Value::Str(text) => text.to_string(),
            other => lynceus_object::json::to_string(&other),
        })
    }
}

impl Each {
    fn read(map: &Map, env: &Env) -> Result<Self, Fault> {
        let text = |field: &str| {
            let value = map.get(EACH).and_then(|each| each.get(field));
            value.and_then(Value::as_str).ok_or_else(|| Fault::new("has to be a text").at_field(field))
        };
        if map.len() != 1 {
            return Err(Fault::new("has to be alone in its map"));
        }
        Fields::of(map.get(EACH).unwrap_or(&Value::Null), &["in", "as", "key", "value"])?;
        let items = compile(text("in")?, env).map_err(|fault| fault.at_field("in"))?;
        let name: Str = text("as")?.into();
        let inner = env.and(name.clone());
        let part = |field: &str| {
            let value = map.get(EACH).and_then(|each| each.get(field));
            let value = value.ok_or_else(|| Fault::new("is missing").at_field(field))?;
            Template::read(value, &inner).map_err(|fault| fault.at_field(field))
        };
        Ok(Each { items, name, key: part("key")?, value: part("value")? })
    }

    fn fill(&self, scope: &Scope<'_>) -> Result<Value, String> {
        let Val::List(items, _) = run(&self.items, scope)? else {
            return Err(format!("{EACH} needs a list"));
        };
        let mut map = Map::new();
        for item in items.iter() {
            let mut inner: Scope<'_> = scope.clone();
            inner.push((&self.name, item.clone()));
            let value = self.value.fill(&inner)?;
            if !value.is_null() {
                map.insert(self.key.fill_text(&inner)?, value);
            }
        }
        Ok(Value::Map(map))
    }
}

/// Compiles an expression.
pub(super) fn compile(text: &str, env: &Env) -> Result<Program, Fault> {
    Program::compile(text, env).map_err(|error| Fault::new(format!("{text:?} is no expression: {error}")))
}

/// Runs an expression within its budget.
pub(super) fn run(program: &Program, scope: &Scope<'_>) -> Result<Val, String> {
    program.run(scope, BUDGET).0.map_err(|error| error.to_string())
}

/// A value among text.
fn shown(value: &Val) -> Result<String, String> {
    match value.to_value() {
        Some(Value::Str(text)) => Ok(text.to_string()),
        Some(other) => Ok(lynceus_object::json::to_string(&other)),
        None => Err(format!("a {} is nothing that a text can hold", value.type_name())),
    }
}

/// Where a hole ends: at the brace that closes it, which is none within quotes.
fn end_of_hole(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use lynceus_object::{value, yaml};

    use super::*;
    use crate::cel::Ty;

    fn filled(text: &str) -> String {
        let env = Env::new([("self", Ty::Dyn)]);
        let object = value!({"metadata": {"name": "web"}, "spec": {"size": 3, "hosts": ["a", "b"]}});
        let scope = vec![("self", Val::lift(&object, &Ty::Dyn))];
        let template = match Template::read(&yaml::parse_str(text).unwrap(), &env) {
            Ok(template) => template,
            Err(fault) => return fault.to_string(),
        };
        template.fill(&scope).map_or_else(|error| error, |value| lynceus_object::json::to_string(&value))
    }

    #[test]
    fn holes_are_filled_with_what_expressions_come_to() {
        for (text, expected) in [
            ("plain", r#""plain""#),
            ("${self.metadata.name}", r#""web""#),
            ("'${self.spec.size + 1}'", "4"),
            ("x-${self.metadata.name}-${self.spec.size}", r#""x-web-3""#),
            ("'${\"}\" + self.metadata.name}'", r#""}web""#),
            (
                "{a: '${self.spec.hosts}', b: '${null}', c: ['${self.spec.hosts[0]}', '${null}']}",
                r#"{"a":["a","b"],"c":["a"]}"#,
            ),
            (
                "{$each: {in: self.spec.hosts, as: h, key: 'x-${h}', value: '${h}'}}",
                r#"{"x-a":"a","x-b":"b"}"#,
            ),
            (
                "{$each: {in: self.spec.hosts, as: h, key: '${h}', value: '${h == \"a\" ? null : dyn(h)}'}}",
                r#"{"b":"b"}"#,
            ),
            ("'${self.spec.hosts.map(h, {\"host\": h})}'", r#"[{"host":"a"},{"host":"b"}]"#),
        ] {
            assert_eq!(filled(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_filled_says_why() {
        assert!(filled("{a: [x, '${self.}']}").starts_with("a[1]: \"self.\" is no expression: "));
        assert_eq!(
            filled("{$each: {in: self.spec.hosts, of: h, key: x, value: y}}"),
            "$each.of: is not known; there is in, as, key, value"
        );
        assert_eq!(filled("'${self'"), "\"${self\" has a hole without an end");
        assert!(filled("'${self.spec.nothing}'").contains("nothing"));
    }
}
