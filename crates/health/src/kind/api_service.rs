//! An APIService is healthy when the aggregator can reach it.

use lynceus_object::Object;

use crate::{Health, conditions, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if !matches!(object.api_version(), "apiregistration.k8s.io/v1" | "apiregistration.k8s.io/v1beta1") {
        return unsupported(object);
    }
    let Some(available) = conditions(object).find(|condition| condition.kind == "Available") else {
        return Health::progressing("Waiting to be processed");
    };
    let message = format!("{}: {}", available.reason, available.message);
    if available.status == "True" { Health::healthy(message) } else { Health::progressing(message) }
}
