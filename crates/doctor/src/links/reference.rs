//! A custom resource that is not well waits for what it names, and for what it has made.

use std::collections::HashMap;

use lynceus_object::{Object, ObjectKey, Value};

use crate::case::Case;
use crate::graph::Graph;
use crate::limits;
use crate::node::Node;

/// Groups of built-in kinds, whose references have files of their own.
const BUILT_IN: [&str; 4] = ["", "apps", "batch", "events.k8s.io"];

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    let is_own = |object: &&Object| !BUILT_IN.contains(&object.group()) && object.controller().is_none();
    let objects = case.objects(server).iter().filter(is_own);
    let unwell: Vec<&Object> = objects.filter(|object| case.is_unwell(object)).collect();
    let mut beside: HashMap<(&str, &str), Vec<&Object>> = HashMap::new();
    for object in &unwell {
        beside.entry((object.group(), object.namespace())).or_default().push(object);
    }
    for object in unwell {
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
        let others = beside.get(&(object.group(), object.namespace())).map_or(&[][..], Vec::as_slice);
        for other in belongs_to(case, server, object, others) {
            graph.link(from.clone(), case.node(server, &other.key()));
        }
        for child in case.children(server, object) {
            if case.is_unwell(child) && !matches!(child.kind(), "Pod" | "ReplicaSet") {
                graph.link(from.clone(), Node::object(server, child.key()));
                needs_of_child(case, server, child, &from, graph);
            }
        }
    }
}

/// What a custom resource that has nothing of its own waits for: another one of its group and namespace that is not well and that a
/// label of the group, or a field that is called after its kind, names. A topic waits for the broker that it is to be in.
fn belongs_to<'a>(case: &Case<'a>, server: &str, object: &Object, others: &[&'a Object]) -> Vec<&'a Object> {
    if others.len() < 2 || !case.children(server, object).is_empty() || object.namespace().is_empty() {
        return Vec::new();
    }
    let labels = object.at(&["metadata", "labels"]).and_then(Value::as_map);
    let labels = labels.into_iter().flat_map(|map| map.iter());
    let labels = labels
        .filter(|(key, _)| key.split_once('/').is_some_and(|(domain, _)| is_kin(domain, object.group())));
    let labels: Vec<&str> = labels.filter_map(|(_, value)| value.as_str()).collect();
    let fields = object.at(&["spec"]).and_then(Value::as_map);
    let fields: Vec<(String, &str)> = fields
        .into_iter()
        .flat_map(|map| map.iter())
        .filter_map(|(field, value)| {
            Some((field.as_str().to_lowercase(), value.as_str().or_else(|| value.str_at(&["name"]))?))
        })
        .collect();
    let is_named = |other: &Object| {
        let kind = other.kind().to_lowercase();
        labels.contains(&other.name())
            || fields.iter().any(|(field, name)| *name == other.name() && field.starts_with(&kind))
    };
    let others = others.iter().copied().filter(|other| other.kind() != object.kind());
    others.filter(|other| is_named(other)).collect()
}

/// Whether a domain is a group, or one is below the other: `strimzi.io` and `kafka.strimzi.io`.
fn is_kin(domain: &str, group: &str) -> bool {
    let is_below = |one: &str, other: &str| {
        one.strip_suffix(other).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    domain.contains('.') && (is_below(domain, group) || is_below(group, domain))
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
        name if name.ends_with("certificaterefs") => "Secret",
        _ => return None,
    };
    // Of several the first; those with a kind stand for themselves.
    let value = value.as_seq().and_then(|items| items.first()).unwrap_or(value);
    let name = value.as_str().or_else(|| value.str_at(&["name"])).filter(|name| !name.is_empty())?;
    let namespace = value.str_at(&["namespace"]).filter(|one| !one.is_empty()).unwrap_or(object.namespace());
    Some(ObjectKey::new("", kind, namespace, name))
}

#[cfg(test)]
mod tests {
    use crate::tests::roots;

    const TOPIC: &str = "
@app data Synced Degraded
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: orders, namespace: data}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: events, namespace: data}
@live
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: orders, namespace: data, labels: {strimzi.io/cluster: events}}
spec: {partitions: 3}
status: {conditions: [{type: Ready, status: 'False', message: Waiting}]}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: events, namespace: data}
status: {conditions: [{type: Ready, status: 'False', message: No volume}]}
";

    #[test]
    fn what_is_to_be_in_another_waits_for_it() {
        assert_eq!(roots(TOPIC), "P1 LYN1901/data/Kafka/events explains data\n");
        let field = TOPIC
            .replace(", labels: {strimzi.io/cluster: events}", "")
            .replace("partitions: 3", "kafkaRef: {name: events}");
        assert_eq!(roots(&field), "P1 LYN1901/data/Kafka/events explains data\n");
    }

    #[test]
    fn a_label_that_is_on_everything_names_nothing() {
        let other = TOPIC.replace("strimzi.io/cluster", "app.kubernetes.io/instance");
        assert_eq!(
            roots(&other),
            "P1 LYN1901/data/Kafka/events explains data\nP1 LYN1901/data/KafkaTopic/orders explains data\n"
        );
    }
}
