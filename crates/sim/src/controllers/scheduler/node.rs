//! A node as the search sees it: what is asked of each node for each pod, read once when the node changes.

use lynceus_object::{Object, Str, Value};

/// The label that makes each node a place of its own.
pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";

/// The label that says in which zone a node is.
pub(super) const ZONE: &str = "topology.kubernetes.io/zone";

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its name.
    pub(super) name: Str,
    /// The node itself.
    pub(super) object: Object,
    /// Whether it takes no new pods.
    pub(super) unschedulable: bool,
    /// Whether it has the label that makes each node a place of its own.
    pub(super) has_hostname: bool,
    /// The label that is asked for with every pod.
    zone: Option<Str>,
    taints: Option<Value>,
    labels: Option<Value>,
}

impl Node {
    /// Reads a node.
    pub(crate) fn of(node: &Object) -> Self {
        Node {
            unschedulable: node.value().bool_at(&["spec", "unschedulable"]) == Some(true),
            has_hostname: node.label(HOSTNAME).is_some(),
            zone: node.label(ZONE).map(Str::from),
            taints: node.at(&["spec", "taints"]).cloned(),
            labels: node.at(&["metadata", "labels"]).cloned(),
            name: node.name().into(),
            object: node.clone(),
        }
    }

    /// Its taints.
    pub(super) fn taints(&self) -> &[Value] {
        self.taints.as_ref().and_then(Value::as_seq).unwrap_or(&[])
    }

    /// Its labels.
    pub(super) fn labels(&self) -> Option<&Value> {
        self.labels.as_ref()
    }

    /// The value of a label.
    pub(super) fn label(&self, key: &str) -> Option<&str> {
        if key == ZONE {
            return self.zone.as_deref();
        }
        self.labels.as_ref()?.get(key)?.as_str()
    }
}
