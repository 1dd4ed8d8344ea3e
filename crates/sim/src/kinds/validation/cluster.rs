//! The remaining kinds: admission, certificates, leases, priorities, events, aggregated APIs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Object, Value};

use super::expression;
use super::meta;
use super::names;
use super::report::{Path, Report};
use super::selector;

/// Checks a webhook configuration; `mutating` ones have a policy more.
pub(crate) fn webhooks(object: &Object, mutating: bool, report: &mut Report) {
    meta::create_general(object, false, names::dns_subdomain, report);
    let mut known: Vec<&str> = Vec::new();
    for (index, webhook) in object.value().items_at(&["webhooks"]).iter().enumerate() {
        let at = Path::new("webhooks").index(index);
        admission_webhook(webhook, mutating, &at, report);
        let name = webhook.str_at(&["name"]).unwrap_or_default();
        if !name.is_empty() && known.contains(&name) {
            report.duplicate(&at.child("name"), &name.into());
        }
        known.push(name);
    }
}

fn admission_webhook(webhook: &Value, mutating: bool, at: &Path, report: &mut Report) {
    let text = |field: &str| webhook.str_at(&[field]);
    full_name(text("name").unwrap_or_default(), &at.child("name"), report);
    let labels = webhook.items_at(&["admissionReviewVersions"]);
    review_versions(labels, &at.child("admissionReviewVersions"), report);
    for (index, rule) in webhook.items_at(&["rules"]).iter().enumerate() {
        webhook_rule(rule, &at.child("rules").index(index), report);
    }
    for (field, words) in [("failurePolicy", ["Fail", "Ignore"]), ("matchPolicy", ["Equivalent", "Exact"])] {
        if let Some(policy) = text(field).filter(|policy| !words.contains(policy)) {
            report.not_supported(&at.child(field), policy, &words);
        }
    }
    let effects = ["None", "NoneOnDryRun"];
    match text("sideEffects") {
        None => report.required(&at.child("sideEffects"), "must specify one of None, NoneOnDryRun"),
        Some(effect) if !effects.contains(&effect) => {
            report.not_supported(&at.child("sideEffects"), effect, &effects)
        }
        Some(_) => {}
    }
    if let Some(seconds) = webhook.int_at(&["timeoutSeconds"]).filter(|seconds| !(1..=30).contains(seconds)) {
        let why = "the timeout value must be between 1 and 30 seconds";
        report.invalid_number(&at.child("timeoutSeconds"), seconds, why);
    }
    for field in ["namespaceSelector", "objectSelector"] {
        selector::label_selector(webhook.get(field), &at.child(field), report);
    }
    expression::conditions(webhook, &expression::WEBHOOK, at, report);
    if let (true, Some(policy)) = (mutating, text("reinvocationPolicy"))
        && !matches!(policy, "IfNeeded" | "Never")
    {
        report.not_supported(&at.child("reinvocationPolicy"), policy, &["IfNeeded", "Never"]);
    }
    client_config(webhook.get("clientConfig").unwrap_or(&Value::Null), &at.child("clientConfig"), report);
}

/// Checks a domain name of three parts at least.
fn full_name(name: &str, at: &Path, report: &mut Report) {
    let problems = names::dns_subdomain(name);
    if name.is_empty() {
        report.required(at, "");
    } else if !problems.is_empty() {
        report.invalid_text(at, name, problems.join(","));
    } else if name.split('.').count() < 3 {
        report.invalid_text(at, name, "should be a domain with at least three segments separated by dots");
    }
}

fn review_versions(versions: &[Value], at: &Path, report: &mut Report) {
    if versions.is_empty() {
        report.required(at, "must specify one of v1, v1beta1");
        return;
    }
    let mut known: Vec<&str> = Vec::new();
    for (index, version) in versions.iter().filter_map(Value::as_str).enumerate() {
        if known.contains(&version) {
            report.invalid_text(&at.index(index), version, "duplicate version");
            continue;
        }
        known.push(version);
        report.each(&at.index(index), version, names::dns_1035_label(version));
    }
    if !known.iter().any(|version| matches!(*version, "v1" | "v1beta1")) {
        let list: Value = versions.iter().cloned().collect();
        report.invalid(at, &list, "must include at least one of v1, v1beta1");
    }
}

