//! Pod Security Standards: what the labels of a namespace ask of its pods.
//!
//! | module | what it is |
//! |---|---|
//! | [`level`] | the labels, read |
//! | [`check`] | which check belongs to which level in which release |
//! | [`capabilities`], [`host`], [`kernel`], [`user`], [`volumes`] | the checks |
//!
//! Pods are refused. Whatever makes pods is only warned of, and so is a namespace whose pods would not be
//! let in any more: they stay.

mod capabilities;
mod check;
mod host;
mod kernel;
mod level;
mod user;
mod volumes;

use std::collections::BTreeMap;

use lynceus_object::{Object, Value};

use super::Write;
use super::limits::NAMESPACE_PODS;
use crate::ApiError;
use crate::attributes::Operation;
use crate::view::View;
use check::Violation;
use level::{Level, Policy, Standard};

/// Parts of a pod whose changes nobody has to look at.
const IGNORED: [&str; 8] = ["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"];

/// Refuses pods and labels; gives what is to be warned of.
pub(super) fn validate(view: &dyn View, write: &Write<'_>) -> Result<Vec<String>, ApiError> {
    let admission = write.admission;
    let Some(object) = write.object else { return Ok(Vec::new()) };
    let part = admission.subresource.as_str();
    match (admission.resource.group.as_str(), admission.resource.resource.as_str()) {
        ("", "namespaces") if part.is_empty() => namespace(view, write, object),
        ("", "pods") if !IGNORED.contains(&part) => pod(view, write, object),
        (group, resource) if part.is_empty() => Ok(template(group, resource)
            .and_then(|path| object.at(path))
            .and_then(|template| workload(view, write, template))
            .into_iter()
            .collect()),
        _ => Ok(Vec::new()),
    }
}

/// Where the template of a kind's pods is.
fn template(group: &str, resource: &str) -> Option<&'static [&'static str]> {
    match (group, resource) {
        ("", "podtemplates") => Some(&["template"]),
        ("", "replicationcontrollers")
        | ("apps", "replicasets" | "deployments" | "statefulsets" | "daemonsets")
        | ("batch", "jobs") => Some(&["spec", "template"]),
        ("batch", "cronjobs") => Some(&["spec", "jobTemplate", "spec", "template"]),
        _ => None,
    }
}

fn policy(view: &dyn View, write: &Write<'_>) -> Option<Policy> {
    let namespace = view.get("", "namespaces", "", &write.admission.namespace)?;
    let (policy, _) = Policy::of(&namespace);
    Some(policy)
}

fn pod(view: &dyn View, write: &Write<'_>, pod: &Object) -> Result<Vec<String>, ApiError> {
    let admission = write.admission;
    let Some(policy) = policy(view, write) else { return Ok(Vec::new()) };
    if admission.operation == Operation::Update && write.old.is_some_and(|old| !is_significant(pod, old)) {
        return Ok(Vec::new());
    }
    let found = violations(policy.enforce, pod.value());
    if !found.is_empty() {
        let why = format!("violates PodSecurity \"{}\": {}", policy.enforce, detailed(&found));
        return Err(ApiError::forbidden("", "pods", &admission.name, &why));
    }
    Ok(warning(policy.warn, pod.value()).into_iter().collect())
}

fn workload(view: &dyn View, write: &Write<'_>, template: &Value) -> Option<String> {
    warning(policy(view, write)?.warn, template)
}

fn warning(standard: Standard, pod: &Value) -> Option<String> {
    let found = violations(standard, pod);
    (!found.is_empty()).then(|| format!("would violate PodSecurity \"{standard}\": {}", detailed(&found)))
}

fn violations(standard: Standard, pod: &Value) -> Vec<Violation> {
    let part = |name: &str| pod.get(name).unwrap_or(&Value::Null);
    check::run(standard, part("metadata"), part("spec"))
}

