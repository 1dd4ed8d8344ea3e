//! The live cache: every object of every kind that can be watched, as last seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jiff::Timestamp;
use lynceus_api::Tracking;
use lynceus_object::{GroupKind, Object, ObjectKey, Pool, Str};
use tokio::sync::{Notify, broadcast};

use crate::limits;
use crate::rows::{Kept, Listed, Rows, version};

/// An object that has changed, and what it may matter to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The object. Without a name it is its whole kind, which can no longer be read or can be read again.
    pub key: ObjectKey,
    /// The applications that the object or one of its owners says it belongs to, now or until now.
    pub applications: BTreeSet<Str>,
}

/// Why a kind, or a part of it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindError {
    /// What went wrong.
    pub message: String,
    /// Since when it does.
    pub since: Timestamp,
    /// Whether only single objects are lost, and all others of the kind are as they should be.
    pub partial: bool,
}

/// The kinds that cannot be read now. Every other kind goes on.
pub type KindErrors = BTreeMap<GroupKind, KindError>;

/// A kind in one namespace, or in all (the empty one).
pub(crate) type Place = (GroupKind, Str);

/// Every live object, with the indexes that questions need. What no application manages is kept as metadata only: see
/// [`Cache::is_whole`].
pub struct Cache {
    rows: RwLock<Rows>,
    places: RwLock<Places>,
    changes: broadcast::Sender<Change>,
    /// What objects have in common.
    pool: Mutex<Pool>,
    begun: Timestamp,
    /// Told when objects should be fetched because too little of them is kept.
    pub(crate) hunger: Notify,
}

/// What is known about whole kinds.
#[derive(Default)]
struct Places {
    errors: BTreeMap<Place, KindError>,
    /// Those that have been listed.
    read: BTreeSet<Place>,
    /// Those that we may not read, where that is to be respected.
    left_out: BTreeSet<Place>,
}

impl Cache {
    /// An empty cache for objects that are marked in a certain way, which keeps the settings of `home` whole.
    pub fn new(tracking: Tracking, home: Str) -> Self {
        Cache {
            rows: RwLock::new(Rows::new(tracking, home)),
            places: RwLock::default(),
            changes: broadcast::channel(limits::CHANGES).0,
            pool: Mutex::new(Pool::new(limits::SHARED)),
            begun: Timestamp::now(),
            hunger: Notify::new(),
        }
    }

    /// When it was begun. Since then watches keep it up to date, and it is never read anew as a whole.
    pub fn begun(&self) -> Timestamp {
        self.begun
    }

    /// Hears of every change from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Changes how objects are marked; every index is made anew.
    pub(crate) fn set_tracking(&self, tracking: Tracking) {
        let mut rows = self.write();
        if rows.tracking != tracking {
            rows.set_tracking(tracking);
            self.hunger.notify_one();
        }
    }

    /// One object, as much of it as is kept; see [`Cache::is_whole`].
    pub fn get(&self, key: &ObjectKey) -> Option<Object> {
        self.read().get(key).cloned()
    }

    /// Whether all of an object is kept. Only then may it be compared; [`Cluster::live`](crate::Cluster::live) gives
    /// such an object in any case.
    pub fn is_whole(&self, key: &ObjectKey) -> bool {
        self.read().is_full(key)
    }

    /// Every object of a kind, in key order.
    pub fn of_kind(&self, kind: &GroupKind) -> Vec<Object> {
        self.read().of_kind(kind).cloned().collect()
    }

    /// Every object that says it belongs to an application, in key order. All of them are whole, but for a moment after
    /// the way of marking has changed.
    pub fn of_application(&self, application: &str) -> Vec<Object> {
        self.read().of_application(application).cloned().collect()
    }

    /// The objects that an object owns, in key order.
    pub fn children_of(&self, owner: &Object) -> Vec<Object> {
        // What is only desired has no uid; nothing can own by it.
        if owner.uid().is_empty() {
            return Vec::new();
        }
        self.read().children_of(&owner.key(), owner.uid()).into_iter().cloned().collect()
    }

    /// The objects of a namespace that nothing owns, in key order.
    pub fn roots_in(&self, namespace: &str) -> Vec<Object> {
        let rows = self.read();
        let mut roots: Vec<&Object> = rows.roots_in(namespace).collect();
        roots.sort_by_cached_key(|object| object.key());
        roots.into_iter().cloned().collect()
    }

    /// The kinds that cannot be read now.
    pub fn errors(&self) -> KindErrors {
        let mut errors = KindErrors::new();
        for ((kind, _), error) in &self.places().errors {
            errors.entry(kind.clone()).or_insert_with(|| error.clone());
        }
        errors
    }

