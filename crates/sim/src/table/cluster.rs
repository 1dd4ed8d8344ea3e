//! Nodes, namespaces, events, permissions and the other kinds that run a cluster.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use lynceus_object::Value;

use super::{Row, human_duration, line};

/// The cells of a kind of the core group.
pub(super) fn core_cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    let count = |path: &[&str]| row.value().at(path).and_then(Value::as_map).map_or(0, |map| map.len());
    Some(match kind {
        "Namespace" => line![row.name(), row.text(&["status", "phase"]), row.age()],
        "ConfigMap" => line![row.name(), count(&["data"]) + count(&["binaryData"]), row.age()],
        "Secret" => line![row.name(), row.text(&["type"]), count(&["data"]), row.age()],
        "ServiceAccount" => line![row.name(), row.age()],
        "Node" => node(row),
        "Event" => event(row),
        "ResourceQuota" => quota(row),
        "ComponentStatus" => component(row),
        _ => return None,
    })
}

/// The cells of a kind of one of the groups that configure a cluster.
pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    Some(match kind {
        "RoleBinding" | "ClusterRoleBinding" => binding(row),
        "CertificateSigningRequest" => signing_request(row),
        "Lease" => line![row.name(), row.text(&["spec", "holderIdentity"]), row.age()],
        "PriorityClass" => line![
            row.name(),
            row.int(&["value"]),
            row.bool_or(&["globalDefault"], false),
            row.age(),
            row.text(&["preemptionPolicy"]),
        ],
        "RuntimeClass" => line![row.name(), row.text(&["handler"]), row.age()],
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            line![row.name(), row.items(&["webhooks"]).len(), row.age()]
        }
        "ValidatingAdmissionPolicy" => policy(row, "validations"),
        "MutatingAdmissionPolicy" => policy(row, "mutations"),
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
            line![row.name(), row.text(&["spec", "policyName"]), parameter(row), row.age()]
        }
        "APIService" => api_service(row),
        "FlowSchema" => flow_schema(row),
        "PriorityLevelConfiguration" => priority_level(row),
        "DeviceClass" | "ResourceClaimTemplate" => line![row.name(), row.age()],
        "ResourceClaim" => line![row.name(), claim_state(row), row.age()],
        "ResourceSlice" => line![
            row.name(),
            row.text(&["spec", "nodeName"]),
            row.text(&["spec", "driver"]),
            row.text(&["spec", "pool", "name"]),
            row.age(),
        ],
        _ => return None,
    })
}

fn node(row: &Row<'_>) -> Vec<Value> {
    let known = row.items(&["status", "conditions"]).iter().any(|c| c.str_at(&["type"]) == Some("Ready"));
    let mut status = match (known, row.condition("Ready")) {
        (false, _) => "Unknown",
        (true, true) => "Ready",
        (true, false) => "NotReady",
    }
    .to_owned();
    if row.bool_or(&["spec", "unschedulable"], false) {
        status.push_str(",SchedulingDisabled");
    }
    let roles: BTreeSet<&str> = row
        .object
        .labels()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => Some(value),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    let roles = roles.into_iter().collect::<Vec<_>>().join(",");
    let info = |field: &str| row.text_or(&["status", "nodeInfo", field], "<unknown>");
    let mut kernel = info("kernelVersion").as_str().unwrap_or_default().to_owned();
    let architecture = row.str(&["status", "nodeInfo", "architecture"]);
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    line![
        row.name(),
        status,
        super::none_if_empty(roles),
        row.age(),
        row.text(&["status", "nodeInfo", "kubeletVersion"]),
        address(row, "InternalIP"),
        address(row, "ExternalIP"),
        info("osImage"),
        kernel,
        info("containerRuntimeVersion"),
    ]
}

