//! The way from client-side to server-side apply, by the annotation that `kubectl apply` leaves.

use super::Options;
use super::conflict::{Conflict, Conflicts};
use super::set::FieldSet;
use super::typed::{compare, members, validate};
use crate::json;
use crate::object::Object;
use crate::value::Value;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Only this manager goes that way; any other name opts out.
const KUBECTL: &str = "kubectl";
/// How many bytes the annotations of an object may have.
const ANNOTATIONS_BYTES: usize = 256 * 1024;

/// The conflicts that remain once fields that client-side apply set and nobody changed since are taken
/// out; none if all are.
pub(super) fn remaining(conflicts: Conflicts, live: &Value, options: &Options<'_>) -> Option<Conflicts> {
    if options.manager != KUBECTL {
        return Some(conflicts);
    }
    let Some(allowed) = unchanged_since_last_applied(live, options) else { return Some(conflicts) };
    let left: Vec<Conflict> =
        conflicts.0.into_iter().filter(|conflict| !allowed.contains(&conflict.path)).collect();
    (!left.is_empty()).then_some(Conflicts(left))
}

fn unchanged_since_last_applied(live: &Value, options: &Options<'_>) -> Option<FieldSet> {
    let text = live.str_at(&["metadata", "annotations", ANNOTATION]).filter(|text| !text.is_empty())?;
    let last = json::parse(text.as_bytes()).ok()?;
    if last.str_at(&["apiVersion"]) != Some(options.api_version) {
        return None;
    }
    validate(live, options.ty, false).ok()?;
    validate(&last, options.ty, false).ok()?;
    let changed = compare(&last, live, options.ty);
    let fields = members(&last, options.ty);
    Some(fields.difference(&changed.modified).difference(&changed.added).difference(&changed.removed))
}

/// Keeps the annotation up to date, so that a client may go back to client-side apply.
pub(super) fn update(object: &mut Object, config: &Object, manager: &str) {
    if manager != KUBECTL || object.annotation(ANNOTATION).is_none_or(str::is_empty) {
        return;
    }
    let mut config = config.value().clone();
    config.remove(&["metadata", "annotations", ANNOTATION]);
    let text = json::go_string(&config) + "\n";
    object.set_annotation(ANNOTATION, text);
    let bytes: usize = object.annotations().map(|(key, value)| key.len() + value.len()).sum();
    if bytes > ANNOTATIONS_BYTES {
        object.remove(&["metadata", "annotations", ANNOTATION]);
    }
}
