//! Object to health: is it doing what it was asked to do, and if not, what does it say?
//!
//! Every kind that Argo CD knows has a check of our own: as data in `data/checks.txt` where the conditions and phases of a
//! status are enough, one file per kind or family where they are not. Users bring checks of their own in Lua, which
//! come first ([`Customizations`]). A kind without a check has no health and does not count; that is why [`assess`]
//! gives an `Option`. For such kinds [`generic`] reads what most controllers write, for those who look for reasons.
//!
//! Where a status lacks a field, Argo CD's scripts may fail on it and the health is Unknown. Ours takes what is missing
//! for empty.

pub mod action;
mod custom;
mod generic;
mod kind;
pub mod limits;
mod rules;
mod why;

use lynceus_api::{HealthStatusCode, finalizers};
use lynceus_object::{Object, Value};

pub use custom::{CustomizationError, Customizations, check_with};
pub use generic::generic;
pub use lynceus_lua::{Libraries, Offer, Operation, Script, ScriptError, World};
pub use why::{Found, Planned, Surroundings, waits_for_later, why};

/// What is said of a status that there is none of.
const INVALID_STATUS: &str = "Lua returned an invalid health status";

/// How an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The verdict.
    pub status: HealthStatusCode,
    /// What the object says about itself; often empty.
    pub message: String,
    /// How it counts towards the application's health, where that differs: a suspended Job is shown as
    /// suspended and does not make its application so.
    pub counts_as: HealthStatusCode,
}

impl Health {
    fn new(status: HealthStatusCode, message: impl Into<String>) -> Self {
        Health { status, message: message.into(), counts_as: status }
    }

    fn healthy(message: impl Into<String>) -> Self {
        Health::new(HealthStatusCode::Healthy, message)
    }

    fn progressing(message: impl Into<String>) -> Self {
        Health::new(HealthStatusCode::Progressing, message)
    }

    fn degraded(message: impl Into<String>) -> Self {
        Health::new(HealthStatusCode::Degraded, message)
    }

    fn suspended(message: impl Into<String>) -> Self {
        Health::new(HealthStatusCode::Suspended, message)
    }

    fn unknown(message: impl Into<String>) -> Self {
        Health::new(HealthStatusCode::Unknown, message)
    }
}

/// The health of a live object, or `None` for a kind that has no check.
pub fn assess(object: &Object) -> Option<Health> {
    deleting(object).or_else(|| check(object))
}

/// What the check of the object's kind says of it. An object that is being deleted is looked at like any other, unless its
/// check is one of the thirteen that Argo CD never asks then.
pub fn check(object: &Object) -> Option<Health> {
    let (group, kind) = (object.group(), object.kind());
    if let Some(check) = kind::special(group, kind) {
        return Some(check(object));
    }
    if let Some(check) = kind::built_in(group, kind) {
        return Some(deleting(object).unwrap_or_else(|| check(object)));
    }
    rules::judge(object)?
}

/// What is being deleted is on its way, unless it is a hook whose end we wait for.
fn deleting(object: &Object) -> Option<Health> {
    let hook = object.finalizers().any(|finalizer| finalizer == finalizers::HOOK);
    (object.is_deleting() && !hook).then(|| Health::progressing("Pending deletion"))
}

/// The worst of many healths; healthy if there are none. This is an application's health.
pub fn worst(healths: impl IntoIterator<Item = HealthStatusCode>) -> HealthStatusCode {
    healths.into_iter().fold(
        HealthStatusCode::Healthy,
        |worst, next| {
            if next.is_worse(worst) { next } else { worst }
        },
    )
}

/// The object in a version that the checks do not know: said, not guessed.
fn unsupported(object: &Object) -> Health {
    let gvk = object.gvk();
    Health::unknown(format!("unsupported {} GVK: {gvk}", gvk.kind))
}

/// An integer of the object; 0 when it is not there, as in Go's structs.
fn int(object: &Object, path: &[&str]) -> i64 {
    object.value().int_at(path).unwrap_or_default()
}

/// A string of the object; empty when it is not there.
fn text<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    object.value().str_at(path).unwrap_or_default()
}

/// Whether a field is there, and is not null.
fn present(object: &Object, path: &[&str]) -> bool {
    object.at(path).is_some_and(|value| !value.is_null())
}

/// The conditions in the status, in their order.
fn conditions(object: &Object) -> impl Iterator<Item = Condition<'_>> {
    object.value().items_at(&["status", "conditions"]).iter().map(Condition::from)
}

/// One condition of a status.
#[derive(Clone, Copy)]
struct Condition<'a> {
    kind: &'a str,
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

impl<'a> From<&'a Value> for Condition<'a> {
    fn from(value: &'a Value) -> Self {
        let text = |field| value.str_at(&[field]).unwrap_or_default();
        Condition {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
        }
    }
}
