//! The rows of the live cache, and the indexes that questions need.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lynceus_api::{GROUP, Tracking};
use lynceus_object::{GroupKind, Object, ObjectKey, Str};

use crate::cache::Change;
use crate::keep::{Keep, trim};
use crate::limits;
use crate::owner::{Owner, can_own, claims, owners};

/// How far up a chain of owners is followed; a longer one is a loop or a mistake.
const MAX_OWNERS: usize = 32;

/// Every object, as much of it as is kept.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) tracking: Tracking,
    /// The namespace whose settings are always kept whole.
    home: Str,
    objects: HashMap<ObjectKey, Kept>,
    /// Key by uid, to find an owner.
    by_uid: HashMap<Str, ObjectKey>,
    /// Keys by the uid of an owner, to find children.
    children: HashMap<Str, BTreeSet<ObjectKey>>,
    /// Keys by the key of an owner that was inferred, for those children.
    heirs: HashMap<ObjectKey, BTreeSet<ObjectKey>>,
    /// Keys by application, as the objects' own marks say.
    by_application: HashMap<Str, BTreeSet<ObjectKey>>,
    by_kind: BTreeMap<GroupKind, BTreeSet<ObjectKey>>,
    /// The versions at which objects were deleted, so that the answer to an earlier write, arriving late, does not bring
    /// one back.
    deleted: HashMap<ObjectKey, u64>,
    /// Objects that somebody asked for by name and that are therefore kept whole.
    wanted: HashSet<ObjectKey>,
    /// Objects of which less is kept than should be.
    pub(crate) hungry: BTreeSet<ObjectKey>,
}

/// What the chain of owners says about an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Unmanaged,
    /// An owner is not known yet.
    Unclear,
    Managed,
}

/// An object, or as much of it as there is.
pub(crate) struct Kept {
    pub(crate) object: Object,
    keep: Keep,
}

impl From<Object> for Kept {
    fn from(object: Object) -> Self {
        Kept { object, keep: Keep::Full }
    }
}

/// A list of a kind, in one namespace or all, as the server gave it.
pub(crate) struct Listed {
    pub(crate) kind: GroupKind,
    /// Empty for all.
    pub(crate) namespace: Str,
    pub(crate) objects: Vec<Kept>,
    /// The version that the list is of.
    pub(crate) version: u64,
    /// Whether it is the truth even where we have seen newer objects: the server was set back.
    pub(crate) reset: bool,
}

impl Rows {
    pub(crate) fn new(tracking: Tracking, home: Str) -> Self {
        Rows { tracking, home, ..Rows::default() }
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(key).map(|row| &row.object)
    }

