//! Whether two objects have the same fields, whatever stands in them.

use super::{Atom, atom, child, is_whole, list};
use crate::map::Map;
use crate::path::Segment;
use crate::schema::{ListType, TypeRef};
use crate::value::Value;

/// In what two objects differ that are alike.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    /// Lists of one item that has another key: the way there, and the steps that lead to the item.
    pub(crate) renamed: Vec<(Vec<Segment>, Segment, Segment)>,
    way: Vec<Segment>,
}

impl Alike {
    fn below(&mut self, step: Segment, visit: impl FnOnce(&mut Self) -> bool) -> bool {
        self.way.push(step);
        let is_alike = visit(self);
        self.way.pop();
        is_alike
    }
}

/// Whether a comparison with `old` finds the same fields in both, but for the steps that are noted. Says no where that is not
/// certain. The first is known to fit its type, and then the second does too.
pub(crate) fn is_alike(
    one: &Value,
    other: &Value,
    old: Option<&Value>,
    ty: TypeRef<'_>,
    alike: &mut Alike,
) -> bool {
    if one.is_same(other) {
        return true;
    }
    match (atom(ty, Some(one)), one, other) {
        (Atom::Map, Value::Map(one_map), Value::Map(other_map)) if !is_whole(ty) => {
            has_same_fields(one_map, other_map, old, ty, alike)
        }
        (Atom::List(item, kind), Value::Seq(one_items), Value::Seq(other_items))
            if *kind != ListType::Atomic =>
        {
            has_same_items(one_items, other_items, item, kind, alike)
        }
        // One thing, whatever is in it, unless it is what was there before.
        _ => is_same_sort(one, other) && (old == Some(one)) == (old == Some(other)),
    }
}

fn is_same_sort(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn has_same_fields(one: &Map, other: &Map, old: Option<&Value>, ty: TypeRef<'_>, alike: &mut Alike) -> bool {
    one.len() == other.len()
        && one.iter().zip(other.iter()).all(|((name, one), (other_name, other))| {
            name == other_name
                && (one.is_same(other)
                    || alike.below(Segment::Field(name.clone()), |alike| {
                        is_alike(one, other, old.and_then(|old| old.get(name)), child(ty, name), alike)
                    }))
        })
}

/// The items of lists in which each has a step of its own. Nothing was there before.
fn has_same_items(
    one: &[Value],
    other: &[Value],
    ty: TypeRef<'_>,
    kind: &ListType,
    alike: &mut Alike,
) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(item, other_item)| {
            if item.is_same(other_item) {
                return true;
            }
            let (Ok(step), Ok(other_step)) = (list::step(item, ty, kind), list::step(other_item, ty, kind))
            else {
                return false;
            };
            if step != other_step {
                // Among several the order might be another.
                if one.len() > 1 {
                    return false;
                }
                alike.renamed.push((alike.way.clone(), step.clone(), other_step));
            }
            alike.below(step, |alike| is_alike(item, other_item, None, ty, alike))
        })
}
