//! The names that models, documents and operations have.

use crate::kinds::Resource;

/// The path of the document that describes a resource: `api/v1`, `apis/apps/v1`.
pub(super) fn document(resource: &Resource) -> String {
    if resource.group.is_empty() {
        format!("api/{}", resource.version)
    } else {
        format!("apis/{}/{}", resource.group, resource.version)
    }
}

/// The name of a model of the table: `core/v1.PodSpec` is `io.k8s.api.core.v1.PodSpec`.
pub(super) fn model(full_name: &str) -> String {
    let (package, name) = full_name.split_once('/').unwrap_or(("", full_name));
    let place = match package {
        "meta" => "io.k8s.apimachinery.pkg.apis.meta",
        "apiextensions" => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
        "apiregistration" => "io.k8s.kube-aggregator.pkg.apis.apiregistration",
        _ => return format!("io.k8s.api.{package}.{name}"),
    };
    format!("{place}.{name}")
}

/// The name of a custom resource's model: its group from the right, then version and kind.
pub(super) fn custom_model(resource: &Resource, kind: &str) -> String {
    let mut parts: Vec<&str> = resource.group.split('.').collect();
    parts.reverse();
    format!("{}.{}.{kind}", parts.join("."), resource.version)
}

/// The group and version in an operation's name: `AppsV1`, `RbacAuthorizationV1`, `CoreV1`.
pub(super) fn operation_group(resource: &Resource) -> String {
    let group = if resource.group.is_empty() { "core" } else { resource.group.as_str() };
    let group = group.strip_suffix(".k8s.io").unwrap_or(group);
    let words = group.split(['.', '-']).chain([resource.version.as_str()]);
    words.map(capitalized).collect()
}

/// The tag of a resource's operations: `apps_v1`.
pub(super) fn tag(resource: &Resource) -> String {
    let group = if resource.group.is_empty() { "core" } else { resource.group.as_str() };
    let group = group.strip_suffix(".k8s.io").unwrap_or(group);
    let mut words = group.split('.');
    let first = words.next().unwrap_or_default().to_owned();
    let camel: String = words.map(capitalized).collect();
    format!("{first}{camel}_{}", resource.version)
}

/// A word with a capital letter.
pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
