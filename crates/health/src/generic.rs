//! What most controllers write into a status, whatever the kind.

use lynceus_object::Object;

use crate::{Condition, Health, conditions, deleting, text};

/// How an object of a kind that nobody knows seems to be, by the conventions for conditions: `Stalled` and `Reconciling`,
/// then `Ready` or its like, each only if it is about the object as it is now. `None` if the status says none of these.
///
/// Argo CD gives such kinds no health, and so does [`crate::assess`]: this is for reasons, never for the health of an
/// application.
pub fn generic(object: &Object) -> Option<Health> {
    if let Some(health) = deleting(object) {
        return Some(health);
    }
    let observed = object.value().int_at(&["status", "observedGeneration"]);
    if observed.is_some_and(|observed| observed < object.generation()) {
        return Some(Health::progressing("the controller has not seen the latest change yet"));
    }
    let find = |kind: &str, status: &str| {
        conditions(object).find(|condition| condition.kind == kind && condition.status == status)
    };
    if let Some(stalled) = find("Stalled", "True") {
        return Some(Health::degraded(told(&stalled)));
    }
    if let Some(working) = find("Reconciling", "True") {
        return Some(Health::progressing(told(&working)));
    }
    for kind in ["Ready", "Available", "Succeeded"] {
        if let Some(ready) = conditions(object).find(|condition| condition.kind == kind) {
            return Some(match ready.status {
                "True" => Health::healthy(told(&ready)),
                // Without `Stalled` nobody says that it will stay so.
                _ => Health::progressing(told(&ready)),
            });
        }
    }
    match text(object, &["status", "phase"]) {
        phase @ ("Failed" | "Error") => Some(Health::degraded(format!("phase {phase}"))),
        _ => None,
    }
}

fn told(condition: &Condition<'_>) -> String {
    match (condition.reason, condition.message) {
        ("", message) => message.to_owned(),
        (reason, "") => reason.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use lynceus_api::HealthStatusCode::{self, Degraded, Healthy, Progressing};
    use lynceus_object::{Value, value};

    use super::*;

    fn of(status: Value) -> Option<(HealthStatusCode, String)> {
        let mut object = Object::new(value!({"metadata": {"generation": 2}})).unwrap();
        object.set(&["status"], status);
        generic(&object).map(|health| (health.status, health.message))
    }

    fn ready(status: &str) -> Value {
        value!({"type": "Ready", "status": status, "reason": "R", "message": "m"})
    }

    #[test]
    fn ready_is_healthy_and_not_ready_may_become_so() {
        assert_eq!(of(value!({"conditions": [ready("True")]})), Some((Healthy, "R: m".into())));
        assert_eq!(of(value!({"conditions": [ready("False")]})), Some((Progressing, "R: m".into())));
    }

    #[test]
    fn what_is_stalled_stays_so() {
        let stalled = value!({"type": "Stalled", "status": "True", "reason": "Bad"});
        assert_eq!(of(value!({"conditions": [ready("True"), stalled]})), Some((Degraded, "Bad".into())));
    }

    #[test]
    fn an_old_status_says_nothing_about_the_new_object() {
        let status = value!({"observedGeneration": 1, "conditions": [ready("True")]});
        assert_eq!(of(status).map(|health| health.0), Some(Progressing));
    }

    #[test]
    fn a_status_without_conventions_is_no_health() {
        assert_eq!(of(value!({"phase": "Sleeping", "nodes": 3})), None);
    }
}
