//! What lies around the objects of an application, as the cache has it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use lynceus_api::wave;
use lynceus_cluster::Cluster;
use lynceus_health::{Found, Health, Planned, Surroundings};
use lynceus_object::{Gvk, Object, ObjectKey};

use crate::assess::{Checks, health_of};
use crate::limits;
use crate::look::Look;

/// What can be seen without asking the server. What is kept in part only, and is needed whole, is noted, so that it can
/// be fetched and the question asked again.
pub(crate) struct Around<'a> {
    cluster: Option<&'a Cluster>,
    planned: Vec<Planned>,
    checks: Checks,
    wanted: Mutex<BTreeMap<ObjectKey, Gvk>>,
}

impl<'a> Around<'a> {
    /// What lies around an application that was looked at.
    pub(crate) fn of(cluster: &'a Cluster, look: &Look, checks: &Checks) -> Self {
        let planned = look.changes.changes.iter().filter_map(|change| {
            let object = change.pair.desired()?.clone();
            Some(Planned { wave: wave(&object), is_live: change.pair.live().is_some(), object })
        });
        Around {
            cluster: Some(cluster),
            planned: planned.collect(),
            checks: checks.clone(),
            wanted: Mutex::default(),
        }
    }

    /// A place where nothing can be seen.
    pub(crate) fn nothing() -> Self {
        Around { cluster: None, planned: Vec::new(), checks: Checks::default(), wanted: Mutex::default() }
    }

    /// Fetches what was needed and not there. Says whether there is more to be seen now.
    pub(crate) async fn fetch(self, cluster: &Cluster) -> bool {
        let wanted = self.wanted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut fetched = false;
        for (key, gvk) in wanted.into_iter().take(limits::REASON_FETCHES) {
            // What cannot be fetched is not explained; what is known of it stays.
            fetched |= matches!(cluster.live(&key, &gvk).await, Ok(Some(_)));
        }
        fetched
    }

    /// An object of the cache, noted if it is not whole.
    fn whole(&self, cluster: &Cluster, object: Object) -> Object {
        let key = object.key();
        if !cluster.cache().is_whole(&key) {
            self.wanted.lock().unwrap_or_else(PoisonError::into_inner).insert(key, object.gvk());
        }
        object
    }
}

impl Surroundings for Around<'_> {
    fn children(&self, owner: &Object) -> Vec<Object> {
        let Some(cluster) = self.cluster else { return Vec::new() };
        let children = cluster.cache().children_of(owner).into_iter();
        children.map(|child| self.whole(cluster, child)).collect()
    }

    fn find(&self, key: &ObjectKey) -> Found {
        let Some(cluster) = self.cluster else { return Found::Unknown };
        match cluster.cache().get(key) {
            // Of these only the existence is asked for, and nobody else need see what is in them.
            Some(object) if matches!(key.kind.as_str(), "Secret" | "ConfigMap") => Found::There(object),
            Some(object) => Found::There(self.whole(cluster, object)),
            None if cluster.cache().knows(&key.group_kind(), &key.namespace) => Found::Gone,
            None => Found::Unknown,
        }
    }

    fn planned(&self) -> &[Planned] {
        &self.planned
    }

    fn health(&self, object: &Object) -> Option<Health> {
        health_of(Some(object), &self.checks)
    }
}
