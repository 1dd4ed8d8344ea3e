//! Environment variables and what they refer to.

use lynceus_object::Value;

use super::names;
use super::report::{Path, Report};
use crate::kinds::amount_of;

const POD_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// What files can show of a pod.
pub(crate) const FILE_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// Checks the variables of a container.
pub(crate) fn variables(container: &Value, at: &Path, report: &mut Report) {
    for (index, variable) in container.items_at(&["env"]).iter().enumerate() {
        let at = at.index(index);
        let name = variable.str_at(&["name"]).unwrap_or_default();
        if name.is_empty() {
            report.required(&at.child("name"), "");
        } else {
            report.each(&at.child("name"), name, names::env_name(name));
        }
        value_from(variable, &at.child("valueFrom"), report);
    }
}

fn value_from(variable: &Value, at: &Path, report: &mut Report) {
    let Some(from) = variable.get("valueFrom").filter(|from| !from.is_null()) else { return };
    let source = |name: &str| from.get(name).filter(|source| !source.is_null());
    let mut sources = 0;
    if let Some(field) = source("fieldRef") {
        sources += 1;
        field_ref(field, &POD_FIELDS, &at.child("fieldRef"), report);
    }
    if let Some(field) = source("resourceFieldRef") {
        sources += 1;
        resource_field_ref(field, false, &at.child("resourceFieldRef"), report);
    }
    for name in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(key) = source(name) {
            sources += 1;
            key_ref(key, &at.child(name), report);
        }
    }
    if let Some(key) = source("fileKeyRef") {
        sources += 1;
        file_key_ref(key, &at.child("fileKeyRef"), report);
    }
    if sources == 0 {
        let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        report.invalid_text(at, "", why);
    } else if !variable.str_at(&["value"]).unwrap_or_default().is_empty() {
        report.invalid_text(at, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        report.invalid_text(at, "", "may not have more than one field specified at a time");
    }
}

fn file_key_ref(key: &Value, at: &Path, report: &mut Report) {
    let text = |field: &str| key.str_at(&[field]).unwrap_or_default();
    if text("key").is_empty() {
        report.required(&at.child("key"), "");
    } else {
        report.each(&at.child("key"), text("key"), names::env_name(text("key")));
    }
    if text("volumeName").is_empty() {
        report.required(&at.child("volumeName"), "");
    } else {
        report.each(&at.child("volumeName"), text("volumeName"), names::dns_label(text("volumeName")));
    }
    if text("path").is_empty() {
        report.required(&at.child("path"), "");
    } else {
        super::volume::local_path(text("path"), &at.child("path"), report);
    }
}

fn key_ref(key: &Value, at: &Path, report: &mut Report) {
    let name = key.str_at(&["name"]).unwrap_or_default();
    report.each(&at.child("name"), name, names::dns_subdomain(name));
    match key.str_at(&["key"]).unwrap_or_default() {
        "" => report.required(&at.child("key"), ""),
        key => report.each(&at.child("key"), key, names::config_key(key)),
    }
}

/// Checks a reference to a field of the pod.
pub(crate) fn field_ref(field: &Value, known: &[&str], at: &Path, report: &mut Report) {
    let text = |name: &str| field.str_at(&[name]).unwrap_or_default();
    if text("apiVersion").is_empty() {
        report.required(&at.child("apiVersion"), "");
        return;
    }
    let path = text("fieldPath");
    if path.is_empty() {
        report.required(&at.child("fieldPath"), "");
        return;
    }
    let subscript = path.strip_suffix("']").and_then(|path| path.split_once("['"));
    let (base, subscript) = subscript.map_or((path, None), |(base, key)| (base, Some(key)));
    if !is_pod_field(base, subscript.is_some()) || text("apiVersion") != "v1" {
        let why = if text("apiVersion") == "v1" {
            format!("error converting fieldPath: field label not supported: {path}")
        } else {
            format!("error converting fieldPath: unsupported pod version: {}", text("apiVersion"))
        };
        report.invalid_text(&at.child("fieldPath"), path, why);
        return;
    }
    match (base, subscript) {
        ("metadata.annotations", Some(key)) => {
            report.each(at, &key.to_lowercase(), names::label_key(&key.to_lowercase()))
        }
        ("metadata.labels", Some(key)) => report.each(at, key, names::label_key(key)),
        (base, Some(_)) => report.invalid_text(at, base, "does not support subscript"),
        (base, None) if !known.contains(&base) => report.not_supported(&at.child("fieldPath"), base, known),
        _ => {}
    }
}

fn is_pod_field(path: &str, subscripted: bool) -> bool {
    match path {
        "metadata.annotations" | "metadata.labels" => true,
        _ if subscripted => false,
        "spec.restartPolicy" | "spec.schedulerName" | "spec.hostNetwork" | "status.phase" => true,
        _ => POD_FIELDS.contains(&path),
    }
}

/// Checks a reference to the resources of a container.
pub(crate) fn resource_field_ref(field: &Value, in_volume: bool, at: &Path, report: &mut Report) {
    let resource = field.str_at(&["resource"]).unwrap_or_default();
    let huge = resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
    if in_volume && field.str_at(&["containerName"]).unwrap_or_default().is_empty() {
        report.required(&at.child("containerName"), "");
    } else if resource.is_empty() {
        report.required(&at.child("resource"), "");
    } else if !RESOURCES.contains(&resource) && !huge {
        report.not_supported(&at.child("resource"), resource, &RESOURCES);
    }
    divisor(field, resource, huge, at, report);
}

fn divisor(field: &Value, resource: &str, huge: bool, at: &Path, report: &mut Report) {
    const SIZES: [&str; 13] =
        ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
    let Some(divisor) = field.get("divisor").and_then(amount_of).filter(|divisor| !divisor.is_zero()) else {
        return;
    };
    let sort = match resource.split_once('.').map(|(_, sort)| sort) {
        Some("cpu") => "cpu",
        Some("memory") => "memory",
        Some("ephemeral-storage") => "local ephemeral storage",
        _ if huge => "hugepages",
        _ => return,
    };
    let allowed: &[&str] = if sort == "cpu" { &["1m", "1"] } else { &SIZES };
    if !allowed.contains(&divisor.to_string().as_str()) {
        let list = if sort == "cpu" { "1m and 1".to_owned() } else { SIZES.join(", ") };
        let why = format!("only divisor's values {list} are supported with the {sort} resource");
        report.invalid_text(&at.child("divisor"), resource, why);
    }
}

/// Checks the ConfigMaps and Secrets that become variables as a whole.
pub(crate) fn sources(container: &Value, at: &Path, report: &mut Report) {
    for (index, source) in container.items_at(&["envFrom"]).iter().enumerate() {
        let here = at.index(index);
        let prefix = source.str_at(&["prefix"]).unwrap_or_default();
        if !prefix.is_empty() {
            report.each(&here.child("prefix"), prefix, names::env_name(prefix));
        }
        let mut count = 0;
        for field in ["configMapRef", "secretRef"] {
            let Some(reference) = source.get(field).filter(|value| !value.is_null()) else { continue };
            count += 1;
            match reference.str_at(&["name"]).unwrap_or_default() {
                "" => report.required(&here.child(field).child("name"), ""),
                name => report.each(&here.child(field).child("name"), name, names::dns_subdomain(name)),
            }
        }
        if count == 0 {
            report.invalid_text(at, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if count > 1 {
            report.invalid_text(at, "", "may not have more than one field specified at a time");
        }
    }
}
