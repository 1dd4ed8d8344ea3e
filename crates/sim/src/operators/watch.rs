//! Who has to be looked at when another object changes.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{Object, Str};

use crate::controllers::key::Key;

/// An object of a group and a kind, by its namespace and name. Both are empty where any object of the kind will do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Watched {
    group: Str,
    kind: Str,
    namespace: Str,
    name: Str,
}

impl Watched {
    pub(super) fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Watched { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    /// Any object of a kind.
    pub(super) fn any(group: &str, kind: &str) -> Self {
        Watched::new(group, kind, "", "")
    }
}

/// What objects watch. It is found out anew with each look at one of them, so that what an object asked for once is not kept.
#[derive(Debug, Default)]
pub(super) struct Watches {
    who: BTreeMap<Watched, BTreeSet<Key>>,
    of: BTreeMap<Key, BTreeSet<Watched>>,
}

impl Watches {
    /// Begins a look at an object: it watches nothing.
    pub(super) fn forget(&mut self, key: &Key) {
        for watched in self.of.remove(key).unwrap_or_default() {
            if let Some(who) = self.who.get_mut(&watched) {
                who.remove(key);
                if who.is_empty() {
                    self.who.remove(&watched);
                }
            }
        }
    }

    /// Has an object be looked at when another changes.
    pub(super) fn add(&mut self, key: &Key, watched: Watched) {
        self.who.entry(watched.clone()).or_default().insert(key.clone());
        self.of.entry(key.clone()).or_default().insert(watched);
    }

    /// Whether nobody watches anything.
    pub(super) fn is_empty(&self) -> bool {
        self.who.is_empty()
    }

    /// Those who watch an object.
    pub(super) fn woken_by(&self, object: &Object) -> impl Iterator<Item = &Key> {
        let names = [(object.namespace(), object.name()), ("", "")].into_iter();
        names.flat_map(|(namespace, name)| {
            self.who.get(&Watched::new(object.group(), object.kind(), namespace, name)).into_iter().flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::Gvk;

    use super::*;
    use crate::controllers::kind::POD;

    fn woken(watches: &Watches, name: &str) -> usize {
        watches.woken_by(&Object::named(&Gvk::new("", "v1", "Secret"), "shop", name)).count()
    }

    #[test]
    fn what_an_object_no_longer_asks_for_is_forgotten() {
        let (mut watches, key) = (Watches::default(), Key::new(POD, "shop", "web"));
        for name in ["first", "second"] {
            watches.forget(&key);
            watches.add(&key, Watched::new("", "Secret", "shop", name));
        }
        assert_eq!((woken(&watches, "first"), woken(&watches, "second")), (0, 1));
        watches.add(&key, Watched::any("", "Secret"));
        assert_eq!(woken(&watches, "first"), 1);
        watches.forget(&key);
        assert!(watches.who.is_empty() && watches.of.is_empty());
    }
}
