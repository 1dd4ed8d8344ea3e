//! Merging a patch into an object, or into another patch.

use super::super::PatchError;
use super::super::go::printed;
use super::list::{self, Items, as_list, as_map};
use super::lookup::{self, Below};
use super::{DELETE_FROM, PATCH, RETAIN_KEYS, SET_ORDER, list_key};
use crate::map::Map;
use crate::schema::TypeRef;
use crate::value::{Seq, Value};

/// Whether the target is an object, on which directives are carried out, or a patch, in which they stay.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    carry_out: bool,
}

impl Options {
    pub(crate) const APPLY: Options = Options { carry_out: true };
    pub(crate) const COMBINE: Options = Options { carry_out: false };
}

pub(crate) fn merge_map(
    mut original: Map,
    mut patch: Map,
    ty: TypeRef<'_>,
    options: Options,
) -> Result<Map, PatchError> {
    if let Some(directive) = patch.get(PATCH) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(PATCH);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch, options)?;
    merge_ordered_lists(&mut original, &mut patch, ty, options)?;
    for (key, value) in patch {
        let deletes = key.starts_with(DELETE_FROM);
        if deletes && !options.carry_out {
            original.insert(key, value);
            continue;
        }
        let key = if deletes { list_key(&key, DELETE_FROM)?.into() } else { key };
        if value.is_null() {
            original.remove(&key);
            if options.carry_out {
                continue;
            }
        }
        let merged = match original.get(&key) {
            Some(old) if list::same_type(old, &value) => {
                merge_value(old.clone(), value, ty, &key, deletes, options)?
            }
            _ if deletes => continue,
            _ => taken_over(value, options),
        };
        match merged {
            Some(merged) => drop(original.insert(key, merged)),
            None => drop(original.remove(&key)),
        }
    }
    Ok(original)
}

/// Merges what is there on both sides.
fn merge_value(
    old: Value,
    new: Value,
    ty: TypeRef<'_>,
    key: &str,
    deletes: bool,
    options: Options,
) -> Result<Option<Value>, PatchError> {
    match (old, new) {
        (Value::Map(old), Value::Map(new)) => {
            let below = lookup::map(ty, key)?;
            if below.replaces() {
                return Ok(Some(Value::Map(new)));
            }
            merge_map(old, new, below.ty, options).map(|map| Some(Value::Map(map)))
        }
        (Value::Seq(old), Value::Seq(new)) => {
            let below = lookup::list(ty, key)?;
            if !below.merges() && !deletes {
                return Ok(Some(Value::Seq(new)));
            }
            merge_list(old, new, below, deletes, options).map(|list| Some(Value::Seq(list.items)))
        }
        (_, new) => Ok(without_directives(new)),
    }
}

/// What a patch brings that was not there.
fn taken_over(value: Value, options: Options) -> Option<Value> {
    without_directives(if options.carry_out { without_nulls(value) } else { value })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Map(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Map(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Seq(items) => Value::Seq(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// The value with every map that is a directive left out.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Map(map) if map.contains(PATCH) => None,
        Value::Map(map) => {
            let kept = map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Value::Map(kept.collect()))
        }
        Value::Seq(items) => Some(Value::Seq(items.into_iter().filter_map(without_directives).collect())),
        other => Some(other),
    }
}

/// Carries out `$retainKeys`: fields that the patch does not name go.
fn retain_keys(original: &mut Map, patch: &mut Map, options: Options) -> Result<(), PatchError> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    if !options.carry_out {
        return match original.get(RETAIN_KEYS) {
            Some(known) if *known != keys => Err(PatchError::Failed(format!(
                "{} and {} are not deep equal: this may happen when calculating the 3-way diff patch",
                printed(known),
                printed(&keys)
            ))),
            Some(_) => Ok(()),
            None => {
                original.insert(RETAIN_KEYS, keys);
                Ok(())
            }
        };
    }
    let malformed = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let keys = keys.as_seq().ok_or_else(malformed)?;
    let named = |key: &str| keys.iter().any(|name| name.as_str() == Some(key));
    let stray = patch.iter().any(|(key, value)| {
        !value.is_null() && !key.starts_with(DELETE_FROM) && !key.starts_with(SET_ORDER) && !named(key)
    });
    if stray {
        return Err(malformed());
    }
    original.retain(|key, _| named(key));
    Ok(())
}

