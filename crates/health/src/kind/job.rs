//! A Job is healthy when it is complete.

use lynceus_api::HealthStatusCode;
use lynceus_object::Object;

use crate::{Health, conditions, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "batch/v1" {
        return unsupported(object);
    }
    let mut failure = None;
    let mut done = None;
    let mut suspended = false;
    for condition in conditions(object) {
        match condition.kind {
            "Failed" => failure = Some(condition.message),
            "Complete" => done = Some(condition.message),
            "Suspended" => {
                done = Some(condition.message);
                suspended |= condition.status == "True";
            }
            _ => {}
        }
    }
    match (failure, done) {
        (Some(message), _) => Health::degraded(message),
        (None, Some(_)) if suspended => {
            Health { counts_as: HealthStatusCode::Healthy, ..Health::new(HealthStatusCode::Suspended, "") }
        }
        (None, Some(message)) => Health::healthy(message),
        (None, None) => Health::progressing(""),
    }
}
