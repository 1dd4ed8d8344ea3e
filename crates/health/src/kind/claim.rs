//! A PersistentVolumeClaim is healthy when it is bound.

use lynceus_object::Object;

use crate::{Health, text, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "v1" {
        return unsupported(object);
    }
    match text(object, &["status", "phase"]) {
        "Lost" => Health::degraded(""),
        "Pending" => Health::progressing(""),
        "Bound" => Health::healthy(""),
        _ => Health::unknown(""),
    }
}
