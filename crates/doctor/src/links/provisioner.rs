//! A storage class waits for the driver that makes its volumes.

use std::collections::HashMap;

use lynceus_object::{Object, ObjectKey, Value};

use crate::case::{Case, Pods};
use crate::graph::Graph;
use crate::node::Node;

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    let mut classes: HashMap<&str, Vec<ObjectKey>> = HashMap::new();
    for class in case.of_kind(server, "storage.k8s.io", "StorageClass") {
        let provisioner = class.value().str_at(&["provisioner"]).filter(|name| name.contains(['.', '/']));
        classes.entry(provisioner.unwrap_or_default()).or_default().push(class.key());
    }
    classes.remove("");
    if classes.is_empty() {
        return;
    }
    for owner in case.pod_owners(server).filter(|owner| case.is_unwell(owner)) {
        for (_, class) in classes.iter().filter(|(name, _)| is_driver(owner, name)) {
            class.iter().for_each(|class| {
                graph.link(Node::object(server, class.clone()), Node::object(server, owner.key()))
            });
        }
    }
}

/// Whether a workload is told that it is the driver of this name: it stands in its arguments or settings.
fn is_driver(owner: &Object, name: &str) -> bool {
    let containers = Pods::of(owner).map(|pods| pods.containers()).unwrap_or_default();
    containers.iter().any(|(_, container)| {
        let words = ["args", "command"]
            .iter()
            .flat_map(|field| container.items_at(&[field]))
            .filter_map(Value::as_str);
        let settings = container.items_at(&["env"]).iter().filter_map(|one| one.str_at(&["value"]));
        words.chain(settings).any(|word| word.split(['=', ' ', ',']).any(|part| part == name))
    })
}
