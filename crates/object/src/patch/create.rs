//! Making patches: what has to change to get from one object to another.

use super::PatchError;
use super::merge::merge_maps;
use super::strategic::apply::{Options as MergeOptions, merge_map};
use super::strategic::list::{self, Items, same_type};
use super::strategic::{DELETE_FROM, PATCH, RETAIN_KEYS, SET_ORDER, lookup};
use crate::map::Map;
use crate::schema::TypeRef;
use crate::value::{Str, Value};

/// The strategic merge patch that turns `original` into `modified`.
pub fn two_way(original: &Value, modified: &Value, ty: TypeRef<'_>) -> Result<Value, PatchError> {
    let options = Options { additions: true, deletions: true, retain_keys: false };
    diff_maps(&map(original)?, &map(modified)?, ty, options).map(Value::Map)
}

/// The strategic merge patch of `kubectl apply`: what differs between `current` and `modified`, and
/// the removal of what `original`, the last applied configuration, had and `modified` has not.
pub fn three_way(
    original: &Value,
    modified: &Value,
    current: &Value,
    ty: TypeRef<'_>,
) -> Result<Value, PatchError> {
    let (original, modified, current) = (map(original)?, map(modified)?, map(current)?);
    let delta = Options { additions: true, deletions: false, retain_keys: false };
    let delta = diff_maps(&current, &modified, ty, delta)?;
    let deletions = Options { additions: false, deletions: true, retain_keys: false };
    let deletions = diff_maps(&original, &modified, ty, deletions)?;
    merge_map(deletions, delta, ty, MergeOptions::COMBINE).map(Value::Map)
}

/// The JSON merge patch that turns `original` into `modified`.
pub fn merge_two_way(original: &Value, modified: &Value) -> Result<Value, PatchError> {
    Ok(Value::Map(merge_diff(&map(original)?, &map(modified)?)))
}

/// The JSON merge patch of `kubectl apply` for kinds without a built-in type.
pub fn merge_three_way(original: &Value, modified: &Value, current: &Value) -> Result<Value, PatchError> {
    let (original, modified, current) = (map(original)?, map(modified)?, map(current)?);
    let additions = keep(&merge_diff(&current, &modified), Keep::Values);
    let deletions = keep(&merge_diff(&original, &modified), Keep::Nulls);
    Ok(Value::Map(merge_maps(deletions, &additions)))
}

fn map(value: &Value) -> Result<Map, PatchError> {
    match value {
        Value::Map(map) => Ok(map.clone()),
        Value::Null => Ok(Map::new()),
        _ => Err(PatchError::Malformed("invalid JSON document".to_owned())),
    }
}

#[derive(Clone, Copy)]
struct Options {
    additions: bool,
    deletions: bool,
    retain_keys: bool,
}

fn diff_maps(original: &Map, modified: &Map, ty: TypeRef<'_>, options: Options) -> Result<Map, PatchError> {
    let mut patch = Map::new();
    for (key, new) in modified.iter() {
        match original.get(key) {
            Some(old) if key == PATCH => {
                if old.as_str().is_none() || new.as_str().is_none() {
                    return Err(PatchError::Failed(format!("invalid value for special key: {PATCH}")));
                }
                if old != new {
                    patch.insert(PATCH, new.clone());
                }
            }
            Some(old) if same_type(old, new) => diff_values(key, old, new, &mut patch, ty, options)?,
            _ if options.additions => drop(patch.insert(key.clone(), new.clone())),
            _ => {}
        }
    }
    if options.deletions {
        for key in original.keys().filter(|key| !modified.contains(key)) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    if options.retain_keys {
        let lost = |(key, old): (&Str, &Value)| !old.is_null() && !modified.contains(key);
        let retained: Vec<Value> = modified
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, _)| Value::Str(key.clone()))
            .collect();
        if !retained.is_empty() && (!patch.is_empty() || original.iter().any(lost)) {
            patch.insert(RETAIN_KEYS, retained);
        }
    }
    Ok(patch)
}

