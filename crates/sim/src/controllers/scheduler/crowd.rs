//! Pods by what others may say of them: those with the same namespace, labels and wishes about other pods are one class,
//! counted per node. A rule is tried once per class instead of once per pod.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lynceus_object::{Object, Selector, Str, Value, json};

use super::between::Terms;

/// Pods that are alike.
#[derive(Debug)]
pub(super) struct Class {
    /// Their namespace.
    pub(super) namespace: Str,
    /// Their labels.
    pub(super) labels: Option<Value>,
    /// What they want of other pods.
    pub(super) terms: Terms,
    /// How many of them each node has.
    pub(super) nodes: BTreeMap<Str, i64>,
    /// Whether they are on their way out.
    leaving: bool,
    key: String,
}

/// All pods that are on nodes.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    classes: Vec<Option<Class>>,
    free: Vec<usize>,
    by_key: HashMap<String, usize>,
    by_namespace: HashMap<Str, BTreeSet<usize>>,
    /// Those that want something of other pods.
    demanding: BTreeSet<usize>,
}

impl Crowd {
    /// Counts a pod, and says as what.
    pub(super) fn add(&mut self, pod: &Object, node: &str) -> usize {
        let key = key(pod);
        let id = match self.by_key.get(&key) {
            Some(id) => *id,
            None => self.open(pod, key),
        };
        if let Some(class) = &mut self.classes[id] {
            *class.nodes.entry(node.into()).or_default() += 1;
        }
        id
    }

    fn open(&mut self, pod: &Object, key: String) -> usize {
        let terms = Terms::of(pod);
        let id = self.free.pop().unwrap_or_else(|| {
            self.classes.push(None);
            self.classes.len() - 1
        });
        if !terms.is_empty() {
            self.demanding.insert(id);
        }
        self.by_key.insert(key.clone(), id);
        self.by_namespace.entry(pod.namespace().into()).or_default().insert(id);
        self.classes[id] = Some(Class {
            namespace: pod.namespace().into(),
            labels: pod.at(&["metadata", "labels"]).cloned(),
            terms,
            nodes: BTreeMap::new(),
            leaving: pod.is_deleting(),
            key,
        });
        id
    }

    /// Stops to count a pod of a class.
    pub(super) fn remove(&mut self, id: usize, node: &str) {
        let Some(class) = self.classes.get_mut(id).and_then(Option::as_mut) else { return };
        if let Some(count) = class.nodes.get_mut(node) {
            *count -= 1;
            if *count == 0 {
                class.nodes.remove(node);
            }
        }
        if !class.nodes.is_empty() {
            return;
        }
        self.by_key.remove(&class.key);
        if let Some(of_namespace) = self.by_namespace.get_mut(&class.namespace) {
            of_namespace.remove(&id);
        }
        self.demanding.remove(&id);
        self.classes[id] = None;
        self.free.push(id);
    }

    /// All classes.
    pub(super) fn classes(&self) -> impl Iterator<Item = &Class> {
        self.classes.iter().flatten()
    }

    /// Those that want something of other pods.
    pub(super) fn demanding(&self) -> impl Iterator<Item = &Class> {
        self.demanding.iter().filter_map(|id| self.classes[*id].as_ref())
    }

    /// How many pods of a namespace each node has that a selector selects and that stay.
    pub(super) fn count(&self, namespace: &str, selector: &Selector) -> HashMap<Str, i64> {
        let mut counts = HashMap::new();
        let ids = self.by_namespace.get(namespace).into_iter().flatten();
        for class in ids.filter_map(|id| self.classes[*id].as_ref()) {
            if class.leaving || !selector.matches_labels(class.labels.as_ref()) {
                continue;
            }
            for (node, count) in &class.nodes {
                *counts.entry(node.clone()).or_default() += count;
            }
        }
        counts
    }
}

fn key(pod: &Object) -> String {
    let text = |path: &[&str]| pod.at(path).map(json::to_string).unwrap_or_default();
    format!(
        "{}\0{}\0{}\0{}\0{}",
        pod.namespace(),
        pod.is_deleting(),
        text(&["metadata", "labels"]),
        text(&["spec", "affinity", "podAffinity"]),
        text(&["spec", "affinity", "podAntiAffinity"]),
    )
}
