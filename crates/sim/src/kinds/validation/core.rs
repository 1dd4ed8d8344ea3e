//! The smaller kinds of the core group.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Object, Quantity, Value};

use super::affinity;
use super::meta;
use super::names;
use super::report::{Path, Report, same};
use super::resources::{self, amounts};
use crate::kinds::amount_of;

/// The most that the values of a ConfigMap or Secret may add up to.
const DATA_SIZE: usize = 1024 * 1024;

/// Checks a ConfigMap.
pub(crate) fn config_map(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    let mut size = 0;
    for (key, value) in entries(object, "data") {
        let at = Path::new("data").key(key);
        report.each(&at, key, names::config_key(key));
        if object.at(&["binaryData", key]).is_some() {
            report.invalid_text(&at, key, "duplicate of key present in binaryData");
        }
        size += value.as_str().unwrap_or_default().len();
    }
    for (key, value) in entries(object, "binaryData") {
        report.each(&Path::new("binaryData").key(key), key, names::config_key(key));
        size += decoded(Some(value)).len();
    }
    if size > DATA_SIZE {
        // The original names no field, which it prints so.
        report.too_long(&Path::new("[]"), DATA_SIZE);
    }
}

fn entries<'a>(object: &'a Object, field: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = object.at(&[field]).and_then(Value::as_map);
    map.into_iter().flat_map(|map| map.iter()).map(|(key, value)| (key.as_str(), value))
}

fn decoded(value: Option<&Value>) -> Vec<u8> {
    STANDARD.decode(value.and_then(Value::as_str).unwrap_or_default()).unwrap_or_default()
}

/// Checks that what was declared immutable stays as it was.
pub(crate) fn immutable_data(new: &Object, old: &Object, fields: &[&str], report: &mut Report) {
    const WORDS: &str = "field is immutable when `immutable` is set";
    if old.value().bool_at(&["immutable"]) != Some(true) {
        return;
    }
    if new.value().bool_at(&["immutable"]) != Some(true) {
        report.forbidden(&Path::new("immutable"), WORDS);
    }
    for field in fields {
        if !same(new.at(&[field]), old.at(&[field])) {
            report.forbidden(&Path::new(field), WORDS);
        }
    }
}

/// Checks a Secret. Its values never appear in what is found.
pub(crate) fn secret(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    let at = Path::new("data");
    let mut size = 0;
    for (key, value) in entries(object, "data") {
        report.each(&at.key(key), key, names::config_key(key));
        size += decoded(Some(value)).len();
    }
    if size > DATA_SIZE {
        report.too_long(&at, DATA_SIZE);
    }
    let has = |key: &str| object.at(&["data", key]).is_some();
    let need = |keys: &[&str], report: &mut Report| {
        for key in keys.iter().filter(|key| !has(key)) {
            report.required(&at.key(key), "");
        }
    };
    match object.value().str_at(&["type"]).unwrap_or_default() {
        "kubernetes.io/service-account-token" => {
            let account = "kubernetes.io/service-account.name";
            if object.annotation(account).unwrap_or_default().is_empty() {
                report.required(&Path::new("metadata.annotations").key(account), "");
            }
        }
        "kubernetes.io/dockercfg" => docker_config(object, ".dockercfg", &at, report),
        "kubernetes.io/dockerconfigjson" => docker_config(object, ".dockerconfigjson", &at, report),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            need(&["username", "password"], report)
        }
        "kubernetes.io/ssh-auth" if decoded(object.at(&["data", "ssh-privatekey"])).is_empty() => {
            report.required(&at.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => need(&["tls.crt", "tls.key"], report),
        _ => {}
    }
}

fn docker_config(object: &Object, key: &str, at: &Path, report: &mut Report) {
    let Some(value) = object.at(&["data", key]) else {
        report.required(&at.key(key), "");
        return;
    };
    let bytes = decoded(Some(value));
    if let Err(error) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bytes) {
        let why = go_json_error(&bytes, &error);
        report.invalid_text(&at.key(key), "<secret contents redacted>", why);
    }
}

/// The words of Go's reader for the commonest mistakes.
fn go_json_error(bytes: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let text = String::from_utf8_lossy(bytes);
    let at = text
        .lines()
        .nth(error.line().saturating_sub(1))
        .and_then(|line| line.chars().nth(error.column().saturating_sub(1)));
    match at {
        Some(c) => format!("invalid character '{c}' looking for beginning of value"),
        None => "unexpected end of JSON input".to_owned(),
    }
}

