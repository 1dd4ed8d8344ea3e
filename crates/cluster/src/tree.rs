//! What belongs to what: the objects of an application and everything that they own.

use std::collections::BTreeSet;

use lynceus_object::{Object, ObjectKey};

use crate::cache::Cache;

/// An object in a tree, with the objects that it owns.
#[derive(Clone, Debug)]
pub struct Node {
    /// The object.
    pub object: Object,
    /// The key of the object that owns it; none at the root.
    pub parent: Option<ObjectKey>,
}

/// The roots and everything below them, each before its children, siblings in key order.
pub fn tree(cache: &Cache, roots: impl IntoIterator<Item = Object>) -> Vec<Node> {
    let mut seen = BTreeSet::new();
    let mut nodes = Vec::new();
    let mut next: Vec<Node> = roots.into_iter().map(|object| Node { object, parent: None }).collect();
    next.reverse();
    while let Some(node) = next.pop() {
        let key = node.object.key();
        if !seen.insert(key.clone()) {
            continue;
        }
        let children = cache.children_of(&node.object).into_iter().rev();
        next.extend(children.map(|object| Node { object, parent: Some(key.clone()) }));
        nodes.push(node);
    }
    nodes
}
