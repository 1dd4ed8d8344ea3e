//! Lists in strategic merge: telling items apart, sorting them, putting them in an order.
//!
//! The orders that come out are part of what clients see, so the sorts are those of the original,
//! with their treatment of ties: insertion sorts, and comparisons that call equals "less".

use super::super::PatchError;
use super::super::go::{printed, type_name};
use super::PATCH;
use crate::map::Map;
use crate::value::{Seq, Str, Value};

/// Whether the items of a list are maps or scalars.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Items {
    Maps,
    Scalars,
}

/// The one sort of item that these lists have.
pub(crate) fn items_of(lists: &[&[Value]]) -> Result<Items, PatchError> {
    let mut all = lists.iter().flat_map(|list| list.iter());
    let Some(first) = all.next() else {
        return Err(PatchError::Failed("no elements in any of the given slices".to_owned()));
    };
    if matches!(first, Value::Seq(_)) {
        return Err(PatchError::Unprocessable("lists of lists are not supported".to_owned()));
    }
    if first.is_null() || all.any(|item| !same_type(first, item)) {
        let lists: Vec<Value> = lists.iter().map(|list| list.iter().cloned().collect()).collect();
        let shown = printed(&Value::from(lists));
        return Err(PatchError::Failed(format!("list element types are not identical: {shown}")));
    }
    Ok(if matches!(first, Value::Map(_)) { Items::Maps } else { Items::Scalars })
}

/// Whether two values are of one JSON type. Numbers are one type, however they are written.
pub(crate) fn same_type(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    std::mem::discriminant(a) == std::mem::discriminant(b) || number(a) && number(b)
}

pub(crate) fn as_map(item: &Value) -> Result<&Map, PatchError> {
    item.as_map().ok_or_else(|| wrong_type("map[string]interface {}", item))
}

pub(crate) fn as_list(value: &Value) -> Result<&Seq, PatchError> {
    match value {
        Value::Seq(items) => Ok(items),
        other => Err(wrong_type("[]interface {}", other)),
    }
}

pub(crate) fn wrong_type(expected: &str, found: &Value) -> PatchError {
    PatchError::Failed(format!("expected a {expected}, but received a {}", type_name(found)))
}

/// The value that tells an item apart.
pub(crate) fn key_of<'v>(item: &'v Value, key: &str) -> Result<&'v Value, PatchError> {
    let map = as_map(item)?;
    map.get(key).ok_or_else(|| {
        let shown = printed(item);
        PatchError::Failed(format!("map: {shown} does not contain declared merge key: {key}"))
    })
}

