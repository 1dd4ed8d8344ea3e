//! Laying a configuration over an object.

use super::{Atom, atom, child, is_whole, list};
use crate::apply::set::FieldSet;
use crate::map::Map;
use crate::path::Segment;
use crate::schema::{ListType, TypeRef};
use crate::value::{Seq, Value};

/// The object with the configuration laid over it; nothing is removed.
pub(crate) fn merge(live: &Value, config: &Value, ty: TypeRef<'_>) -> Value {
    visit(Some(live), Some(config), ty).unwrap_or_default()
}

fn visit(live: Option<&Value>, config: Option<&Value>, ty: TypeRef<'_>) -> Option<Value> {
    let leaf = || config.or(live).cloned();
    let (Some(live), Some(config)) = (live, config) else { return leaf() };
    match atom(ty, Some(config)) {
        Atom::Scalar => leaf(),
        Atom::List(item, kind) => {
            let (old, new) = (live.as_seq().unwrap_or(&[]), config.as_seq().unwrap_or(&[]));
            if *kind == ListType::Atomic || old.is_empty() && new.is_empty() {
                return leaf();
            }
            let merged = merge_items(old, new, item, kind);
            (!merged.is_empty()).then_some(Value::Seq(merged))
        }
        Atom::Map => {
            static EMPTY: Map = Map::new();
            let (old, new) = (live.as_map().unwrap_or(&EMPTY), config.as_map().unwrap_or(&EMPTY));
            if is_whole(ty) || old.is_empty() && new.is_empty() {
                return leaf();
            }
            let mut merged = old.clone();
            for (key, value) in new.iter() {
                match visit(old.get(key), Some(value), child(ty, key)) {
                    Some(value) => drop(merged.insert(key.clone(), value)),
                    None => drop(merged.remove(key)),
                }
            }
            (!merged.is_empty()).then_some(Value::Map(merged))
        }
    }
}

/// The item under a step; `null` if there are several.
fn single<'v>(side: &list::Steps<'v>, step: &Segment) -> Option<&'v Value> {
    static NULL: Value = Value::Null;
    let mut found = side.under(step);
    let first = found.next()?;
    Some(if found.next().is_some() { &NULL } else { first })
}

/// Merges two lists: the order of the configuration counts, and what only the object has keeps its
/// place between the items that both have.
fn merge_items(old: &[Value], new: &[Value], ty: TypeRef<'_>, kind: &ListType) -> Seq {
    let live = list::Steps::new(old, ty, kind);
    let config = list::Steps::new(new, ty, kind);
    let mut shared = config.items.iter().map(|(step, _)| step).filter(|step| live.has(step)).peekable();
    let mut merged = FieldSet::new();
    let mut out = Seq::new();
    let (mut l, mut r) = (0, 0);
    while l < live.items.len() || r < config.items.len() {
        if let (Some((left, _)), Some((right, _))) = (live.items.get(l), config.items.get(r)) {
            if left == right {
                merged.add_member(right.clone());
                out.extend(visit(single(&live, left), single(&config, left), ty));
                l += 1;
                r += 1;
                shared.next();
                continue;
            }
            if config.has(left) && shared.peek().is_some_and(|next| *next != left) {
                // Both have it, but it is not its turn.
                l += 1;
                continue;
            }
        }
        if let Some((left, item)) = live.items.get(l) {
            if !config.has(left) {
                out.extend(visit(Some(item), None, ty));
                l += 1;
                continue;
            }
            if merged.has_member(left) {
                l += 1;
            }
        }
        if let Some((right, item)) = config.items.get(r) {
            merged.add_member(right.clone());
            out.extend(visit(single(&live, right), Some(item), ty));
            r += 1;
            if shared.peek() == Some(&right) {
                shared.next();
            }
        }
    }
    out
}
