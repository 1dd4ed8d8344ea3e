//! Priority and fairness of requests to the API server.

use lynceus_object::{Object, Value};

use super::meta;
use super::names;
use super::report::{Path, Report};

/// Checks a FlowSchema.
pub(crate) fn schema(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let precedence = spec.int_at(&["matchingPrecedence"]).unwrap_or_default();
    if precedence <= 0 {
        report.invalid_number(&at.child("matchingPrecedence"), precedence, "must be a positive value");
    }
    if precedence > 10_000 {
        let why = "must not be greater than 10000";
        report.invalid_number(&at.child("matchingPrecedence"), precedence, why);
    }
    if let Some(method) = spec.get("distinguisherMethod").filter(|method| !method.is_null()) {
        let kind = method.str_at(&["type"]).unwrap_or_default();
        if !matches!(kind, "ByNamespace" | "ByUser") {
            let known = ["ByNamespace", "ByUser"];
            report.not_supported(&at.child("distinguisherMethod").child("type"), kind, &known);
        }
    }
    let at_level = at.child("priorityLevelConfiguration").child("name");
    match spec.str_at(&["priorityLevelConfiguration", "name"]).unwrap_or_default() {
        "" => report.required(&at_level, "must reference a priority level"),
        name => report.each(&at_level, name, names::dns_subdomain(name)),
    }
    for (index, rule) in spec.items_at(&["rules"]).iter().enumerate() {
        policy_rule(rule, &at.child("rules").index(index), report);
    }
}

fn policy_rule(rule: &Value, at: &Path, report: &mut Report) {
    let subjects = rule.items_at(&["subjects"]);
    if subjects.is_empty() {
        report.required(&at.child("subjects"), "subjects must contain at least one value");
    }
    for (index, one) in subjects.iter().enumerate() {
        subject(one, &at.child("subjects").index(index), report);
    }
    let (resources, paths) = (rule.items_at(&["resourceRules"]), rule.items_at(&["nonResourceRules"]));
    if resources.is_empty() && paths.is_empty() {
        report.required(at, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    for (index, rule) in resources.iter().enumerate() {
        resource_rule(rule, &at.child("resourceRules").index(index), report);
    }
    for (index, rule) in paths.iter().enumerate() {
        let at = at.child("nonResourceRules").index(index);
        listed(rule, "verbs", "verbs must contain at least one value", &at, report);
        listed(rule, "nonResourceURLs", "nonResourceURLs must contain at least one value", &at, report);
    }
}

fn subject(subject: &Value, at: &Path, report: &mut Report) {
    const KINDS: [(&str, &str); 3] =
        [("Group", "group"), ("ServiceAccount", "serviceAccount"), ("User", "user")];
    let kind = subject.str_at(&["kind"]).unwrap_or_default();
    let part = |field: &str| subject.get(field).filter(|part| !part.is_null());
    let Some((_, own)) = KINDS.iter().find(|(known, _)| *known == kind) else {
        report.not_supported(&at.child("kind"), kind, &KINDS.map(|(known, _)| known));
        return;
    };
    match part(own) {
        None => {
            let why = format!("{own} is required when subject kind is '{kind}'");
            report.required(&at.child(own), &why);
        }
        Some(part) => {
            let at = at.child(own);
            if part.str_at(&["name"]).unwrap_or_default().is_empty() {
                report.required(&at.child("name"), "");
            }
            if *own == "serviceAccount" {
                match part.str_at(&["namespace"]).unwrap_or_default() {
                    "" => {
                        report.required(&at.child("namespace"), "must specify namespace for service account")
                    }
                    namespace => report.each(&at.child("namespace"), namespace, names::dns_label(namespace)),
                }
            }
        }
    }
    for (_, field) in KINDS.iter().filter(|(_, field)| field != own && part(field).is_some()) {
        let why = format!("{field} is forbidden when subject kind is not '{}'", kind_of(field));
        report.forbidden(&at.child(field), why);
    }
}

fn kind_of(field: &str) -> &'static str {
    match field {
        "group" => "Group",
        "user" => "User",
        _ => "ServiceAccount",
    }
}

fn resource_rule(rule: &Value, at: &Path, report: &mut Report) {
    listed(rule, "verbs", "verbs must contain at least one value", at, report);
    listed(rule, "apiGroups", "resource rules must supply at least one api group", at, report);
    listed(rule, "resources", "resource rules must supply at least one resource", at, report);
    let namespaces = rule.items_at(&["namespaces"]);
    if namespaces.is_empty() && rule.bool_at(&["clusterScope"]) != Some(true) {
        let why = "resource rules that are not cluster scoped must supply at least one namespace";
        report.required(&at.child("namespaces"), why);
    }
    let list = rule.get("namespaces").unwrap_or(&Value::Null);
    let any = namespaces.iter().any(|namespace| namespace.as_str() == Some("*"));
    if any && namespaces.len() > 1 {
        report.invalid(&at.child("namespaces"), list, "\"*\" may not be combined with other values");
    }
    for (index, namespace) in
        namespaces.iter().filter_map(Value::as_str).enumerate().filter(|(_, n)| *n != "*")
    {
        for problem in names::dns_label(namespace) {
            let at = at.child("namespaces").index(index);
            report.invalid_text(&at, namespace, format!("not a valid namespace name: {problem}"));
        }
    }
}

/// Checks that a list names something, and nothing else beside "everything".
fn listed(rule: &Value, field: &str, why: &str, at: &Path, report: &mut Report) {
    let items = rule.items_at(&[field]);
    if items.is_empty() {
        report.required(&at.child(field), why);
    } else if items.len() > 1 && items.iter().any(|item| item.as_str() == Some("*")) {
        let list = rule.get(field).unwrap_or(&Value::Null);
        let why = if field == "verbs" {
            "if '*' is present, must not specify other verbs".to_owned()
        } else {
            "if '*' is present, must not specify other values".to_owned()
        };
        report.invalid(&at.child(field), list, why);
    }
}

/// Checks a PriorityLevelConfiguration.
pub(crate) fn priority_level(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let has = |field: &str| spec.get(field).is_some_and(|part| !part.is_null());
    match spec.str_at(&["type"]).unwrap_or_default() {
        "Exempt" if has("limited") => {
            report.forbidden(&at.child("limited"), "must be nil if the type is not Limited");
        }
        "Exempt" => {}
        "Limited" => {
            if has("exempt") {
                report.forbidden(&at.child("exempt"), "must be nil if the type is Limited");
            }
            if !has("limited") {
                report.required(&at.child("limited"), "must not be empty when type is Limited");
            }
        }
        other => report.not_supported(&at.child("type"), other, &["Exempt", "Limited"]),
    }
}