fn webhook_rule(rule: &Value, at: &Path, report: &mut Report) {
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let list =
        |field: &str| -> Vec<&str> { rule.items_at(&[field]).iter().filter_map(Value::as_str).collect() };
    let shown = |field: &str| rule.get(field).cloned().unwrap_or_default();
    if list("operations").is_empty() {
        report.required(&at.child("operations"), "");
    }
    if list("operations").len() > 1 && list("operations").contains(&"*") {
        let why = "if '*' is present, must not specify other operations";
        report.invalid(&at.child("operations"), &shown("operations"), why);
    }
    for (index, operation) in list("operations").iter().enumerate().filter(|(_, op)| !OPERATIONS.contains(op))
    {
        report.not_supported(&at.child("operations").index(index), operation, &OPERATIONS);
    }
    for (field, what) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let found = list(field);
        if found.is_empty() {
            report.required(&at.child(field), "");
        }
        if found.len() > 1 && found.contains(&"*") {
            let why = format!("if '*' is present, must not specify other {what}");
            report.invalid(&at.child(field), &shown(field), why);
        }
        if field == "apiVersions" {
            for (index, _) in found.iter().enumerate().filter(|(_, version)| version.is_empty()) {
                report.required(&at.child(field).index(index), "");
            }
        }
    }
    webhook_resources(&list("resources"), &shown("resources"), &at.child("resources"), report);
    let scopes = ["*", "Cluster", "Namespaced"];
    if let Some(scope) = rule.str_at(&["scope"]).filter(|scope| !scopes.contains(scope)) {
        report.not_supported(&at.child("scope"), scope, &scopes);
    }
}

fn webhook_resources(resources: &[&str], shown: &Value, at: &Path, report: &mut Report) {
    if resources.is_empty() {
        report.required(at, "");
    }
    for (index, _) in resources.iter().enumerate().filter(|(_, resource)| resource.is_empty()) {
        report.required(&at.index(index), "");
    }
    if resources.len() > 1 && resources.contains(&"*/*") {
        report.invalid(at, shown, "if '*/*' is present, must not specify other resources");
    }
    let plain = resources.iter().filter(|resource| !resource.contains('/')).count();
    if resources.contains(&"*") && plain > 1 {
        report.invalid(at, shown, "if '*' is present, must not specify other resources without subresources");
    }
}

fn client_config(config: &Value, at: &Path, report: &mut Report) {
    let url = config.str_at(&["url"]);
    let service = config.get("service").filter(|service| !service.is_null());
    match (url, service) {
        (Some(_), Some(_)) | (None, None) => report.required(at, "exactly one of url or service is required"),
        (Some(url), None) => webhook_url(url, &at.child("url"), report),
        (None, Some(service)) => service_reference(service, &at.child("service"), report),
    }
}

fn webhook_url(url: &str, at: &Path, report: &mut Report) {
    const FORM: &str = "; desired format: https://host[/path]";
    let Some(rest) = url.strip_prefix("https://") else {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        report.invalid_text(at, scheme, format!("'https' is the only allowed URL scheme{FORM}"));
        if url.split_once("://").is_none_or(|(_, rest)| rest.is_empty()) {
            report.invalid_text(at, "", format!("host must be specified{FORM}"));
        }
        return;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        report.invalid_text(at, "", format!("host must be specified{FORM}"));
    }
    if let Some((user, _)) = host.split_once('@') {
        report.invalid_text(at, user, "user information is not permitted in the URL");
    }
    if let Some((_, fragment)) = url.split_once('#') {
        report.invalid_text(at, fragment, "fragments are not permitted in the URL");
    }
    if let Some((_, query)) = url.split('#').next().and_then(|url| url.split_once('?')) {
        report.invalid_text(at, query, "query parameters are not permitted in the URL");
    }
}

