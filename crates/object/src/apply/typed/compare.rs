//! What changed from one object to another, as sets of fields.

use super::{Atom, atom, child, is_whole, list};
use crate::apply::set::FieldSet;
use crate::map::Map;
use crate::path::Segment;
use crate::schema::{ListType, TypeRef};
use crate::value::Value;

/// The fields that differ between two objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) removed: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) added: FieldSet,
}

impl Comparison {
    /// Leaves out fields and all below them.
    pub(crate) fn without(mut self, fields: &FieldSet) -> Comparison {
        self.removed.cut(fields);
        self.modified.cut(fields);
        self.added.cut(fields);
        self
    }

    /// What the second object sets anew or otherwise.
    pub(crate) fn written(&self) -> FieldSet {
        self.modified.union(&self.added)
    }
}

/// Compares two objects of one type.
pub(crate) fn compare(old: &Value, new: &Value, ty: TypeRef<'_>) -> Comparison {
    visit(Some(old), Some(new), ty).below
}

/// What changed at a place, and below it.
#[derive(Default)]
struct Found {
    removed: bool,
    modified: bool,
    added: bool,
    below: Comparison,
}

impl Found {
    fn store(self, step: &Segment, into: &mut Comparison) {
        let Comparison { removed, modified, added } = self.below;
        for (here, below, set) in [
            (self.removed, removed, &mut into.removed),
            (self.modified, modified, &mut into.modified),
            (self.added, added, &mut into.added),
        ] {
            if here {
                set.add_member(step.clone());
            }
            if !below.is_empty() {
                set.add_child(step.clone(), below);
            }
        }
    }
}

fn visit(old: Option<&Value>, new: Option<&Value>, ty: TypeRef<'_>) -> Found {
    if are_equal(old, new) {
        return Found::default();
    }
    visit_changed(old, new, ty)
}

fn are_equal(old: Option<&Value>, new: Option<&Value>) -> bool {
    matches!((old, new), (Some(old), Some(new)) if old == new)
}

fn visit_changed(old: Option<&Value>, new: Option<&Value>, ty: TypeRef<'_>) -> Found {
    let (old_atom, new_atom) = (atom(ty, old), atom(ty, new));
    let mut found = Found::default();
    if new.is_none() {
        visit_atom(old_atom, old, new, ty, &mut found);
    } else if old.is_none() || old_atom.is_same_sort(new_atom) {
        visit_atom(new_atom, old, new, ty, &mut found);
    } else {
        visit_atom(old_atom, old, new, ty, &mut found);
        visit_atom(new_atom, old, new, ty, &mut found);
    }
    match (old, new) {
        (None, Some(_)) => found.added = true,
        (Some(_), None) => found.removed = true,
        _ => {}
    }
    found
}

fn visit_atom(atom: Atom<'_>, old: Option<&Value>, new: Option<&Value>, ty: TypeRef<'_>, found: &mut Found) {
    match atom {
        Atom::Scalar => leaf(old, new, found),
        Atom::List(item, kind) => {
            let (old_items, new_items) = (items(old), items(new));
            if *kind == ListType::Atomic || old_items.is_empty() && new_items.is_empty() {
                leaf(old, new, found);
            } else {
                visit_items(old_items, new_items, item, kind, &mut found.below);
            }
        }
        Atom::Map => {
            let (old_map, new_map) = (fields(old), fields(new));
            if is_whole(ty) || old_map.is_empty() && new_map.is_empty() {
                return leaf(old, new, found);
            }
            for (key, old, new) in old_map.pairs(new_map).filter(|(_, old, new)| !are_equal(*old, *new)) {
                let inner = visit_changed(old, new, child(ty, key));
                inner.store(&Segment::Field(key.clone()), &mut found.below);
            }
        }
    }
}

/// A leaf that is new or gone is noted by the caller.
fn leaf(old: Option<&Value>, new: Option<&Value>, found: &mut Found) {
    if let (Some(old), Some(new)) = (old, new)
        && old != new
    {
        found.modified = true;
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_seq).unwrap_or(&[])
}

fn fields(value: Option<&Value>) -> &Map {
    static EMPTY: Map = Map::new();
    value.and_then(Value::as_map).unwrap_or(&EMPTY)
}

fn visit_items(old: &[Value], new: &[Value], ty: TypeRef<'_>, kind: &ListType, into: &mut Comparison) {
    if list::are_aligned(old, new, kind) {
        for (old, new) in old.iter().zip(new).filter(|(old, new)| old != new) {
            if let Ok(step) = list::step(new, ty, kind) {
                visit_changed(Some(old), Some(new), ty).store(&step, into);
            }
        }
        return;
    }
    let old = list::Steps::new(old, ty, kind);
    let new = list::Steps::new(new, ty, kind);
    // A step that is listed twice is compared twice, with the same outcome.
    let only_new = new.items.iter().filter(|(step, _)| !old.has(step));
    for (step, _) in old.items.iter().chain(only_new) {
        let old: Vec<&Value> = old.under(step).collect();
        let new: Vec<&Value> = new.under(step).collect();
        visit_item(step, &old, &new, ty, into);
    }
}

/// Compares the items under one step. More than one on a side makes that side one thing.
fn visit_item(step: &Segment, old: &[&Value], new: &[&Value], ty: TypeRef<'_>, into: &mut Comparison) {
    match (old, new) {
        ([] | [_], [] | [_]) => {
            visit(old.first().copied(), new.first().copied(), ty).store(step, into);
        }
        ([_, _, ..], [_, _, ..]) => {
            if old != new {
                into.modified.add_member(step.clone());
            }
        }
        ([_, _, ..], _) => {
            if let Some(new) = new.first() {
                visit(None, Some(new), ty).store(step, into);
            }
            into.removed.add_member(step.clone());
        }
        (_, [_, _, ..]) => {
            if let Some(old) = old.first() {
                visit(Some(old), None, ty).store(step, into);
            }
            into.added.add_member(step.clone());
        }
    }
}