/// Carries out every `$setElementOrder` together with the list that it orders.
fn merge_ordered_lists(
    original: &mut Map,
    patch: &mut Map,
    ty: TypeRef<'_>,
    options: Options,
) -> Result<(), PatchError> {
    let orders: Vec<_> = patch.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for order_key in orders {
        let Some(order) = patch.remove(&order_key) else { continue };
        if !options.carry_out {
            match original.get(&order_key) {
                Some(known) if *known != order => return Err(malformed_order()),
                Some(_) => {}
                None => drop(original.insert(order_key.clone(), order.clone())),
            }
        }
        let order = as_list(&order)?;
        let key = list_key(&order_key, SET_ORDER)?;
        if let Some(merged) = merge_ordered(original, patch, key, order, ty, options)? {
            original.insert(key, Value::Seq(merged.into_iter().collect()));
            patch.remove(key);
        }
    }
    Ok(())
}

fn merge_ordered(
    original: &Map,
    patch: &Map,
    key: &str,
    order: &[Value],
    ty: TypeRef<'_>,
    options: Options,
) -> Result<Option<Vec<Value>>, PatchError> {
    let old = original.get(key).map(as_list).transpose()?;
    let new = patch.get(key).map(as_list).transpose()?;
    let below = lookup::list(ty, key)?;
    check_order(new.map_or(&[], |new| new), order, below.key())?;
    let mut server_order = old.cloned().unwrap_or_default();
    let merged: Vec<Value> = match (old, new) {
        (Some(old), None) => old.to_vec(),
        (None, Some(new)) => new.iter().cloned().filter_map(without_directives).collect(),
        (Some(old), Some(new)) if below.merges() => {
            let merged = merge_list(old.clone(), new.clone(), below, false, options)?;
            server_order = merged.server_order;
            merged.items.into_iter().collect()
        }
        (Some(_), Some(new)) => new.to_vec(),
        (None, None) => return Ok(None),
    };
    let (old, new) = (old.map_or(&[][..], |old| old), new.map_or(&[][..], |new| new));
    let (named, server_only) = list::partition(merged, order, below.key())?;
    let items = list::items_of(&[old, new])?;
    list::arrange(named, server_only, order, &server_order, below.key(), items).map(Some)
}

/// What the patch lists has to stand in the order that it states.
fn check_order(patch: &[Value], order: &[Value], key: &str) -> Result<(), PatchError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut listed = Vec::new();
    for item in patch {
        if key.is_empty() || !list::is_deletion(item) {
            if !key.is_empty() {
                as_map(item)?;
            }
            listed.push(item);
        }
    }
    let mut listed = listed.into_iter().peekable();
    let mut steps = order.iter().peekable();
    while let (Some(item), Some(step)) = (listed.peek(), steps.peek()) {
        if item.get(PATCH).is_some() {
            listed.next();
            continue;
        }
        let found = list::same_item(item, step, key)?;
        steps.next();
        if found {
            listed.next();
        }
    }
    if listed.peek().is_none() {
        return Ok(());
    }
    let shown = |items: &[Value]| printed(&items.iter().cloned().collect::<Value>());
    Err(PatchError::Failed(format!(
        "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
        shown(patch),
        shown(order)
    )))
}

/// A list after a merge.
struct Merged {
    items: Seq,
    /// The order of the server's items, as `$setElementOrder` is to see it.
    server_order: Seq,
}

