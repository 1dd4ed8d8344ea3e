//! What has pods waits for what its pods name and cannot find, and for the claims that they mount.

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, Pods};
use crate::graph::Graph;
use crate::node::Node;

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    for owner in case.pod_owners(server) {
        let pods = case.pods(server, owner);
        // What a template says holds for the pods that it has not made yet.
        let specs = pods.iter().copied().chain(Some(owner)).filter_map(Pods::of);
        if case.is_unwell(owner) || pods.iter().any(|pod| case.is_unwell(pod)) {
            for spec in specs {
                needs(case, server, owner, &spec, graph);
            }
        }
    }
}

fn needs(case: &Case<'_>, server: &str, owner: &Object, pods: &Pods<'_>, graph: &mut Graph) {
    let from = Node::object(server, owner.key());
    let mut link = |key: ObjectKey| graph.link(from.clone(), case.node(server, &key));
    for (key, _, wanted) in pods.needs() {
        let is_short = match case.live(server, &key) {
            Some(object) if key.kind == "PersistentVolumeClaim" => case.is_unwell(object),
            Some(object) => wanted.is_some_and(|wanted| !has_key(object, &wanted)),
            None => true,
        };
        if is_short {
            link(key);
        }
    }
    let account = ObjectKey::new("", "ServiceAccount", owner.namespace(), pods.service_account());
    if case.is_absent(server, &account) {
        link(account);
    }
    for name in pods.pull_secrets() {
        let secret = ObjectKey::new("", "Secret", owner.namespace(), name);
        if case.is_absent(server, &secret) {
            link(secret);
        }
    }
    for (_, container) in pods.containers() {
        if let Some(image) = container.str_at(&["image"]) {
            graph.link(from.clone(), Node::Image(image.into()));
        }
    }
}

/// Whether a Secret or ConfigMap has a key. Values are not in a snapshot, keys are.
fn has_key(object: &Object, key: &str) -> bool {
    ["data", "binaryData", "stringData"]
        .iter()
        .any(|part| object.at(&[part]).and_then(|map| map.get(key)).is_some())
}
