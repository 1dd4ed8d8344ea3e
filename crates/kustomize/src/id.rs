//! What Kustomize tells resources apart by.

use std::fmt;

use lynceus_object::{Gvk, Str, split_api_version};

/// A kind as a selector: what is empty matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind {
    /// The API group.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The kind.
    pub kind: Str,
}

impl Kind {
    /// Reads a manifest's `apiVersion` and `kind`.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = split_api_version(api_version);
        Kind { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Whether every part that `selector` gives is the same here.
    pub fn is_selected_by(&self, selector: &Kind) -> bool {
        let fits = |own: &Str, wanted: &Str| wanted.is_empty() || own == wanted;
        fits(&self.group, &selector.group)
            && fits(&self.version, &selector.version)
            && fits(&self.kind, &selector.kind)
    }

    /// The kind as the rest of Lynceus names it.
    pub fn gvk(&self) -> Gvk {
        Gvk::new(self.group.clone(), self.version.clone(), self.kind.clone())
    }
}

/// `Deployment.v1.apps`, as Kustomize prints it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: &Str, none: &'static str| if text.is_empty() { none.into() } else { text.clone() };
        write!(
            f,
            "{}.{}.{}",
            or(&self.kind, "[noKind]"),
            or(&self.version, "[noVer]"),
            or(&self.group, "[noGrp]")
        )
    }
}

/// The namespace of what cannot be in one.
pub(crate) const NO_NAMESPACE: &str = "_non_namespaceable_";

/// What a resource is called at one moment of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Id {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Str,
    /// The namespace as it stands in the resource.
    pub namespace: Str,
    /// Whether the kind is known to be without namespaces. A former id never knows.
    pub cluster_scoped: bool,
}

impl Id {
    /// The namespace that counts: nothing and `default` are the same.
    pub fn effective_namespace(&self) -> &str {
        if self.cluster_scoped {
            NO_NAMESPACE
        } else if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }

    /// Whether both are in the same namespace.
    pub fn same_namespace(&self, other: &Id) -> bool {
        self.effective_namespace() == other.effective_namespace()
    }

    /// Whether both name the same resource.
    pub fn names_same(&self, other: &Id) -> bool {
        self.name == other.name && self.kind == other.kind && self.same_namespace(other)
    }
}

/// `Deployment.v1.apps/web.[noNs]`, as Kustomize prints it.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: &Str, none: &'static str| if text.is_empty() { none.into() } else { text.clone() };
        write!(f, "{}/{}.{}", self.kind, or(&self.name, "[noName]"), or(&self.namespace, "[noNs]"))
    }
}
