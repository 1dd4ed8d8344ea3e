//! Pods for which room is being made on a node: until they are there, pods that are less important must not take it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_object::{Object, Str};

use super::fit::Search;
use super::load::{Load, Wish};
use super::words::Obstacle;

/// Which pods are to get which node.
#[derive(Debug, Default)]
pub(super) struct Nominations {
    by_node: BTreeMap<Str, BTreeMap<Str, (Object, Arc<Wish>)>>,
    nodes: BTreeMap<Str, Str>,
}

impl Nominations {
    /// Notes which node a pod is to get; an empty name if none.
    pub(super) fn note(&mut self, pod: &Object, node: &str) {
        self.forget(pod.uid());
        if !node.is_empty() {
            self.nodes.insert(pod.uid().into(), node.into());
            let of_node = self.by_node.entry(node.into()).or_default();
            of_node.insert(pod.uid().into(), (pod.clone(), Arc::new(Wish::of(pod))));
        }
    }

    /// The pod is there, or gone.
    pub(super) fn forget(&mut self, uid: &str) {
        let Some(node) = self.nodes.remove(uid) else { return };
        if let Some(of_node) = self.by_node.get_mut(&node) {
            of_node.remove(uid);
            if of_node.is_empty() {
                self.by_node.remove(&node);
            }
        }
    }

    /// Those that are less important than `priority` and were to get a node.
    pub(super) fn lower(&self, node: &str, priority: i64) -> impl Iterator<Item = &Object> {
        let of_node = self.by_node.get(node).into_iter().flatten();
        of_node.filter(move |(_, (_, wish))| wish.priority < priority).map(|(_, (pod, _))| pod)
    }

    /// Whether anybody is to get a node.
    pub(super) fn concern(&self, node: &str) -> bool {
        self.by_node.contains_key(node)
    }

    /// What keeps a pod from a node, with those on it that are to come and as important, and also without them: they
    /// may never come, and a pod must not depend on them.
    pub(super) fn obstacle(&self, search: &mut Search<'_>, load: &mut Load, node: &str) -> Option<Obstacle> {
        let plain = |search: &Search<'_>, load: &Load| {
            load.machine(node).and_then(|(machine, found)| search.obstacle(load, machine, found))
        };
        let waiting: Vec<&(Object, Arc<Wish>)> = self
            .by_node
            .get(node)
            .into_iter()
            .flat_map(BTreeMap::values)
            .filter(|(pod, wish)| {
                wish.priority >= search.wish.priority
                    && pod.uid() != search.pod.uid()
                    && load.placed(pod.uid()).is_none()
            })
            .collect();
        if waiting.is_empty() {
            return plain(search, load);
        }
        waiting.iter().for_each(|(pod, wish)| load.assume(pod, node, Arc::clone(wish)));
        search.recount(load);
        let with = plain(search, load);
        waiting.iter().for_each(|(pod, _)| drop(load.forget(pod.uid())));
        search.recount(load);
        with.or_else(|| plain(search, load))
    }
}
