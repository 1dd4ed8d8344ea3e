//! Objects in the form in which a server would give them back.

use lynceus_object::schema::{self, ProblemKind};
use lynceus_object::{Map, Object, Seq, Value};

use crate::kinds::Known;

/// Writes an object of a built-in kind as its type prints it: `1000m` becomes `1`, and what is empty goes.
///
/// An object that does not fit its type stays as it is, so that the mistake shows.
pub(crate) fn reshape(object: &Object, known: Option<&Known>) -> Object {
    let Some(known) = known else { return object.clone() };
    if !schema::check(object.value(), known.ty).is_empty() {
        return object.clone();
    }
    let mut printed = object.value().clone();
    schema::round_trip(&mut printed, known.ty);
    Object::new(only_fields_of(object.value(), &printed)).unwrap_or_else(|_| object.clone())
}

/// Whether an object can be read as its type at all; fields that the type lacks do not matter.
pub(crate) fn is_readable(object: &Object, known: &Known) -> bool {
    let problems = schema::check(object.value(), known.ty);
    !problems.iter().any(|problem| matches!(problem.kind, ProblemKind::Type(_)))
}

/// `value` with only the fields that `model` has, at every level. Items of a list that `model` has no counterpart
/// for stay whole.
pub(crate) fn only_fields_of(model: &Value, value: &Value) -> Value {
    match (model, value) {
        (Value::Map(model), Value::Map(value)) => Value::Map(
            model
                .iter()
                .filter_map(|(key, model)| Some((key.clone(), only_fields_of(model, value.get(key)?))))
                .collect::<Map>(),
        ),
        (Value::Seq(model), Value::Seq(items)) => Value::Seq(
            items
                .iter()
                .enumerate()
                .map(|(at, item)| {
                    model.get(at).map_or_else(|| item.clone(), |model| only_fields_of(model, item))
                })
                .collect::<Seq>(),
        ),
        _ => value.clone(),
    }
}
