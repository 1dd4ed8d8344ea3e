//! Sets of fields that were written when a type was merged where it is now replaced whole.

use super::is_whole;
use crate::apply::set::FieldSet;
use crate::path::{FieldPath, Segment};
use crate::schema::{ListType, Shape, TypeRef};

/// The set in terms of the type as it is now: who owned parts of what has become one thing owns it. None
/// if it is in those terms already.
pub(crate) fn reconcile(set: &FieldSet, ty: TypeRef<'_>) -> Option<FieldSet> {
    let mut whole = FieldSet::new();
    visit(Some(set), false, ty, &mut FieldPath::root(), &mut whole);
    (!whole.is_empty()).then(|| set.without_subtrees(&whole).union(&whole))
}

fn visit(set: Option<&FieldSet>, is_leaf: bool, ty: TypeRef<'_>, path: &mut FieldPath, whole: &mut FieldSet) {
    match ty.shape() {
        Shape::List(_, ListType::Atomic) => {
            if !is_leaf {
                whole.insert(path);
            }
        }
        _ if is_whole(ty) => {
            if !is_leaf && set.is_some_and(|set| !set.is_empty()) {
                whole.insert(path);
            }
        }
        Shape::Any | Shape::Scalar(_) => {}
        Shape::Map(value) if value.is_untyped() => {}
        Shape::List(..) | Shape::Struct | Shape::Map(_) => {
            let Some(set) = set else { return };
            let only_children = set.children().iter().map(|(step, _)| step);
            let only_children = only_children.filter(|step| !set.has_member(step));
            for step in only_children.chain(set.members()) {
                let below = match step {
                    Segment::Field(name) => ty.child(name),
                    _ => ty.item(),
                };
                let Some(below) = below else { continue };
                let inner = set.below(step);
                let is_leaf = set.has_member(step) && inner.is_none();
                path.push(step.clone());
                visit(inner, is_leaf, below, path, whole);
                path.pop();
            }
        }
    }
}
