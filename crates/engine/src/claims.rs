//! Which applications want which objects.
//!
//! An object that two applications want carries the mark of whichever wrote it last, so that only the other one could
//! tell from the cluster that it is shared. Here both can.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lynceus_object::{ObjectKey, Str};

use crate::desire::Desired;
use crate::engine::Engine;
use crate::key::AppKey;
use crate::queue::Freshness;

/// What each application that has been looked at wants, and from which file.
#[derive(Default)]
pub(crate) struct Claims(Mutex<Index>);

#[derive(Default)]
struct Index {
    /// Who wants an object of a cluster.
    claimants: HashMap<(Str, ObjectKey), Vec<Claim>>,
    /// What an application wants.
    wanted: HashMap<Str, Vec<(Str, ObjectKey)>>,
}

/// One application's wish for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The application as it stands in tracking marks.
    pub(crate) application: Str,
    /// The file that the object comes from; empty if that is not known.
    pub(crate) file: Str,
}

impl Claims {
    /// Notes what an application wants now. Gives those that share something with it now and did not before, or did and
    /// do not now.
    pub(crate) fn note(&self, application: &str, server: &str, desired: &Desired) -> Vec<Str> {
        let mut index = self.index();
        let before = index.sharers(application);
        index.forget(application);
        let named = desired.objects.iter().filter(|object| !object.name().is_empty());
        let mut wanted = Vec::new();
        for key in named.map(|object| object.key()) {
            let file = desired.spans.get(&key).map(|span| span.file.to_string()).unwrap_or_default();
            let place = (Str::from(server), key);
            let claim = Claim { application: application.into(), file: file.into() };
            index.claimants.entry(place.clone()).or_default().push(claim);
            wanted.push(place);
        }
        index.wanted.insert(application.into(), wanted);
        let after = index.sharers(application);
        before.symmetric_difference(&after).cloned().collect()
    }

    /// Forgets an application. Gives those that shared something with it.
    pub(crate) fn forget(&self, application: &str) -> Vec<Str> {
        let mut index = self.index();
        let sharers = index.sharers(application);
        index.forget(application);
        sharers.into_iter().collect()
    }

    /// The other applications that want an object, in order.
    pub(crate) fn others(&self, application: &str, server: &str, key: &ObjectKey) -> Vec<Claim> {
        let index = self.index();
        let all =
            index.claimants.get(&(Str::from(server), key.clone())).map(Vec::as_slice).unwrap_or_default();
        let mut others: Vec<Claim> =
            all.iter().filter(|claim| claim.application != application).cloned().collect();
        others.sort_by(|a, b| a.application.cmp(&b.application));
        others
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Has those looked at who share objects with an application now, or did before: both have to say so.
    pub(crate) fn tell_claimants(&self, applications: &[Str]) {
        for application in applications {
            self.refresh(AppKey::from_tracked(application, &self.options().namespace), Freshness::Recent);
        }
    }
}

impl Index {
    fn sharers(&self, application: &str) -> BTreeSet<Str> {
        let wanted = self.wanted.get(application).map(Vec::as_slice).unwrap_or_default();
        let claims = wanted.iter().filter_map(|place| self.claimants.get(place)).flatten();
        claims.map(|claim| claim.application.clone()).filter(|other| other != application).collect()
    }

    fn forget(&mut self, application: &str) {
        for place in self.wanted.remove(application).unwrap_or_default() {
            if let Some(claims) = self.claimants.get_mut(&place) {
                claims.retain(|claim| claim.application != application);
                if claims.is_empty() {
                    self.claimants.remove(&place);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_files::{FilePath, Span};
    use lynceus_object::{Gvk, Object};

    fn wanting(names: &[&str]) -> Desired {
        let mut desired = Desired::default();
        for name in names {
            let object = Object::named(&Gvk::new("", "v1", "ConfigMap"), "default", name);
            let file = FilePath::new(&format!("app/{name}.yaml")).unwrap();
            desired.spans.insert(object.key(), Span { file, line: 1, column: 1 });
            desired.objects.push(object);
        }
        desired
    }

    fn others(claims: &Claims, application: &str, server: &str, name: &str) -> Vec<String> {
        let key = ObjectKey::new("", "ConfigMap", "default", name);
        let found = claims.others(application, server, &key);
        found.iter().map(|claim| format!("{} {}", claim.application, claim.file)).collect()
    }

    #[test]
    fn both_owners_learn_of_each_other_and_of_each_others_file() {
        let claims = Claims::default();
        assert!(claims.note("a", "east", &wanting(&["x", "y"])).is_empty());
        assert_eq!(claims.note("b", "east", &wanting(&["y"])), ["a"]);
        assert_eq!(others(&claims, "a", "east", "y"), ["b app/y.yaml"]);
        assert_eq!(others(&claims, "b", "east", "y"), ["a app/y.yaml"]);
        assert!(others(&claims, "a", "east", "x").is_empty());
        assert!(claims.note("b", "east", &wanting(&["y"])).is_empty(), "nothing is new");
    }

    #[test]
    fn the_same_name_in_another_cluster_is_another_object() {
        let claims = Claims::default();
        claims.note("a", "east", &wanting(&["x"]));
        assert!(claims.note("b", "west", &wanting(&["x"])).is_empty());
        assert!(others(&claims, "a", "east", "x").is_empty());
    }

    #[test]
    fn whoever_lets_go_or_goes_is_told_of() {
        let claims = Claims::default();
        claims.note("a", "east", &wanting(&["x"]));
        claims.note("b", "east", &wanting(&["x"]));
        assert_eq!(claims.note("b", "east", &wanting(&["z"])), ["a"]);
        claims.note("b", "east", &wanting(&["x"]));
        assert_eq!(claims.forget("b"), ["a"]);
        assert!(others(&claims, "a", "east", "x").is_empty());
    }
}