/// Checks a changed Secret.
pub(crate) fn secret_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    report.immutable(&Path::new("type"), new.at(&["type"]), old.at(&["type"]));
    immutable_data(new, old, &["data"], report);
    secret(new, report);
}

/// Checks a Namespace.
pub(crate) fn namespace(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_label, report);
    for finalizer in object.value().items_at(&["spec", "finalizers"]).iter().filter_map(Value::as_str) {
        namespace_finalizer(finalizer, &Path::new("spec.finalizers"), report);
    }
}

fn namespace_finalizer(finalizer: &str, at: &Path, report: &mut Report) {
    report.each(at, finalizer, names::label_key(finalizer));
    let known = ["kubernetes", "orphan", "foregroundDeletion"];
    if !finalizer.contains('/') && !known.contains(&finalizer) {
        let why = "name is neither a standard finalizer name nor is it fully qualified";
        report.invalid_text(at, finalizer, why);
    }
}

/// Checks a change of what has to be done before a namespace can go.
pub(crate) fn namespace_finalize(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    let finalizers = new.value().items_at(&["spec", "finalizers"]).iter().filter_map(Value::as_str);
    for (index, finalizer) in finalizers.enumerate() {
        namespace_finalizer(finalizer, &Path::new("spec.finalizers").index(index), report);
    }
}

/// Checks a Node.
pub(crate) fn node(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    taints(object, report);
    node_amounts(object, report);
    for (index, range) in
        object.value().items_at(&["spec", "podCIDRs"]).iter().filter_map(Value::as_str).enumerate()
    {
        report.each(&Path::new("spec.podCIDRs").index(index), range, names::cidr_problems(range));
    }
}

fn node_amounts(object: &Object, report: &mut Report) {
    for field in ["capacity", "allocatable"] {
        for (resource, amount) in amounts(object.at(&["status", field])) {
            let at = Path::new("status").child(field).child(resource);
            resources::resource_amount(resource, amount, &at, report);
        }
    }
}

fn taints(object: &Object, report: &mut Report) {
    let all = object.value().items_at(&["spec", "taints"]);
    for (index, taint) in all.iter().enumerate() {
        // The original looks for taints under the metadata.
        let at = Path::new("metadata.taints").index(index);
        let text = |field: &str| taint.str_at(&[field]).unwrap_or_default();
        report.each(&at.child("key"), text("key"), names::label_key(text("key")));
        let problems = names::label_value(text("value"));
        if !problems.is_empty() {
            report.invalid_text(&at.child("value"), text("value"), problems.join(";"));
        }
        match text("effect") {
            "" => report.required(&at.child("effect"), ""),
            effect => affinity::taint_effect(effect, &at.child("effect"), report),
        }
        let twin = |other: &Value| {
            other.get("key") == taint.get("key") && other.get("effect") == taint.get("effect")
        };
        if all[..index].iter().any(twin) {
            let quoted = crate::kinds::gofmt::quoted;
            let (key, value, effect) = (quoted(text("key")), quoted(text("value")), quoted(text("effect")));
            let shown = format!("{{\"Key\":{key},\"Value\":{value},\"Effect\":{effect},\"TimeAdded\":null}}");
            let mut error = crate::FieldError::duplicate(at.to_string(), shown);
            error.detail = "taints must be unique by key and effect pair".to_owned();
            report.push(error);
        }
    }
}

/// Checks a changed Node.
pub(crate) fn node_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    node_amounts(new, report);
    let ranges = |node: &Object| node.value().items_at(&["spec", "podCIDRs"]).to_vec();
    if !ranges(old).is_empty() && ranges(old) != ranges(new) {
        let why = "node updates may not change podCIDR except from \"\" to valid";
        report.forbidden(&Path::new("spec.podCIDRs"), why);
    }
    let provider =
        |node: &Object| node.value().str_at(&["spec", "providerID"]).unwrap_or_default().to_owned();
    if !provider(old).is_empty() && provider(old) != provider(new) {
        let why = "node updates may not change providerID except from \"\" to valid";
        report.forbidden(&Path::new("spec.providerID"), why);
    }
    taints(new, report);
}

/// Checks a ResourceQuota.
pub(crate) fn quota(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    quota_spec(object, report);
}

