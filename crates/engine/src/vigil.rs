//! Applications that want to know of objects that belong to nobody, by the namespace in which they look for them, and how many
//! each has found.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lynceus_object::Str;

use crate::engine::Engine;
use crate::key::AppKey;
use crate::look::Look;

/// Who looks where.
#[derive(Default)]
pub(crate) struct Vigil {
    places: Mutex<HashMap<Str, BTreeSet<AppKey>>>,
    counts: Mutex<HashMap<AppKey, usize>>,
}

impl Vigil {
    /// Notes where an application looks and how many it has found, now that it was looked at.
    pub(crate) fn note(&self, key: &AppKey, namespace: &str, look: &Look) {
        self.counts().insert(key.clone(), look.orphans.len());
        let wants = |project: &lynceus_api::AppProject| {
            project.spec.orphaned_resources.as_ref().is_some_and(|settings| settings.warn != Some(false))
        };
        let watches = !namespace.is_empty() && look.project.as_deref().is_some_and(wants);
        let mut places = self.places();
        if !watches && places.is_empty() {
            return;
        }
        for (place, keys) in places.iter_mut() {
            if !watches || place != namespace {
                keys.remove(key);
            }
        }
        places.retain(|_, keys| !keys.is_empty());
        if watches {
            places.entry(namespace.into()).or_default().insert(key.clone());
        }
    }

    /// Those that look for orphans in a namespace.
    pub(crate) fn of(&self, namespace: &str) -> Vec<AppKey> {
        self.places().get(namespace).into_iter().flatten().cloned().collect()
    }

    /// Forgets an application that is gone.
    pub(crate) fn forget(&self, key: &AppKey) {
        self.counts().remove(key);
        self.places().retain(|_, keys| {
            keys.remove(key);
            !keys.is_empty()
        });
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Str, BTreeSet<AppKey>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<AppKey, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// How many objects that belong to nobody were found beside an application's; none if it was not looked at here.
    pub fn orphans(&self, key: &AppKey) -> Option<usize> {
        self.vigil.counts().get(key).copied()
    }
}
