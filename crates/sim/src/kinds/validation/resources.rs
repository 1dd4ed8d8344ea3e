//! Amounts of resources: what containers ask for, quotas, limits.

use lynceus_object::{Quantity, Value};

use super::container::Pod;
use super::names;
use super::report::{Path, Report};
use crate::kinds::amount_of;
use crate::{FieldError, FieldErrorKind};

/// Checks what a container asks for and may use.
pub(crate) fn container(pod: &Pod<'_>, container: &Value, at: &Path, report: &mut Report) {
    let Some(resources) = container.get("resources") else { return };
    requirements(resources, container_resource, at, report);
    claims(pod, resources, &at.child("claims"), report);
}

/// Checks requests and limits; `name` is the check of a resource's name.
pub(crate) fn requirements(
    resources: &Value,
    name: fn(&str, &Path, &mut Report),
    at: &Path,
    report: &mut Report,
) {
    let (mut huge, mut plain) = (false, false);
    for (resource, amount) in amounts(resources.get("limits")) {
        let here = at.child("limits").key(resource);
        name(resource, &here, report);
        resource_amount(resource, amount, &here, report);
        whole_pages(resource, amount, &here, report);
        huge |= resource.starts_with("hugepages-");
        plain |= matches!(resource, "cpu" | "memory");
    }
    for (resource, amount) in amounts(resources.get("requests")) {
        let requests = at.child("requests");
        let here = requests.key(resource);
        name(resource, &here, report);
        resource_amount(resource, amount, &here, report);
        whole_pages(resource, amount, &here, report);
        let limit = resources.at(&["limits", resource]).and_then(amount_of);
        match limit {
            Some(limit) if amount != limit && !may_overcommit(resource) => {
                let why = format!("must be equal to {resource} limit of {limit}");
                report.invalid_text(&requests, &amount.to_string(), why);
            }
            Some(limit) if amount > limit => {
                let why = format!("must be less than or equal to {resource} limit of {limit}");
                report.invalid_text(&requests, &amount.to_string(), why);
            }
            None if !may_overcommit(resource) => {
                report.required(&at.child("limits"), "Limit must be set for non overcommitable resources");
            }
            _ => {}
        }
        huge |= resource.starts_with("hugepages-");
        plain |= matches!(resource, "cpu" | "memory");
    }
    if huge && !plain {
        report.forbidden(at, "HugePages require cpu or memory");
    }
}

/// Checks that an amount of huge pages is a number of whole ones.
fn whole_pages(resource: &str, amount: Quantity, at: &Path, report: &mut Report) {
    let Some(size) = resource.strip_prefix("hugepages-") else { return };
    let size = Quantity::parse(size).map_or(0, |size| size.value());
    if size <= 0 || amount.value() % size != 0 {
        let why = format!("{amount} is not positive integer multiple of {resource}");
        report.invalid_text(at, &amount.to_string(), why);
    }
}

/// The amounts of a map, in key order; texts that are no amounts were refused when they were read.
pub(crate) fn amounts(map: Option<&Value>) -> impl Iterator<Item = (&str, Quantity)> {
    let fields = map.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    fields.filter_map(|(name, value)| Some((name.as_str(), amount_of(value)?)))
}

/// Checks an amount of a resource.
pub(crate) fn resource_amount(resource: &str, amount: Quantity, at: &Path, report: &mut Report) {
    not_negative(amount, at, report);
    if is_counted(resource) && !amount.is_whole() {
        report.invalid_text(at, &amount.to_string(), "must be an integer");
    }
}

/// Checks that an amount is not below nothing.
pub(crate) fn not_negative(amount: Quantity, at: &Path, report: &mut Report) {
    if amount.is_negative() {
        report.invalid_text(at, &amount.to_string(), "must be greater than or equal to 0");
    }
}

/// Whether a resource is counted in whole pieces.
fn is_counted(resource: &str) -> bool {
    let counted = [
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    ];
    counted.contains(&resource) || is_extended(resource)
}

/// Whether more of a resource may be promised than there is.
fn may_overcommit(resource: &str) -> bool {
    is_native(resource) && !resource.starts_with("hugepages-")
}

fn is_native(resource: &str) -> bool {
    !resource.contains('/') || resource.contains("kubernetes.io/")
}

/// Whether a resource is one that a cluster adds, such as `example.com/gpu`.
fn is_extended(resource: &str) -> bool {
    !is_native(resource)
        && !resource.starts_with("requests.")
        && names::label_key(&format!("requests.{resource}")).is_empty()
}

/// Checks the name of a resource that a container asks for.
pub(crate) fn container_resource(resource: &str, at: &Path, report: &mut Report) {
    let before = report.len();
    resource_name(resource, at, report);
    if !resource.contains('/') {
        let standard =
            matches!(resource, "cpu" | "memory" | "ephemeral-storage") || resource.starts_with("hugepages-");
        if !standard {
            report.invalid_text(at, resource, "must be a standard resource for containers");
        }
    } else if report.len() == before && !is_native(resource) && !is_extended(resource) {
        report.invalid_text(at, resource, "doesn't follow extended resource name standard");
    }
}

/// Checks the name of a resource.
pub(crate) fn resource_name(resource: &str, at: &Path, report: &mut Report) {
    let problems = names::label_key(resource);
    if !problems.is_empty() {
        report.each(at, resource, problems);
    } else if !resource.contains('/') && !is_standard(resource) {
        report.invalid_text(at, resource, "must be a standard resource type or fully qualified");
    }
}

fn is_standard(resource: &str) -> bool {
    const STANDARD: [&str; 20] = [
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "storage",
        "requests.storage",
        "services.nodeports",
        "services.loadbalancers",
    ];
    STANDARD.contains(&resource)
        || resource.starts_with("hugepages-")
        || resource.starts_with("requests.hugepages-")
        || resource.starts_with("count/")
}

fn claims(pod: &Pod<'_>, resources: &Value, at: &Path, report: &mut Report) {
    let known: Vec<&str> =
        pod.spec.items_at(&["resourceClaims"]).iter().filter_map(|claim| claim.str_at(&["name"])).collect();
    let mut seen: Vec<String> = Vec::new();
    for (index, claim) in resources.items_at(&["claims"]).iter().enumerate() {
        let at = at.index(index);
        let name = claim.str_at(&["name"]).unwrap_or_default();
        if name.is_empty() {
            report.required(&at, "");
            continue;
        }
        let key = match claim.str_at(&["request"]).unwrap_or_default() {
            "" => name.to_owned(),
            request => {
                report.each(&at.child("request"), request, names::dns_label(request));
                format!("{name}/{request}")
            }
        };
        if seen.contains(&key) || seen.iter().any(|known| known == name) {
            report.duplicate(&at, &key.as_str().into());
        }
        seen.push(key);
        if !known.contains(&name) {
            let mut all = known.clone();
            all.sort_unstable();
            let list =
                if all.is_empty() { " which is empty".to_owned() } else { format!(": {}", all.join(", ")) };
            report.push(FieldError {
                kind: FieldErrorKind::NotFound,
                field: at.to_string(),
                value: crate::kinds::gofmt::quoted(name),
                detail: format!("must be one of the names in pod.spec.resourceClaims{list}"),
            });
        }
    }
}
