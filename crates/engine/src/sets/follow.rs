//! Which ApplicationSets a change in the cluster concerns.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use lynceus_api::{ApplicationSet, Kind as _, annotations};
use lynceus_appset::Need;
use lynceus_cluster::Change;
use lynceus_object::{Object, Str, Value, json};
use lynceus_source::RepoUrl;

use super::set_kind;
use crate::engine::Engine;
use crate::key::{AppKey, application_kind, project_kind};
use crate::queue::Freshness;
use crate::settings;

/// What is known of sets and of their Applications, to tell changes that matter from our own writes.
#[derive(Default)]
pub(crate) struct SetWishes {
    sets: HashMap<AppKey, u64>,
    /// How far the steps of each set are.
    steps: HashMap<AppKey, u64>,
    applications: HashMap<AppKey, Known>,
}

/// What is known of an Application.
#[derive(Clone, PartialEq)]
struct Known {
    owner: Option<AppKey>,
    look: u64,
    /// Whether it is Synced and Healthy, in its own words.
    words: String,
}

impl SetWishes {
    /// Has those sets looked at that a change concerns.
    pub(crate) fn take(&mut self, engine: &Engine, change: &Change) {
        let (kind, home) = (change.key.group_kind(), &engine.options().namespace);
        let key = AppKey::new(change.key.namespace.clone(), change.key.name.clone());
        if kind == set_kind() {
            let object = engine.home().cache().get(&change.key);
            if changed(&mut self.sets, &key, object.as_ref().map(wish)) {
                engine.refresh_set(key.clone(), Freshness::Latest);
            }
            if changed(&mut self.steps, &key, object.as_ref().map(progress)) {
                engine.refresh_waiting(&key);
            }
        } else if kind == application_kind() {
            let object = engine.home().cache().get(&change.key);
            for (set, is_told) in self.application(&key, object.as_ref()) {
                if is_told {
                    engine.refresh_waiting(&set);
                }
                engine.refresh_set(set, Freshness::Recent);
            }
        } else if kind == project_kind() || settings::concerns(&change.key, home) {
            engine.refresh_sets(Freshness::Recent);
        }
        if change.key.namespace == *home {
            engine.refresh_sets_that_need(&kind.group, &kind.kind, &change.key.name);
        }
    }

    /// The sets that an Application belongs to now or did before, if anything changed that they look at; and whether those have to
    /// be told that wait for it.
    fn application(&mut self, key: &AppKey, object: Option<&Object>) -> Vec<(AppKey, bool)> {
        let before = self.applications.get(key).cloned();
        let now =
            object.map(|object| Known { owner: owner(object), look: look(object), words: words(object) });
        if before == now {
            return Vec::new();
        }
        let is_told = before.as_ref().map(|one| &one.words) != now.as_ref().map(|one| &one.words);
        let mut sets: Vec<(AppKey, bool)> = [&before, &now]
            .into_iter()
            .flatten()
            .filter_map(|one| Some((one.owner.clone()?, is_told)))
            .collect();
        sets.dedup();
        match now {
            Some(now) => self.applications.insert(key.clone(), now),
            None => self.applications.remove(key),
        };
        sets
    }
}

fn changed(known: &mut HashMap<AppKey, u64>, key: &AppKey, wish: Option<u64>) -> bool {
    match wish {
        Some(wish) => known.insert(key.clone(), wish) != Some(wish),
        None => {
            known.remove(key);
            true
        }
    }
}

/// The set that an Application belongs to.
pub(crate) fn owner(object: &Object) -> Option<AppKey> {
    let owner = object.controller()?;
    (owner.kind == ApplicationSet::KIND).then(|| AppKey::new(object.namespace(), owner.name))
}

/// A number that changes with everything about a set but its status.
fn wish(object: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in [&["spec"][..], &["metadata", "finalizers"], &["metadata", "uid"]] {
        json::to_string(object.at(path).unwrap_or(&Value::Null)).hash(&mut hasher);
    }
    let asked = [annotations::APPLICATION_SET_REFRESH, annotations::SKIP_RECONCILE, super::CONFIRM_DELETIONS];
    for name in asked {
        object.annotation(name).hash(&mut hasher);
    }
    object.is_deleting().hash(&mut hasher);
    hasher.finish()
}

/// A number that changes as the steps of a set go on.
fn progress(object: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    json::to_string(object.at(&["status", "applicationStatus"]).unwrap_or(&Value::Null)).hash(&mut hasher);
    hasher.finish()
}

/// `Synced Healthy`.
fn words(object: &Object) -> String {
    let word = |part| object.value().str_at(&["status", part, "status"]).unwrap_or_default();
    format!("{} {}", word("sync"), word("health"))
}

/// A number that changes with what a set looks at in its Applications: what it writes, and what its steps wait for.
fn look(object: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    let parts: [&[&str]; 9] = [
        &["spec"],
        &["operation"],
        &["metadata", "labels"],
        &["metadata", "annotations"],
        &["metadata", "finalizers"],
        &["metadata", "ownerReferences"],
        &["status", "sync"],
        &["status", "health", "status"],
        &["status", "conditions"],
    ];
    for path in parts {
        json::to_string(object.at(path).unwrap_or(&Value::Null)).hash(&mut hasher);
    }
    let state = |field| object.value().str_at(&["status", "operationState", field]).unwrap_or_default();
    (state("phase"), state("startedAt"), state("finishedAt")).hash(&mut hasher);
    let seen = object.value().str_at(&["status", "reconciledAt"]).unwrap_or_default();
    // A look after the last sync opens gates; those after it say nothing new.
    (seen >= state("finishedAt")).hash(&mut hasher);
    object.is_deleting().hash(&mut hasher);
    hasher.finish()
}

impl Engine {
    /// Has those sets looked at whose last generation was made of an object.
    fn refresh_sets_that_need(&self, group: &str, kind: &str, name: &str) {
        let plural = self.home().kinds();
        let plural =
            plural.preferred(&lynceus_object::GroupKind::new(group, kind)).map(|kind| kind.plural.clone());
        let needs = |need: &Need| match need {
            Need::ConfigMap { name: own } | Need::Plugin { config_map: own, .. } => {
                group.is_empty() && kind == "ConfigMap" && own == name
            }
            Need::Decisions { api_version, resource, .. } => {
                api_version.split_once('/').is_some_and(|(own, _)| own == group)
                    && plural.as_ref().is_some_and(|plural| plural == resource)
            }
            _ => false,
        };
        for key in self.sets_with(needs) {
            self.refresh_set(key, Freshness::Latest);
        }
    }

    fn sets_with(&self, fits: impl Fn(&Need) -> bool) -> Vec<AppKey> {
        let memory = self.sets.memory();
        let mut keys: Vec<AppKey> = memory
            .iter()
            .filter(|(_, memory)| memory.kept.values().any(|kept| fits(&kept.need)))
            .map(|(key, _)| key.clone())
            .collect();
        keys.sort();
        keys
    }

    /// The repositories on this machine that sets follow, with their revisions.
    pub(crate) fn local_places_of_sets(&self) -> Vec<((Str, Str), AppKey)> {
        let memory = self.sets.memory();
        let mut places = Vec::new();
        for (key, memory) in memory.iter() {
            for kept in memory.kept.values() {
                if let Need::Tree { repo, revision, .. } = &kept.need
                    && matches!(RepoUrl::parse(repo), Ok(RepoUrl::Local(_)))
                {
                    places.push(((repo.clone(), revision.clone()), key.clone()));
                }
            }
        }
        places
    }
}
