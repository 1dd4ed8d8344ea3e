//! Fields by the path that Kustomize's libraries use: names, places in lists, and items by one of their fields.

use lynceus_object::{Map, Seq, Value};

use crate::error::KustomizeError;
use crate::fieldspec::split_path;
use crate::scalar;

/// One step of a path.
enum Step<'a> {
    Field(&'a str),
    Index(usize),
    Last,
    /// The item that has this text in this field; without a field the item itself.
    Item(&'a str, &'a str),
}

/// The value at a path, if every step exists.
pub(crate) fn find<'a>(value: &'a Value, path: &[String]) -> Result<Option<&'a Value>, KustomizeError> {
    let mut here = value;
    for part in steps(path) {
        let next = match (step(part)?, here) {
            (Step::Field(_), Value::Null) => None,
            (Step::Field(name), Value::Map(map)) => map.get(name),
            (Step::Field(_), other) => return Err(scalar::wrong_node("MappingNode", other)),
            (Step::Index(at), Value::Seq(items)) => items.get(at),
            (Step::Last, Value::Seq(items)) => items.last(),
            (Step::Item(name, text), Value::Seq(items)) => {
                items.iter().find(|item| is_item(item, name, text))
            }
            (Step::Index(_) | Step::Last | Step::Item(..), Value::Null) => None,
            (_, other) => return Err(scalar::wrong_node("SequenceNode", other)),
        };
        match next {
            Some(next) => here = next,
            None => return Ok(None),
        }
    }
    Ok(Some(here))
}

/// The value at a path, made with what is missing on the way; `null` is at the end of what was made. Items that are
/// asked for by their place are not made.
pub(crate) fn find_or_make<'a>(
    value: &'a mut Value,
    path: &[String],
) -> Result<Option<&'a mut Value>, KustomizeError> {
    let parts: Vec<&str> = steps(path).collect();
    let mut here = value;
    for (at, part) in parts.iter().enumerate() {
        let step = step(part)?;
        if here.is_null() {
            *here = if matches!(step, Step::Field(_)) { Map::new().into() } else { Seq::new().into() };
        }
        let next = match (step, here) {
            (Step::Field(name), Value::Map(map)) => Some(map.entry(name)),
            (Step::Field(_), other) => return Err(scalar::wrong_node("MappingNode", other)),
            (Step::Index(at), Value::Seq(items)) => items.make_mut().get_mut(at),
            (Step::Last, Value::Seq(items)) => items.make_mut().last_mut(),
            (Step::Item(name, text), Value::Seq(items)) => item_or_new(items, name, text),
            (_, other) => return Err(scalar::wrong_node("SequenceNode", other)),
        };
        match next {
            Some(next) => here = next,
            None => return Ok(None),
        }
        let is_last = at + 1 == parts.len();
        if is_last {
            break;
        }
    }
    Ok(Some(here))
}

/// Cuts a path such as `spec.ports[0].name` or `metadata.annotations.[a.b/c]` into steps.
pub(crate) fn split_dotted(path: &str) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut parts = split_path(path, '.').into_iter();
    while let Some(mut part) = parts.next() {
        if part.starts_with('[') && !part.ends_with(']') {
            for more in parts.by_ref() {
                part.push('.');
                part.push_str(&more);
                if more.ends_with(']') {
                    break;
                }
            }
            if !part.contains('=') {
                part = part.trim_matches(['[', ']']).to_owned();
            }
        }
        match with_index(&part) {
            Some((name, index)) => {
                joined.extend((!name.is_empty()).then(|| name.to_owned()));
                joined.push(index.to_owned());
            }
            None => joined.push(part),
        }
    }
    joined
}

/// `ports[0]` as `ports` and `0`.
fn with_index(part: &str) -> Option<(&str, &str)> {
    let (name, index) = part.strip_suffix(']')?.rsplit_once('[')?;
    (!index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())).then_some((name, index))
}

fn steps(path: &[String]) -> impl Iterator<Item = &str> {
    path.iter().map(|part| part.trim()).filter(|part| !part.is_empty())
}

fn step(part: &str) -> Result<Step<'_>, KustomizeError> {
    if let Ok(index) = part.parse::<i64>() {
        let negative = || KustomizeError::new(format!("array index {index} cannot be negative"));
        return usize::try_from(index).map(Step::Index).map_err(|_| negative());
    }
    match part {
        "-" => Ok(Step::Last),
        "*" => Err(KustomizeError::new("wildcard is not supported in PathGetter")),
        _ => match part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
            Some(item) => item.split_once('=').map(|(name, text)| Step::Item(name, text)).ok_or_else(|| {
                KustomizeError::new(
                    "list path element must contain fieldName=fieldValue for element to match",
                )
            }),
            None => Ok(Step::Field(part)),
        },
    }
}

fn is_item(item: &Value, name: &str, text: &str) -> bool {
    let found = if name.is_empty() { Some(item) } else { item.get(name) };
    found.and_then(scalar::text).is_some_and(|found| found == text)
}

fn item_or_new<'a>(items: &'a mut Seq, name: &str, text: &str) -> Option<&'a mut Value> {
    let at = items.iter().position(|item| is_item(item, name, text)).unwrap_or_else(|| {
        let new = scalar::meaning(text);
        items.push(if name.is_empty() { new } else { Map::from_iter([(name, new)]).into() });
        items.len() - 1
    });
    items.make_mut().get_mut(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn paths_are_cut_at_dots() {
        assert_eq!(split_dotted("spec.ports[0].name"), ["spec", "ports", "0", "name"]);
        assert_eq!(split_dotted("a.[b.c/d].e"), ["a", "b.c/d", "e"]);
        assert_eq!(split_dotted("a.[name=b.c].e"), ["a", "[name=b.c]", "e"]);
        assert_eq!(split_dotted(r"a\.b.c"), ["a.b", "c"]);
    }

    #[test]
    fn items_are_found_by_place_and_by_field() {
        let value = value!({"a": [{"name": "x", "v": 1}, {"name": "y", "v": 2}], "b": ["p", "q"]});
        let find = |path: &str| find(&value, &split_dotted(path)).unwrap().cloned();
        assert_eq!(find("a[1].v"), Some(Value::Int(2)));
        assert_eq!(find("a.[name=x].v"), Some(Value::Int(1)));
        assert_eq!(find("b.-"), Some(Value::from("q")));
        assert_eq!(find("b.[=p]"), Some(Value::from("p")));
        assert_eq!(find("a[2].v"), None);
        assert!(super::find(&value, &split_dotted("a.v")).is_err());
    }

    #[test]
    fn what_is_missing_is_made() {
        let mut value = value!({});
        let path = split_dotted("spec.list.[name=x].field");
        *find_or_make(&mut value, &path).unwrap().unwrap() = Value::Int(1);
        assert_eq!(value, value!({"spec": {"list": [{"name": "x", "field": 1}]}}));
    }
}
