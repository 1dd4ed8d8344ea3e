//! Kinds of which not all objects were seen.

use std::collections::BTreeSet;

use lynceus_object::{GroupKind, Str};

/// Kinds of which not all objects were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    /// Whether it may be any kind: nobody knows what was not seen.
    any: bool,
    kinds: BTreeSet<GroupKind>,
    /// Those of which only the resource is known: group and plural name.
    resources: BTreeSet<(Str, Str)>,
}

impl Partial {
    /// Any kind may be meant.
    pub fn any() -> Self {
        Partial { any: true, ..Partial::default() }
    }

    /// Notes a kind.
    pub fn insert(&mut self, kind: GroupKind) {
        self.kinds.insert(kind);
    }

    /// Notes a resource, as people write it: `secrets`, `deployments.apps`.
    pub fn insert_resource(&mut self, resource: &str) {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        self.resources.insert((group.into(), plural.into()));
    }

    /// Whether some objects of a kind may not have been seen.
    pub fn contains(&self, kind: &GroupKind) -> bool {
        let is_resource = || {
            let of_group = self.resources.iter().filter(|(group, _)| *group == kind.group);
            of_group.into_iter().any(|(_, plural)| plurals(&kind.kind).iter().any(|known| plural == known))
        };
        self.any || self.kinds.contains(kind) || is_resource()
    }
}

/// What the resource of a kind may be called.
fn plurals(kind: &str) -> Vec<String> {
    let name = kind.to_lowercase();
    let mut names = vec![format!("{name}s"), format!("{name}es"), name.clone()];
    names.extend(name.strip_suffix('y').map(|stem| format!("{stem}ies")));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_means_its_kind() {
        let mut partial = Partial::default();
        for resource in
            ["secrets", "ingresses.networking.k8s.io", "networkpolicies.networking.k8s.io", "endpoints"]
        {
            partial.insert_resource(resource);
        }
        let is = |group, kind| partial.contains(&GroupKind::new(group, kind));
        assert!(is("", "Secret") && is("", "Endpoints"));
        assert!(is("networking.k8s.io", "Ingress") && is("networking.k8s.io", "NetworkPolicy"));
        assert!(!is("", "Pod") && !is("example.com", "Secret"));
        assert!(Partial::any().contains(&GroupKind::new("", "Pod")));
    }
}
