//! What would an apply change?

use jiff::Timestamp;
use lynceus_api::{FIELD_MANAGER, annotations};
use lynceus_object::apply::{self, FieldSet};
use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Object, Value, defaults, json, patch};

use crate::error::DiffError;
use crate::ignore::Tally;
use crate::kinds::Known;
use crate::normalize::normalize;
use crate::reshape::{is_readable, only_fields_of, reshape};
use crate::settings::Settings;

/// A live object and what an apply would make of it, both without differences that mean nothing.
///
/// The data of Secrets is in it as it is: see [`crate::mask`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The live object; `None` if there is none.
    pub live: Option<Object>,
    /// The object after an apply; `None` if it is not desired.
    pub predicted: Option<Object>,
}

impl Sides {
    /// Whether an apply would change the cluster. It would not delete what is not desired.
    pub fn is_modified(&self) -> bool {
        self.predicted.is_some() && self.live != self.predicted
    }
}

/// Predicts what an apply of `desired` would make of `live`.
pub fn sides(
    desired: Option<&Object>,
    live: Option<&Object>,
    settings: &Settings,
) -> Result<Sides, DiffError> {
    counted(desired, live, settings, &mut settings.ignore.tally())
}

/// The same, with a count of what the rules did.
pub(crate) fn counted(
    desired: Option<&Object>,
    live: Option<&Object>,
    settings: &Settings,
    tally: &mut Tally,
) -> Result<Sides, DiffError> {
    let (Some(desired), Some(live)) = (desired, live) else {
        let live = live.map(|live| prepared(live, settings, tally));
        let predicted = desired.map(|desired| prepared(desired, settings, tally));
        return Ok(Sides { live, predicted });
    };
    let (mut desired, mut live) = (desired.clone(), live.clone());
    carry_tracking_over(&desired, &mut live, settings);
    settings.ignore.apply_managers(&mut desired, &mut live, tally);
    let (desired, live) = (prepared(&desired, settings, tally), prepared(&live, settings, tally));
    if settings.applies_on_server(&desired) {
        return server_side(&desired, &live);
    }
    if let Some(mut original) = last_applied(&live) {
        normalize(&mut original, settings, tally);
        // A last applied configuration that leads nowhere is as good as none.
        if let Ok(sides) = three_way(&original, &desired, &live) {
            return Ok(sides);
        }
    }
    three_way(&desired, &desired, &live)
}

/// An object in the form of its type, without what means nothing.
fn prepared(object: &Object, settings: &Settings, tally: &mut Tally) -> Object {
    let mut object = reshape(object, Known::of(object).as_ref());
    normalize(&mut object, settings, tally);
    object
}

/// An object that is still marked by the label gets the annotation that it would be marked by, so that a change of
/// the tracking method alone is no difference.
pub(crate) fn carry_tracking_over(desired: &Object, live: &mut Object, settings: &Settings) {
    let Some(label) = settings.former_tracking_label.as_deref() else { return };
    if live.label(label).is_none_or(str::is_empty) {
        return;
    }
    let id = desired.annotation(annotations::TRACKING_ID).unwrap_or_default();
    live.set_annotation(annotations::TRACKING_ID, id);
    if desired.label(label).is_none_or(str::is_empty) {
        live.remove(&["metadata", "labels", label]);
    }
}

fn last_applied(live: &Object) -> Option<Object> {
    let text = live.annotation(annotations::LAST_APPLIED)?;
    Object::new(json::parse(text.as_bytes()).ok()?).ok()
}

/// Applies as `kubectl apply` would: what differs, and what `original` had and `desired` has not.
fn three_way(original: &Object, desired: &Object, live: &Object) -> Result<Sides, DiffError> {
    let (original, desired) = (without_namespace(original), without_namespace(desired));
    let Some(known) = Known::of(&original) else { return merge_three_way(&original, &desired, live) };
    let current = without_claim_defaults(&original, live);
    let patch = patch::create::three_way(original.value(), desired.value(), current.value(), known.ty)
        .map_err(DiffError::Patch)?;
    let predicted = patch::strategic(live.value(), &patch, known.ty).map_err(DiffError::Apply)?;
    if predicted == *live.value() {
        let live = with_defaults(live.clone(), &known)?;
        return Ok(Sides { live: Some(live.clone()), predicted: Some(live) });
    }
    let predicted = Object::new(predicted).unwrap_or_default();
    Ok(Sides {
        live: Some(with_defaults(live.clone(), &known)?),
        predicted: Some(with_defaults(predicted, &known)?),
    })
}

