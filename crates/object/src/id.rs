//! Names of kinds and of objects.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::value::Str;

/// A group and a kind, without a version: what stays the same when an API moves on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKind {
    /// The API group; empty for the core group.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub group: Str,
    /// The kind, as in a manifest.
    pub kind: Str,
}

impl GroupKind {
    /// Names a kind.
    pub fn new(group: impl Into<Str>, kind: impl Into<Str>) -> Self {
        GroupKind { group: group.into(), kind: kind.into() }
    }
}

/// `Deployment.apps`, or `Pod` for the core group.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.kind)
        } else {
            write!(f, "{}.{}", self.kind, self.group)
        }
    }
}

/// A group, a version and a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvk {
    /// The API group; empty for the core group.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub group: Str,
    /// The version, such as `v1`.
    pub version: Str,
    /// The kind, as in a manifest.
    pub kind: Str,
}

impl Gvk {
    /// Names a kind in one version.
    pub fn new(group: impl Into<Str>, version: impl Into<Str>, kind: impl Into<Str>) -> Self {
        Gvk { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Reads a manifest's `apiVersion` and `kind`.
    pub fn from_manifest(api_version: &str, kind: &str) -> Self {
        let (group, version) = split_api_version(api_version);
        Gvk::new(group, version, kind)
    }

    /// `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> Str {
        join_api_version(&self.group, &self.version)
    }

    /// The kind without its version.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.kind.clone() }
    }
}

/// `apps/v1, Kind=Deployment`, as Go's library prints it.
impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

/// A group, a version and a plural resource name: what stands in a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvr {
    /// The API group; empty for the core group.
    pub group: Str,
    /// The version, such as `v1`.
    pub version: Str,
    /// The plural name, such as `deployments`.
    pub resource: Str,
}

impl Gvr {
    /// Names a resource in one version.
    pub fn new(group: impl Into<Str>, version: impl Into<Str>, resource: impl Into<Str>) -> Self {
        Gvr { group: group.into(), version: version.into(), resource: resource.into() }
    }
}

/// What tells one object from every other in a cluster, whatever version it is read in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// The API group; empty for the core group.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub group: Str,
    /// The kind, as in a manifest.
    pub kind: Str,
    /// The namespace; empty for a cluster-scoped object.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub namespace: Str,
    /// The name.
    pub name: Str,
}

impl ObjectKey {
    /// Names an object.
    pub fn new(
        group: impl Into<Str>,
        kind: impl Into<Str>,
        namespace: impl Into<Str>,
        name: impl Into<Str>,
    ) -> Self {
        ObjectKey { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    /// The kind of the object.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.kind.clone() }
    }
}

/// `apps/Deployment/shop/web`; parts that are empty stay, so that the count of slashes is fixed.
impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.group, self.kind, self.namespace, self.name)
    }
}

/// Splits `apps/v1` into group and version; `v1` has the empty group.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Joins a group and a version as they stand in `apiVersion`.
pub fn join_api_version(group: &str, version: &str) -> Str {
    if group.is_empty() {
        return version.into();
    }
    let mut joined = Str::with_capacity(group.len() + 1 + version.len());
    joined.push_str(group);
    joined.push('/');
    joined.push_str(version);
    joined
}
