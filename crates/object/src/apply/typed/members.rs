//! The set of fields that an object has.

use super::{Atom, atom, child, is_named, is_whole, list};
use crate::apply::set::FieldSet;
use crate::path::Segment;
use crate::schema::{ListType, TypeRef};
use crate::value::Value;

/// Every leaf and every item that the value mentions.
pub(crate) fn members(value: &Value, ty: TypeRef<'_>) -> FieldSet {
    visit(value, ty).below
}

/// What a value adds to the set: itself, or what is below it.
struct Found {
    here: bool,
    below: FieldSet,
}

impl Found {
    const LEAF: Found = Found { here: true, below: FieldSet::new() };

    fn store(self, step: Segment, into: &mut FieldSet) {
        if self.here {
            into.add_member(step.clone());
        }
        into.add_child(step, self.below);
    }
}

fn visit(value: &Value, ty: TypeRef<'_>) -> Found {
    let mut below = FieldSet::new();
    match (atom(ty, Some(value)), value) {
        (Atom::Scalar, _) => return Found::LEAF,
        (Atom::List(_, ListType::Atomic), _) => return Found::LEAF,
        (Atom::Map, _) if is_whole(ty) => return Found::LEAF,
        (Atom::List(item, kind), Value::Seq(items)) => {
            let steps = list::Steps::new(items, item, kind);
            for (step, value) in &steps.items {
                // Items that are listed twice are owned as one thing.
                let twice = steps.under(step).len() > 1;
                let found = if twice { Found::LEAF } else { visit(value, item) };
                Found { here: true, ..found }.store(step.clone(), &mut below);
            }
        }
        (Atom::Map, Value::Map(map)) => {
            for (key, value) in map.iter() {
                let found = visit(value, child(ty, key));
                let empty = match value {
                    Value::Null => true,
                    Value::Map(map) => map.is_empty(),
                    _ => false,
                };
                let here = found.here || empty || !is_named(ty, key);
                Found { here, ..found }.store(Segment::Field(key.clone()), &mut below);
            }
        }
        _ => {}
    }
    Found { here: false, below }
}
