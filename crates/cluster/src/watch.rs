//! Which kinds are kept: one task per kind, and per namespace where only some are looked at.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lynceus_object::{GroupKind, Str};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::AbortHandle;

use crate::cache::{Cache, Place};
use crate::cluster::is_essential;
use crate::door::Door;
use crate::keeper::Keeper;
use crate::kind::{Kind, Kinds};
use crate::limits;
use crate::options::Options;
use crate::weather::Weather;

/// What all tasks of a cluster share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) door: Door,
    pub(crate) cache: Arc<Cache>,
    pub(crate) weather: Arc<Weather>,
    /// How many lists may be under way at the same time.
    pub(crate) lists: Arc<Semaphore>,
    /// Whether the server is known not to stream lists.
    pub(crate) no_streaming: Arc<AtomicBool>,
}

impl Shared {
    pub(crate) fn new(door: Door, cache: Arc<Cache>) -> Self {
        Shared {
            door,
            cache,
            weather: Arc::default(),
            lists: Arc::new(Semaphore::new(limits::PARALLEL_LISTS)),
            no_streaming: Arc::default(),
        }
    }
}

/// The tasks that keep the cache.
#[derive(Default)]
pub(crate) struct Watches {
    tasks: BTreeMap<Place, (Kind, AbortHandle)>,
}

impl Drop for Watches {
    fn drop(&mut self) {
        for (_, task) in self.tasks.values() {
            task.abort();
        }
    }
}

/// A place that has just begun to be read; resolves when it has been tried once.
pub(crate) type First = (Place, oneshot::Receiver<()>);

impl Watches {
    /// Starts what is new and stops what is no longer served or wanted.
    pub(crate) fn follow(&mut self, kinds: &Kinds, options: &Options, shared: &Shared) -> Vec<First> {
        let wanted = wanted(kinds, options);
        self.tasks.retain(|place, (kind, task)| {
            let stays = wanted.get(place).is_some_and(|wanted| *wanted == kind);
            if !stays {
                task.abort();
            }
            // A kind that goes on in another version keeps its objects until they have been read in that.
            if !wanted.contains_key(place) {
                shared.cache.drop_place(place);
            }
            stays
        });
        let mut firsts = Vec::new();
        for (place, kind) in wanted {
            if let Some(trouble) = kinds.trouble(kind) {
                shared.cache.set_error(&place, trouble.to_owned(), false);
            }
            if self.tasks.contains_key(&place) {
                continue;
            }
            let (first, tried) = oneshot::channel();
            let keeper =
                Keeper::new(kind.clone(), place.clone(), options.respect_rbac, shared.clone(), first);
            let task = tokio::spawn(keeper.run()).abort_handle();
            self.tasks.insert(place.clone(), (kind.clone(), task));
            firsts.push((place, tried));
        }
        firsts
    }

    /// Starts everything anew, keeping what is known until it is known better.
    pub(crate) fn restart(&mut self) {
        for (_, task) in std::mem::take(&mut self.tasks).into_values() {
            task.abort();
        }
    }
}

/// What is to be watched, and where.
fn wanted<'a>(kinds: &'a Kinds, options: &Options) -> BTreeMap<Place, &'a Kind> {
    let mut wanted = BTreeMap::new();
    for kind in kinds.watchable() {
        let name: GroupKind = kind.gvk.group_kind();
        // Who excludes a kind from delivery does not mean that our own settings be forgotten.
        let is_ours = !options.home.is_empty() && is_essential(&name);
        if options.scope.excludes(&name, &options.server) && !is_ours {
            continue;
        }
        if options.namespaces.is_empty() || (!kind.namespaced && options.cluster_resources) {
            wanted.insert((name, Str::new()), kind);
        } else if kind.namespaced {
            wanted
                .extend(options.namespaces.iter().map(|namespace| ((name.clone(), namespace.clone()), kind)));
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::Gvk;

    fn places(options: &Options) -> Vec<String> {
        let mut kinds = Kinds::default();
        for (kind, plural, namespaced) in [
            ("Pod", "pods", true),
            ("Node", "nodes", false),
            ("Endpoints", "endpoints", true),
            ("Secret", "secrets", true),
        ] {
            let gvk = Gvk::new("", "v1", kind);
            kinds.insert(Kind { gvk, plural: plural.into(), namespaced, watchable: true });
        }
        wanted(&kinds, options).keys().map(|(kind, namespace)| format!("{kind} in {namespace:?}")).collect()
    }

    #[test]
    fn everything_is_watched_but_what_is_excluded() {
        assert_eq!(places(&Options::default()), ["Node in \"\"", "Pod in \"\"", "Secret in \"\""]);
    }

    #[test]
    fn our_own_settings_are_watched_whatever_is_excluded() {
        let scope = crate::Scope::read(Some("- {kinds: [Pod, Secret]}"), None).0;
        let options = Options { scope, home: "argocd".into(), ..Options::default() };
        assert_eq!(places(&options), ["Endpoints in \"\"", "Node in \"\"", "Secret in \"\""]);
    }

    #[test]
    fn with_namespaces_each_is_watched_and_what_has_none_only_on_request() {
        let namespaces = vec!["dev".into(), "prod".into()];
        let options = Options { namespaces, ..Options::default() };
        let both = ["Pod in \"dev\"", "Pod in \"prod\"", "Secret in \"dev\"", "Secret in \"prod\""];
        assert_eq!(places(&options), both);
        let options = Options { cluster_resources: true, ..options };
        assert_eq!(places(&options)[0], "Node in \"\"");
        assert_eq!(places(&options)[1..], both);
    }
}
