//! A claim that is not bound waits for its class, or for what mounts it to be scheduled.

use std::collections::HashMap;

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, Pods};
use crate::graph::Graph;
use crate::node::Node;

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    let unbound: Vec<&Object> = case
        .of_kind(server, "", "PersistentVolumeClaim")
        .iter()
        .copied()
        .filter(|claim| claim.value().str_at(&["status", "phase"]) != Some("Bound"))
        .collect();
    if unbound.is_empty() {
        return;
    }
    let users = users(case, server);
    for claim in unbound {
        let from = case.node(server, &claim.key());
        let class = claim.value().str_at(&["spec", "storageClassName"]).unwrap_or_default();
        let class = ObjectKey::new("storage.k8s.io", "StorageClass", "", class);
        if !class.name.is_empty() {
            graph.link(from.clone(), Node::object(server, class));
        }
        for pod in users.get(&claim.key()).into_iter().flatten() {
            graph.link(from.clone(), case.node(server, pod));
        }
    }
}

/// The pods that mount each claim.
fn users(case: &Case<'_>, server: &str) -> HashMap<ObjectKey, Vec<ObjectKey>> {
    let mut users: HashMap<ObjectKey, Vec<ObjectKey>> = HashMap::new();
    for pod in case.of_kind(server, "", "Pod") {
        let needs = Pods::of(pod).map(|pods| pods.needs()).unwrap_or_default();
        for (key, ..) in needs.into_iter().filter(|(key, ..)| key.kind == "PersistentVolumeClaim") {
            users.entry(key).or_default().push(pod.key());
        }
    }
    users
}
