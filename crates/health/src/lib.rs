//! Object to health: is it doing what it was asked to do, and if not, what does it say?
//!
//! The built-in checks are Argo CD's thirteen, one file per kind. A kind without a check has no health of its own
//! and does not count; that is why [`assess`] gives an `Option`.

mod kind;

use lynceus_api::{HealthStatusCode, finalizers};
use lynceus_object::{Object, Value};

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

    fn unknown(message: impl Into<String>) -> Self {
        Health::new(HealthStatusCode::Unknown, message)
    }
}

/// The health of a live object, or `None` for a kind that has no check.
pub fn assess(object: &Object) -> Option<Health> {
    if object.is_deleting() && !object.finalizers().any(|finalizer| finalizer == finalizers::HOOK) {
        return Some(Health::progressing("Pending deletion"));
    }
    let check = kind::check_for(object.group(), object.kind())?;
    Some(check(object))
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
