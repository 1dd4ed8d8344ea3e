//! Laying a configuration over an object.

use super::{Atom, atom, child, is_whole, list};
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

/// One side of a merge of lists: the items by their steps, in order.
struct Side<'v> {
    steps: Vec<(Segment, &'v Value)>,
}

impl<'v> Side<'v> {
    fn has(&self, step: &Segment) -> bool {
        self.steps.iter().any(|(found, _)| found == step)
    }

    /// The item; `null` if there are several.
    fn get(&self, step: &Segment) -> Option<&'v Value> {
        static NULL: Value = Value::Null;
        let mut found = self.steps.iter().filter(|(found, _)| found == step).map(|(_, item)| *item);
        let first = found.next()?;
        Some(if found.next().is_some() { &NULL } else { first })
    }
}

/// Merges two lists: the order of the configuration counts, and what only the object has keeps its
/// place between the items that both have.
fn merge_items(old: &[Value], new: &[Value], ty: TypeRef<'_>, kind: &ListType) -> Seq {
    let live = Side { steps: list::steps(old, ty, kind) };
    let config = Side { steps: list::steps(new, ty, kind) };
    let mut shared = config.steps.iter().map(|(step, _)| step).filter(|step| live.has(step)).peekable();
    let mut merged: Vec<&Segment> = Vec::with_capacity(config.steps.len());
    let mut out = Seq::new();
    let (mut l, mut r) = (0, 0);
    while l < live.steps.len() || r < config.steps.len() {
        if let (Some((left, _)), Some((right, _))) = (live.steps.get(l), config.steps.get(r)) {
            if left == right {
                merged.push(right);
                out.extend(visit(live.get(left), config.get(left), ty));
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
        if let Some((left, item)) = live.steps.get(l) {
            if !config.has(left) {
                out.extend(visit(Some(item), None, ty));
                l += 1;
                continue;
            }
            if merged.contains(&left) {
                l += 1;
            }
        }
        if let Some((right, item)) = config.steps.get(r) {
            merged.push(right);
            out.extend(visit(live.get(right), Some(item), ty));
            r += 1;
            if shared.peek() == Some(&right) {
                shared.next();
            }
        }
    }
    out
}
