//! What is in Git and not in a cluster yet.

use std::collections::{HashMap, HashSet};

use lynceus_api::{SyncPhase, hook};
use lynceus_object::{GroupKind, Object};

use super::{App, Case, Pods};

/// The objects that are to come, by cluster and kind, in the order of the applications.
#[derive(Default)]
pub(super) struct ToCome<'a> {
    all: HashMap<&'a str, Vec<&'a Object>>,
    by_kind: HashMap<(&'a str, GroupKind), Vec<&'a Object>>,
}

impl<'a> ToCome<'a> {
    pub(super) fn new(case: &Case<'a>) -> Self {
        let mut to_come = ToCome::default();
        let mut known = HashSet::new();
        for app in case.apps() {
            let server = app.server();
            for object in app.wanted().iter().map(|one| &one.object) {
                let key = object.key();
                if case.is_absent(server, &key) && is_run(object) && known.insert((server, key)) {
                    to_come.all.entry(server).or_default().push(object);
                    to_come.by_kind.entry((server, object.group_kind())).or_default().push(object);
                }
            }
        }
        to_come
    }

    pub(super) fn all(&self, server: &str) -> &[&'a Object] {
        self.all.get(server).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_kind(&self, server: &str, group: &str, kind: &str) -> &[&'a Object] {
        // What is asked for may live shorter than what is known.
        let place = self.all.get_key_value(server).map(|(server, _)| (*server, GroupKind::new(group, kind)));
        place.and_then(|place| self.by_kind.get(&place)).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Case<'a> {
    /// Kubernetes' own workloads that are to come and will make pods, with those: what an operator makes of its own kinds it may change. What
    /// is well lacks only hooks, and those have run.
    pub(crate) fn pods_to_come(&self, server: &str) -> impl Iterator<Item = (&'a Object, Pods<'a>)> {
        let all = self.to_come(server).iter().copied();
        let all = all.filter(|object: &&'a Object| {
            matches!(object.group(), "" | "apps" | "batch") && !is_at_rest(object)
        });
        let all = all.filter(move |object| self.app_of(server, &object.key()).is_some_and(App::is_troubled));
        all.filter_map(|object| Some((object, Pods::of(object)?)))
    }
}

/// Whether a workload is told to make no pods.
fn is_at_rest(object: &Object) -> bool {
    object.value().int_at(&["spec", "replicas"]) == Some(0)
        || object.value().bool_at(&["spec", "suspend"]) == Some(true)
}

/// Whether every sync makes an object. A hook for syncs that fail, for a deletion or for a test of Helm may never be made, and nothing waits
/// for what it names.
fn is_run(object: &Object) -> bool {
    let mut phases = hook::sync_types(object).into_iter().filter_map(|one| one.phase());
    !hook::is_hook(object) || phases.any(|phase| phase != SyncPhase::SyncFail)
}
