//! A Canary of Flagger says its phase, its weight and what its conditions say.

use lynceus_api::HealthStatusCode;
use lynceus_object::{Object, Value};

use crate::{Health, conditions, present, text};

pub(super) fn check(object: &Object) -> Health {
    if !present(object, &["status"]) {
        return Health::unknown("No status");
    }
    let phase = text(object, &["status", "phase"]);
    let status = match phase {
        "Failed" => HealthStatusCode::Degraded,
        "Progressing" | "Finalising" | "Promoting" => HealthStatusCode::Progressing,
        "Succeeded" | "Initialized" => HealthStatusCode::Healthy,
        _ => HealthStatusCode::Unknown,
    };
    let mut parts = Vec::new();
    if let Some(weight) = weight(object) {
        parts.push(format!("Canary Weight: {weight} %"));
    }
    parts.extend(conditions(object).map(|condition| condition.message.to_owned()));
    Health::new(status, format!("{phase} --- {}", parts.join(" --- ")))
}

/// The share of the traffic, if it has any. It may be written as a text.
fn weight(object: &Object) -> Option<String> {
    let weight = object.at(&["status", "canaryWeight"])?;
    let number = match weight {
        Value::Str(text) => text.parse().ok()?,
        other => other.as_float()?,
    };
    (number > 0.0).then(|| crate::rules::plain(weight))
}
