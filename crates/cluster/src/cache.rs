//! The live cache: every object of every kind that can be watched, as last seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lynceus_api::Tracking;
use lynceus_object::{GroupKind, Object, ObjectKey, Str};
use tokio::sync::broadcast;

use crate::limits;

/// An object that has changed, and what it may matter to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The object.
    pub key: ObjectKey,
    /// The applications that the object or one of its owners says it belongs to, now or until now.
    pub applications: BTreeSet<Str>,
}

/// A kind that cannot be read now, with the reason. Every other kind goes on.
pub type KindErrors = BTreeMap<GroupKind, String>;

/// Every live object, with the indexes that questions need.
pub struct Cache {
    rows: RwLock<Rows>,
    changes: broadcast::Sender<Change>,
}

#[derive(Default)]
struct Rows {
    tracking: Tracking,
    objects: HashMap<ObjectKey, Object>,
    /// Key by uid, to find an owner.
    by_uid: HashMap<Str, ObjectKey>,
    /// Keys by the uid of an owner, to find children.
    children: HashMap<Str, BTreeSet<ObjectKey>>,
    /// Keys by application, as the objects' own marks say.
    by_application: HashMap<Str, BTreeSet<ObjectKey>>,
    by_kind: BTreeMap<GroupKind, BTreeSet<ObjectKey>>,
    /// The versions at which objects were deleted, so that the answer to an earlier write, arriving late, does not bring
    /// one back.
    deleted: HashMap<ObjectKey, u64>,
    errors: KindErrors,
}

/// How far up a chain of owners is followed; a longer one is a loop or a mistake.
const MAX_OWNERS: usize = 32;

impl Cache {
    /// An empty cache for objects that are marked in a certain way.
    pub fn new(tracking: Tracking) -> Self {
        let rows = Rows { tracking, ..Rows::default() };
        Cache { rows: RwLock::new(rows), changes: broadcast::channel(limits::CHANGES).0 }
    }

