//! An ExternalSecret of kubernetes-client says all in one text.

use lynceus_object::Object;

use crate::{Health, text};

pub(super) fn check(object: &Object) -> Health {
    match text(object, &["status", "status"]) {
        "SUCCESS" => Health::healthy("Fetched ExternalSecret."),
        error if error.starts_with("ERROR") => Health::degraded(error.replace("ERROR, ", "")),
        _ => Health::progressing("Waiting for ExternalSecret."),
    }
}
