//! Whether a part of a resource that the patch does not name stays as it is, which is nearly always so.

use std::collections::HashSet;

use lynceus_object::{Str, Value};

use super::{Merger, list};
use crate::scalar::text_of;
use crate::schema::Known;

impl<'a> Merger<'a> {
    /// Whether merging nothing into a value leaves it as it is.
    pub(super) fn is_settled(&self, value: &Value, known: Option<Known<'a>>) -> bool {
        match value {
            Value::Null => false,
            Value::Map(fields) => {
                let known = known.or_else(|| self.guess(value));
                fields.iter().all(|(name, value)| {
                    self.is_settled(value, known.and_then(|known| self.schema.field(known, name)))
                })
            }
            Value::Seq(items) => match known.and_then(|known| known.merge_keys()) {
                None => true,
                Some(keys) => {
                    let item_known = known.and_then(|known| self.schema.items(known));
                    has_clear_keys(items, &keys) && items.iter().all(|item| self.is_settled(item, item_known))
                }
            },
            _ => true,
        }
    }
}

/// Whether every item has its keys and none has those of another.
fn has_clear_keys(items: &[Value], keys: &[Str]) -> bool {
    if keys.is_empty() {
        let mut seen = HashSet::new();
        return items.iter().all(|item| {
            !matches!(item, Value::Null | Value::Map(_) | Value::Seq(_)) && seen.insert(text_of(item))
        });
    }
    if !items.iter().all(|item| matches!(item, Value::Map(fields) if !fields.is_empty())) {
        return false;
    }
    let all: Vec<Vec<Str>> = items
        .iter()
        .map(|item| keys.iter().map(|key| item.get(key).map(text_of).unwrap_or_default()).collect())
        .collect();
    let used = list::used_keys(&all, keys);
    let mut seen = HashSet::new();
    all.iter().all(|texts| {
        let used: Vec<&Str> = used.iter().map(|at| &texts[*at]).collect();
        used.iter().all(|text| !text.is_empty()) && seen.insert(used)
    })
}
