//! What the kinds that configure a cluster get: rbac, networking, storage, admission, extensions and others.

use crate::{Value, value};

use crate::edit::{each, fill, fill_number, fill_text, has, part, part_or_new};

const RBAC: &str = "rbac.authorization.k8s.io";

/// Fills in an object of one of these kinds.
pub(super) fn fill_in(kind: &str, value: &mut Value) {
    match kind {
        "ClusterRoleBinding" | "RoleBinding" => binding(value),
        "NetworkPolicy" => network_policy(part_or_new(value, "spec")),
        "IngressClass" => {
            if let Some(parameters) = part(value, &["spec", "parameters"]) {
                fill(parameters, "scope", "Cluster");
            }
        }
        "StorageClass" => {
            fill(value, "reclaimPolicy", "Delete");
            fill(value, "volumeBindingMode", "Immediate");
        }
        "CSIDriver" => csi_driver(part_or_new(value, "spec")),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            each(value, &["webhooks"]).for_each(|webhook| admission_webhook(webhook, kind));
        }
        "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy" => {
            let spec = part_or_new(value, "spec");
            fill(spec, "failurePolicy", "Fail");
            if let Some(matching) = part(spec, &["matchConstraints"]) {
                match_resources(matching);
            }
        }
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
            if let Some(matching) = part(value, &["spec", "matchResources"]) {
                match_resources(matching);
            }
        }
        "CustomResourceDefinition" => definition(value),
        "APIService" => {
            if let Some(service) = part(value, &["spec", "service"]) {
                fill(service, "port", 443);
            }
        }
        "PriorityClass" => fill(value, "preemptionPolicy", "PreemptLowerPriority"),
        "EndpointSlice" => {
            for port in each(value, &["ports"]) {
                fill(port, "name", "");
                fill(port, "protocol", "TCP");
            }
        }
        "FlowSchema" => fill_number(part_or_new(value, "spec"), "matchingPrecedence", 1000),
        "PriorityLevelConfiguration" => priority_level(part_or_new(value, "spec")),
        "ResourceClaim" => each(value, &["spec", "devices", "requests"]).for_each(device_request),
        "ResourceClaimTemplate" => {
            each(value, &["spec", "spec", "devices", "requests"]).for_each(device_request);
        }
        _ => {}
    }
}

fn binding(value: &mut Value) {
    fill_text(part_or_new(value, "roleRef"), "apiGroup", RBAC);
    for subject in each(value, &["subjects"]) {
        if matches!(subject.str_at(&["kind"]), Some("User" | "Group")) {
            fill_text(subject, "apiGroup", RBAC);
        }
    }
}

fn network_policy(spec: &mut Value) {
    if spec.items_at(&["policyTypes"]).is_empty() {
        let egress = !spec.items_at(&["egress"]).is_empty();
        let types = if egress { value!(["Ingress", "Egress"]) } else { value!(["Ingress"]) };
        spec.set(&["policyTypes"], types);
    }
    for direction in ["ingress", "egress"] {
        for rule in each(spec, &[direction]) {
            each(rule, &["ports"]).for_each(|port| fill(port, "protocol", "TCP"));
        }
    }
}

fn csi_driver(spec: &mut Value) {
    fill(spec, "attachRequired", true);
    fill(spec, "podInfoOnMount", false);
    fill(spec, "storageCapacity", false);
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if spec.items_at(&["volumeLifecycleModes"]).is_empty() {
        spec.set(&["volumeLifecycleModes"], value!(["Persistent"]));
    }
    fill(spec, "requiresRepublish", false);
    fill(spec, "seLinuxMount", false);
}

fn admission_webhook(webhook: &mut Value, kind: &str) {
    fill(webhook, "failurePolicy", "Fail");
    match_resources(webhook);
    fill(webhook, "timeoutSeconds", 10);
    if kind == "MutatingWebhookConfiguration" {
        fill(webhook, "reinvocationPolicy", "Never");
    }
    each(webhook, &["rules"]).for_each(|rule| fill(rule, "scope", "*"));
    if let Some(service) = part(webhook, &["clientConfig", "service"]) {
        fill(service, "port", 443);
    }
}

fn match_resources(matching: &mut Value) {
    fill(matching, "matchPolicy", "Equivalent");
    fill(matching, "namespaceSelector", value!({}));
    fill(matching, "objectSelector", value!({}));
    for rules in ["resourceRules", "excludeResourceRules"] {
        each(matching, &[rules]).for_each(|rule| fill(rule, "scope", "*"));
    }
}

fn definition(value: &mut Value) {
    let spec = part_or_new(value, "spec");
    let kind = spec.str_at(&["names", "kind"]).unwrap_or_default().to_owned();
    if !kind.is_empty() {
        let names = part_or_new(spec, "names");
        fill_text(names, "singular", &kind.to_lowercase());
        fill_text(names, "listKind", &format!("{kind}List"));
    }
    fill(spec, "conversion", value!({"strategy": "None"}));
    if let Some(service) = part(spec, &["conversion", "webhook", "clientConfig", "service"]) {
        fill(service, "port", 443);
    }
    let stored = spec
        .items_at(&["versions"])
        .iter()
        .find(|version| version.bool_at(&["storage"]).unwrap_or(false))
        .and_then(|version| version.get("name").cloned());
    let status = part_or_new(value, "status");
    if let (true, Some(stored)) = (status.items_at(&["storedVersions"]).is_empty(), stored) {
        status.set(&["storedVersions"], vec![stored]);
    }
}

fn priority_level(spec: &mut Value) {
    if let Some(exempt) = part(spec, &["exempt"]) {
        fill(exempt, "nominalConcurrencyShares", 0);
        fill(exempt, "lendablePercent", 0);
    }
    if let Some(limited) = part(spec, &["limited"]) {
        fill(limited, "nominalConcurrencyShares", 30);
        fill(limited, "lendablePercent", 0);
        if let Some(queuing) = part(limited, &["limitResponse", "queuing"]) {
            fill_number(queuing, "handSize", 8);
            fill_number(queuing, "queues", 64);
            fill_number(queuing, "queueLengthLimit", 50);
        }
    }
}

fn device_request(request: &mut Value) {
    if has(request, "exactly") {
        exact_count(part_or_new(request, "exactly"));
    }
    each(request, &["firstAvailable"]).for_each(exact_count);
}

fn exact_count(request: &mut Value) {
    fill_text(request, "allocationMode", "ExactCount");
    if request.str_at(&["allocationMode"]) == Some("ExactCount") {
        fill_number(request, "count", 1);
    }
}
