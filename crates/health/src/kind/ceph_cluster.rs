//! A CephCluster says how Ceph is, with details, and then in which state the cluster is.

use lynceus_api::HealthStatusCode;
use lynceus_object::{Map, Object, Value};

use crate::{Health, present, text};

pub(super) fn check(object: &Object) -> Health {
    if !present(object, &["status"]) {
        return Health::progressing("Waiting for status to be reported");
    }
    let mut status = HealthStatusCode::Progressing;
    let mut said: Vec<String> = Vec::new();
    if let Some(health) = object.value().str_at(&["status", "ceph", "health"]) {
        status = match health {
            "HEALTH_ERR" | "HEALTH_WARN" => HealthStatusCode::Degraded,
            "HEALTH_OK" => HealthStatusCode::Healthy,
            _ => status,
        };
        said.push(format!("Ceph health is {health}{}", details(object)));
    }
    if status == HealthStatusCode::Healthy
        && let Some(state) = object.value().str_at(&["status", "state"])
    {
        status = match state {
            "Created" | "Connected" => HealthStatusCode::Healthy,
            "Error" => HealthStatusCode::Degraded,
            _ => HealthStatusCode::Progressing,
        };
        said.push(format!("Ceph cluster state is {state}"));
    }
    said.push(text(object, &["status", "message"]).to_owned());
    said.retain(|part| !part.is_empty());
    Health::new(status, said.join(" - "))
}

/// The messages of the details, in the order of their names.
fn details(object: &Object) -> String {
    let details = object.at(&["status", "ceph", "details"]).and_then(Value::as_map);
    let messages: Vec<&str> =
        details.into_iter().flat_map(Map::values).filter_map(|detail| detail.str_at(&["message"])).collect();
    if messages.is_empty() { String::new() } else { format!(" ({})", messages.join("; ")) }
}
