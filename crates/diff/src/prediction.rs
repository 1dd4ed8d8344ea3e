//! What the server said that an apply would do.
//!
//! To ask a server is not for this crate: whoever can ask looks with [`to_predict`] for whom to ask, and hands the
//! answers in with the [`Settings`](crate::Settings).

use std::collections::BTreeMap;

use lynceus_api::{FIELD_MANAGER, hook};
use lynceus_object::apply::FieldSet;
use lynceus_object::schema::{ListType, TypeRef};
use lynceus_object::{Map, Object, ObjectKey, Segment, Seq, Str, Value};

use crate::compare::{Sides, carry_tracking_over};
use crate::error::DiffError;
use crate::ignore::Tally;
use crate::kinds::type_of;
use crate::normalize::normalize;
use crate::pair::{Pair, Pairs};
use crate::settings::Settings;

/// A comparison by the server's own prediction.
#[derive(Clone, Debug, Default)]
pub struct ServerSide {
    /// What it said of each object, by the live object's name: the object that a dry run gave, or why there is none.
    pub predictions: BTreeMap<ObjectKey, Result<Object, Str>>,
    /// Count what mutating webhooks would change.
    pub include_mutations: bool,
}

/// The objects that the server has to be asked about: those that are desired and are there.
pub fn to_predict(pairs: &Pairs) -> impl Iterator<Item = (&Object, &Object)> {
    pairs.pairs.iter().filter_map(|pair| match pair {
        Pair::Both { desired, live } if !hook::is_skipped(desired) => Some((desired, live)),
        _ => None,
    })
}

/// The live object and what the server said that it would become, both without differences that mean nothing.
///
/// A dry run that failed says nothing about the object, least of all that it is as desired.
pub(crate) fn predicted(
    desired: &Object,
    live: &Object,
    server_side: &ServerSide,
    settings: &Settings,
    tally: &mut Tally,
) -> Result<Sides, DiffError> {
    let predicted = match server_side.predictions.get(&live.key()) {
        Some(Ok(predicted)) => predicted,
        Some(Err(why)) => return Err(DiffError::DryRun(why.to_string())),
        None => return Err(DiffError::NotAsked),
    };
    let mut predicted = match server_side.include_mutations {
        true => predicted.clone(),
        false => without_mutations(predicted, live)?,
    };
    let mut live = live.clone();
    carry_tracking_over(desired, &mut live, settings);
    settings.ignore.apply_managers(&mut predicted, &mut live, tally);
    // A dry run counts its write although there is none.
    for field in ["generation", "resourceVersion"] {
        match live.at(&["metadata", field]).cloned() {
            Some(value) => predicted.set(&["metadata", field], value),
            None => drop(predicted.remove(&["metadata", field])),
        }
    }
    for object in [&mut predicted, &mut live] {
        normalize(object, settings, tally);
        object.remove(&["metadata", "managedFields"]);
    }
    Ok(Sides { live: Some(live), predicted: Some(predicted) })
}

/// The live object with what changes among the fields that are ours: what a webhook adds or changes besides is not.
fn without_mutations(predicted: &Object, live: &Object) -> Result<Object, DiffError> {
    let mut ours = FieldSet::new();
    for entry in predicted.value().items_at(&["metadata", "managedFields"]) {
        if entry.str_at(&["manager"]) == Some(FIELD_MANAGER)
            && let Some(fields) = entry.get("fieldsV1")
        {
            let fields =
                FieldSet::from_value(fields).map_err(|error| DiffError::ManagedFields(error.to_string()))?;
            ours = ours.union(&fields);
        }
    }
    if ours.is_empty() {
        return Err(DiffError::ManagedFields(format!("nothing in it belongs to {FIELD_MANAGER}")));
    }
    let ty = type_of(predicted).unwrap_or_else(TypeRef::untyped);
    let kept = merged(Some(live.value()), predicted.value(), Some(&ours), ty);
    Ok(kept.and_then(|kept| Object::new(kept).ok()).unwrap_or_else(|| live.clone()))
}

/// What becomes of a value that is not ours as a whole: ours from the prediction, the rest from the live object, and
/// nothing of what the prediction has no more.
fn merged(
    live: Option<&Value>,
    predicted: &Value,
    ours: Option<&FieldSet>,
    ty: TypeRef<'static>,
) -> Option<Value> {
    if live == Some(predicted) {
        return Some(predicted.clone());
    }
    let Some(ours) = ours else { return live.cloned() };
    match (live, predicted) {
        (live, Value::Map(predicted)) if !ty.is_atomic() => {
            let empty = Map::new();
            let live_map = live.and_then(Value::as_map).unwrap_or(&empty);
            let fields = predicted.iter().filter_map(|(name, value)| {
                let child = ty.child(name).unwrap_or_else(TypeRef::untyped);
                let step = Segment::Field(name.clone());
                let kept = part(live_map.get(name), value, ours, &step, child)?;
                Some((name.clone(), kept))
            });
            let fields: Map = fields.collect();
            (live.is_some() || !fields.is_empty()).then_some(Value::Map(fields))
        }
        (live, Value::Seq(predicted)) => {
            let live_items = live.and_then(Value::as_seq).unwrap_or_default();
            let item = ty.item().unwrap_or_else(TypeRef::untyped);
            let keys = match ty.list_type() {
                ListType::Map(keys) => keys.as_slice(),
                ListType::Set => &[],
                ListType::Atomic => return live.cloned(),
            };
            let items = predicted.iter().filter_map(|value| {
                let step = step_to(value, keys, item);
                let same = |other: &&Value| step_to(other, keys, item) == step;
                part(live_items.iter().find(same), value, ours, &step, item)
            });
            Some(items.collect())
        }
        _ => live.cloned(),
    }
}

