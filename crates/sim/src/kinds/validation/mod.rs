//! What is wrong with an object, in the words of the original.
//!
//! One file per group of kinds; [`names`] has the shapes of words, [`report`] collects what is found.
//! Objects are checked after defaults were filled in, so that a field that is missing here is one for
//! which there is no default.

mod affinity;
mod annotation;
mod autoscaling;
mod batch;
mod claim;
mod cluster;
mod container;
mod core;
mod diff;
mod endpoints;
mod env;
mod expression;
mod flow;
pub(crate) mod meta;
pub(crate) mod names;
mod network;
mod os;
mod pod;
mod probe;
mod rbac;
pub(crate) mod report;
mod resources;
mod schedule;
mod security;
mod selector;
mod service;
mod storage;
mod volume;
mod workload;

use lynceus_object::{Object, Value};

use super::resources::Resource;
use crate::FieldError;
use crate::context::Context;
use report::{Path, Report};

/// What is wrong with a new object, metadata included.
pub fn validate(resource: &Resource, object: &Object, _context: &Context<'_>) -> Vec<FieldError> {
    let mut report = Report::default();
    create(resource, object, &mut report);
    report.into_errors()
}

/// What is wrong with a change, metadata included.
pub fn validate_update(
    resource: &Resource,
    new: &Object,
    old: &Object,
    subresource: &str,
    _context: &Context<'_>,
) -> Vec<FieldError> {
    let mut report = Report::default();
    match (resource.kind.as_str(), subresource) {
        (kind, "") => update(kind, resource, new, old, &mut report),
        ("Pod", "status") => pod::status_update(new, old, &mut report),
        ("Pod", "resize") => pod::resize(new, old, &mut report),
        ("Pod", "ephemeralcontainers") => pod::ephemeral_update(new, old, &mut report),
        ("Namespace", "finalize") => core::namespace_finalize(new, old, &mut report),
        ("CertificateSigningRequest", "approval" | "status") => cluster::approval(new, old, &mut report),
        (
            kind @ ("Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "ReplicationController"),
            "status",
        ) => workload::status_update(kind, new, old, &mut report),
        _ => meta::update(new, old, &mut report),
    }
    report.into_errors()
}

fn create(resource: &Resource, object: &Object, report: &mut Report) {
    let namespaced = resource.namespaced;
    match resource.kind.as_str() {
        "Pod" => pod::create(object, report),
        "PodTemplate" => {
            meta::create(object, true, names::dns_subdomain, report);
            pod::template(object.at(&["template"]).unwrap_or(&Value::Null), &Path::new("template"), report);
        }
        kind @ ("Deployment"
        | "ReplicaSet"
        | "StatefulSet"
        | "DaemonSet"
        | "ReplicationController"
        | "ControllerRevision") => workload::create(kind, object, report),
        "Job" => batch::create(object, report),
        "CronJob" => batch::cron_create(object, report),
        "Service" => service::create(object, report),
        "Endpoints" => endpoints::endpoints(object, report),
        "EndpointSlice" => endpoints::slice(object, report),
        "ConfigMap" => core::config_map(object, report),
        "Secret" => core::secret(object, report),
        "Namespace" => core::namespace(object, report),
        "Node" => core::node(object, report),
        "ResourceQuota" => core::quota(object, report),
        "LimitRange" => core::limit_range(object, report),
        "PersistentVolumeClaim" => claim::create(object, report),
        "PersistentVolume" => claim::volume_create(object, report),
        "Ingress" => network::ingress(object, report),
        "IngressClass" => network::ingress_class(object, report),
        "NetworkPolicy" => network::policy(object, report),
        "IPAddress" => network::ip_address(object, report),
        "ServiceCIDR" => network::service_cidr(object, report),
        "Role" | "ClusterRole" => rbac::role(object, namespaced, report),
        "RoleBinding" | "ClusterRoleBinding" => rbac::binding(object, namespaced, report),
        "HorizontalPodAutoscaler" => autoscaling::autoscaler(&as_stored(resource, object), report),
        "PodDisruptionBudget" => {
            meta::create(object, true, names::path_segment, report);
            autoscaling::budget(object, report);
        }
        "StorageClass" => storage::class(object, report),
        "VolumeAttributesClass" => storage::attributes_class(object, report),
        "VolumeAttachment" => storage::attachment(object, report),
        "CSIDriver" => storage::driver(object, report),
        "CSINode" => storage::node(object, report),
        "MutatingWebhookConfiguration" => cluster::webhooks(object, true, report),
        "ValidatingWebhookConfiguration" => cluster::webhooks(object, false, report),
        "ValidatingAdmissionPolicy" => cluster::admission_policy(object, "validations", report),
        "MutatingAdmissionPolicy" => cluster::admission_policy(object, "mutations", report),
        "ValidatingAdmissionPolicyBinding" => cluster::admission_binding(object, true, report),
        "MutatingAdmissionPolicyBinding" => cluster::admission_binding(object, false, report),
        "Lease" => cluster::lease(object, report),
        "PriorityClass" => cluster::priority_class(object, report),
        "RuntimeClass" => cluster::runtime_class(object, report),
        "CertificateSigningRequest" => cluster::signing_request(object, report),
        "APIService" => cluster::api_service(object, report),
        "Event" if resource.group.is_empty() => cluster::event(object, report),
        "Event" | "Binding" => {}
        // Questions that are answered and not kept.
        kind if kind.ends_with("Review") => {}
        "FlowSchema" => flow::schema(object, report),
        "PriorityLevelConfiguration" => flow::priority_level(object, report),
        _ if resource.group == "resource.k8s.io" => {
            meta::create(object, namespaced, names::dns_subdomain_in_bytes, report);
        }
        _ => cluster::metadata_only(object, namespaced, report),
    }
}

fn update(kind: &str, resource: &Resource, new: &Object, old: &Object, report: &mut Report) {
    let namespaced = resource.namespaced;
    match kind {
        "Pod" => pod::update(new, old, report),
        "Deployment"
        | "ReplicaSet"
        | "StatefulSet"
        | "DaemonSet"
        | "ReplicationController"
        | "ControllerRevision" => {
            workload::update(kind, new, old, report);
        }
        "Job" => batch::update(new, old, report),
        "CronJob" => batch::cron_update(new, old, report),
        "Service" => service::update(new, old, report),
        "ConfigMap" => {
            meta::update(new, old, report);
            core::immutable_data(new, old, &["data", "binaryData"], report);
            core::config_map(new, report);
        }
        "Secret" => core::secret_update(new, old, report),
        "Namespace" => meta::update(new, old, report),
        "Node" => core::node_update(new, old, report),
        "ResourceQuota" => core::quota_update(new, old, report),
        "PersistentVolumeClaim" => claim::update(new, old, report),
        "PersistentVolume" => claim::volume_update(new, old, report),
        "Ingress" => network::ingress_update(new, old, report),
        "IngressClass" => {
            meta::update(new, old, report);
            network::ingress_class(new, report);
            meta::immutable(new, old, &[&["spec", "controller"]], report);
        }
        "NetworkPolicy" => {
            meta::update(new, old, report);
            network::policy_spec(new, report);
        }
        "Role" | "ClusterRole" => rbac::role_update(new, old, namespaced, report),
        "RoleBinding" | "ClusterRoleBinding" => rbac::binding_update(new, old, namespaced, report),
        "HorizontalPodAutoscaler" => {
            meta::update(new, old, report);
            autoscaling::autoscaler_spec(&as_stored(resource, new), report);
        }
        "PodDisruptionBudget" => {
            meta::update(new, old, report);
            autoscaling::budget(new, report);
        }
        "StorageClass" => storage::class_update(new, old, report),
        "CSIDriver" => storage::driver_update(new, old, report),
        "VolumeAttachment" => {
            storage::attachment(new, report);
            meta::immutable(new, old, &[&["spec"]], report);
        }
        "VolumeAttributesClass" => {
            meta::update(new, old, report);
            meta::immutable(new, old, &[&["driverName"], &["parameters"]], report);
        }
        "Lease" => {
            meta::update(new, old, report);
            cluster::lease_spec(new, report);
        }
        "PriorityClass" => cluster::priority_class_update(new, old, report),
        "RuntimeClass" => {
            meta::update(new, old, report);
            meta::immutable(new, old, &[&["handler"]], report);
        }
        "CertificateSigningRequest" => meta::update(new, old, report),
        "EndpointSlice" => {
            meta::update(new, old, report);
            endpoints::slice(new, report);
            meta::immutable(new, old, &[&["addressType"]], report);
        }
        "IPAddress" => {
            meta::update(new, old, report);
            meta::immutable(new, old, &[&["spec", "parentRef"]], report);
        }
        "Event" => {}
        _ => {
            meta::update(new, old, report);
            create(resource, new, report);
        }
    }
}

/// An object as it is stored: rules are written for one shape of each kind.
fn as_stored(resource: &Resource, object: &Object) -> Object {
    match super::resource_of(&resource.storage).filter(|stored| stored.gvk() != resource.gvk()) {
        Some(stored) => super::convert(object.clone(), stored),
        None => object.clone(),
    }
}

#[cfg(test)]
mod tests;
