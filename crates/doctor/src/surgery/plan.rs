//! A change as steps, each of which touches one place of the text.
//!
//! What stays the same is not touched: a list that gets one more item is not written anew, and a map that is set to almost
//! what it was keeps its comments.

use lynceus_object::{FieldPath, Map, Segment, Str, Value};

use super::error::Problem;
use super::{Change, model};

/// One step. Paths have only fields and positions.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Something else stands there.
    Replace(FieldPath, Value),
    /// A map gets one more field.
    Field(FieldPath, Str, Value),
    /// A list gets one more item before the one at this position, or at its end.
    Item(FieldPath, usize, Value),
    /// A field or an item goes; its map or list has others.
    Remove(FieldPath),
}

/// The steps of a change, in order, each for what the one before has left.
pub(super) fn plan(document: &Value, path: &FieldPath, change: &Change) -> Result<Vec<Step>, Problem> {
    let (here, missing) = follow(document, path);
    let value = here.get(document).unwrap_or(&Value::Null);
    if let (Change::Remove, []) = (change, missing) {
        return removal(document, &here);
    }
    if let (Change::Append(item), [], Value::Seq(items)) = (change, missing, value)
        && !items.is_empty()
    {
        return Ok(vec![Step::Item(here, items.len(), item.clone())]);
    }
    let mut after = value.clone();
    let below: FieldPath = missing.iter().cloned().collect();
    model::apply(&mut after, &below, change)?;
    let mut steps = Vec::new();
    assign(&here, value, &after, &mut steps);
    Ok(steps)
}

/// How many steps of a path are not there.
pub(super) fn missing(document: &Value, path: &FieldPath) -> usize {
    follow(document, path).1.len()
}

/// What of a path is there, with positions in place of keys, and the rest of it.
fn follow<'p>(document: &Value, path: &'p FieldPath) -> (FieldPath, &'p [Segment]) {
    let segments = path.segments();
    let mut here = FieldPath::root();
    let mut value = document;
    for (at, segment) in segments.iter().enumerate() {
        let one: FieldPath = [segment.clone()].into_iter().collect();
        let Some((next, found)) = segment.get(value).zip(one.by_position(value)) else {
            return (here, &segments[at..]);
        };
        for found in found.segments() {
            here.push(match (found, value) {
                // A JSON pointer names items as if they were fields.
                (Segment::Field(name), Value::Seq(_)) => Segment::Index(name.parse().unwrap_or_default()),
                _ => found.clone(),
            });
        }
        value = next;
    }
    (here, &[])
}

fn removal(document: &Value, path: &FieldPath) -> Result<Vec<Step>, Problem> {
    let parent = path.parent().ok_or(Problem::Root)?;
    let step = match parent.get(document) {
        Some(Value::Map(map)) if map.len() == 1 => Step::Replace(parent, Value::Map(Map::new())),
        Some(Value::Seq(items)) if items.len() == 1 => Step::Replace(parent, Value::Seq(Default::default())),
        _ => Step::Remove(path.clone()),
    };
    Ok(vec![step])
}

/// The steps that make one value of another.
fn assign(path: &FieldPath, old: &Value, new: &Value, steps: &mut Vec<Step>) {
    match (old, new) {
        (old, new) if old == new => {}
        (Value::Map(old), Value::Map(new)) if !old.is_empty() && !new.is_empty() => {
            assign_fields(path, old, new, steps);
        }
        (Value::Seq(old), Value::Seq(new)) if !old.is_empty() && !new.is_empty() => {
            assign_items(path, old, new, steps);
        }
        (_, new) => steps.push(Step::Replace(path.clone(), new.clone())),
    }
}

fn assign_fields(path: &FieldPath, old: &Map, new: &Map, steps: &mut Vec<Step>) {
    for (name, value) in new.iter() {
        match old.get(name) {
            Some(before) => assign(&path.field(name.clone()), before, value, steps),
            None => steps.push(Step::Field(path.clone(), name.clone(), value.clone())),
        }
    }
    // Last, so that the map is never empty.
    let gone = old.keys().filter(|name| !new.contains(name));
    steps.extend(gone.map(|name| Step::Remove(path.field(name.clone()))));
}

/// Items that are the same at either end stay as they are.
fn assign_items(path: &FieldPath, old: &[Value], new: &[Value], steps: &mut Vec<Step>) {
    let shorter = old.len().min(new.len());
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let tails = old.iter().rev().zip(new.iter().rev());
    let tail = tails.take(shorter - head).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let both = old_end.min(new_end);
    for at in head..both {
        assign(&path.index(at), &old[at], &new[at], steps);
    }
    steps.extend((both..new_end).map(|at| Step::Item(path.clone(), at, new[at].clone())));
    steps.extend((both..old_end).rev().map(|at| Step::Remove(path.index(at))));
}
