//! A custom resource that is not well waits for what it names, and for what it has made.

use std::collections::HashMap;

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::Case;
use crate::graph::Graph;
use crate::limits;
use crate::node::Node;
use crate::rules::near;

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

/// What an object names: `{kind, name}` anywhere in its spec, and what fields are called after: issuers, Secrets, ConfigMaps, services.
pub(crate) fn named(object: &Object) -> Vec<ObjectKey> {
    places(object).into_iter().map(|(key, _)| key).collect()
}

/// What an object names, each with the field that has the name.
pub(crate) fn places(object: &Object) -> Vec<(ObjectKey, FieldPath)> {
    let mut found = Vec::new();
    if let Some(spec) = object.at(&["spec"]) {
        walk(spec, object, &FieldPath::fields(["spec"]), &mut found);
    }
    found
}

fn walk(value: &Value, object: &Object, at: &FieldPath, found: &mut Vec<(ObjectKey, FieldPath)>) {
    if at.segments().len() > limits::REFERENCE_DEPTH + 1 {
        return;
    }
    match value {
        Value::Map(map) => {
            found.extend(pair(value, object).map(|key| (key, at.field("name"))));
            for (field, part) in map.iter() {
                let here = at.field(field.clone());
                found.extend(by_field(field, part, object, &here));
                walk(part, object, &here, found);
            }
        }
        Value::Seq(items) => {
            for (place, item) in items.iter().enumerate() {
                walk(item, object, &at.index(place), found);
            }
        }
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

/// Fields that say by their own name what they name: `secretName`, `configMapRef: {name}`, `sourceSecret: {name}`, `stableService`.
fn by_field(field: &str, value: &Value, object: &Object, at: &FieldPath) -> Option<(ObjectKey, FieldPath)> {
    // Of several the first; those with a kind stand for themselves.
    let (value, at) = match value.as_seq().and_then(|items| items.first()) {
        Some(first) => (first, at.index(0)),
        None => (value, at.clone()),
    };
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
        // Alone these words mean many things.
        _ if field.ends_with("Secret") && value.str_at(&["name"]).is_some() => "Secret",
        _ if field.ends_with("Service") && value.as_str().is_some() => "Service",
        _ => return None,
    };
    let (name, at) = match value.as_str() {
        Some(name) => (name, at),
        None => (value.str_at(&["name"])?, at.field("name")),
    };
    let namespace = value.str_at(&["namespace"]).filter(|one| !one.is_empty()).unwrap_or(object.namespace());
    (!name.is_empty()).then(|| (ObjectKey::new("", kind, namespace, name), at))
}

/// What a custom resource says by a label of its group that it belongs to, and that is not there: one of another kind of the group is
/// called almost so. `strimzi.io/cluster: events` where there is a Kafka `event`.
pub(crate) fn lost_owners(case: &Case<'_>, server: &str, object: &Object) -> Vec<(ObjectKey, FieldPath)> {
    let labels = object.at(&["metadata", "labels"]).and_then(Value::as_map);
    let labels = labels
        .into_iter()
        .flat_map(|map| map.iter())
        .filter(|(key, _)| key.split_once('/').is_some_and(|(domain, _)| is_kin(domain, object.group())));
    let labels: Vec<(&str, &str)> =
        labels.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect();
    if labels.is_empty() {
        return Vec::new();
    }
    let is_beside = |other: &&Object| {
        other.group() == object.group()
            && other.namespace() == object.namespace()
            && other.kind() != object.kind()
    };
    let beside: Vec<&Object> = case.objects(server).iter().filter(is_beside).collect();
    let lost = labels.iter().filter_map(|(key, value)| {
        let is_there = beside.iter().any(|other| other.name() == *value);
        let near = near::slip(value, beside.iter().map(|other| other.name())).filter(|_| !is_there)?;
        let kind = beside.iter().find(|other| other.name() == near)?.kind();
        let owner = ObjectKey::new(object.group(), kind, object.namespace(), *value);
        Some((owner, FieldPath::fields(["metadata", "labels", key])))
    });
    lost.collect()
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
    fn what_is_to_be_in_one_that_is_called_almost_so_names_it_wrongly() {
        let text = TOPIC.replace("strimzi.io/cluster: events", "strimzi.io/cluster: event");
        let found = crate::tests::check("LYN0301", &text);
        assert!(
            found.starts_with(
                "P1 LYN0301/data/Kafka/event: Kafka event is needed by KafkaTopic orders and defined nowhere; there is Kafka events\n"
            ),
            "{found}"
        );
        assert!(found.contains("  fix: Name Kafka events instead\n"), "{found}");
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