/// Where the item with this key value is.
pub(crate) fn find(list: &[Value], key: &str, value: &Value) -> Result<Option<usize>, PatchError> {
    for (at, item) in list.iter().enumerate() {
        let Value::Map(map) = item else {
            return Err(PatchError::Failed(format!("value for key {at} is not a map")));
        };
        if map.get(key) == Some(value) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Whether two items are the same one: by key where they have one, else by value.
pub(crate) fn same_item(a: &Value, b: &Value, key: &str) -> Result<bool, PatchError> {
    if key.is_empty() {
        return Ok(a == b);
    }
    as_map(a)?;
    as_map(b)?;
    Ok(key_of(a, key)? == key_of(b, key)?)
}

/// Drops all but the first of equal scalars; the last item takes a dropped one's place.
pub(crate) fn deduplicate(mut list: Vec<Value>) -> Vec<Value> {
    let mut at = 0;
    while at + 1 < list.len() {
        let mut other = at + 1;
        while other < list.len() {
            if list[at] == list[other] {
                list.swap_remove(other);
            } else {
                other += 1;
            }
        }
        at += 1;
    }
    list
}

/// Sorts scalars by how they print.
pub(crate) fn sort_scalars(list: Vec<Value>) -> Vec<Value> {
    sort_by_text(list, printed)
}

/// Sorts maps by how their key prints.
pub(crate) fn sort_maps(list: Vec<Value>, key: &str) -> Vec<Value> {
    sort_by_text(list, |item| printed(item.get(key).unwrap_or(&Value::Null)))
}

fn sort_by_text(list: Vec<Value>, text: impl Fn(&Value) -> String) -> Vec<Value> {
    let mut pairs: Vec<(String, Value)> = list.into_iter().map(|item| (text(&item), item)).collect();
    insertion_sort(&mut pairs, |a, b| a.0 <= b.0);
    pairs.into_iter().map(|(_, item)| item).collect()
}

fn insertion_sort<T>(list: &mut [T], less: impl Fn(&T, &T) -> bool) {
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && less(&list[at], &list[at - 1]) {
            list.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// An order to put lists in, with the positions looked up once.
struct Order<'v> {
    keys: Vec<&'v Value>,
    key: &'v str,
    items: Items,
}

impl<'v> Order<'v> {
    fn new(list: &'v [Value], key: &'v str, items: Items) -> Self {
        Order { keys: list.iter().map(|item| handle(item, key, items)).collect(), key, items }
    }

    fn position(&self, item: &Value) -> Option<usize> {
        let wanted = handle(item, self.key, self.items);
        self.keys.iter().position(|key| **key == *wanted)
    }
}

fn handle<'v>(item: &'v Value, key: &str, items: Items) -> &'v Value {
    match items {
        Items::Maps => item.get(key).unwrap_or(&Value::Null),
        Items::Scalars => item,
    }
}

/// Sorts a list by `order`; items marked for deletion go last.
pub(crate) fn sort_like(
    list: Vec<Value>,
    order: &[Value],
    key: &str,
    items: Items,
) -> Result<Vec<Value>, PatchError> {
    let (kept, deleted): (Vec<Value>, Vec<Value>) = match items {
        Items::Scalars => (list, Vec::new()),
        Items::Maps => {
            for item in list.iter().chain(order) {
                key_of(item, key)?;
            }
            list.into_iter().partition(|item| !is_deletion(item))
        }
    };
    let order = Order::new(order, key, items);
    let mut placed: Vec<(Option<usize>, Value)> =
        kept.into_iter().map(|item| (order.position(&item), item)).collect();
    insertion_sort(&mut placed, |a, b| match (a.0, b.0) {
        (Some(a), Some(b)) => a < b,
        _ => true,
    });
    Ok(placed.into_iter().map(|(_, item)| item).chain(deleted).collect())
}

/// Puts what the patch names and what only the server has in one list: each keeps its own order, and
/// they are interleaved as on the server.
pub(crate) fn arrange(
    patch: Vec<Value>,
    server_only: Vec<Value>,
    patch_order: &[Value],
    server_order: &[Value],
    key: &str,
    items: Items,
) -> Result<Vec<Value>, PatchError> {
    let patch = sort_like(patch, patch_order, key, items)?;
    let server_only = sort_like(server_only, server_order, key, items)?;
    let order = Order::new(server_order, key, items);
    let mut out = Vec::with_capacity(patch.len() + server_only.len());
    let mut left = server_only.into_iter().map(|item| (order.position(&item), item)).peekable();
    let mut right = patch.into_iter().map(|item| (order.position(&item), item)).peekable();
    while let (Some((here, _)), Some((there, _))) = (left.peek(), right.peek()) {
        let server_first = matches!((here, there), (Some(here), Some(there)) if here < there);
        let next = if server_first { left.next() } else { right.next() };
        out.extend(next.map(|(_, item)| item));
    }
    out.extend(left.chain(right).map(|(_, item)| item));
    Ok(out)
}

/// Splits a list into the items that `by` names and the rest.
pub(crate) fn partition(
    list: Vec<Value>,
    by: &[Value],
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    if key.is_empty() {
        return Ok(list.into_iter().partition(|item| by.contains(item)));
    }
    let (mut named, mut rest) = (Vec::new(), Vec::new());
    for item in list {
        match find(by, key, key_of(&item, key)?)? {
            Some(_) => named.push(item),
            None => rest.push(item),
        }
    }
    Ok((named, rest))
}

pub(crate) fn is_deletion(item: &Value) -> bool {
    item.str_at(&[PATCH]) == Some("delete")
}

/// An item that says: remove the one with this key.
pub(crate) fn deletion(key: &str, value: Value) -> Value {
    Value::Map([(Str::from(key), value), (PATCH.into(), "delete".into())].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn list(value: Value) -> Vec<Value> {
        value.as_seq().expect("list").to_vec()
    }

    #[test]
    fn items_of_the_server_keep_their_place_among_those_of_the_patch() {
        let arranged = arrange(
            list(value!(["d", "b"])),
            list(value!(["a", "c"])),
            &list(value!(["b", "d"])),
            &list(value!(["a", "b", "c", "d"])),
            "",
            Items::Scalars,
        );
        assert_eq!(arranged, Ok(list(value!(["a", "b", "c", "d"]))));
    }

    #[test]
    fn duplicates_give_their_place_to_the_last_item() {
        assert_eq!(deduplicate(list(value!([1, 2, 1, 3, 4]))), list(value!([1, 2, 4, 3])));
    }

    #[test]
    fn lists_of_mixed_items_are_refused() {
        let mixed = list(value!([1, "a"]));
        let message = items_of(&[&mixed]).err().map(|error| error.to_string());
        assert_eq!(message.as_deref(), Some("list element types are not identical: [[1 a]]"));
    }
}
