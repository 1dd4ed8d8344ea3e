//! Objects in an application's namespace that belong to nobody.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{AppProject, ApplicationDestination, Glob, Tracking};
use lynceus_cluster::Cache;
use lynceus_object::{Object, ObjectKey};

use super::{permits_destination, permits_kind};

/// Where orphans are looked for, and what is none.
pub(crate) struct Orphans<'a> {
    /// The project, which says whether anybody wants to know.
    pub(crate) project: &'a AppProject,
    /// The destination with both its address and its name.
    pub(crate) destination: &'a ApplicationDestination,
    /// What the application has or wants.
    pub(crate) managed: &'a BTreeSet<ObjectKey>,
    /// How objects are marked.
    pub(crate) tracking: &'a Tracking,
    /// Whether there is an application of this name.
    pub(crate) is_application: &'a dyn Fn(&str) -> bool,
}

/// The objects that belong to nobody, in order: those that nothing owns, and all that they own. None where nobody wants to
/// know.
pub(crate) fn orphans(cache: &Cache, wanted: &Orphans<'_>) -> Vec<Object> {
    let namespace = &wanted.destination.namespace;
    if wanted.project.spec.orphaned_resources.is_none() || namespace.is_empty() {
        return Vec::new();
    }
    let roots = cache.roots_in(namespace).into_iter().filter(|object| {
        let key = object.key();
        !wanted.managed.contains(&key) && !is_everywhere(&key) && !wanted.ignores(&key)
    });
    let mut next: Vec<Object> = roots.collect();
    let mut found = BTreeMap::new();
    while let Some(object) = next.pop() {
        if wanted.is_lost(&object) && !found.contains_key(&object.key()) {
            next.extend(cache.children_of(&object));
            found.insert(object.key(), object);
        }
    }
    found.into_values().collect()
}

impl Orphans<'_> {
    /// Whether an object is one that the project may have and no application does.
    fn is_lost(&self, object: &Object) -> bool {
        let owner = self.tracking.application(object);
        let place =
            ApplicationDestination { namespace: object.namespace().into(), ..self.destination.clone() };
        let namespaced = !object.namespace().is_empty();
        !owner.is_some_and(|owner| (self.is_application)(&owner))
            && permits_kind(self.project, &object.group_kind(), object.name(), namespaced)
            && (!namespaced || permits_destination(self.project, &place))
    }

    /// Whether the project does not want to hear of an object. A group has to be named, a kind and a name need not.
    fn ignores(&self, key: &ObjectKey) -> bool {
        let rules = self.project.spec.orphaned_resources.iter().flat_map(|settings| &settings.ignore);
        let fits = |pattern: &str, text: &str| Glob::new(pattern).is_ok_and(|glob| glob.matches(text));
        rules.into_iter().any(|rule| {
            (rule.kind.is_empty() || fits(&rule.kind, &key.kind))
                && fits(&rule.group, &key.group)
                && (rule.name.is_empty() || fits(&rule.name, &key.name))
        })
    }
}

/// What Kubernetes itself puts into every namespace.
fn is_everywhere(key: &ObjectKey) -> bool {
    key.group.is_empty()
        && match (key.kind.as_str(), key.name.as_str()) {
            ("Service", "kubernetes") => key.namespace == "default",
            ("ServiceAccount", "default") | ("ConfigMap", "kube-root-ca.crt") => true,
            _ => false,
        }
}
