//! What is being deleted waits for what is in it or belongs to it and does not go.

use lynceus_object::{Object, ObjectKey};

use crate::case::Case;
use crate::graph::Graph;

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    let is_held = |object: &&Object| object.is_deleting() && object.finalizers().next().is_some();
    for object in case.objects(server).iter().filter(is_held) {
        let to = case.node(server, &object.key());
        let namespace = ObjectKey::new("", "Namespace", "", object.namespace());
        let namespace = case.live(server, &namespace).filter(|_| !object.namespace().is_empty());
        let owners = object.owners().filter_map(|owner| {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            case.live(
                server,
                &ObjectKey::new(group, owner.kind.clone(), object.namespace(), owner.name.clone()),
            )
        });
        for holder in namespace.into_iter().chain(owners).filter(|holder| holder.is_deleting()) {
            graph.link(case.node(server, &holder.key()), to.clone());
        }
    }
}