/// Checks a reference to a service that answers for the API server.
fn service_reference(service: &Value, at: &Path, report: &mut Report) {
    for field in ["name", "namespace"] {
        if service.str_at(&[field]).unwrap_or_default().is_empty() {
            report.required(&at.child(field), "");
        }
    }
    let port = service.int_at(&["port"]).unwrap_or(443);
    if let Some(problem) = names::port_number(port).first() {
        report.invalid_number(&at.child("port"), port, format!("port is not valid: {problem}"));
    }
    if let Some(path) = service.str_at(&["path"]).filter(|path| !path.is_empty() && *path != "/") {
        let at = at.child("path");
        if !path.starts_with('/') {
            report.invalid_text(&at, path, "must start with a '/'");
        }
        let steps = path.strip_prefix('/').unwrap_or(path);
        let steps = steps.strip_suffix('/').unwrap_or(steps);
        for (index, step) in steps.split('/').enumerate() {
            if step.is_empty() {
                report.invalid_text(&at, path, format!("segment[{index}] may not be empty"));
                continue;
            }
            for problem in names::dns_subdomain(step) {
                report.invalid_text(&at, path, format!("segment[{index}]: {problem}"));
            }
        }
    }
}

/// Checks an admission policy or its binding, as far as that takes no expressions.
pub(crate) fn admission_policy(object: &Object, rules: &str, report: &mut Report) {
    meta::create_general(object, false, names::dns_subdomain, report);
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    if let Some(policy) =
        spec.str_at(&["failurePolicy"]).filter(|policy| !matches!(*policy, "Fail" | "Ignore"))
    {
        report.not_supported(&at.child("failurePolicy"), policy, &["Fail", "Ignore"]);
    }
    match spec.get("matchConstraints").filter(|matching| !matching.is_null()) {
        None => report.required(&at.child("matchConstraints"), ""),
        Some(matching) => {
            if matching.items_at(&["resourceRules"]).is_empty() {
                report.required(&at.child("matchConstraints").child("resourceRules"), "");
            }
            for (index, rule) in matching.items_at(&["resourceRules"]).iter().enumerate() {
                webhook_rule(rule, &at.child("matchConstraints").child("resourceRules").index(index), report);
            }
        }
    }
    expression::policy(spec, rules == "validations", &at, report);
    let nothing = spec.items_at(&[rules]).is_empty();
    if rules == "validations" && nothing && spec.items_at(&["auditAnnotations"]).is_empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        report.required(&at.child("validations"), why);
        report.required(&at.child("auditAnnotations"), why);
    } else if rules == "mutations" && nothing {
        report.required(&at.child("mutations"), "mutations must contain at least one item");
    }
}

/// Checks the binding of an admission policy.
pub(crate) fn admission_binding(object: &Object, validating: bool, report: &mut Report) {
    meta::create_general(object, false, names::dns_subdomain, report);
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    match spec.str_at(&["policyName"]).unwrap_or_default() {
        "" => report.required(&at.child("policyName"), ""),
        name => report.each(&at.child("policyName"), name, names::dns_subdomain(name)),
    }
    if !validating {
        return;
    }
    let actions: Vec<&str> = spec.items_at(&["validationActions"]).iter().filter_map(Value::as_str).collect();
    let at = at.child("validationActions");
    let known = ["Audit", "Deny", "Warn"];
    for (index, action) in actions.iter().enumerate() {
        if !known.contains(action) {
            report.not_supported(&at.index(index), action, &known);
        }
        if actions[..index].contains(action) {
            report.duplicate(&at.index(index), &(*action).into());
        }
    }
    if actions.contains(&"Deny") && actions.contains(&"Warn") {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        report.invalid(&at, spec.get("validationActions").unwrap_or(&Value::Null), why);
    }
    if actions.is_empty() {
        report.required(&at, "at least one validation action is required");
    }
}

/// Checks a Lease.
pub(crate) fn lease(object: &Object, report: &mut Report) {
    meta::create_general(object, true, names::dns_subdomain, report);
    lease_spec(object, report);
}

/// Checks the spec of a Lease.
pub(crate) fn lease_spec(object: &Object, report: &mut Report) {
    let at = Path::new("spec");
    let number = |field: &str| object.value().int_at(&["spec", field]);
    if let Some(seconds) = number("leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        report.invalid_number(&at.child("leaseDurationSeconds"), seconds, "must be greater than 0");
    }
    if let Some(count) = number("leaseTransitions").filter(|count| *count < 0) {
        report.invalid_number(&at.child("leaseTransitions"), count, "must be greater than or equal to 0");
    }
}

