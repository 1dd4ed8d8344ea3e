//! What a change means for a value. The text has to say the same afterwards.

use lynceus_object::{FieldPath, Map, Segment, Value};

use super::Change;
use super::error::Problem;

/// Makes a change. Maps and lists on the way to it are made where there is nothing.
pub fn apply(value: &mut Value, path: &FieldPath, change: &Change) -> Result<(), Problem> {
    if matches!(change, Change::Remove) {
        return remove(value, path);
    }
    let mut here = value;
    let mut way = FieldPath::root();
    for segment in path.segments() {
        here = enter(here, segment, &way)?;
        way.push(segment.clone());
    }
    finish(here, change, &way)
}

fn finish(here: &mut Value, change: &Change, way: &FieldPath) -> Result<(), Problem> {
    match change {
        Change::Set(value) => *here = value.clone(),
        Change::Append(item) => list_of(here, way)?.push(item.clone()),
        Change::Merge(Value::Map(fields)) => merge(here, fields, way)?,
        Change::Merge(other) => return Err(unfit(way, other, "map")),
        Change::Remove => {}
    }
    Ok(())
}

/// One step down, where a step that is missing is made.
fn enter<'v>(here: &'v mut Value, segment: &Segment, way: &FieldPath) -> Result<&'v mut Value, Problem> {
    let index = match (segment, &*here) {
        (Segment::Field(name), Value::Seq(_)) => match name.parse() {
            Ok(index) => index,
            Err(_) => return Err(unfit(way, here, "map")),
        },
        (Segment::Field(name), _) => return Ok(map_of(here, way)?.entry(name)),
        (Segment::Index(index), _) => *index,
        (Segment::Key(_) | Segment::Value(_), _) => position(here, segment, way)?,
    };
    let list = list_of(here, way)?;
    let len = list.len();
    if index > len {
        return Err(Problem::Beyond { at: shown(way), len, index });
    }
    if index == len {
        list.push(match segment {
            Segment::Key(key) => Value::Map(key.clone()),
            _ => Value::Null,
        });
    }
    list.make_mut().get_mut(index).ok_or(Problem::Beyond { at: shown(way), len, index })
}

/// Where the item of a key or a value is; behind the last if a key is not there.
fn position(here: &Value, segment: &Segment, way: &FieldPath) -> Result<usize, Problem> {
    let items = here.as_seq().unwrap_or_default();
    let found = match segment {
        Segment::Key(key) => items.iter().position(|item| has(item, key)).or(Some(items.len())),
        Segment::Value(value) => items.iter().position(|item| item == value),
        Segment::Field(_) | Segment::Index(_) => None,
    };
    found.ok_or_else(|| Problem::NoItem { at: shown(way), item: segment.to_string() })
}

fn has(item: &Value, key: &Map) -> bool {
    key.iter().all(|(name, value)| item.get(name) == Some(value))
}

fn remove(value: &mut Value, path: &FieldPath) -> Result<(), Problem> {
    let (Some(path), true) = (path.by_position(value), path.get(value).is_some()) else {
        return Err(Problem::Missing);
    };
    let Some(parent) = path.parent() else { return Err(Problem::Root) };
    match (parent.get_mut(value), path.segments().last()) {
        (Some(Value::Map(map)), Some(Segment::Field(name))) => drop(map.remove(name)),
        (Some(Value::Seq(items)), Some(Segment::Index(index))) => drop(items.remove(*index)),
        (Some(Value::Seq(items)), Some(Segment::Field(name))) => {
            drop(items.remove(name.parse().map_err(|_| Problem::Missing)?));
        }
        _ => return Err(Problem::Missing),
    }
    Ok(())
}

/// Maps are merged field by field; everything else takes the place of what was there.
fn merge(here: &mut Value, fields: &Map, way: &FieldPath) -> Result<(), Problem> {
    let map = map_of(here, way)?;
    for (name, value) in fields.iter() {
        match (map.get_mut(name), value) {
            (Some(old @ Value::Map(_)), Value::Map(inner)) => merge(old, inner, way)?,
            _ => drop(map.insert(name.clone(), value.clone())),
        }
    }
    Ok(())
}

fn map_of<'v>(here: &'v mut Value, way: &FieldPath) -> Result<&'v mut Map, Problem> {
    match here {
        Value::Null | Value::Map(_) => Ok(here.as_map_or_insert()),
        other => Err(unfit(way, other, "map")),
    }
}

fn list_of<'v>(here: &'v mut Value, way: &FieldPath) -> Result<&'v mut lynceus_object::Seq, Problem> {
    match here {
        Value::Null | Value::Seq(_) => Ok(here.as_seq_or_insert()),
        other => Err(unfit(way, other, "list")),
    }
}

fn unfit(way: &FieldPath, found: &Value, wanted: &'static str) -> Problem {
    Problem::Unfit { at: shown(way), found: found.type_name(), wanted }
}

fn shown(way: &FieldPath) -> String {
    if way.is_root() { "the document".to_owned() } else { way.to_string() }
}