    /// Hears of every change from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Changes how objects are marked; every index is made anew.
    pub fn set_tracking(&self, tracking: Tracking) {
        let mut rows = self.write();
        if rows.tracking == tracking {
            return;
        }
        rows.tracking = tracking;
        rows.by_application = HashMap::new();
        let marked: Vec<(Str, ObjectKey)> =
            rows.objects.iter().filter_map(|(key, object)| Some((rows.mark(object)?, key.clone()))).collect();
        for (application, key) in marked {
            rows.by_application.entry(application).or_default().insert(key);
        }
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Object> {
        self.read().objects.get(key).cloned()
    }

    /// Every object of a kind, in key order.
    pub fn of_kind(&self, kind: &GroupKind) -> Vec<Object> {
        let rows = self.read();
        let keys = rows.by_kind.get(kind).into_iter().flatten();
        keys.filter_map(|key| rows.objects.get(key).cloned()).collect()
    }

    /// Every object that says it belongs to an application, in key order.
    pub fn of_application(&self, application: &str) -> Vec<Object> {
        let rows = self.read();
        let keys = rows.by_application.get(application).into_iter().flatten();
        keys.filter_map(|key| rows.objects.get(key).cloned()).collect()
    }

    /// The objects that name the object with this uid as an owner, in key order.
    pub fn children(&self, uid: &str) -> Vec<Object> {
        let rows = self.read();
        let keys = rows.children.get(uid).into_iter().flatten();
        keys.filter_map(|key| rows.objects.get(key).cloned()).collect()
    }

    /// The kinds that cannot be read now.
    pub fn errors(&self) -> KindErrors {
        self.read().errors.clone()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.read().objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes an object as it is now.
    pub(crate) fn upsert(&self, object: Object) {
        let change = self.write().upsert(object);
        self.tell(change);
    }

    /// Forgets an object that was deleted, as it was at its end.
    pub(crate) fn remove(&self, object: &Object) {
        let change = self.write().remove(&object.key(), version(object));
        self.tell(change);
    }

    /// Takes a whole list of a kind: what is not in it is gone.
    pub(crate) fn replace_kind(&self, kind: &GroupKind, objects: Vec<Object>) {
        let mut changes = Vec::new();
        {
            let mut rows = self.write();
            rows.errors.remove(kind);
            let now: BTreeSet<ObjectKey> = objects.iter().map(Object::key).collect();
            let before = rows.by_kind.get(kind).cloned().unwrap_or_default();
            changes.extend(before.difference(&now).map(|key| rows.remove(key, 0)));
            changes.extend(objects.into_iter().map(|object| rows.upsert(object)));
        }
        for change in changes {
            self.tell(change);
        }
    }

    /// Forgets a kind that is no longer served.
    pub(crate) fn drop_kind(&self, kind: &GroupKind) {
        self.replace_kind(kind, Vec::new());
    }

    /// Remembers that a kind cannot be read.
    pub(crate) fn set_error(&self, kind: &GroupKind, error: Option<String>) {
        let mut rows = self.write();
        match error {
            Some(error) => rows.errors.insert(kind.clone(), error),
            None => rows.errors.remove(kind),
        };
    }

    fn tell(&self, change: Option<Change>) {
        if let Some(change) = change {
            // Nobody listening is no error.
            let _ = self.changes.send(change);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Rows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    /// Answers to our own writes and events of a watch come by different ways; whichever is newer counts.
    fn upsert(&mut self, object: Object) -> Option<Change> {
        let key = object.key();
        let before = self.objects.get(&key).map(version).or_else(|| self.deleted.get(&key).copied());
        if before.is_some_and(|before| before >= version(&object)) {
            return None;
        }
        self.deleted.remove(&key);
        let mut applications = self.applications(&key);
        self.unindex(&key);
        self.index(&key, &object);
        self.objects.insert(key.clone(), object);
        applications.extend(self.applications(&key));
        Some(Change { key, applications })
    }

    fn remove(&mut self, key: &ObjectKey, at: u64) -> Option<Change> {
        if self.deleted.len() > limits::DELETED {
            self.deleted.clear();
        }
        let last = self.objects.get(key).map(version).unwrap_or_default();
        self.deleted.insert(key.clone(), at.max(last));
        let applications = self.applications(key);
        self.unindex(key);
        self.objects.remove(key)?;
        Some(Change { key: key.clone(), applications })
    }

    fn index(&mut self, key: &ObjectKey, object: &Object) {
        self.by_uid.insert(object.uid().into(), key.clone());
        self.by_kind.entry(key.group_kind()).or_default().insert(key.clone());
        for owner in object.owners() {
            self.children.entry(owner.uid).or_default().insert(key.clone());
        }
        if let Some(application) = self.mark(object) {
            self.by_application.entry(application).or_default().insert(key.clone());
        }
    }

    /// The application that an object belongs to by its own mark. Controllers copy annotations onto what they make, so
    /// the mark of an object that has an owner is its owner's.
    fn mark(&self, object: &Object) -> Option<Str> {
        if object.owners().next().is_some() { None } else { self.tracking.application(object) }
    }

    fn unindex(&mut self, key: &ObjectKey) {
        let Some(object) = self.objects.get(key) else { return };
        if self.by_uid.get(object.uid()) == Some(key) {
            self.by_uid.remove(object.uid());
        }
        if let Some(keys) = self.by_kind.get_mut(&key.group_kind()) {
            keys.remove(key);
        }
        for owner in object.owners() {
            forget(&mut self.children, &owner.uid, key);
        }
        if let Some(application) = self.mark(object) {
            forget(&mut self.by_application, &application, key);
        }
    }

    /// The applications of an object: its own mark, or else its owners' marks.
    fn applications(&self, key: &ObjectKey) -> BTreeSet<Str> {
        let mut found = BTreeSet::new();
        let mut next = vec![key.clone()];
        let mut seen = BTreeSet::new();
        while let Some(key) = next.pop() {
            let Some(object) = self.objects.get(&key) else { continue };
            if let Some(application) = self.mark(object) {
                found.insert(application);
                continue;
            }
            if seen.len() < MAX_OWNERS && seen.insert(key) {
                next.extend(object.owners().filter_map(|owner| self.by_uid.get(&owner.uid).cloned()));
            }
        }
        found
    }
}

/// Versions are opaque by the letter, and ordered numbers in every server there is; one that is not counts as the first.
fn version(object: &Object) -> u64 {
    object.resource_version().parse().unwrap_or_default()
}

fn forget(index: &mut HashMap<Str, BTreeSet<ObjectKey>>, at: &Str, key: &ObjectKey) {
    if let Some(keys) = index.get_mut(at) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    fn object(kind: &str, name: &str, version: &str, metadata: lynceus_object::Value) -> Object {
        let mut object =
            Object::new(value!({"apiVersion": "v1", "kind": kind, "metadata": metadata})).unwrap();
        object.set(&["metadata", "name"], name);
        object.set(&["metadata", "namespace"], "shop");
        object.set(&["metadata", "uid"], format!("uid-{name}"));
        object.set(&["metadata", "resourceVersion"], version);
        object
    }

    fn owned_by(owner: &str) -> lynceus_object::Value {
        value!({"ownerReferences": [{"apiVersion": "v1", "kind": "Set", "name": owner, "uid": format!("uid-{owner}")}]})
    }

    fn marked(application: &str, kind: &str, name: &str) -> lynceus_object::Value {
        value!({"annotations": {"argocd.argoproj.io/tracking-id": format!("{application}:/{kind}:shop/{name}")}})
    }

    #[test]
    fn a_change_of_a_child_concerns_the_application_of_its_owner() {
        let cache = Cache::new(Tracking::default());
        cache.upsert(object("Set", "web", "1", marked("shop", "Set", "web")));
        let mut changes = cache.changes();
        cache.upsert(object("Pod", "web-1", "2", owned_by("web")));
        assert_eq!(changes.try_recv().unwrap().applications, BTreeSet::from([Str::from("shop")]));
    }

    #[test]
    fn a_mark_that_a_controller_copied_does_not_count() {
        let cache = Cache::new(Tracking::default());
        cache.upsert(object("Set", "web", "1", marked("shop", "Set", "web")));
        let mut copy = owned_by("web");
        copy.set(
            &["annotations"],
            marked("shop", "Set", "web").at(&["annotations"]).cloned().unwrap_or_default(),
        );
        cache.upsert(object("Pod", "web-1", "2", copy));
        let names: Vec<String> =
            cache.of_application("shop").iter().map(|found| found.name().to_owned()).collect();
        assert_eq!(names, ["web"]);
    }

    #[test]
    fn a_list_removes_what_is_not_in_it() {
        let cache = Cache::new(Tracking::default());
        cache.upsert(object("Pod", "old", "1", value!({})));
        cache.replace_kind(&GroupKind::new("", "Pod"), vec![object("Pod", "new", "2", value!({}))]);
        let names: Vec<String> =
            cache.of_kind(&GroupKind::new("", "Pod")).iter().map(|pod| pod.name().to_owned()).collect();
        assert_eq!(names, ["new"]);
    }

    #[test]
    fn an_answer_that_comes_late_does_not_undo_what_was_seen_since() {
        let cache = Cache::new(Tracking::default());
        cache.upsert(object("Pod", "a", "2", value!({"labels": {"new": "yes"}})));
        cache.upsert(object("Pod", "a", "1", value!({})));
        let key = ObjectKey::new("", "Pod", "shop", "a");
        assert_eq!(cache.get(&key).unwrap().resource_version(), "2");
        cache.remove(&object("Pod", "a", "3", value!({})));
        cache.upsert(object("Pod", "a", "2", value!({})));
        assert!(cache.get(&key).is_none());
        cache.upsert(object("Pod", "a", "4", value!({})));
        assert!(cache.get(&key).is_some());
    }

    #[test]
    fn an_object_that_was_seen_already_changes_nothing() {
        let cache = Cache::new(Tracking::default());
        cache.upsert(object("Pod", "same", "1", value!({})));
        let mut changes = cache.changes();
        cache.upsert(object("Pod", "same", "1", value!({})));
        assert!(changes.try_recv().is_err());
    }
}
