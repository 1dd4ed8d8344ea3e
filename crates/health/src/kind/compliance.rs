//! Policies of Open Cluster Management that list what complies and what does not.

use lynceus_api::HealthStatusCode;
use lynceus_object::{Object, Value};

use crate::{Health, present, text};

fn status(object: &Object) -> HealthStatusCode {
    match text(object, &["status", "compliant"]) {
        "Compliant" => HealthStatusCode::Healthy,
        _ => HealthStatusCode::Degraded,
    }
}

pub(super) fn configuration(object: &Object) -> Health {
    if !present(object, &["status", "compliant"]) {
        return Health::progressing("Waiting for the status to be reported");
    }
    let evaluated = object.value().int_at(&["status", "lastEvaluatedGeneration"]);
    if evaluated != object.value().int_at(&["metadata", "generation"]) {
        return Health::progressing("Waiting for the status to be updated");
    }
    if !present(object, &["status", "compliancyDetails"]) {
        return Health::progressing("Waiting for compliance");
    }
    let details = object.value().items_at(&["status", "compliancyDetails"]).iter();
    let messages: Vec<String> = details
        .flat_map(|detail| detail.items_at(&["conditions"]))
        .filter_map(|one| Some(format!("{} - {}", one.str_at(&["type"])?, one.str_at(&["message"])?)))
        .collect();
    Health::new(status(object), messages.join("; "))
}

pub(super) fn policy(object: &Object) -> Health {
    if object.value().bool_at(&["spec", "disabled"]) == Some(true) {
        return Health::healthy("Policy is disabled");
    }
    if !present(object, &["status", "compliant"]) {
        let placed = !object.value().items_at(&["status", "placement"]).is_empty();
        return if placed && !present(object, &["status", "status"]) {
            Health::healthy("No clusters match this policy")
        } else {
            Health::progressing("Waiting for the status to be reported")
        };
    }
    let message = if present(object, &["status", "status"]) {
        listed(object.value().items_at(&["status", "status"]), "clusters", &["clustername"])
    } else if present(object, &["status", "details"]) {
        listed(object.value().items_at(&["status", "details"]), "templates", &["templateMeta", "name"])
    } else {
        String::new()
    };
    Health::new(status(object), message)
}

/// Which of many do not comply.
fn listed(entries: &[Value], what: &str, name: &[&str]) -> String {
    let names: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.str_at(&["compliant"]) != Some("Compliant"))
        .map(|entry| entry.str_at(name).unwrap_or_default())
        .collect();
    match names.is_empty() {
        true => format!("All {what} are compliant"),
        false => format!("NonCompliant {what}: {}", names.join(", ")),
    }
}