    /// The kinds that are left out because we may not read them.
    pub fn left_out(&self) -> BTreeSet<GroupKind> {
        self.places().left_out.iter().map(|(kind, _)| kind.clone()).collect()
    }

    /// Whether the cache has every object of a kind in a namespace, so that one that it does not have is not there.
    pub fn knows(&self, kind: &GroupKind, namespace: &str) -> bool {
        let places = self.places();
        let has = |namespace: &str| {
            let place = (kind.clone(), Str::from(namespace));
            places.read.contains(&place) && places.errors.get(&place).is_none_or(|error| error.partial)
        };
        has("") || (!namespace.is_empty() && has(namespace))
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes an object as it is now, for whoever goes on with it: both hold the same.
    pub(crate) fn learn(&self, mut object: Object) -> Object {
        self.share(&mut object);
        self.upsert(object.clone());
        object
    }

    /// Takes an object as it is now.
    pub(crate) fn upsert(&self, object: Object) {
        let kept = self.trimmed(object);
        let (change, hungry) = {
            let mut rows = self.write();
            (rows.upsert(kept), !rows.hungry.is_empty())
        };
        if hungry {
            self.hunger.notify_one();
        }
        self.tell(change);
    }

    /// Forgets an object that was deleted, as it was at its end.
    pub(crate) fn remove(&self, object: &Object) {
        let change = self.write().remove(&object.key(), version(object));
        self.tell(change);
    }

    /// As much of an object as would be kept now.
    pub(crate) fn trimmed(&self, object: Object) -> Kept {
        let mut kept = self.read().trimmed(object);
        self.share(&mut kept.object);
        kept
    }

    /// Has an object hold what others hold as well.
    fn share(&self, object: &mut Object) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).share(object.value_mut());
    }

    /// Takes a whole list: what is not in it is gone.
    pub(crate) fn replace(&self, list: Listed) {
        let place = (list.kind.clone(), list.namespace.clone());
        let (changes, hungry) = {
            let mut rows = self.write();
            (rows.replace(list), !rows.hungry.is_empty())
        };
        let healed = {
            let mut places = self.places_mut();
            places.left_out.remove(&place);
            places.read.insert(place.clone());
            places.errors.remove(&place).is_some_and(|error| !error.partial)
        };
        if hungry {
            self.hunger.notify_one();
        }
        self.tell(changes);
        self.tell(healed.then(|| of_place(&place)));
    }

    /// Forgets a kind that is no longer watched.
    pub(crate) fn drop_place(&self, (kind, namespace): &Place) {
        let list = Listed {
            kind: kind.clone(),
            namespace: namespace.clone(),
            objects: Vec::new(),
            version: 0,
            reset: true,
        };
        let changes = self.write().replace(list);
        {
            let place = (kind.clone(), namespace.clone());
            let mut places = self.places_mut();
            places.errors.remove(&place);
            places.left_out.remove(&place);
            places.read.remove(&place);
        }
        self.tell(changes);
    }

    /// Remembers that a kind, or a part of it, cannot be read.
    pub(crate) fn set_error(&self, place: &Place, message: String, partial: bool) {
        let known = {
            let mut places = self.places_mut();
            let known = places.errors.get(place).cloned();
            let since = known.as_ref().map_or_else(Timestamp::now, |error| error.since);
            places.errors.insert(place.clone(), KindError { message, since, partial });
            known
        };
        let is_news = !partial && known.is_none_or(|error| error.partial);
        self.tell(is_news.then(|| of_place(place)));
    }

    /// A kind can be read again. That single objects are lost stays true until the next list.
    pub(crate) fn clear_error(&self, place: &Place) {
        let healed = {
            let mut places = self.places_mut();
            let healed = places.errors.get(place).is_some_and(|error| !error.partial);
            if healed {
                places.errors.remove(place);
            }
            healed
        };
        self.tell(healed.then(|| of_place(place)));
    }

    /// Remembers that we may not read a kind and do not mind.
    pub(crate) fn leave_out(&self, place: &Place) {
        self.drop_place(place);
        self.places_mut().left_out.insert(place.clone());
    }

    /// Notes that an object is wanted whole, whoever it belongs to.
    pub(crate) fn want(&self, key: &ObjectKey) {
        self.write().want(key);
    }

    /// Takes the objects of which less is kept than should be, as they are kept.
    pub(crate) fn take_hungry(&self) -> Vec<Object> {
        let mut rows = self.write();
        let keys = std::mem::take(&mut rows.hungry);
        keys.iter().filter_map(|key| rows.get(key).cloned()).collect()
    }

    fn tell(&self, changes: impl IntoIterator<Item = Change>) {
        for change in changes {
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

    fn places(&self) -> RwLockReadGuard<'_, Places> {
        self.places.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn places_mut(&self) -> RwLockWriteGuard<'_, Places> {
        self.places.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That a kind can no longer be read, or can be read again.
fn of_place((kind, namespace): &Place) -> Change {
    let (group, kind) = (kind.group.clone(), kind.kind.clone());
    let key = ObjectKey { group, kind, namespace: namespace.clone(), name: Str::new() };
    Change { key, applications: BTreeSet::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    fn cache() -> Cache {
        Cache::new(Tracking::default(), "argocd".into())
    }

    fn listed(kind: &str, version: u64, objects: Vec<Object>) -> Listed {
        let objects = objects.into_iter().map(Kept::from).collect();
        Listed { kind: GroupKind::new("", kind), namespace: Str::new(), objects, version, reset: false }
    }

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
        let cache = cache();
        cache.upsert(object("Set", "web", "1", marked("shop", "Set", "web")));
        let mut changes = cache.changes();
        cache.upsert(object("Pod", "web-1", "2", owned_by("web")));
        assert_eq!(changes.try_recv().unwrap().applications, BTreeSet::from([Str::from("shop")]));
    }

    #[test]
    fn a_mark_that_a_controller_copied_does_not_count() {
        let cache = cache();
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
        let cache = cache();
        cache.upsert(object("Pod", "old", "1", value!({})));
        cache.replace(listed("Pod", 2, vec![object("Pod", "new", "2", value!({}))]));
        let names: Vec<String> =
            cache.of_kind(&GroupKind::new("", "Pod")).iter().map(|pod| pod.name().to_owned()).collect();
        assert_eq!(names, ["new"]);
    }

    #[test]
    fn an_answer_that_comes_late_does_not_undo_what_was_seen_since() {
        let cache = cache();
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
        let cache = cache();
        cache.upsert(object("Pod", "same", "1", value!({})));
        let mut changes = cache.changes();
        cache.upsert(object("Pod", "same", "1", value!({})));
        assert!(changes.try_recv().is_err());
    }

    fn keys(cache: &Cache, kind: &str) -> Vec<String> {
        let one = |object: &Object| format!("{}@{}", object.name(), object.resource_version());
        cache.of_kind(&GroupKind::new("", kind)).iter().map(one).collect()
    }

    #[test]
    fn a_list_does_not_undo_what_we_wrote_after_it_was_made() {
        let cache = cache();
        cache.upsert(object("Pod", "changed", "7", value!({})));
        cache.upsert(object("Pod", "created", "8", value!({})));
        cache.replace(listed("Pod", 6, vec![object("Pod", "changed", "5", value!({}))]));
        assert_eq!(keys(&cache, "Pod"), ["changed@7", "created@8"]);
    }

    #[test]
    fn a_list_of_a_cluster_that_was_set_back_is_the_truth() {
        let cache = cache();
        cache.upsert(object("Pod", "kept", "90", value!({})));
        cache.upsert(object("Pod", "later", "95", value!({})));
        cache.remove(&object("Pod", "deleted", "99", value!({})));
        let pods = vec![object("Pod", "deleted", "20", value!({})), object("Pod", "kept", "10", value!({}))];
        cache.replace(Listed { reset: true, ..listed("Pod", 30, pods) });
        assert_eq!(keys(&cache, "Pod"), ["deleted@20", "kept@10"]);
        cache.upsert(object("Pod", "kept", "31", value!({})));
        assert_eq!(keys(&cache, "Pod"), ["deleted@20", "kept@31"]);
    }

    fn filled(kind: &str, name: &str, version: &str, metadata: lynceus_object::Value) -> Object {
        let mut object = object(kind, name, version, metadata);
        object.set(&["spec", "much"], "text");
        object
    }

    fn is_thin(cache: &Cache, kind: &str, name: &str) -> bool {
        cache.get(&ObjectKey::new("", kind, "shop", name)).unwrap().at(&["spec"]).is_none()
    }

    #[test]
    fn what_no_application_manages_is_kept_as_metadata_only() {
        let cache = cache();
        cache.upsert(filled("Set", "theirs", "1", value!({})));
        cache.upsert(filled("Set", "web", "1", marked("shop", "Set", "web")));
        cache.upsert(filled("Pod", "web-1", "2", owned_by("web")));
        cache.upsert(filled("Pod", "theirs-1", "2", owned_by("theirs")));
        let thin = |kind, name| is_thin(&cache, kind, name);
        assert_eq!(
            [thin("Set", "theirs"), thin("Set", "web"), thin("Pod", "web-1"), thin("Pod", "theirs-1")],
            [true, false, false, true]
        );
    }

    #[test]
    fn a_child_is_kept_whole_until_its_owner_is_known() {
        let cache = cache();
        cache.upsert(filled("Pod", "leaf", "1", owned_by("middle")));
        cache.upsert(filled("Set", "middle", "1", owned_by("root")));
        assert!(!is_thin(&cache, "Pod", "leaf"));
        cache.upsert(filled("Set", "root", "1", value!({})));
        assert!(is_thin(&cache, "Pod", "leaf") && is_thin(&cache, "Set", "middle"));
    }

    #[test]
    fn what_becomes_managed_asks_for_the_rest_of_it_and_of_what_it_owns() {
        let cache = cache();
        cache.upsert(filled("Set", "web", "1", value!({})));
        cache.upsert(filled("Pod", "web-1", "1", owned_by("web")));
        assert!(is_thin(&cache, "Pod", "web-1"));
        cache.upsert(filled("Set", "web", "2", marked("shop", "Set", "web")));
        assert!(!is_thin(&cache, "Set", "web"));
        let hungry: Vec<String> = cache.take_hungry().iter().map(|object| object.name().to_owned()).collect();
        assert_eq!(hungry, ["web-1"]);
        cache.upsert(filled("Pod", "web-1", "1", owned_by("web")));
        assert!(!is_thin(&cache, "Pod", "web-1"));
    }

    #[test]
    fn what_is_asked_for_by_name_and_the_settings_at_home_are_kept_whole() {
        let cache = cache();
        let key = ObjectKey::new("", "Set", "shop", "web");
        cache.want(&key);
        cache.upsert(filled("Set", "web", "1", value!({})));
        assert!(cache.is_whole(&key));
        let mut setting = filled("ConfigMap", "argocd-cm", "1", value!({}));
        setting.set(&["metadata", "namespace"], "argocd");
        cache.upsert(setting.clone());
        assert!(cache.is_whole(&setting.key()));
    }

    #[test]
    fn an_owner_in_another_namespace_is_none() {
        let cache = cache();
        let mut owner = object("Set", "web", "1", marked("shop", "Set", "web"));
        owner.set(&["metadata", "namespace"], "elsewhere");
        cache.upsert(owner.clone());
        let mut changes = cache.changes();
        cache.upsert(object("Pod", "web-1", "2", owned_by("web")));
        assert_eq!(changes.try_recv().unwrap().applications, BTreeSet::new());
        assert!(cache.children_of(&owner).is_empty());
        owner.remove(&["metadata", "namespace"]);
        cache.upsert(owner.clone());
        assert_eq!(cache.children_of(&owner).len(), 1);
    }

    #[test]
    fn a_claim_belongs_to_the_set_that_made_it() {
        let cache = cache();
        cache.upsert(filled("PersistentVolumeClaim", "data-web-0", "1", value!({})));
        let mut set = object("StatefulSet", "web", "2", marked("shop", "StatefulSet", "web"));
        set.set(&["apiVersion"], "apps/v1");
        set.set(&["spec", "volumeClaimTemplates"], vec![value!({"metadata": {"name": "data"}})]);
        cache.upsert(set.clone());
        assert_eq!(cache.children_of(&set).len(), 1);
        assert_eq!(cache.take_hungry().len(), 1);
    }

    #[test]
    fn an_error_keeps_its_beginning_and_goes_with_the_next_list() {
        let cache = cache();
        let place = (GroupKind::new("", "Pod"), Str::new());
        let mut changes = cache.changes();
        let mut told = || -> Vec<String> {
            std::iter::from_fn(|| changes.try_recv().ok()).map(|change| change.key.to_string()).collect()
        };
        cache.set_error(&place, "first".into(), false);
        assert_eq!(told(), ["/Pod//"]);
        let since = cache.errors()[&place.0].since;
        cache.set_error(&place, "second".into(), false);
        assert!(told().is_empty(), "it is still so");
        let error = cache.errors()[&place.0].clone();
        assert_eq!((error.message.as_str(), error.since), ("second", since));
        assert!(!cache.knows(&place.0, "shop"));
        cache.replace(listed("Pod", 1, Vec::new()));
        assert_eq!(told(), ["/Pod//"]);
        assert!(cache.errors().is_empty() && cache.knows(&place.0, "shop"));
    }
}
