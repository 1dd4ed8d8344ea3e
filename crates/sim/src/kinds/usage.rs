//! How much an object uses of what is limited: what pods ask for as a whole, and what quotas count.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Quantity, Value};

use super::quality::{amount_of, class};

/// Amounts by the name of the resource.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

const STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";
/// Object counts that had a name before there was `count/`.
const OLD_COUNTS: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];
/// What belongs to pods among the names that quotas know.
const OF_PODS: [&str; 11] = [
    "count/pods",
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
];
/// What every container has to say as soon as a quota counts it.
const REQUIRED: [&str; 6] =
    ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/// The amounts of a map such as `resources.requests`.
pub(crate) fn amounts(list: Option<&Value>) -> Amounts {
    let entries = list.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    entries.filter_map(|(name, amount)| Some((name.to_string(), amount_of(amount)?))).collect()
}

/// The sum of both.
pub(crate) fn add(total: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = total.entry(name.clone()).or_insert(Quantity::ZERO);
        *sum = *sum + *amount;
    }
}

fn raise(total: &mut Amounts, least: &Amounts) {
    for (name, amount) in least {
        let known = total.entry(name.clone()).or_insert(*amount);
        *known = (*known).max(*amount);
    }
}

/// What a pod needs as a whole: `list` is `requests` or `limits`. Containers that start before the others
/// count where they need more than those, and always if they stay.
pub(crate) fn of_pod(pod: &Value, list: &str) -> Amounts {
    let of = |container: &Value| amounts(container.at(&["resources", list]));
    let mut total = Amounts::new();
    for container in pod.items_at(&["spec", "containers"]) {
        add(&mut total, &of(container));
    }
    let (mut staying, mut first) = (Amounts::new(), Amounts::new());
    for container in pod.items_at(&["spec", "initContainers"]) {
        let mut needed = of(container);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            add(&mut total, &needed);
            add(&mut staying, &needed);
            needed = staying.clone();
        } else {
            add(&mut needed, &staying);
        }
        raise(&mut first, &needed);
    }
    raise(&mut total, &first);
    for (name, amount) in amounts(pod.at(&["spec", "resources", list])) {
        if matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-") {
            total.insert(name, amount);
        }
    }
    total
}

/// The same with what it costs to run the pod at all.
fn with_overhead(pod: &Value, list: &str) -> Amounts {
    let mut total = of_pod(pod, list);
    let mut overhead = amounts(pod.at(&["spec", "overhead"]));
    if list == "limits" {
        overhead.retain(|name, _| total.contains_key(name));
    }
    add(&mut total, &overhead);
    total
}

/// What quotas count of requests and limits, under the names that they have for it.
fn computed(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut used = Amounts::from([("pods".to_owned(), one())]);
    for (name, amount) in requests {
        let native = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        if native || name.starts_with("hugepages-") {
            used.insert(name.clone(), *amount);
        }
        if native || name.starts_with("hugepages-") || is_extended(name) {
            used.insert(format!("requests.{name}"), *amount);
        }
    }
    for (name, amount) in limits {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            used.insert(format!("limits.{name}"), *amount);
        }
    }
    used
}

fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests.")
}

fn one() -> Quantity {
    count(1)
}

fn count(number: usize) -> Quantity {
    Quantity::parse(&number.to_string()).unwrap_or(Quantity::ZERO)
}

