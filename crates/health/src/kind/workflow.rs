//! An Argo Workflow says itself how it is.

use lynceus_object::Object;

use crate::{Health, text};

pub(super) fn check(object: &Object) -> Health {
    let message = text(object, &["status", "message"]);
    match text(object, &["status", "phase"]) {
        "" | "Pending" | "Running" => Health::progressing(message),
        "Succeeded" => Health::healthy(message),
        "Failed" | "Error" => Health::degraded(message),
        _ => Health::unknown(message),
    }
}
