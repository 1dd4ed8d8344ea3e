//! An object of a kind that is not served waits for the kind, and that for whoever brings its definition.

use std::collections::HashMap;

use lynceus_object::{GroupKind, Object, ObjectKey};

use crate::case::Case;
use crate::graph::Graph;
use crate::node::Node;

const DEFINITIONS: &str = "apiextensions.k8s.io";

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    let providers = providers(case);
    for app in case.apps() {
        for wanted in app.wanted() {
            let kind = wanted.object.group_kind();
            if case.serves(app.server(), &kind) != Some(false) {
                continue;
            }
            let server = app.server();
            let node = Node::Kind { cluster: server.into(), kind: kind.clone() };
            graph.link(case.node(server, &wanted.object.key()), node.clone());
            graph.link(app.node(), node.clone());
            for definition in providers.get(&(server, kind)).into_iter().flatten() {
                graph.link(node.clone(), case.node(server, definition));
            }
        }
    }
}

/// The definitions that applications want, by what they define.
pub(crate) fn providers<'a>(case: &Case<'a>) -> HashMap<(&'a str, GroupKind), Vec<ObjectKey>> {
    let mut providers: HashMap<(&'a str, GroupKind), Vec<ObjectKey>> = HashMap::new();
    for app in case.apps() {
        for wanted in app.wanted() {
            if let Some(kind) = defined(&wanted.object) {
                providers.entry((app.server(), kind)).or_default().push(wanted.object.key());
            }
        }
    }
    providers
}

/// The kind that a definition defines.
pub(crate) fn defined(object: &Object) -> Option<GroupKind> {
    if (object.group(), object.kind()) != (DEFINITIONS, "CustomResourceDefinition") {
        return None;
    }
    let group = object.value().str_at(&["spec", "group"])?;
    Some(GroupKind::new(group, object.value().str_at(&["spec", "names", "kind"])?))
}
