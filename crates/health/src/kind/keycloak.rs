//! A Keycloak is as the condition says that changed first.

use lynceus_object::{Object, Value};

use crate::{Health, present};

pub(super) fn check(object: &Object) -> Health {
    if !present(object, &["status", "conditions"]) {
        return Health::progressing("Waiting for Keycloak status conditions to exist");
    }
    let mut conditions: Vec<&Value> = object.value().items_at(&["status", "conditions"]).iter().collect();
    let changed = |condition: &&Value| condition.str_at(&["lastTransitionTime"]).map(str::to_owned);
    // Those that do not say when come last.
    conditions.sort_by_key(|condition| (changed(condition).is_none(), changed(condition)));
    for condition in conditions {
        let field = |name| condition.str_at(&[name]).unwrap_or_default();
        match (field("type"), field("status")) {
            ("Ready", "True") => return Health::healthy(""),
            ("HasErrors", "True") => return Health::degraded(format!("Has Errors: {}", field("message"))),
            _ => {}
        }
    }
    Health::progressing("")
}