fn quota_spec(object: &Object, report: &mut Report) {
    for (resource, amount) in amounts(object.at(&["spec", "hard"])) {
        let at = Path::new("spec.hard").key(resource);
        resources::resource_name(resource, &at, report);
        if !resource.contains('/') && matches!(resource, "storage" | "limits.hugepages") {
            report.invalid_text(&at, resource, "must be a standard resource for quota");
        }
        resources::resource_amount(resource, amount, &at, report);
    }
    let at = Path::new("spec.scopes");
    let list = object.at(&["spec", "scopes"]).unwrap_or(&Value::Null);
    let scopes: Vec<&str> =
        object.value().items_at(&["spec", "scopes"]).iter().filter_map(Value::as_str).collect();
    let known = [
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    ];
    for scope in &scopes {
        if !known.contains(scope) {
            report.invalid(&at, list, "unsupported scope");
        }
        for (resource, _) in amounts(object.at(&["spec", "hard"])) {
            if !scope_applies(scope, resource) {
                report.invalid(&at, list, "unsupported scope applied to resource");
            }
        }
    }
    for pair in [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]] {
        if pair.iter().all(|scope| scopes.contains(scope)) {
            report.invalid(&at, list, "conflicting scopes");
        }
    }
}

/// Whether what a scope selects uses a resource at all: scopes select pods.
fn scope_applies(scope: &str, resource: &str) -> bool {
    let compute = matches!(
        resource,
        "cpu"
            | "memory"
            | "ephemeral-storage"
            | "pods"
            | "requests.cpu"
            | "requests.memory"
            | "requests.ephemeral-storage"
            | "limits.cpu"
            | "limits.memory"
            | "limits.ephemeral-storage"
    );
    match scope {
        _ if resource.contains('/') => true,
        "BestEffort" => resource == "pods",
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => compute,
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

/// Checks a changed ResourceQuota.
pub(crate) fn quota_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    quota_spec(new, report);
    report.immutable(&Path::new("spec.scopes"), new.at(&["spec", "scopes"]), old.at(&["spec", "scopes"]));
}

/// Checks a LimitRange.
pub(crate) fn limit_range(object: &Object, report: &mut Report) {
    meta::create(object, true, names::dns_subdomain, report);
    let mut known: Vec<&str> = Vec::new();
    for (index, limit) in object.value().items_at(&["spec", "limits"]).iter().enumerate() {
        let at = Path::new("spec.limits").index(index);
        let kind = limit.str_at(&["type"]).unwrap_or_default();
        let problems = names::label_key(kind);
        if !problems.is_empty() {
            report.each(&at.child("type"), kind, problems);
        } else if !matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim") && !kind.contains('/') {
            report.invalid_text(&at.child("type"), kind, "must be a standard limit type or fully qualified");
        }
        if known.contains(&kind) {
            report.duplicate(&at.child("type"), &kind.into());
        }
        known.push(kind);
        limit_amounts(kind, limit, &at, report);
    }
}

fn limit_amounts(kind: &str, limit: &Value, at: &Path, report: &mut Report) {
    let of = |field: &str, resource: &str| limit.at(&[field, resource]).and_then(amount_of);
    for field in ["default", "defaultRequest"] {
        if kind == "Pod" && limit.get(field).is_some_and(|value| !value.is_empty()) {
            report.forbidden(&at.child(field), "may not be specified when `type` is 'Pod'");
        }
    }
    if kind == "PersistentVolumeClaim" && of("min", "storage").is_none() && of("max", "storage").is_none() {
        let why = "either minimum or maximum storage value is required, but neither was provided";
        report.required(&at.child("limits"), why);
    }
    let mut keys: Vec<&str> = Vec::new();
    for field in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
        keys.extend(amounts(limit.get(field)).map(|(name, _)| name));
    }
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let check = |field: &str,
                     shown: Option<Quantity>,
                     small: Option<Quantity>,
                     large: Option<Quantity>,
                     words: (&str, &str),
                     report: &mut Report| {
            if let (Some(shown), Some(small), Some(large)) = (shown, small, large)
                && small > large
            {
                let why = format!("{} value {small} is greater than {} value {large}", words.0, words.1);
                report.invalid_text(&at.child(field).key(key), &shown.to_string(), why);
            }
        };
        let (min, max) = (of("min", key), of("max", key));
        let (default, request) = (of("default", key), of("defaultRequest", key));
        check("min", min, min, max, ("min", "max"), report);
        check("defaultRequest", request, min, request, ("min", "default request"), report);
        check("defaultRequest", request, request, max, ("default request", "max"), report);
        check("defaultRequest", request, request, default, ("default request", "default limit"), report);
        check("default", min, min, default, ("min", "default"), report);
        check("default", max, default, max, ("default", "max"), report);
        if let Some(ratio) = of("maxLimitRequestRatio", key).filter(|ratio| ratio.milli_value() < 1000) {
            let at = at.child("maxLimitRequestRatio").key(key);
            report.invalid_text(&at, &ratio.to_string(), format!("ratio {ratio} is less than 1"));
        }
    }
}