/// What an object counts for, by the names that quotas have for it.
pub(crate) fn of(group: &str, resource: &str, object: &Object, now: Timestamp) -> Amounts {
    let mut used = Amounts::from([(counted_as(group, resource), one())]);
    let value = object.value();
    match (group, resource) {
        ("", "pods") if is_living(object, now) => {
            let (requests, limits) = (with_overhead(value, "requests"), with_overhead(value, "limits"));
            used.extend(computed(&requests, &limits));
        }
        ("", "services") => {
            let ports = value.items_at(&["spec", "ports"]);
            let chosen = ports.iter().filter(|port| port.int_at(&["nodePort"]).unwrap_or(0) != 0).count();
            let (balancers, node_ports) = match value.str_at(&["spec", "type"]) {
                Some("NodePort") => (0, ports.len()),
                Some("LoadBalancer")
                    if value.bool_at(&["spec", "allocateLoadBalancerNodePorts"]) == Some(false) =>
                {
                    (1, chosen)
                }
                Some("LoadBalancer") => (1, ports.len()),
                _ => (0, 0),
            };
            used.insert("services".into(), one());
            used.insert("services.loadbalancers".into(), count(balancers));
            used.insert("services.nodeports".into(), count(node_ports));
        }
        ("", "persistentvolumeclaims") => {
            let class = object
                .annotation("volume.beta.kubernetes.io/storage-class")
                .or_else(|| value.str_at(&["spec", "storageClassName"]))
                .unwrap_or_default();
            let mut parts = vec![("persistentvolumeclaims", one())];
            parts.extend(storage(value).map(|amount| ("requests.storage", amount)));
            for (name, amount) in parts {
                used.insert(name.to_owned(), amount);
                if !class.is_empty() {
                    used.insert(format!("{class}{STORAGE_CLASS}{name}"), amount);
                }
            }
        }
        ("", name) if OLD_COUNTS.contains(&name) => drop(used.insert(name.to_owned(), one())),
        _ => {}
    }
    used
}

/// What a claim takes: what it asks for, or what it was given if that is more.
fn storage(claim: &Value) -> Option<Quantity> {
    let wanted = claim.at(&["spec", "resources", "requests", "storage"]).and_then(amount_of)?;
    let given = claim.at(&["status", "allocatedResources", "storage"]).and_then(amount_of);
    let amount = given.filter(|given| *given > wanted).unwrap_or(wanted);
    Some(if amount.is_whole() {
        amount
    } else {
        Quantity::parse(&amount.value().to_string()).unwrap_or(amount)
    })
}

/// Whether a pod still counts: one that has ended does not, nor one that should long be gone.
fn is_living(pod: &Object, now: Timestamp) -> bool {
    let value = pod.value();
    if matches!(value.str_at(&["status", "phase"]), Some("Succeeded" | "Failed")) {
        return false;
    }
    let deleted = value
        .str_at(&["metadata", "deletionTimestamp"])
        .and_then(|text| text.parse::<Timestamp>().ok())
        .zip(value.int_at(&["metadata", "deletionGracePeriodSeconds"]));
    deleted.is_none_or(|(at, grace)| {
        at.checked_add(SignedDuration::from_secs(grace)).is_ok_and(|gone| now <= gone)
    })
}

/// `count/deployments.apps`
fn counted_as(group: &str, resource: &str) -> String {
    if group.is_empty() { format!("count/{resource}") } else { format!("count/{resource}.{group}") }
}

/// The kind whose objects count for a name of a quota; none for a name that nothing counts for.
pub(crate) fn counts(name: &str) -> Option<(&str, &str)> {
    if OF_PODS.contains(&name) || name.starts_with("hugepages-") || name.starts_with("requests.hugepages-") {
        return Some(("", "pods"));
    }
    if let Some(counted) = name.strip_prefix("count/") {
        let (resource, group) = counted.split_once('.').unwrap_or((counted, ""));
        return Some((group, resource));
    }
    match name {
        "services" | "services.loadbalancers" | "services.nodeports" => Some(("", "services")),
        "persistentvolumeclaims" | "requests.storage" => Some(("", "persistentvolumeclaims")),
        name if name.contains(STORAGE_CLASS) => Some(("", "persistentvolumeclaims")),
        name if OLD_COUNTS.contains(&name) => Some(("", name)),
        name if name.strip_prefix("requests.").is_some_and(is_extended) => Some(("", "pods")),
        _ => None,
    }
}

