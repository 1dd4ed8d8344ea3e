//! Which check is for which kind.

mod api_service;
mod autoscaler;
mod claim;
mod daemon_set;
mod deployment;
mod ingress;
mod job;
mod pod;
mod replica_set;
mod service;
mod stateful_set;
mod workflow;

use lynceus_object::Object;

use crate::Health;

/// A check: from a live object to its health.
type Check = fn(&Object) -> Health;

/// The check for a kind, if there is one.
pub(crate) fn check_for(group: &str, kind: &str) -> Option<Check> {
    Some(match (group, kind) {
        ("apps", "Deployment") => deployment::check,
        ("apps", "StatefulSet") => stateful_set::check,
        ("apps", "ReplicaSet") => replica_set::check,
        ("apps", "DaemonSet") => daemon_set::check,
        ("extensions" | "networking.k8s.io", "Ingress") => ingress::check,
        ("argoproj.io", "Workflow") => workflow::check,
        ("apiregistration.k8s.io", "APIService") => api_service::check,
        ("", "Service") => service::check,
        ("", "PersistentVolumeClaim") => claim::check,
        ("", "Pod") => pod::check,
        ("batch", "Job") => job::check,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::check,
        _ => return None,
    })
}
