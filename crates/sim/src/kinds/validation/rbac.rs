//! Roles and who has them.

use lynceus_object::{Object, Value};

use super::meta;
use super::names;
use super::report::{Path, Report, same};
use super::selector;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Checks a Role or ClusterRole.
pub(crate) fn role(object: &Object, namespaced: bool, report: &mut Report) {
    meta::create(object, namespaced, names::path_segment, report);
    rules(object, namespaced, report);
}

fn rules(object: &Object, namespaced: bool, report: &mut Report) {
    for (index, rule) in object.value().items_at(&["rules"]).iter().enumerate() {
        policy_rule(rule, namespaced, &Path::new("rules").index(index), report);
    }
    let Some(aggregation) = object.at(&["aggregationRule"]).filter(|rule| !rule.is_null()) else { return };
    let at = Path::new("aggregationRule.clusterRoleSelectors");
    let selectors = aggregation.items_at(&["clusterRoleSelectors"]);
    if selectors.is_empty() {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        report.required(&at, why);
    }
    for (index, one) in selectors.iter().enumerate() {
        selector::label_selector(Some(one), &at.index(index), report);
        if !selector::is_usable(one) {
            // The original shows the selector that it failed to make.
            report.invalid(&at.index(index), &Value::Null, "invalid label selector.");
        }
    }
}

fn policy_rule(rule: &Value, namespaced: bool, at: &Path, report: &mut Report) {
    let is_empty = |field: &str| rule.items_at(&[field]).is_empty();
    if is_empty("verbs") {
        report.required(&at.child("verbs"), "verbs must contain at least one value");
    }
    if !is_empty("nonResourceURLs") {
        let at = at.child("nonResourceURLs");
        let urls = rule.get("nonResourceURLs").unwrap_or(&Value::Null);
        if namespaced {
            report.invalid(&at, urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if ["apiGroups", "resources", "resourceNames"].iter().any(|field| !is_empty(field)) {
            report.invalid(&at, urls, "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    if is_empty("apiGroups") {
        report.required(&at.child("apiGroups"), "resource rules must supply at least one api group");
    }
    if is_empty("resources") {
        report.required(&at.child("resources"), "resource rules must supply at least one resource");
    }
}

/// Checks a RoleBinding or ClusterRoleBinding.
pub(crate) fn binding(object: &Object, namespaced: bool, report: &mut Report) {
    meta::create(object, namespaced, names::path_segment, report);
    let at = Path::new("roleRef");
    let text = |field: &str| object.value().str_at(&["roleRef", field]).unwrap_or_default();
    if text("apiGroup") != GROUP {
        report.not_supported(&at.child("apiGroup"), text("apiGroup"), &[GROUP]);
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&text("kind")) {
        report.not_supported(&at.child("kind"), text("kind"), kinds);
    }
    match text("name") {
        "" => report.required(&at.child("name"), ""),
        name => report.each(&at.child("name"), name, names::path_segment(name)),
    }
    for (index, one) in object.value().items_at(&["subjects"]).iter().enumerate() {
        subject(one, namespaced, &Path::new("subjects").index(index), report);
    }
}

fn subject(subject: &Value, namespaced: bool, at: &Path, report: &mut Report) {
    let text = |field: &str| subject.str_at(&[field]).unwrap_or_default();
    if text("name").is_empty() {
        report.required(&at.child("name"), "");
    }
    match text("kind") {
        "ServiceAccount" => {
            if !text("name").is_empty() {
                report.each(&at.child("name"), text("name"), names::dns_subdomain(text("name")));
            }
            if !text("apiGroup").is_empty() {
                report.not_supported(&at.child("apiGroup"), text("apiGroup"), &[""]);
            }
            if !namespaced && text("namespace").is_empty() {
                report.required(&at.child("namespace"), "");
            }
        }
        "User" | "Group" => {
            if text("apiGroup") != GROUP {
                report.not_supported(&at.child("apiGroup"), text("apiGroup"), &[GROUP]);
            }
        }
        other => report.not_supported(&at.child("kind"), other, &["ServiceAccount", "User", "Group"]),
    }
}

/// Checks a changed binding: the role stays.
pub(crate) fn binding_update(new: &Object, old: &Object, namespaced: bool, report: &mut Report) {
    binding(new, namespaced, report);
    meta::update(new, old, report);
    if !same(new.at(&["roleRef"]), old.at(&["roleRef"])) {
        let text = |field: &str| new.value().str_at(&["roleRef", field]).unwrap_or_default();
        let shown = format!(
            "{{\"APIGroup\":{:?},\"Kind\":{:?},\"Name\":{:?}}}",
            text("apiGroup"),
            text("kind"),
            text("name")
        );
        report.push(crate::FieldError::invalid("roleRef", shown, "cannot change roleRef"));
    }
}

/// Checks a changed role.
pub(crate) fn role_update(new: &Object, old: &Object, namespaced: bool, report: &mut Report) {
    role(new, namespaced, report);
    meta::update(new, old, report);
}