/// Whether an object is one that a quota is about, by the quota's scopes.
pub(crate) fn in_scope(quota: &Object, group: &str, resource: &str, object: &Object) -> bool {
    let spec = quota.at(&["spec"]).unwrap_or(&Value::Null);
    let plain = spec.items_at(&["scopes"]).iter().filter_map(Value::as_str);
    let mut plain = plain.map(|scope| (scope, "Exists", &[] as &[Value]));
    let selected = spec.items_at(&["scopeSelector", "matchExpressions"]).iter().map(|expression| {
        let text = |field: &str| expression.str_at(&[field]).unwrap_or_default();
        (text("scopeName"), text("operator"), expression.items_at(&["values"]))
    });
    let mut selected = selected;
    let holds = |(scope, operator, values): (&str, &str, &[Value])| match (group, resource) {
        ("", "pods") => pod_in_scope(object.value(), scope, operator, values),
        ("", "persistentvolumeclaims") if scope == "VolumeAttributesClass" => {
            let classes = attributes_classes(object.value());
            if classes.is_empty() {
                selects(None, operator, values)
            } else {
                classes.iter().any(|class| selects(Some(class), operator, values))
            }
        }
        _ => false,
    };
    plain.all(holds) && selected.all(holds)
}

fn pod_in_scope(pod: &Value, scope: &str, operator: &str, values: &[Value]) -> bool {
    match scope {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => class(pod) == "BestEffort",
        "NotBestEffort" => class(pod) != "BestEffort",
        "PriorityClass" => {
            let name = pod.str_at(&["spec", "priorityClassName"]).filter(|name| !name.is_empty());
            selects(name, operator, values)
        }
        "CrossNamespacePodAffinity" => has_affinity_elsewhere(pod),
        _ => false,
    }
}

/// Whether a pod ends by itself after some time.
pub(crate) fn is_terminating(pod: &Value) -> bool {
    pod.int_at(&["spec", "activeDeadlineSeconds"]).is_some_and(|seconds| seconds >= 0)
}

fn selects(name: Option<&str>, operator: &str, values: &[Value]) -> bool {
    let listed = name.is_some_and(|name| values.iter().any(|value| value.as_str() == Some(name)));
    match operator {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => name.is_some(),
        "DoesNotExist" => name.is_none(),
        _ => false,
    }
}

fn attributes_classes(claim: &Value) -> Vec<&str> {
    let paths: [&[&str]; 3] = [
        &["spec", "volumeAttributesClassName"],
        &["status", "currentVolumeAttributesClassName"],
        &["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"],
    ];
    paths.into_iter().filter_map(|path| claim.str_at(path)).filter(|name| !name.is_empty()).collect()
}

fn has_affinity_elsewhere(pod: &Value) -> bool {
    let elsewhere = |term: &Value| {
        !term.items_at(&["namespaces"]).is_empty()
            || term.get("namespaceSelector").is_some_and(|selector| !selector.is_null())
    };
    ["podAffinity", "podAntiAffinity"].into_iter().any(|kind| {
        let terms = |list: &str| pod.items_at(&["spec", "affinity", kind, list]).iter();
        terms("requiredDuringSchedulingIgnoredDuringExecution").any(elsewhere)
            || terms("preferredDuringSchedulingIgnoredDuringExecution")
                .filter_map(|term| term.get("podAffinityTerm"))
                .any(elsewhere)
    })
}

/// What the containers of a pod have to say and do not, in the original's words.
pub(crate) fn missing(pod: &Value, names: &[&str]) -> Option<String> {
    if pod.at(&["spec", "resources"]).is_some_and(|resources| {
        ["requests", "limits"].iter().any(|list| {
            resources.get(list).and_then(Value::as_map).is_some_and(|map| map.iter().next().is_some())
        })
    }) {
        return None;
    }
    let mut lacking: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for list in ["containers", "initContainers"] {
        for container in pod.items_at(&["spec", list]) {
            let part = |list: &str| amounts(container.at(&["resources", list]));
            let said = computed(&part("requests"), &part("limits"));
            for name in names.iter().filter(|name| REQUIRED.contains(name) && !said.contains_key(**name)) {
                lacking.entry(name).or_default().push(container.str_at(&["name"]).unwrap_or_default());
            }
        }
    }
    let lines: Vec<String> = lacking
        .into_iter()
        .map(|(name, mut containers)| {
            containers.sort_unstable();
            containers.dedup();
            format!("{name} for: {}", containers.join(","))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("must specify {}", lines.join("; ")))
}