fn diff_values(
    key: &Str,
    old: &Value,
    new: &Value,
    patch: &mut Map,
    ty: TypeRef<'_>,
    options: Options,
) -> Result<(), PatchError> {
    match (old, new) {
        (Value::Map(old), Value::Map(new)) => {
            let below = match lookup::map(ty, key) {
                Ok(below) => below,
                Err(_) if old == new => return Ok(()),
                Err(error) => return Err(error),
            };
            if below.replaces() {
                if options.additions {
                    patch.insert(key.clone(), new.clone());
                }
                return Ok(());
            }
            let options = Options { retain_keys: below.retains_keys(), ..options };
            let inner = diff_maps(old, new, below.ty, options)?;
            if !inner.is_empty() {
                patch.insert(key.clone(), inner);
            }
        }
        (Value::Seq(items), Value::Seq(new_items)) => {
            let below = match lookup::list(ty, key) {
                Ok(below) => below,
                Err(_) if old == new => return Ok(()),
                Err(error) => return Err(error),
            };
            if below.merges() {
                let options = Options { retain_keys: below.retains_keys(), ..options };
                diff_lists(items, new_items, below, options)?.store(key, patch);
            } else if options.additions && old != new {
                patch.insert(key.clone(), new.clone());
            }
        }
        _ if options.additions && old != new => drop(patch.insert(key.clone(), new.clone())),
        _ => {}
    }
    Ok(())
}

/// What a patch says of one list that is merged.
#[derive(Default)]
struct ListPatch {
    items: Vec<Value>,
    deletions: Vec<Value>,
    order: Vec<Value>,
}

impl ListPatch {
    fn store(self, key: &str, patch: &mut Map) {
        let mut put = |key: Str, list: Vec<Value>| {
            if !list.is_empty() {
                patch.insert(key, list);
            }
        };
        put(key.into(), self.items);
        put(ecow::eco_format!("{DELETE_FROM}/{key}"), self.deletions);
        put(ecow::eco_format!("{SET_ORDER}/{key}"), self.order);
    }
}

fn diff_lists(
    original: &[Value],
    modified: &[Value],
    below: lookup::Below<'_>,
    options: Options,
) -> Result<ListPatch, PatchError> {
    if original.is_empty() {
        let items = if options.additions { modified.to_vec() } else { Vec::new() };
        return Ok(ListPatch { items, ..ListPatch::default() });
    }
    match list::items_of(&[original, modified])? {
        Items::Maps => diff_lists_of_maps(original, modified, below, options),
        Items::Scalars => diff_lists_of_scalars(original, modified, options),
    }
}

fn diff_lists_of_maps(
    original: &[Value],
    modified: &[Value],
    below: lookup::Below<'_>,
    options: Options,
) -> Result<ListPatch, PatchError> {
    let key = below.key();
    let mut items = Vec::new();
    let mut deletions = Vec::new();
    let old = list::sort_maps(original.to_vec(), key);
    let new = list::sort_maps(modified.to_vec(), key);
    for pair in pairs(&old, &new, |item| list::key_of(item, key))? {
        match pair {
            Pair::Both(old, new) => {
                let mut patch = diff_maps(list::as_map(old)?, list::as_map(new)?, below.ty, options)?;
                if !patch.is_empty() {
                    patch.insert(key, list::key_of(new, key)?.clone());
                    items.push(Value::Map(patch));
                }
            }
            Pair::New(new) if options.additions => items.push(new.clone()),
            Pair::Old(old) if options.deletions => {
                deletions.push(list::deletion(key, list::key_of(old, key)?.clone()));
            }
            Pair::New(_) | Pair::Old(_) => {}
        }
    }
    let mut items = list::sort_like(items, modified, key, Items::Maps)?;
    let moved = !same_order(original, modified, key)?;
    items.extend(deletions);
    let ordered = options.additions && (!items.is_empty() || moved) || options.deletions && !items.is_empty();
    let order = match ordered {
        true => modified.iter().map(|item| only_key(item, key)).collect(),
        false => Vec::new(),
    };
    Ok(ListPatch { items, deletions: Vec::new(), order })
}