/// The object with what the server fills in.
///
/// It goes the way of a patch between two typed objects, because fields that a type does not know have to stay, and
/// because what a patch does to lists and maps that are replaced whole is part of what Argo CD shows.
fn with_defaults(object: Object, known: &Known) -> Result<Object, DiffError> {
    if !is_readable(&object, known) {
        return Ok(object);
    }
    let mut before = object.clone();
    schema::round_trip(before.value_mut(), known.ty);
    let mut after = before.clone();
    defaults::fill_in(&known.gvk, &mut after);
    schema::drop_empty(after.value_mut(), known.ty);
    schema::fill_zero(after.value_mut(), known.ty);
    let patch =
        patch::create::two_way(before.value(), after.value(), known.ty).map_err(DiffError::Defaults)?;
    if patch.is_empty() {
        return Ok(object);
    }
    let filled = patch::strategic(object.value(), &patch, known.ty).map_err(DiffError::Defaults)?;
    Ok(Object::new(filled).unwrap_or(object))
}

/// Applies as the server would: fields that we own and no longer name go, whoever else may hold what we name.
fn server_side(desired: &Object, live: &Object) -> Result<Sides, DiffError> {
    let known = Known::of(desired);
    let mut config = desired.clone();
    config.remove(&["metadata", "managedFields"]);
    let options = apply::Options {
        manager: FIELD_MANAGER,
        ty: known.as_ref().map_or_else(TypeRef::untyped, |known| known.ty),
        api_version: desired.api_version(),
        subresource: "",
        reset: &FieldSet::default(),
        // Who owns what since when is not compared.
        now: Timestamp::UNIX_EPOCH,
    };
    let mut predicted = apply::apply(Some(live), &config, &options, true).map_err(DiffError::ServerSide)?;
    match live.at(&["metadata", "managedFields"]) {
        Some(fields) => predicted.set(&["metadata", "managedFields"], fields.clone()),
        None => drop(predicted.remove(&["metadata", "managedFields"])),
    }
    if predicted == *live {
        return Ok(Sides { live: Some(live.clone()), predicted: Some(predicted) });
    }
    let finished = |mut object: Object| {
        object.remove(&["metadata", "annotations", annotations::LAST_APPLIED]);
        known.as_ref().map_or(Ok(object.clone()), |known| with_defaults(object, known))
    };
    Ok(Sides { live: Some(finished(live.clone())?), predicted: Some(finished(predicted)?) })
}

fn merge_three_way(original: &Object, desired: &Object, live: &Object) -> Result<Sides, DiffError> {
    // What the server or a controller added is not ours to remove.
    let current = only_fields_of(original.value(), live.value());
    let patch = patch::create::merge_three_way(original.value(), desired.value(), &current)
        .map_err(DiffError::Patch)?;
    let predicted = patch::merge(live.value(), &patch).map_err(DiffError::Apply)?;
    Ok(Sides { live: Some(live.clone()), predicted: Some(Object::new(predicted).unwrap_or_default()) })
}

/// A manifest need not name its namespace, and an empty map of annotations is none.
fn without_namespace(object: &Object) -> Object {
    let mut object = object.clone();
    object.remove(&["metadata", "namespace"]);
    let empty = |value: &Value| value.is_null() || value.as_map().is_some_and(lynceus_object::Map::is_empty);
    if object.at(&["metadata", "annotations"]).is_some_and(empty) {
        object.remove(&["metadata", "annotations"]);
    }
    object
}

/// The claim templates of a StatefulSet get defaults that only the server knows.
fn without_claim_defaults(original: &Object, live: &Object) -> Object {
    const CLAIMS: [&str; 2] = ["spec", "volumeClaimTemplates"];
    let mut live = live.clone();
    if original.kind() == "StatefulSet"
        && matches!(original.group(), "apps" | "extensions")
        && let (Some(model @ Value::Seq(_)), Some(claims @ Value::Seq(_))) =
            (original.at(&CLAIMS), live.at(&CLAIMS))
    {
        let claims = only_fields_of(model, claims);
        live.set(&CLAIMS, claims);
    }
    live
}
