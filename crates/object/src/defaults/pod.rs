//! What a pod, or the template of one, gets.

use crate::{Quantity, Str, Value, value};

use super::image::pull_policy;
use crate::edit::{each, fill, fill_from, fill_number, fill_text, has, part, part_or_new};

/// The three lists of containers in a pod's spec.
pub(crate) const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Fills in a whole pod.
pub(super) fn pod(pod: &mut Value) {
    let spec = part_or_new(pod, "spec");
    for list in ["containers", "initContainers"] {
        each(spec, &[list]).for_each(requests_from_limits);
    }
    pod_requests(spec);
    fill(spec, "enableServiceLinks", true);
    if spec.bool_at(&["hostNetwork"]).unwrap_or(false) {
        for list in ["containers", "initContainers"] {
            each(spec, &[list]).for_each(host_ports);
        }
    }
    pod_spec(spec);
}

/// Fills in the spec of a pod or of a template.
pub(super) fn pod_spec(spec: &mut Value) {
    fill_text(spec, "dnsPolicy", "ClusterFirst");
    fill_text(spec, "restartPolicy", "Always");
    fill(spec, "securityContext", value!({}));
    fill(spec, "terminationGracePeriodSeconds", 30);
    // Less than nothing means as soon as possible.
    if spec.int_at(&["terminationGracePeriodSeconds"]).is_some_and(|seconds| seconds < 0) {
        spec.set(&["terminationGracePeriodSeconds"], 1);
    }
    fill_text(spec, "schedulerName", "default-scheduler");
    // The old name of the field is kept in step with the new one.
    match (spec.str_at(&["serviceAccountName"]), spec.str_at(&["serviceAccount"])) {
        (Some(name), _) if !name.is_empty() => spec.set(&["serviceAccount"], name.to_owned()),
        (_, Some(name)) if !name.is_empty() => spec.set(&["serviceAccountName"], name.to_owned()),
        _ => {}
    }
    whole_thousandths(spec, &["overhead"]);
    each(spec, &["volumes"]).for_each(volume);
    for list in CONTAINER_LISTS {
        each(spec, &[list]).for_each(container);
    }
}

