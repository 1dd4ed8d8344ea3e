//! What the kinds of the core group get.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::{Map, Value, value};

use super::{labels_from_template, pod, workload};
use crate::edit::{each, fill, fill_from, fill_text, has, part, part_or_new};

/// Fills in an object of the core group.
pub(super) fn fill_in(kind: &str, name: &str, value: &mut Value) {
    match kind {
        "Pod" => pod::pod(value),
        "PodTemplate" => pod::pod_spec(part_or_new(part_or_new(value, "template"), "spec")),
        "ReplicationController" => replication_controller(value),
        "Service" => service(value),
        "Secret" => secret(value),
        "Namespace" => namespace(name, value),
        "Node" => node(value),
        "PersistentVolume" => persistent_volume(value),
        "PersistentVolumeClaim" => {
            fill(part_or_new(value, "spec"), "volumeMode", "Filesystem");
            fill_text(part_or_new(value, "status"), "phase", "Pending");
        }
        "Endpoints" => {
            for subset in each(value, &["subsets"]) {
                each(subset, &["ports"]).for_each(|port| fill_text(port, "protocol", "TCP"));
            }
        }
        "LimitRange" => each(value, &["spec", "limits"]).for_each(limit),
        _ => {}
    }
}

fn replication_controller(value: &mut Value) {
    let labels = value.at(&["spec", "template", "metadata", "labels"]).cloned().unwrap_or_default();
    labels_from_template(value);
    let spec = part_or_new(value, "spec");
    if spec.get("selector").is_none_or(Value::is_empty) && !labels.is_empty() {
        spec.set(&["selector"], labels);
    }
    fill(spec, "replicas", 1);
    if has(spec, "template") {
        workload::template(spec);
    }
}

fn service(value: &mut Value) {
    let spec = part_or_new(value, "spec");
    fill_text(spec, "sessionAffinity", "None");
    match spec.str_at(&["sessionAffinity"]) {
        Some("None") => {
            spec.remove(&["sessionAffinityConfig"]);
        }
        Some("ClientIP") => {
            let path = ["sessionAffinityConfig", "clientIP", "timeoutSeconds"];
            if spec.at(&path).is_none_or(Value::is_null) {
                spec.set(&path, 10_800);
            }
        }
        _ => {}
    }
    fill_text(spec, "type", "ClusterIP");
    each(spec, &["ports"]).for_each(service_port);
    let kind = spec.str_at(&["type"]).unwrap_or_default().to_owned();
    let balanced = kind == "LoadBalancer";
    let outside = kind == "ClusterIP" && !spec.items_at(&["externalIPs"]).is_empty();
    if balanced || kind == "NodePort" || outside {
        fill_text(spec, "externalTrafficPolicy", "Cluster");
    }
    if kind != "ExternalName" {
        fill(spec, "internalTrafficPolicy", "Cluster");
    }
    if balanced {
        fill(spec, "allocateLoadBalancerNodePorts", true);
        for ingress in each(value, &["status", "loadBalancer", "ingress"]) {
            if !ingress.str_at(&["ip"]).unwrap_or_default().is_empty() {
                fill(ingress, "ipMode", "VIP");
            }
        }
    }
}

fn service_port(port: &mut Value) {
    fill_text(port, "protocol", "TCP");
    let unset = match port.get("targetPort") {
        None | Some(Value::Null) | Some(Value::Int(0)) => true,
        Some(Value::Str(name)) => name.is_empty(),
        Some(_) => false,
    };
    if unset {
        let number = port.int_at(&["port"]).unwrap_or_default();
        port.set(&["targetPort"], number);
    }
}

fn secret(value: &mut Value) {
    fill_text(value, "type", "Opaque");
    // What is written as text is kept as bytes.
    let Some(Value::Map(texts)) = value.remove(&["stringData"]) else { return };
    for (key, text) in texts.iter() {
        let bytes = STANDARD.encode(text.as_str().unwrap_or_default());
        value.set(&["data", key], bytes);
    }
}

fn namespace(name: &str, value: &mut Value) {
    if !name.is_empty() {
        value.set(&["metadata", "labels", "kubernetes.io/metadata.name"], name);
    }
    fill_text(part_or_new(value, "status"), "phase", "Active");
}

fn node(value: &mut Value) {
    // The one range and the list of ranges are kept in step.
    if let Some(spec) = part(value, &["spec"]) {
        let one = spec.str_at(&["podCIDR"]).unwrap_or_default().to_owned();
        match spec.items_at(&["podCIDRs"]).first().and_then(Value::as_str).map(ToOwned::to_owned) {
            Some(first) if one.is_empty() => spec.set(&["podCIDR"], first),
            None if !one.is_empty() => spec.set(&["podCIDRs"], vec![one]),
            Some(first) if first != one => spec.set(&["podCIDRs"], vec![one]),
            _ => {}
        }
    }
    let status = part_or_new(value, "status");
    if let (false, Some(capacity)) = (has(status, "allocatable"), status.get("capacity").cloned()) {
        status.set(&["allocatable"], capacity);
    }
}

fn persistent_volume(value: &mut Value) {
    fill_text(part_or_new(value, "status"), "phase", "Pending");
    let spec = part_or_new(value, "spec");
    fill_text(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
    if let Some(host) = part(spec, &["hostPath"]) {
        fill(host, "type", "");
    }
    pod::disk(spec);
}

fn limit(item: &mut Value) {
    if item.str_at(&["type"]) != Some("Container") {
        return;
    }
    let amounts = |item: &Value, key| item.get(key).and_then(Value::as_map).cloned().unwrap_or_else(Map::new);
    let max = amounts(item, "max");
    fill(item, "default", value!({}));
    fill(item, "defaultRequest", value!({}));
    fill_from(part_or_new(item, "default"), &max);
    let default = amounts(item, "default");
    let min = amounts(item, "min");
    let request = part_or_new(item, "defaultRequest");
    fill_from(request, &default);
    fill_from(request, &min);
    for key in ["default", "defaultRequest"] {
        if item.get(key).is_some_and(Value::is_empty) {
            item.remove(&[key]);
        }
    }
}