/// Merges two lists, item by item.
fn merge_list(
    original: Seq,
    patch: Seq,
    below: Below<'_>,
    deletes: bool,
    options: Options,
) -> Result<Merged, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(Merged { items: original, server_order: Seq::new() });
    }
    let items = list::items_of(&[&original, &patch])?;
    let key = below.key();
    let mut server_order = original.clone();
    let (original, patch, merged) = match items {
        Items::Scalars if options.carry_out && deletes => {
            let items = original.into_iter().filter(|item| !patch.contains(item)).collect();
            return Ok(Merged { items, server_order });
        }
        Items::Scalars => {
            let both = original.iter().chain(patch.iter()).cloned().collect();
            (original, patch, list::deduplicate(both))
        }
        Items::Maps if key.is_empty() => {
            let kind = lookup::go_kind(below.ty);
            return Err(PatchError::Failed(format!("cannot merge lists without merge key for {kind}")));
        }
        Items::Maps => {
            let left = carry_out_directives(&mut server_order, &patch, key)?;
            let merged = merge_items(left.original.to_vec(), &left.patch, below, options)?;
            if !left.replaced {
                // New items take the places that deleted ones had: the original program works in place.
                let free = left.original.len()..merged.len().min(server_order.len());
                server_order.make_mut()[free.clone()].clone_from_slice(&merged[free]);
            }
            (left.original, left.patch, merged)
        }
    };
    let (named, server_only) = list::partition(merged, &patch, key)?;
    let items = list::arrange(named, server_only, &patch, &original, key, items)?.into_iter().collect();
    Ok(Merged { items, server_order })
}

/// What is left of two lists once the directives in the patch are carried out.
struct Left {
    original: Seq,
    patch: Seq,
    replaced: bool,
}

/// Carries out the items that are directives. Items of `original` that are deleted leave a gap that
/// the ones behind close, so that its length stays and its end repeats.
fn carry_out_directives(original: &mut Seq, patch: &[Value], key: &str) -> Result<Left, PatchError> {
    let mut plain = Seq::new();
    let mut replaced = false;
    let mut length = original.len();
    for item in patch {
        let map = as_map(item)?;
        let Some(directive) = map.get(PATCH) else {
            plain.push(item.clone());
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let value = list::key_of(item, key)?;
                while let Some(at) = list::find(&original[..length], key, value)? {
                    original.make_mut()[at..length].rotate_left(1);
                    length -= 1;
                    if length > 0 {
                        original.make_mut()[length] = original[length - 1].clone();
                    }
                }
            }
            Some("replace") => replaced = true,
            Some("merge") => {
                return Err(PatchError::Failed(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
            _ => return Err(unknown_directive(directive, map)),
        }
    }
    Ok(match replaced {
        true => Left { original: plain, patch: Seq::new(), replaced },
        false => Left { original: original[..length].iter().cloned().collect(), patch: plain, replaced },
    })
}

fn merge_items(
    mut original: Vec<Value>,
    patch: &[Value],
    below: Below<'_>,
    options: Options,
) -> Result<Vec<Value>, PatchError> {
    for item in patch {
        let value = list::key_of(item, below.key())?;
        match list::find(&original, below.key(), value)? {
            Some(at) => {
                let (old, new) = (as_map(&original[at])?.clone(), as_map(item)?.clone());
                original[at] = Value::Map(merge_map(old, new, below.ty, options)?);
            }
            None => original.push(item.clone()),
        }
    }
    Ok(original)
}

fn malformed_order() -> PatchError {
    PatchError::Malformed("invalid patch format of setElementOrder list".to_owned())
}

fn unknown_directive(directive: &Value, map: &Map) -> PatchError {
    let shown = if directive.is_null() { "%!s(<nil>)".to_owned() } else { printed(directive) };
    let map = printed(&Value::Map(map.clone()));
    PatchError::Failed(format!("unknown patch type: {shown} in map: {map}"))
}