/// The highest priority that users may give.
const USER_PRIORITY: i64 = 1_000_000_000;

/// Checks a PriorityClass.
pub(crate) fn priority_class(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let value = object.value().int_at(&["value"]).unwrap_or_default();
    if object.name().starts_with("system-") {
        let known = matches!(
            (object.name(), value),
            ("system-cluster-critical", 2_000_000_000) | ("system-node-critical", 2_000_001_000)
        );
        if !known {
            let why = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {} is not a known system priority class",
                object.name()
            );
            report.forbidden(&Path::new("metadata.name"), why);
        }
    } else if value > USER_PRIORITY {
        let why = format!("maximum allowed value of a user defined priority is {USER_PRIORITY}");
        report.forbidden(&Path::new("value"), why);
    }
    if let Some(policy) = object.value().str_at(&["preemptionPolicy"]) {
        report.one_of(&Path::new("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
}

/// Checks a changed PriorityClass.
pub(crate) fn priority_class_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    if new.value().int_at(&["value"]) != old.value().int_at(&["value"]) {
        report.forbidden(&Path::new("value"), "may not be changed in an update.");
    }
    meta::immutable(new, old, &[&["preemptionPolicy"]], report);
}

/// Checks a RuntimeClass.
pub(crate) fn runtime_class(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    match object.value().str_at(&["handler"]).unwrap_or_default() {
        "" => report.required(&Path::new("handler"), ""),
        handler => report.each(&Path::new("handler"), handler, names::dns_label(handler)),
    }
    let at = Path::new("scheduling");
    let scheduling = object.at(&["scheduling"]).unwrap_or(&Value::Null);
    super::affinity::node_labels(scheduling, &at.child("nodeSelector"), report);
    super::affinity::tolerations(scheduling, &at.child("tolerations"), report);
}

/// Checks a CertificateSigningRequest.
pub(crate) fn signing_request(object: &Object, report: &mut Report) {
    meta::create(object, false, |_| Vec::new(), report);
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let request = spec.str_at(&["request"]).unwrap_or_default();
    let pem = STANDARD.decode(request).unwrap_or_default();
    if !String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE REQUEST-----") {
        let why = "PEM block type must be CERTIFICATE REQUEST";
        report.invalid_text(&at.child("request"), request, why);
    }
    let usages = spec.items_at(&["usages"]);
    if usages.is_empty() {
        report.required(&at.child("usages"), "");
    }
    for (index, usage) in usages.iter().filter_map(Value::as_str).enumerate() {
        if !USAGES.contains(&usage) {
            report.not_supported(&at.child("usages").index(index), usage, &USAGES);
        }
        if usages[..index].iter().any(|other| other.as_str() == Some(usage)) {
            report.duplicate(&at.child("usages").index(index), &usage.into());
        }
    }
    signer_name(spec.str_at(&["signerName"]).unwrap_or_default(), &at.child("signerName"), report);
    if let Some(seconds) = spec.int_at(&["expirationSeconds"]).filter(|seconds| *seconds < 600) {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        report.invalid_number(&at.child("expirationSeconds"), seconds, why);
    }
}

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

fn signer_name(name: &str, at: &Path, report: &mut Report) {
    if name.is_empty() {
        report.required(at, "");
        return;
    }
    if name == "kubernetes.io/legacy-unknown" {
        report.invalid_text(at, name, "the legacy signerName is not allowed via this API version");
    }
    match name.split_once('/') {
        None => report.invalid_text(
            at,
            name,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        ),
        Some((domain, path)) => {
            report.each(at, domain, names::dns_subdomain(domain));
            if domain.split('.').count() < 2 {
                report.invalid_text(
                    at,
                    domain,
                    "should be a domain with at least two segments separated by dots",
                );
            }
            report.each(at, path, names::dns_subdomain(path));
        }
    }
}