    /// Whether all of an object is kept, so that it can be compared.
    pub(crate) fn is_full(&self, key: &ObjectKey) -> bool {
        self.objects.get(key).is_some_and(|row| row.keep == Keep::Full)
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn of_kind(&self, kind: &GroupKind) -> impl Iterator<Item = &Object> {
        self.by_kind.get(kind).into_iter().flatten().filter_map(|key| self.get(key))
    }

    pub(crate) fn of_application(&self, application: &str) -> impl Iterator<Item = &Object> {
        self.by_application.get(application).into_iter().flatten().filter_map(|key| self.get(key))
    }

    /// The objects of a namespace that nothing owns.
    pub(crate) fn roots_in(&self, namespace: &str) -> impl Iterator<Item = &Object> {
        let is_owned = |key: &ObjectKey, object: &Object| {
            owners(object).iter().any(|owner| match owner {
                Owner::Named(_) | Owner::Inferred(_) => true,
                Owner::Claimed(set) => self.inherits(set, key),
            })
        };
        let inside = self.objects.iter().filter(move |(key, _)| key.namespace == namespace);
        inside.filter(move |(key, row)| !is_owned(key, &row.object)).map(|(_, row)| &row.object)
    }

    /// The objects that an object owns, in key order.
    pub(crate) fn children_of(&self, owner: &ObjectKey, uid: &str) -> Vec<&Object> {
        self.child_keys(owner, uid).iter().filter_map(|key| self.get(key)).collect()
    }

    fn child_keys(&self, owner: &ObjectKey, uid: &str) -> BTreeSet<ObjectKey> {
        let named = self.children.get(uid).into_iter().flatten().filter(|child| can_own(owner, child));
        let heirs = self.heirs.get(owner).into_iter().flatten().filter(|child| self.inherits(owner, child));
        named.chain(heirs).cloned().collect()
    }

    /// Whether what a name suggests is so.
    fn inherits(&self, owner: &ObjectKey, child: &ObjectKey) -> bool {
        child.kind != "PersistentVolumeClaim" || self.get(owner).is_some_and(|set| claims(set, &child.name))
    }

    /// Notes that an object is wanted whole, whoever it belongs to.
    pub(crate) fn want(&mut self, key: &ObjectKey) {
        if self.wanted.len() < limits::WANTED && self.wanted.insert(key.clone()) {
            let children = self.own_children(key);
            self.settle(children);
        }
    }

    /// Changes how objects are marked; every index is made anew. What is kept too little of is hungry from now on.
    pub(crate) fn set_tracking(&mut self, tracking: Tracking) {
        self.tracking = tracking;
        self.by_application = HashMap::new();
        let marked: Vec<(Str, ObjectKey)> = self
            .objects
            .iter()
            .filter_map(|(key, row)| Some((self.mark(&row.object)?, key.clone())))
            .collect();
        for (application, key) in marked {
            self.by_application.entry(application).or_default().insert(key);
        }
        let all: Vec<ObjectKey> = self.objects.keys().cloned().collect();
        self.settle(all);
    }

    /// Takes an object as it is now. Answers to our own writes and events of a watch come by different ways; whichever
    /// is newer counts.
    pub(crate) fn upsert(&mut self, kept: impl Into<Kept>) -> Option<Change> {
        let kept = kept.into();
        let key = kept.object.key();
        let new = version(&kept.object);
        let stale = match self.objects.get(&key) {
            Some(row) if version(&row.object) == new => {
                row.keep >= kept.keep || row.keep >= self.need(&key, &kept.object)
            }
            Some(row) => version(&row.object) > new,
            None => self.deleted.get(&key).is_some_and(|deleted| *deleted >= new),
        };
        if stale { None } else { Some(self.put(key, kept)) }
    }

    /// Throws away at once what would not be kept anyway, so that a long list is never in memory as a whole.
    pub(crate) fn trimmed(&self, object: Object) -> Kept {
        let keep = self.need(&object.key(), &object);
        Kept { object: trim(object, keep), keep }
    }

    fn put(&mut self, key: ObjectKey, Kept { object, keep: have }: Kept) -> Change {
        self.deleted.remove(&key);
        self.hungry.remove(&key);
        let mut applications = self.applications(&key);
        self.unindex(&key);
        self.index(&key, &object);
        let need = self.need(&key, &object);
        let keep = need.min(have);
        if keep < need {
            self.hungry.insert(key.clone());
        }
        let before = self.objects.insert(key.clone(), Kept { object: trim(object, keep), keep });
        applications.extend(self.applications(&key));
        if before.is_none_or(|row| row.keep != keep) {
            let children = self.own_children(&key);
            self.settle(children);
        }
        Change { key, applications }
    }

    pub(crate) fn remove(&mut self, key: &ObjectKey, at: u64) -> Option<Change> {
        if self.deleted.len() > limits::DELETED {
            self.deleted.clear();
        }
        let last = self.get(key).map(version).unwrap_or_default();
        self.deleted.insert(key.clone(), at.max(last));
        let applications = self.applications(key);
        self.unindex(key);
        self.wanted.remove(key);
        self.hungry.remove(key);
        self.objects.remove(key)?;
        Some(Change { key: key.clone(), applications })
    }

    /// Takes a whole list: what is not in it is gone. What we wrote after the list was made stays, unless the server was
    /// set back to an older state.
    pub(crate) fn replace(&mut self, list: Listed) -> Vec<Change> {
        let here = |key: &ObjectKey| list.namespace.is_empty() || key.namespace == list.namespace;
        let now: BTreeSet<ObjectKey> = list.objects.iter().map(|kept| kept.object.key()).collect();
        let before = self.by_kind.get(&list.kind).into_iter().flatten().filter(|key| here(key));
        let newer = |key: &ObjectKey| {
            !list.reset && self.get(key).is_some_and(|object| version(object) > list.version)
        };
        let gone: Vec<ObjectKey> = before.filter(|key| !now.contains(*key) && !newer(key)).cloned().collect();
        let mut changes: Vec<Change> = gone.iter().filter_map(|key| self.remove(key, list.version)).collect();
        if list.reset {
            self.deleted.retain(|key, _| key.group_kind() != list.kind || !here(key));
        }
        for kept in list.objects {
            if list.reset {
                let key = kept.object.key();
                let same =
                    |old: &Object| version(old) == version(&kept.object) && old.uid() == kept.object.uid();
                if !self.get(&key).is_some_and(same) {
                    changes.push(self.put(key, kept));
                }
            } else {
                changes.extend(self.upsert(kept));
            }
        }
        changes
    }

    /// Gives every one of these objects what it needs and no more, and then those that depend on the ones that changed.
    fn settle(&mut self, keys: Vec<ObjectKey>) {
        let mut next = keys;
        let mut seen = HashSet::new();
        while let Some(key) = next.pop() {
            let Some(row) = self.objects.get(&key) else { continue };
            let need = self.need(&key, &row.object);
            if need == row.keep || !seen.insert(key.clone()) {
                continue;
            }
            if need > row.keep {
                self.hungry.insert(key.clone());
            } else if let Some(row) = self.objects.get_mut(&key) {
                row.object = trim(std::mem::take(&mut row.object), need);
                row.keep = need;
                self.hungry.remove(&key);
            }
            next.extend(self.own_children(&key));
        }
    }

    fn own_children(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let uid = self.get(key).map(Object::uid).unwrap_or_default();
        self.child_keys(key, uid).into_iter().collect()
    }

    /// How much of an object has to be kept.
    fn need(&self, key: &ObjectKey, object: &Object) -> Keep {
        let settings = key.namespace == self.home
            && !self.home.is_empty()
            && key.group.is_empty()
            && matches!(key.kind.as_str(), "Secret" | "ConfigMap");
        // What installs Lynceus or another application is compared like any other object; otherwise all of it is read, but not
        // who wrote which field.
        let whole = settings || self.wanted.contains(key) || self.mark(object).is_some();
        if whole || key.group == GROUP {
            return if whole { Keep::Full } else { Keep::Body };
        }
        match self.standing(key, object) {
            Standing::Managed | Standing::Unclear => Keep::Body,
            Standing::Unmanaged => Keep::Thin,
        }
    }

    fn standing(&self, key: &ObjectKey, object: &Object) -> Standing {
        let mut standing = Standing::Unmanaged;
        self.climb(key, object, &mut |found| {
            standing = standing.max(match found {
                Found::Marked(_) | Found::Wanted => Standing::Managed,
                Found::Nothing => Standing::Unclear,
            });
        });
        standing
    }

    /// The applications of an object: its own mark, or else its owners' marks.
    fn applications(&self, key: &ObjectKey) -> BTreeSet<Str> {
        let mut found = BTreeSet::new();
        if let Some(object) = self.get(key) {
            self.climb(key, object, &mut |one| {
                if let Found::Marked(application) = one {
                    found.insert(application);
                }
            });
        }
        found
    }

    /// Follows every chain of owners up to the first mark, and tells what is at its end if that says anything.
    fn climb(&self, key: &ObjectKey, object: &Object, tell: &mut dyn FnMut(Found)) {
        if let Some(application) = self.mark(object) {
            return tell(Found::Marked(application));
        }
        let mut next: Vec<(ObjectKey, Owner)> =
            owners(object).into_iter().map(|owner| (key.clone(), owner)).collect();
        let mut seen = BTreeSet::new();
        while let Some((child, owner)) = next.pop() {
            let named = matches!(owner, Owner::Named(_));
            let Some((owner, object)) = self.find(&child, owner) else {
                if named {
                    tell(Found::Nothing);
                }
                continue;
            };
            if let Some(application) = self.mark(object) {
                tell(Found::Marked(application));
                continue;
            }
            if self.wanted.contains(&owner) {
                tell(Found::Wanted);
            }
            if seen.len() < MAX_OWNERS && seen.insert(owner.clone()) {
                next.extend(owners(object).into_iter().map(|above| (owner.clone(), above)));
            }
        }
    }

    /// The owner itself, if it is known and can be one.
    fn find(&self, child: &ObjectKey, owner: Owner) -> Option<(ObjectKey, &Object)> {
        let key = match owner {
            Owner::Named(uid) => self.by_uid.get(&uid).filter(|key| can_own(key, child))?.clone(),
            Owner::Inferred(key) => key,
            Owner::Claimed(key) => Some(key).filter(|key| self.inherits(key, child))?,
        };
        let object = self.get(&key)?;
        Some((key, object))
    }

    fn index(&mut self, key: &ObjectKey, object: &Object) {
        self.by_uid.insert(object.uid().into(), key.clone());
        self.by_kind.entry(key.group_kind()).or_default().insert(key.clone());
        for owner in owners(object) {
            match owner {
                Owner::Named(uid) => self.children.entry(uid).or_default().insert(key.clone()),
                Owner::Inferred(of) | Owner::Claimed(of) => {
                    self.heirs.entry(of).or_default().insert(key.clone())
                }
            };
        }
        if let Some(application) = self.mark(object) {
            self.by_application.entry(application).or_default().insert(key.clone());
        }
    }

    fn unindex(&mut self, key: &ObjectKey) {
        let Some(row) = self.objects.get(key) else { return };
        if self.by_uid.get(row.object.uid()) == Some(key) {
            self.by_uid.remove(row.object.uid());
        }
        if let Some(keys) = self.by_kind.get_mut(&key.group_kind()) {
            keys.remove(key);
        }
        for owner in owners(&row.object) {
            match owner {
                Owner::Named(uid) => forget(&mut self.children, &uid, key),
                Owner::Inferred(of) | Owner::Claimed(of) => forget(&mut self.heirs, &of, key),
            }
        }
        if let Some(application) = self.mark(&row.object) {
            forget(&mut self.by_application, &application, key);
        }
    }

    /// The application that an object belongs to by its own mark. Controllers copy annotations onto what they make, so
    /// the mark of an object that has an owner is its owner's.
    fn mark(&self, object: &Object) -> Option<Str> {
        if object.owners().next().is_some() { None } else { self.tracking.application(object) }
    }
}

/// What is at the end of a chain of owners.
enum Found {
    Marked(Str),
    Wanted,
    Nothing,
}

/// Versions are opaque by the letter, and ordered numbers in every server there is; one that is not counts as the first.
pub(crate) fn version(object: &Object) -> u64 {
    object.resource_version().parse().unwrap_or_default()
}

fn forget<K: std::hash::Hash + Eq>(index: &mut HashMap<K, BTreeSet<ObjectKey>>, at: &K, key: &ObjectKey) {
    if let Some(keys) = index.get_mut(at) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(at);
        }
    }
}
