//! Copying values, and taking deep and cyclic ones apart.
//!
//! A loop such as `$d = dict "a" $d` nests as deep as it runs long. The drop that the compiler makes
//! would recurse as deep and overflow the stack.

use std::cell::Cell;
use std::collections::HashSet;

use crate::limits::VALUE_DEPTH;
use crate::stack::deep;
use crate::{Failure, List, Map, Str, Value};

thread_local! {
    /// How many maps and lists are being dropped inside each other.
    static DROPPING: Cell<usize> = const { Cell::new(0) };
}

/// Drops what a map or list held. Nearly all of them nest a few levels deep, which the stack has room for; what is further
/// down is taken apart in a loop.
pub(crate) fn drop_contents<C: IntoIterator<Item = Value>>(contents: C) {
    const ON_THE_STACK: usize = 32;
    let depth = DROPPING.get();
    if depth >= ON_THE_STACK {
        return release(contents);
    }
    DROPPING.set(depth + 1);
    drop(contents);
    DROPPING.set(depth);
}

/// Drops values and everything that only they hold, in a loop.
fn release(values: impl IntoIterator<Item = Value>) {
    let mut waiting: Vec<Value> = values.into_iter().filter(holds_values).collect();
    while let Some(value) = waiting.pop() {
        let inner = match value {
            Value::Map(map) => map.dismantle(),
            Value::List(list) => list.dismantle(),
            _ => None,
        };
        waiting.extend(inner.into_iter().flatten().filter(holds_values));
    }
}

/// About how many bytes a value takes that nothing else holds, which means that it was made just now.
pub(crate) fn weight(value: &Value) -> usize {
    let text = |value: &Value| value.as_str().map_or(0, |text| text.len());
    let mut bytes = size_of::<Value>() + text(value);
    let mut waiting = if holds_values(value) { vec![value.clone()] } else { Vec::new() };
    // The one who asks has a handle, and this list has one. What is inside is held by its container and this list.
    let handles = 2;
    while let Some(value) = waiting.pop() {
        let inner = match &value {
            Value::Map(map) if map.handles() == handles => {
                bytes += CONTAINER + map.len() * ENTRY;
                map.values()
            }
            Value::List(list) if list.handles() == handles => {
                bytes += CONTAINER + list.as_bytes().map_or(list.len() * size_of::<Value>(), <[u8]>::len);
                list.read().map_or_else(Vec::new, |items| items.clone())
            }
            _ => continue,
        };
        waiting.extend(inner.into_iter().filter(holds_values));
    }
    bytes
}

/// About what an empty map or list takes.
const CONTAINER: usize = 64;

/// About what an entry of a map takes: the key, the value, and its part of the tree.
const ENTRY: usize = size_of::<Str>() + size_of::<Value>() + 16;

/// Empties a map that holds itself, which nothing else would ever free.
pub(crate) fn break_cycle(map: &Map) {
    if holds_itself(map) {
        let values = std::mem::take(&mut *map.write());
        release(values.into_values());
    }
}

fn holds_itself(map: &Map) -> bool {
    let mut seen = HashSet::new();
    let mut waiting = map.values();
    while let Some(value) = waiting.pop() {
        match &value {
            Value::Map(inner) if inner.is(map) => return true,
            Value::Map(inner) if seen.insert(inner.id()) => waiting.extend(inner.values()),
            Value::List(list) if list.as_bytes().is_none() && seen.insert(list.id()) => {
                waiting.extend(list.to_vec());
            }
            _ => {}
        }
    }
    false
}

fn holds_values(value: &Value) -> bool {
    matches!(value, Value::Map(_) | Value::List(_))
}

impl Value {
    /// A copy that shares no map or list with the original.
    pub fn deep_copy(&self) -> Result<Value, Failure> {
        copy(self, VALUE_DEPTH)
    }
}

impl Map {
    /// A copy that shares no map or list with the original.
    pub fn deep_copy(&self) -> Result<Map, Failure> {
        copy_map(self, VALUE_DEPTH)
    }
}

fn copy(value: &Value, depth: usize) -> Result<Value, Failure> {
    let left =
        || depth.checked_sub(1).ok_or_else(|| Failure::new(format!("value nests deeper than {VALUE_DEPTH}")));
    match value {
        Value::Map(map) => {
            let depth = left()?;
            deep(|| copy_map(map, depth)).map(Value::Map)
        }
        Value::List(list) if list.as_bytes().is_none() && !list.is_nil() => {
            let depth = left()?;
            let items =
                deep(|| list.to_vec().iter().map(|item| copy(item, depth)).collect::<Result<_, _>>())?;
            Ok(Value::List(List::typed(list.go_type(), items)))
        }
        _ => Ok(value.clone()),
    }
}

fn copy_map(map: &Map, depth: usize) -> Result<Map, Failure> {
    if map.is_nil() {
        return Ok(map.clone());
    }
    let items = map.entries().into_iter().map(|(key, value)| Ok((key, copy(&value, depth)?)));
    Ok(Map::typed(map.go_type(), items.collect::<Result<_, Failure>>()?))
}