/// Checks that a decision about a request is not both yes and no, nor taken back.
pub(crate) fn approval(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    let at = Path::new("status.conditions");
    let types = |object: &Object| -> Vec<String> {
        let conditions = object.value().items_at(&["status", "conditions"]).iter();
        conditions.map(|condition| condition.str_at(&["type"]).unwrap_or_default().to_owned()).collect()
    };
    for (index, condition) in new.value().items_at(&["status", "conditions"]).iter().enumerate() {
        for field in ["type", "status"] {
            if condition.str_at(&[field]).unwrap_or_default().is_empty() {
                report.required(&at.index(index).child(field), "");
            }
        }
    }
    let has = |name: &str| types(new).iter().any(|kind| kind == name);
    if has("Approved") && has("Denied") {
        report.invalid_text(&at, "Denied", "Approved and Denied conditions are mutually exclusive");
    }
    for kind in ["Approved", "Denied", "Failed"] {
        if types(old).iter().any(|old| old == kind) && !has(kind) {
            report.forbidden(&at, format!("updates may not remove a condition of type {kind:?}"));
        }
    }
}

/// Checks an APIService.
pub(crate) fn api_service(object: &Object, report: &mut Report) {
    let text = |field: &str| object.value().str_at(&["spec", field]).unwrap_or_default();
    let wanted = format!("{}.{}", text("version"), text("group"));
    meta::create_general(object, false, names::path_segment, report);
    if !object.name().is_empty() && names::path_segment(object.name()).is_empty() && object.name() != wanted {
        let why = format!("must be `spec.version+\".\"+spec.group`: {wanted:?}");
        report.invalid_text(&Path::new("metadata.name"), object.name(), why);
    }
    let at = Path::new("spec");
    match (text("group"), text("version")) {
        ("", "v1") => {}
        ("", _) => {
            let why = "only v1 may have an empty group and it better be legacy kube";
            report.required(&at.child("group"), why);
        }
        (group, _) => report.each(&at.child("group"), group, names::dns_subdomain(group)),
    }
    report.each(&at.child("version"), text("version"), names::dns_1035_label(text("version")));
    let number = |field: &str| object.value().int_at(&["spec", field]).unwrap_or_default();
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        if !(1..=most).contains(&number(field)) {
            let why = format!("must be positive and less than {most}");
            report.invalid_number(&at.child(field), number(field), why);
        }
    }
    if let Some(service) = object.at(&["spec", "service"]).filter(|service| !service.is_null()) {
        for field in ["namespace", "name"] {
            if service.str_at(&[field]).unwrap_or_default().is_empty() {
                report.required(&at.child("service").child(field), "");
            }
        }
        let insecure = object.value().bool_at(&["spec", "insecureSkipTLSVerify"]) == Some(true);
        if insecure && !text("caBundle").is_empty() {
            let why = "may not be true if caBundle is present";
            report.invalid(&at.child("insecureSkipTLSVerify"), &Value::Bool(true), why);
        }
    } else {
        if !text("caBundle").is_empty() {
            let why = "local APIServices may not have a caBundle";
            report.invalid(
                &at.child("caBundle"),
                object.at(&["spec", "caBundle"]).unwrap_or(&Value::Null),
                why,
            );
        }
        if object.value().bool_at(&["spec", "insecureSkipTLSVerify"]) == Some(true) {
            let why = "local APIServices may not have insecureSkipTLSVerify";
            report.invalid(&at.child("insecureSkipTLSVerify"), &Value::Bool(true), why);
        }
    }
}

/// Checks an Event, as far as the older of its two groups asks.
pub(crate) fn event(object: &Object, report: &mut Report) {
    if object.name().is_empty() {
        report.required(&Path::new("metadata.name"), "name or generateName is required");
    } else {
        report.each(&Path::new("metadata.name"), object.name(), names::path_segment(object.name()));
    }
    let involved = object.value().str_at(&["involvedObject", "namespace"]).unwrap_or_default();
    let involved = if involved.is_empty() { "default" } else { involved };
    if object.namespace() != involved {
        let shown = object.value().str_at(&["involvedObject", "namespace"]).unwrap_or_default();
        report.invalid_text(&Path::new("involvedObject.namespace"), shown, "does not match event.namespace");
    }
    if !names::dns_label(object.namespace()).is_empty() {
        report.each(&Path::new("namespace"), object.namespace(), names::dns_label(object.namespace()));
    }
}

/// Checks a ComponentStatus and other kinds of which only the metadata is looked at.
pub(crate) fn metadata_only(object: &Object, namespaced: bool, report: &mut Report) {
    meta::create(object, namespaced, names::dns_subdomain, report);
}
