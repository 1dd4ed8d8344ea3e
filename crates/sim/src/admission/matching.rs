//! Which rules and selectors a write falls under.

use lynceus_object::{Gvk, Object, Value};

use super::Write;
use crate::ApiError;
use crate::auth::selects;
use crate::crd;
use crate::kinds;
use crate::view::View;

const ADMISSION: &str = "admissionregistration.k8s.io";

/// Whether a write is about admission itself, which never goes through admission.
pub(super) fn is_exempt(write: &Write<'_>) -> bool {
    let resource = &write.admission.resource;
    resource.group == ADMISSION
        && matches!(
            resource.resource.as_str(),
            "validatingwebhookconfigurations"
                | "mutatingwebhookconfigurations"
                | "validatingadmissionpolicies"
                | "validatingadmissionpolicybindings"
                | "mutatingadmissionpolicies"
                | "mutatingadmissionpolicybindings"
        )
}

/// How a rule matches: as the request stands, or in another version of the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Exact,
    In { version: String },
}

/// The first rule that the write falls under, if any. `exact` forbids other versions.
pub(super) fn by_rules(view: &dyn View, rules: &[Value], exact: bool, write: &Write<'_>) -> Option<Match> {
    if rules.iter().any(|rule| rule_matches(rule, write, true)) {
        return Some(Match::Exact);
    }
    if exact {
        return None;
    }
    rules.iter().filter(|rule| rule_matches(rule, write, false)).find_map(|rule| {
        let versions = words(rule, "apiVersions");
        versions
            .into_iter()
            .find(|version| is_served(view, write, version))
            .map(|version| Match::In { version: version.to_owned() })
    })
}

fn words<'v>(rule: &'v Value, field: &str) -> Vec<&'v str> {
    rule.items_at(&[field]).iter().filter_map(Value::as_str).collect()
}

fn rule_matches(rule: &Value, write: &Write<'_>, with_version: bool) -> bool {
    let admission = write.admission;
    let lists =
        |field: &str, word: &str| words(rule, field).iter().any(|known| *known == "*" || *known == word);
    lists("operations", admission.operation.word())
        && lists("apiGroups", &admission.resource.group)
        && (!with_version || lists("apiVersions", &admission.resource.version))
        && words(rule, "resources").iter().any(|known| resource_matches(known, write))
        && scope_matches(rule.str_at(&["scope"]).unwrap_or("*"), write)
        && names_match(rule, write)
}

fn resource_matches(wanted: &str, write: &Write<'_>) -> bool {
    let (resource, subresource) = wanted.split_once('/').unwrap_or((wanted, ""));
    let admission = write.admission;
    let same = |wanted: &str, found: &str| wanted == "*" || wanted == found;
    same(resource, &admission.resource.resource) && same(subresource, &admission.subresource)
}

fn scope_matches(scope: &str, write: &Write<'_>) -> bool {
    let is_namespace = is_namespace(write);
    match scope {
        "Namespaced" => !write.admission.namespace.is_empty() && !is_namespace,
        "Cluster" => write.admission.namespace.is_empty() || is_namespace,
        _ => true,
    }
}

fn names_match(rule: &Value, write: &Write<'_>) -> bool {
    let names = words(rule, "resourceNames");
    names.is_empty() || names.contains(&write.admission.name.as_str())
}

fn is_namespace(write: &Write<'_>) -> bool {
    let resource = &write.admission.resource;
    resource.group.is_empty() && resource.resource == "namespaces"
}

/// Whether the write's kind is also served in `version`.
fn is_served(view: &dyn View, write: &Write<'_>, version: &str) -> bool {
    let admission = write.admission;
    if !admission.subresource.is_empty() {
        return false;
    }
    let gvk = Gvk::new(admission.kind.group.clone(), version, admission.kind.kind.clone());
    if kinds::resource_of(&gvk).is_some() {
        return true;
    }
    let name = format!("{}.{}", admission.resource.resource, admission.resource.group);
    let definition = view.get("apiextensions.k8s.io", "customresourcedefinitions", "", &name);
    definition.is_some_and(|definition| {
        crd::is_true(&definition, "Established")
            && definition.value().items_at(&["spec", "versions"]).iter().any(|known| {
                known.str_at(&["name"]) == Some(version) && known.bool_at(&["served"]).unwrap_or(false)
            })
    })
}

/// An object in another version of its kind.
pub(super) fn in_version(object: &Object, version: &str) -> Object {
    let mut gvk = object.gvk();
    gvk.version = version.into();
    match kinds::resource_of(&gvk) {
        Some(resource) => kinds::convert(object.clone(), resource),
        None => {
            let mut out = object.clone();
            out.set(&["apiVersion"], gvk.api_version());
            out
        }
    }
}

/// Whether the namespace that the write is in has the labels that a selector asks for. A Namespace is
/// its own; other cluster-scoped objects are in none and always match.
pub(super) fn by_namespace(
    view: &dyn View,
    selector: Option<&Value>,
    write: &Write<'_>,
) -> Result<bool, ApiError> {
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else { return Ok(true) };
    if is_namespace(write) {
        let itself = write.object.or(write.old);
        return Ok(itself.is_none_or(|namespace| selects(selector, namespace)));
    }
    let name = write.admission.namespace.as_str();
    if name.is_empty() {
        return Ok(true);
    }
    match view.get("", "namespaces", "", name) {
        Some(namespace) => Ok(selects(selector, &namespace)),
        None => Err(ApiError::not_found("", "namespaces", name)),
    }
}

/// Whether the object, as it was or as it will be, has the labels that a selector asks for.
pub(super) fn by_object(selector: Option<&Value>, write: &Write<'_>) -> bool {
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else { return true };
    [write.object, write.old].into_iter().flatten().any(|object| selects(selector, object))
}