fn container(container: &mut Value) {
    for list in ["limits", "requests"] {
        whole_thousandths(container, &["resources", list]);
    }
    let policy = pull_policy(container.str_at(&["image"]).unwrap_or_default());
    fill_text(container, "imagePullPolicy", policy);
    fill_text(container, "terminationMessagePath", "/dev/termination-log");
    fill_text(container, "terminationMessagePolicy", "File");
    each(container, &["ports"]).for_each(|port| fill_text(port, "protocol", "TCP"));
    for variable in each(container, &["env"]) {
        if let Some(field) = part(variable, &["valueFrom", "fieldRef"]) {
            fill_text(field, "apiVersion", "v1");
        }
        if let Some(key) = part(variable, &["valueFrom", "fileKeyRef"]) {
            fill(key, "optional", false);
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = part(container, &[probe]) {
            handler(probe);
            fill_number(probe, "timeoutSeconds", 1);
            fill_number(probe, "periodSeconds", 10);
            fill_number(probe, "successThreshold", 1);
            fill_number(probe, "failureThreshold", 3);
        }
    }
    for hook in ["postStart", "preStop"] {
        if let Some(hook) = part(container, &["lifecycle", hook]) {
            handler(hook);
        }
    }
}

/// Amounts are no finer than thousandths.
fn whole_thousandths(holder: &mut Value, path: &[&str]) {
    let Some(Value::Map(amounts)) = part(holder, path) else { return };
    let finer = |(name, amount): (&Str, &Value)| {
        let amount = Quantity::parse(amount.as_str()?).ok()?;
        (!amount.is_whole_milli()).then(|| (name.clone(), Value::from(amount.rounded_to_milli().to_string())))
    };
    let rounded: Vec<(Str, Value)> = amounts.iter().filter_map(finer).collect();
    for (name, amount) in rounded {
        amounts.insert(name, amount);
    }
}

fn handler(handler: &mut Value) {
    if let Some(get) = part(handler, &["httpGet"]) {
        fill_text(get, "path", "/");
        fill_text(get, "scheme", "HTTP");
    }
    if let Some(call) = part(handler, &["grpc"]) {
        fill(call, "service", "");
    }
}

/// A limit without a request is also the request.
fn requests_from_limits(container: &mut Value) {
    let Some(limits) = container.at(&["resources", "limits"]).and_then(Value::as_map).cloned() else {
        return;
    };
    let resources = part_or_new(container, "resources");
    if !limits.is_empty() || has(resources, "requests") {
        fill_from(part_or_new(resources, "requests"), &limits);
    }
}

/// The same for resources of the pod as a whole, where only some may be named. What its containers ask for counts before.
fn pod_requests(spec: &mut Value) {
    let Some(limits) = spec.at(&["resources", "limits"]).and_then(Value::as_map).cloned() else { return };
    if limits.is_empty() {
        return;
    }
    let asked =
        ["cpu", "memory"].into_iter().filter_map(|name| Some((name, asked_for(spec, name)?.to_string())));
    let asked = asked.collect();
    fill_from(part_or_new(part_or_new(spec, "resources"), "requests"), &asked);
    let allowed = limits
        .into_iter()
        .filter(|(name, _)| matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-"))
        .collect();
    fill_from(part_or_new(part_or_new(spec, "resources"), "requests"), &allowed);
}

/// What the containers of a pod ask for of a resource: those that stay together, or one before them if that needs more.
fn asked_for(spec: &Value, resource: &str) -> Option<Quantity> {
    let of = |container: &Value| {
        let amount = container.at(&["resources", "requests", resource])?;
        let text = amount
            .as_str()
            .map_or_else(|| amount.as_int().map(|number| number.to_string()), |text| Some(text.into()))?;
        Quantity::parse(&text).ok()
    };
    let add = |sum: Option<Quantity>, more: Option<Quantity>| match (sum, more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (sum, more) => sum.or(more),
    };
    let staying = spec.items_at(&["containers"]).iter().fold(None, |sum, container| add(sum, of(container)));
    let (mut sidecars, mut first): (Option<Quantity>, Option<Quantity>) = (None, None);
    for container in spec.items_at(&["initContainers"]) {
        let needed = add(sidecars, of(container));
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            sidecars = needed;
        }
        first = first.max(needed);
    }
    add(staying, sidecars).max(first)
}

fn host_ports(container: &mut Value) {
    for port in each(container, &["ports"]) {
        let number = port.int_at(&["containerPort"]).unwrap_or_default();
        fill_number(port, "hostPort", number);
    }
}

fn volume(volume: &mut Value) {
    let sources = volume.as_map().map_or(0, |map| map.iter().filter(|(_, value)| !value.is_null()).count());
    if sources <= usize::from(has(volume, "name")) {
        volume.set(&["emptyDir"], value!({}));
    }
    if let Some(host) = part(volume, &["hostPath"]) {
        fill(host, "type", "");
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = part(volume, &[source]) {
            fill(source, "defaultMode", 0o644);
        }
    }
    each(volume, &["downwardAPI", "items"]).for_each(downward_item);
    each(volume, &["projected", "sources"]).for_each(projection);
    if let Some(image) = part(volume, &["image"]) {
        let policy = pull_policy(image.str_at(&["reference"]).unwrap_or_default());
        fill_text(image, "pullPolicy", policy);
    }
    if let Some(claim) = part(volume, &["ephemeral", "volumeClaimTemplate", "spec"]) {
        fill(claim, "volumeMode", "Filesystem");
    }
    disk(volume);
}

/// Fills in the disks that pods and persistent volumes name alike.
pub(super) fn disk(source: &mut Value) {
    if let Some(disk) = part(source, &["iscsi"]) {
        fill_text(disk, "iscsiInterface", "default");
    }
    if let Some(disk) = part(source, &["rbd"]) {
        fill_text(disk, "pool", "rbd");
        fill_text(disk, "user", "admin");
        fill_text(disk, "keyring", "/etc/ceph/keyring");
    }
    if let Some(disk) = part(source, &["scaleIO"]) {
        fill_text(disk, "storageMode", "ThinProvisioned");
        fill_text(disk, "fsType", "xfs");
    }
    if let Some(disk) = part(source, &["azureDisk"]) {
        fill(disk, "cachingMode", "ReadWrite");
        fill(disk, "fsType", "ext4");
        fill(disk, "readOnly", false);
        fill(disk, "kind", "Shared");
    }
}

fn projection(projection: &mut Value) {
    each(projection, &["downwardAPI", "items"]).for_each(downward_item);
    if let Some(token) = part(projection, &["serviceAccountToken"]) {
        fill(token, "expirationSeconds", 3600);
    }
}

fn downward_item(item: &mut Value) {
    if let Some(field) = part(item, &["fieldRef"]) {
        fill_text(field, "apiVersion", "v1");
    }
}
