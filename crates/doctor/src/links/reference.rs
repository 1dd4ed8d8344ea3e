//! A custom resource that is not well waits for what it names, and for what it has made.

use lynceus_object::{Object, ObjectKey, Value};

use crate::case::Case;
use crate::graph::Graph;
use crate::limits;
use crate::node::Node;

/// Groups of built-in kinds, whose references have files of their own.
const BUILT_IN: [&str; 4] = ["", "apps", "batch", "events.k8s.io"];

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    for object in case.objects(server) {
        if BUILT_IN.contains(&object.group()) || object.controller().is_some() || !case.is_unwell(object) {
            continue;
        }
        let from = case.node(server, &object.key());
        for key in named(object) {
            let is_short = match case.live(server, &key) {
                Some(found) => case.is_unwell(found),
                None => case.is_absent(server, &key),
            };
            if is_short {
                graph.link(from.clone(), case.node(server, &key));
            }
        }
        for child in case.children(server, object) {
            if case.is_unwell(child) && !matches!(child.kind(), "Pod" | "ReplicaSet") {
                graph.link(from.clone(), Node::object(server, child.key()));
                needs_of_child(case, server, child, &from, graph);
            }
        }
    }
}

/// What owns something waits for it, whatever that is called in the graph.
fn needs_of_child(case: &Case<'_>, server: &str, child: &Object, owner: &Node, graph: &mut Graph) {
    graph.link(Node::object(server, child.key()), owner.clone());
    for grandchild in case.children(server, child) {
        if grandchild.kind() == "PersistentVolumeClaim" && case.is_unwell(grandchild) {
            graph.link(owner.clone(), Node::object(server, grandchild.key()));
        }
    }
}

/// What an object names: `{kind, name}` anywhere in its spec, and the issuers, Secrets and ConfigMaps that fields are called after.
pub(crate) fn named(object: &Object) -> Vec<ObjectKey> {
    let mut keys = Vec::new();
    if let Some(spec) = object.at(&["spec"]) {
        walk(spec, object, 0, &mut keys);
    }
    keys
}

fn walk(value: &Value, object: &Object, depth: usize, keys: &mut Vec<ObjectKey>) {
    if depth > limits::REFERENCE_DEPTH {
        return;
    }
    match value {
        Value::Map(map) => {
            keys.extend(pair(value, object));
            for (field, part) in map.iter() {
                keys.extend(by_field(field, part, object));
                walk(part, object, depth + 1, keys);
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| walk(item, object, depth + 1, keys)),
        _ => {}
    }
}

/// A map with a kind and a name.
fn pair(value: &Value, object: &Object) -> Option<ObjectKey> {
    let text = |field| value.str_at(&[field]).filter(|text: &&str| !text.is_empty());
    let (kind, name) = (text("kind")?, text("name")?);
    let group = match text("apiVersion").and_then(|version| version.split_once('/')) {
        Some((group, _)) => group,
        None => text("group").unwrap_or(match kind {
            "Secret" | "ConfigMap" | "Service" | "ServiceAccount" => "",
            _ => object.group(),
        }),
    };
    let is_wide = kind.starts_with("Cluster") && kind != "Cluster";
    let namespace = if is_wide { "" } else { text("namespace").unwrap_or(object.namespace()) };
    Some(ObjectKey::new(group, kind, namespace, name))
}

/// Fields that say by their own name what they name: `secretName`, `configMapRef: {name}`.
fn by_field(field: &str, value: &Value, object: &Object) -> Option<ObjectKey> {
    let kind = match field.to_ascii_lowercase() {
        name if name.ends_with("secretname")
            || name.ends_with("secretref")
            || name.ends_with("secretkeyref") =>
        {
            "Secret"
        }
        name if name.ends_with("configmapref") || name.ends_with("configmapname") => "ConfigMap",
        name if name == "serviceaccountname" || name == "serviceaccountref" => "ServiceAccount",
        _ => return None,
    };
    let name = value.as_str().or_else(|| value.str_at(&["name"])).filter(|name| !name.is_empty())?;
    let namespace = value.str_at(&["namespace"]).filter(|one| !one.is_empty()).unwrap_or(object.namespace());
    Some(ObjectKey::new("", kind, namespace, name))
}
