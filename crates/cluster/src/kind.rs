//! The kinds that a cluster serves.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use lynceus_object::{GroupKind, Gvk, Str};

use crate::plain::plain;

/// A kind and how it is addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Group, version and kind.
    pub gvk: Gvk,
    /// The plural name in URLs.
    pub plural: Str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether it can be listed and watched.
    pub watchable: bool,
}

impl Kind {
    /// The path of the collection, in one namespace or (with an empty one) over all.
    pub fn collection_path(&self, namespace: &str) -> String {
        let Gvk { group, version, .. } = &self.gvk;
        let root =
            if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        if self.namespaced && !namespace.is_empty() {
            format!("{root}/namespaces/{}/{}", plain(namespace), self.plural)
        } else {
            format!("{root}/{}", self.plural)
        }
    }

    /// The path of one object.
    pub fn object_path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{}", self.collection_path(namespace), plain(name))
    }
}

/// Everything that a cluster serves, as discovery told it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    by_gvk: BTreeMap<Gvk, Kind>,
    /// The version that the server prefers for a kind, in which it is watched.
    preferred: BTreeMap<GroupKind, Gvk>,
    /// Groups whose versions could not be discovered, with the reason: their kinds are unknown, not absent.
    pub broken_groups: BTreeMap<String, String>,
    /// The version of Kubernetes that the server says it is: `v1.36.1`.
    pub version: Str,
    api_versions: Memo,
}

/// What was worked out once of everything else, and makes no difference between two.
#[derive(Clone, Debug, Default)]
struct Memo(OnceLock<Arc<[Str]>>);

impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Memo {}

impl Kinds {
    /// Adds a kind. The first version of a kind that is added is the preferred one.
    pub fn insert(&mut self, kind: Kind) {
        self.preferred.entry(kind.gvk.group_kind()).or_insert_with(|| kind.gvk.clone());
        self.by_gvk.insert(kind.gvk.clone(), kind);
        self.api_versions = Memo::default();
    }

    /// Takes over the kinds of one version of a group as they were.
    pub(crate) fn keep(&mut self, version: &str, before: &Kinds) {
        let kept = before.by_gvk.values().filter(|kind| kind.gvk.api_version() == version);
        for kind in kept {
            self.insert(kind.clone());
        }
    }

    /// The reason why the group of a kind could not be asked for, if it could not.
    pub(crate) fn trouble(&self, kind: &Kind) -> Option<&str> {
        self.broken_groups.get(kind.gvk.api_version().as_str()).map(String::as_str)
    }

    /// The kind in exactly this version.
    pub fn get(&self, gvk: &Gvk) -> Option<&Kind> {
        self.by_gvk.get(gvk)
    }

    /// The kind in the version that the server prefers.
    pub fn preferred(&self, kind: &GroupKind) -> Option<&Kind> {
        self.by_gvk.get(self.preferred.get(kind)?)
    }

    /// Whether objects of the kind live in namespaces; `None` if the kind is not served in any version.
    pub fn is_namespaced(&self, kind: &GroupKind) -> Option<bool> {
        self.preferred(kind).map(|kind| kind.namespaced)
    }

    /// Every kind that can be watched, each in its preferred version, in order.
    pub fn watchable(&self) -> impl Iterator<Item = &Kind> {
        self.preferred.values().filter_map(|gvk| self.by_gvk.get(gvk)).filter(|kind| kind.watchable)
    }

    /// Every kind in every version, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Kind> {
        self.by_gvk.values()
    }

    /// `apps/v1/Deployment` and so on, as charts ask for them.
    pub fn api_versions(&self) -> Arc<[Str]> {
        let all = || {
            let both = |gvk: &Gvk| [gvk.api_version(), format!("{}/{}", gvk.api_version(), gvk.kind).into()];
            let mut versions: Vec<Str> = self.by_gvk.keys().flat_map(both).collect();
            versions.sort();
            versions.dedup();
            versions.into()
        };
        self.api_versions.0.get_or_init(all).clone()
    }
}