/// One field or item: from the prediction if it is ours and has nothing below it, else put together from both.
fn part(
    live: Option<&Value>,
    predicted: &Value,
    ours: &FieldSet,
    step: &Segment,
    ty: TypeRef<'static>,
) -> Option<Value> {
    let (member, below) = (ours.has_member(step), ours.below(step));
    let leaf = match predicted {
        Value::Map(_) => ty.is_atomic(),
        Value::Seq(_) => matches!(ty.list_type(), ListType::Atomic),
        _ => true,
    };
    match (member, leaf) {
        (true, true) => Some(predicted.clone()),
        // Ours, and empty as far as we go: what stands in it is somebody else's.
        (true, false) => {
            let empty = match predicted {
                Value::Seq(_) => Value::Seq(Seq::new()),
                _ => Value::Map(Map::new()),
            };
            merged(live, predicted, Some(below.unwrap_or(&FieldSet::new())), ty).or(Some(empty))
        }
        (false, _) => merged(live, predicted, below, ty),
    }
}

/// How server-side apply names an item of a list.
fn step_to(value: &Value, keys: &[Str], item: TypeRef<'_>) -> Segment {
    if keys.is_empty() {
        return Segment::Value(value.clone());
    }
    let key = keys.iter().filter_map(|key| {
        let default = || item.field(key).and_then(|field| field.default()).cloned();
        Some((key.clone(), value.get(key).cloned().or_else(default)?))
    });
    Segment::Key(key.collect())
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    /// What a dry run without webhooks' changes comes to.
    fn check(live: Value, predicted: Value, ours: Value, expect: Value) {
        let object = |mut value: Value| {
            value.set(&["apiVersion"], "v1");
            value.set(&["kind"], "Pod");
            Object::new(value).expect("a map")
        };
        let mut predicted = object(predicted);
        let entry = value!([{"manager": "argocd-controller", "operation": "Apply", "fieldsV1": ours}]);
        predicted.set(&["metadata", "managedFields"], entry);
        let mut found = without_mutations(&predicted, &object(live)).expect("it has our fields");
        found.remove(&["metadata", "managedFields"]);
        assert_eq!(found, object(expect));
    }

    #[test]
    fn what_is_ours_changes_and_what_a_webhook_adds_or_changes_does_not() {
        check(
            value!({"metadata": {"labels": {"a": "1", "w": "1"}}, "spec": {"hostname": "h"}}),
            value!({"metadata": {"labels": {"a": "2", "w": "2", "new": "by a webhook"}}, "spec": {"hostname": "h", "nodeName": "w"}}),
            value!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:hostname": {}}}),
            value!({"metadata": {"labels": {"a": "2", "w": "1"}}, "spec": {"hostname": "h"}}),
        );
    }

    #[test]
    fn what_we_let_go_of_goes() {
        check(
            value!({"metadata": {"labels": {"a": "1", "old": "1", "theirs": "1"}}}),
            value!({"metadata": {"labels": {"a": "1", "theirs": "1"}}}),
            value!({"f:metadata": {"f:labels": {"f:a": {}}}}),
            value!({"metadata": {"labels": {"a": "1", "theirs": "1"}}}),
        );
    }

    #[test]
    fn a_container_that_a_webhook_injects_is_not_counted_and_ours_is() {
        let containers = |names: &[(&str, &str)]| {
            let items: Vec<Value> =
                names.iter().map(|(name, image)| value!({"name": name, "image": image})).collect();
            value!({"metadata": {}, "spec": {"containers": items}})
        };
        check(
            containers(&[("web", "a:1")]),
            containers(&[("web", "a:2"), ("sidecar", "s"), ("new", "n")]),
            value!({"f:spec": {"f:containers": {
                "k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}},
                "k:{\"name\":\"new\"}": {".": {}, "f:name": {}, "f:image": {}},
            }}}),
            containers(&[("web", "a:2"), ("new", "n")]),
        );
    }

    #[test]
    fn a_prediction_in_which_nothing_is_ours_is_none() {
        let object = Object::new(value!({"apiVersion": "v1", "kind": "Pod", "metadata": {}})).expect("a map");
        assert!(matches!(without_mutations(&object, &object), Err(DiffError::ManagedFields(_))));
    }
}