fn detailed(violations: &[Violation]) -> String {
    let each = violations.iter().map(|violation| format!("{} ({})", violation.reason, violation.detail));
    each.collect::<Vec<_>>().join(", ")
}

/// Whether a change is one that could make a pod worse: other images or other containers. The rest of
/// what matters cannot change.
fn is_significant(pod: &Object, old: &Object) -> bool {
    let images = |pod: &Object, list: &str| -> Vec<Option<String>> {
        let containers = pod.value().items_at(&["spec", list]).iter();
        containers.map(|container| container.str_at(&["image"]).map(str::to_owned)).collect()
    };
    let debugging = |pod: &Object| -> BTreeMap<String, Option<String>> {
        let containers = pod.value().items_at(&["spec", "ephemeralContainers"]).iter();
        containers
            .map(|container| {
                (check::name(container).to_owned(), container.str_at(&["image"]).map(str::to_owned))
            })
            .collect()
    };
    let known = debugging(old);
    ["containers", "initContainers"].into_iter().any(|list| images(pod, list) != images(old, list))
        || debugging(pod).iter().any(|(name, image)| known.get(name) != Some(image))
}

fn namespace(view: &dyn View, write: &Write<'_>, namespace: &Object) -> Result<Vec<String>, ApiError> {
    let (new, errors) = Policy::of(namespace);
    let refusal = || Err(ApiError::invalid("", "Namespace", namespace.name(), &errors));
    let Some(old) = write.old.filter(|_| write.admission.operation == Operation::Update) else {
        return if errors.is_empty() { Ok(Vec::new()) } else { refusal() };
    };
    let (old, old_errors) = Policy::of(old);
    if !errors.is_empty() && errors != old_errors {
        return refusal();
    }
    let (new, old) = (new.enforce, old.enforce);
    let relaxed = new.version == old.version && new.level <= old.level;
    if new == old || new.level == Level::Privileged || relaxed {
        return Ok(Vec::new());
    }
    Ok(existing(view, namespace.name(), new))
}

/// What is said of the pods of a namespace that would not be let in any more.
fn existing(view: &dyn View, namespace: &str, standard: Standard) -> Vec<String> {
    let (mut pods, total) = first_of_each(view.list("", "pods", Some(namespace)));
    pods.truncate(NAMESPACE_PODS);
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for pod in &pods {
        let reasons: Vec<String> =
            violations(standard, pod.value()).into_iter().map(|violation| violation.reason).collect();
        if !reasons.is_empty() {
            found.entry(reasons.join(", ")).or_default().push(pod.name());
        }
    }
    let mut warnings = Vec::new();
    if pods.len() < total {
        let checked = pods.len();
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {checked} of {total} existing pods"
        ));
    }
    if !found.is_empty() {
        warnings.push(format!(
            "existing pods in namespace \"{namespace}\" violate the new PodSecurity enforce level \"{standard}\""
        ));
    }
    let mut lines: Vec<String> = found
        .into_iter()
        .map(|(reasons, names)| {
            let first = names.iter().min().copied().unwrap_or_default();
            match names.len() {
                1 => format!("{first}: {reasons}"),
                2 => format!("{first} (and 1 other pod): {reasons}"),
                many => format!("{first} (and {} other pods): {reasons}", many - 1),
            }
        })
        .collect();
    lines.sort();
    warnings.extend(lines);
    warnings
}

/// Pods with one of each controller at the front, so that all sorts are seen where there are many.
fn first_of_each(pods: Vec<Object>) -> (Vec<Object>, usize) {
    let mut seen = std::collections::BTreeSet::new();
    let (mut first, rest): (Vec<Object>, Vec<Object>) = pods
        .into_iter()
        .partition(|pod| pod.controller().is_none_or(|owner| seen.insert(owner.uid.to_string())));
    first.extend(rest);
    let total = first.len();
    (first, total)
}

#[cfg(test)]
mod tests;