fn address<'a>(row: &Row<'a>, kind: &str) -> &'a str {
    let addresses = row.items(&["status", "addresses"]).iter();
    let mut matching = addresses.filter(|address| address.str_at(&["type"]) == Some(kind));
    matching.next().and_then(|address| address.str_at(&["address"])).unwrap_or("<none>")
}

fn event(row: &Row<'_>) -> Vec<Value> {
    let first = match row.str(&["firstTimestamp"]) {
        "" => row.since(row.str(&["eventTime"])),
        time => row.since(time),
    };
    let (mut last, mut count) = match row.str(&["lastTimestamp"]) {
        "" => (first.clone(), row.int(&["count"])),
        time => (row.since(time), row.int(&["count"])),
    };
    if row.value().at(&["series"]).is_some_and(|series| !series.is_null()) {
        last = row.since(row.str(&["series", "lastObservedTime"]));
        count = row.int(&["series", "count"]);
    } else if count == 0 {
        count = 1;
    }
    let kind = row.str(&["involvedObject", "kind"]).to_lowercase();
    let target = match row.str(&["involvedObject", "name"]) {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    line![
        last,
        row.text(&["type"]),
        row.text(&["reason"]),
        target,
        row.text(&["involvedObject", "fieldPath"]),
        event_source(row),
        row.str(&["message"]).trim(),
        first,
        count,
        row.name(),
    ]
}

fn event_source(row: &Row<'_>) -> String {
    let either = |a: &[&str], b: &[&str]| if row.str(a).is_empty() { row.str(b) } else { row.str(a) };
    let component = either(&["source", "component"], &["reportingComponent"]);
    match either(&["source", "host"], &["reportingInstance"]) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}

fn quota(row: &Row<'_>) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let hard = row.value().at(&["status", "hard"]).and_then(Value::as_map);
    for (name, most) in hard.into_iter().flat_map(|map| map.iter()) {
        let used = row.value().str_at(&["status", "used", name]).unwrap_or("0");
        let text = format!("{name}: {used}/{}", most.as_str().unwrap_or("0"));
        if name.starts_with("limits.") { limits.push(text) } else { requests.push(text) }
    }
    line![row.name(), requests.join(", "), limits.join(", "), row.age()]
}

fn component(row: &Row<'_>) -> Vec<Value> {
    let healthy = row.items(&["conditions"]).iter().find(|c| c.str_at(&["type"]) == Some("Healthy"));
    let text = |field: &str| healthy.and_then(|c| c.str_at(&[field])).unwrap_or_default();
    let status = match (healthy, text("status")) {
        (None, _) => "Unknown",
        (Some(_), "True") => "Healthy",
        _ => "Unhealthy",
    };
    line![row.name(), status, text("message"), text("error")]
}

fn binding(row: &Row<'_>) -> Vec<Value> {
    let subjects = |kind: &str| {
        let named = |subject: &&Value| subject.str_at(&["kind"]) == Some(kind);
        let name = |subject: &Value| {
            let name = subject.str_at(&["name"]).unwrap_or_default();
            match kind {
                "ServiceAccount" => format!("{}/{name}", subject.str_at(&["namespace"]).unwrap_or_default()),
                _ => name.to_owned(),
            }
        };
        row.items(&["subjects"]).iter().filter(named).map(name).collect::<Vec<_>>().join(", ")
    };
    line![
        row.name(),
        format!("{}/{}", row.str(&["roleRef", "kind"]), row.str(&["roleRef", "name"])),
        row.age(),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

fn signing_request(row: &Row<'_>) -> Vec<Value> {
    // Conditions count by being there, whatever their status.
    let has =
        |kind: &str| row.items(&["status", "conditions"]).iter().any(|c| c.str_at(&["type"]) == Some(kind));
    let mut status = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if has("Failed") {
        status.push_str(",Failed");
    }
    if !row.str(&["status", "certificate"]).is_empty() {
        status.push_str(",Issued");
    }
    let asked = row.value().int_at(&["spec", "expirationSeconds"]);
    let asked = asked.map(|seconds| human_duration(SignedDuration::from_secs(seconds)));
    line![
        row.name(),
        row.age(),
        row.text_or(&["spec", "signerName"], "<none>"),
        row.text(&["spec", "username"]),
        asked.unwrap_or_else(|| "<none>".to_owned()),
        status,
    ]
}

fn policy(row: &Row<'_>, rules: &str) -> Vec<Value> {
    let kind = match row.value().at(&["spec", "paramKind"]).filter(|kind| !kind.is_null()) {
        Some(kind) => {
            let text = |field: &str| kind.str_at(&[field]).unwrap_or_default();
            format!("{}/{}", text("apiVersion"), text("kind"))
        }
        None => "<unset>".to_owned(),
    };
    line![row.name(), row.items(&["spec", rules]).len(), kind, row.age()]
}

fn parameter(row: &Row<'_>) -> String {
    let name = row.str(&["spec", "paramRef", "name"]);
    match (name, row.str(&["spec", "paramRef", "namespace"])) {
        ("", _) => match row.value().at(&["spec", "paramRef", "selector"]) {
            Some(selector) if !selector.is_null() => crate::kinds::selector_text(selector),
            _ => "<unset>".to_owned(),
        },
        (name, "") => format!("*/{name}"),
        (name, namespace) => format!("{namespace}/{name}"),
    }
}

fn api_service(row: &Row<'_>) -> Vec<Value> {
    let service = match row.value().at(&["spec", "service"]).filter(|service| !service.is_null()) {
        Some(service) => {
            let text = |field: &str| service.str_at(&[field]).unwrap_or_default();
            format!("{}/{}", text("namespace"), text("name"))
        }
        None => "Local".to_owned(),
    };
    let available =
        row.items(&["status", "conditions"]).iter().find(|c| c.str_at(&["type"]) == Some("Available"));
    let text = |field: &str| available.and_then(|c| c.str_at(&[field])).unwrap_or_default();
    let status = match (available, text("status")) {
        (None, _) => "Unknown".to_owned(),
        (Some(_), "True") => "True".to_owned(),
        (Some(_), status) => format!("{status} ({})", text("reason")),
    };
    line![row.name(), service, status, row.age()]
}

fn flow_schema(row: &Row<'_>) -> Vec<Value> {
    let dangling =
        row.items(&["status", "conditions"]).iter().find(|c| c.str_at(&["type"]) == Some("Dangling"));
    line![
        row.name(),
        row.text(&["spec", "priorityLevelConfiguration", "name"]),
        row.int(&["spec", "matchingPrecedence"]),
        row.text_or(&["spec", "distinguisherMethod", "type"], "<none>"),
        row.age(),
        dangling.and_then(|c| c.str_at(&["status"])).unwrap_or("?"),
    ]
}

fn priority_level(row: &Row<'_>) -> Vec<Value> {
    let number = |path: &[&str]| row.value().int_at(path).map_or("<none>".into(), Value::from);
    line![
        row.name(),
        row.text(&["spec", "type"]),
        number(&["spec", "limited", "nominalConcurrencyShares"]),
        number(&["spec", "limited", "limitResponse", "queuing", "queues"]),
        number(&["spec", "limited", "limitResponse", "queuing", "handSize"]),
        number(&["spec", "limited", "limitResponse", "queuing", "queueLengthLimit"]),
        row.age(),
    ]
}

fn claim_state(row: &Row<'_>) -> String {
    let mut states = Vec::new();
    if row.is_deleting() {
        states.push("deleted");
    }
    if row.value().at(&["status", "allocation"]).is_some_and(|allocation| !allocation.is_null()) {
        states.push("allocated");
        if !row.items(&["status", "reservedFor"]).is_empty() {
            states.push("reserved");
        }
    } else if !row.is_deleting() {
        states.push("pending");
    }
    states.join(",")
}