fn only_key(item: &Value, key: &str) -> Value {
    let value = item.get(key).cloned().unwrap_or_default();
    Value::Map(std::iter::once((Str::from(key), value)).collect())
}

fn same_order(original: &[Value], modified: &[Value], key: &str) -> Result<bool, PatchError> {
    if original.len() != modified.len() {
        return Ok(false);
    }
    for (old, new) in original.iter().zip(modified) {
        if !list::same_item(old, new, key)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn diff_lists_of_scalars(
    original: &[Value],
    modified: &[Value],
    options: Options,
) -> Result<ListPatch, PatchError> {
    let old = list::sort_scalars(original.to_vec());
    let new = list::sort_scalars(modified.to_vec());
    let (mut items, mut deletions) = (Vec::new(), Vec::new());
    for pair in pairs(&old, &new, Ok)? {
        match pair {
            Pair::New(new) if options.additions => items.push(new.clone()),
            Pair::Old(old) if options.deletions => deletions.push(old.clone()),
            _ => {}
        }
    }
    let items = list::sort_like(items, modified, "", Items::Scalars)?;
    let deletions = list::deduplicate(deletions);
    // The original is compared as it was sorted above: that is what the original program does.
    let changed = options.additions && old != modified || options.deletions && !deletions.is_empty();
    let order = if changed { modified.to_vec() } else { Vec::new() };
    Ok(ListPatch { items, deletions, order })
}

enum Pair<'v> {
    Both(&'v Value, &'v Value),
    Old(&'v Value),
    New(&'v Value),
}

/// Walks two lists that are sorted by the text of their keys, side by side.
fn pairs<'v>(
    old: &'v [Value],
    new: &'v [Value],
    key: impl Fn(&'v Value) -> Result<&'v Value, PatchError>,
) -> Result<Vec<Pair<'v>>, PatchError> {
    let keyed = |list: &'v [Value]| -> Result<Vec<(String, &'v Value)>, PatchError> {
        list.iter().map(|item| Ok((super::printed(key(item)?), item))).collect()
    };
    let (old, new) = (keyed(old)?, keyed(new)?);
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    let mut out = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return Ok(out),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        match order {
            std::cmp::Ordering::Less => out.extend(old.next().map(|(_, item)| Pair::Old(item))),
            std::cmp::Ordering::Greater => out.extend(new.next().map(|(_, item)| Pair::New(item))),
            std::cmp::Ordering::Equal => {
                out.extend(old.next().zip(new.next()).map(|((_, old), (_, new))| Pair::Both(old, new)));
            }
        }
    }
}

fn merge_diff(original: &Map, modified: &Map) -> Map {
    let mut patch = Map::new();
    for (key, new) in modified.iter() {
        match (original.get(key), new) {
            (Some(Value::Map(old)), Value::Map(new)) => {
                let inner = merge_diff(old, new);
                if !inner.is_empty() {
                    patch.insert(key.clone(), inner);
                }
            }
            (Some(old), new) if old == new => {}
            _ => drop(patch.insert(key.clone(), new.clone())),
        }
    }
    for key in original.keys().filter(|key| !modified.contains(key)) {
        patch.insert(key.clone(), Value::Null);
    }
    patch
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Nulls,
    Values,
}

/// Keeps only the removals of a merge patch, or only the rest of it.
fn keep(patch: &Map, what: Keep) -> Map {
    let mut out = Map::new();
    for (key, value) in patch.iter() {
        match value {
            Value::Null if what == Keep::Nulls => drop(out.insert(key.clone(), Value::Null)),
            Value::Null => {}
            Value::Map(inner) if !inner.is_empty() => {
                let inner = keep(inner, what);
                if !inner.is_empty() {
                    out.insert(key.clone(), inner);
                }
            }
            value if what == Keep::Values => drop(out.insert(key.clone(), value.clone())),
            _ => {}
        }
    }
    out
}
