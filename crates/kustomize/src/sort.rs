//! The order of resources in the output.

use std::cmp::Ordering;
use std::collections::HashMap;

use lynceus_object::Str;

use crate::error::KustomizeError;
use crate::id::Kind;
use crate::resources::Resources;

/// The kinds that come first, in this order.
const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// The kinds that come last, in this order.
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// In which order the resources are put out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// As they came.
    #[default]
    Fifo,
    /// By kind, then by namespace and name.
    Legacy {
        /// The kinds that come first.
        first: Vec<Str>,
        /// The kinds that come last.
        last: Vec<Str>,
    },
}

impl SortOrder {
    /// By kind, with the lists that Kustomize has built in.
    pub(crate) fn legacy() -> Self {
        let owned = |list: &[&str]| list.iter().map(|kind| Str::from(*kind)).collect();
        SortOrder::Legacy { first: owned(&FIRST), last: owned(&LAST) }
    }

    /// From `sortOptions`: the order, and of the legacy one which kinds come first and last.
    pub(crate) fn new(order: &str, legacy: Option<(Vec<Str>, Vec<Str>)>) -> Result<Self, KustomizeError> {
        match (order, legacy) {
            ("fifo", None) => Ok(SortOrder::Fifo),
            ("fifo", Some(_)) => Err(KustomizeError::new(
                "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'",
            )),
            ("legacy", None) => Ok(SortOrder::legacy()),
            ("legacy", Some((first, last))) => Ok(SortOrder::Legacy { first, last }),
            _ => Err(KustomizeError::new("the field 'sortOptions.order' must be one of [fifo, legacy]")),
        }
    }

    /// Puts the resources in this order.
    pub(crate) fn apply(&self, resources: &mut Resources) {
        let SortOrder::Legacy { first, last } = self else { return };
        let mut places: HashMap<&str, i64> = HashMap::new();
        for (at, kind) in (0..).zip(first) {
            places.insert(kind, at - first.len() as i64);
        }
        for (at, kind) in (0..).zip(last) {
            places.insert(kind, 1 + at);
        }
        let mut keyed: Vec<(Key, crate::Resource)> = std::mem::take(&mut resources.list)
            .into_iter()
            .map(|resource| (Key::new(&resource, &places), resource))
            .collect();
        keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
        resources.list = keyed.into_iter().map(|(_, resource)| resource).collect();
    }
}

/// What a resource is sorted by.
struct Key {
    place: i64,
    kind: Kind,
    kind_text: String,
    id_text: String,
}

impl Key {
    fn new(resource: &crate::Resource, places: &HashMap<&str, i64>) -> Self {
        let (kind, id) = (resource.kind(), resource.id(false));
        let or = |text: &str, none: &str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
        Key {
            place: places.get(kind.kind.as_str()).copied().unwrap_or_default(),
            kind_text: kind_text(&kind),
            id_text: format!("{}|{}|{}", kind, or(&id.namespace, "~X"), or(&id.name, "~N")),
            kind,
        }
    }

    fn cmp(&self, other: &Key) -> Ordering {
        if self.kind == other.kind {
            return self.id_text.cmp(&other.id_text);
        }
        let by_kind = self.kind_text.cmp(&other.kind_text);
        // Kubernetes' own Namespace comes before any other kind of that name.
        let namespaces = self.kind.kind == "Namespace" && other.kind.kind == "Namespace";
        let one_is_core = self.kind.group.is_empty() || other.kind.group.is_empty();
        self.place.cmp(&other.place).then(if namespaces && one_is_core { by_kind.reverse() } else { by_kind })
    }
}

/// Where a kind stands in Kustomize's order of kinds.
pub(crate) fn rank(kind: &Kind) -> (i64, String) {
    let at = |list: &[&str]| list.iter().position(|name| *name == kind.kind).map(|at| at as i64);
    let place = match (at(&FIRST), at(&LAST)) {
        (Some(first), _) => first - FIRST.len() as i64,
        (None, Some(last)) => last + 1,
        (None, None) => 0,
    };
    (place, kind_text(kind))
}

/// A kind as text for sorting: what is empty comes last.
fn kind_text(kind: &Kind) -> String {
    let or = |text: &'_ Str, none: &'static str| if text.is_empty() { none.into() } else { text.clone() };
    format!("{}_{}_{}", or(&kind.group, "~G"), or(&kind.version, "~V"), or(&kind.kind, "~K"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resource;
    use lynceus_object::value;

    fn resources(ids: &[(&str, &str, &str, &str)]) -> Resources {
        let make = |(api, kind, namespace, name): &(&str, &str, &str, &str)| {
            let mut object = value!({"apiVersion": *api, "kind": *kind, "metadata": {"name": *name}});
            if !namespace.is_empty() {
                object.set(&["metadata", "namespace"], *namespace);
            }
            Resource::new(object)
        };
        Resources { list: ids.iter().map(make).collect() }
    }

    fn names(resources: &Resources) -> Vec<String> {
        let name = |resource: &Resource| format!("{}/{}", resource.kind_name(), resource.name());
        resources.list.iter().map(name).collect()
    }

    #[test]
    fn the_legacy_order_is_by_kind_then_namespace_then_name() {
        let mut sorted = resources(&[
            ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "v"),
            ("example.com/v1", "Zebra", "", "z"),
            ("apps/v1", "Deployment", "b", "a"),
            ("apps/v1", "Deployment", "", "b"),
            ("apps/v1", "Deployment", "a", "c"),
            ("v1", "Pod", "", "p"),
            ("other.io/v1", "Namespace", "", "n"),
            ("v1", "Namespace", "", "m"),
        ]);
        SortOrder::legacy().apply(&mut sorted);
        assert_eq!(
            names(&sorted),
            [
                "Namespace/m",
                "Namespace/n",
                "Deployment/c",
                "Deployment/a",
                "Deployment/b",
                "Zebra/z",
                "Pod/p",
                "ValidatingWebhookConfiguration/v"
            ]
        );
    }

    #[test]
    fn own_lists_take_the_place_of_the_built_in_ones() {
        let lists = (vec!["Pod".into()], vec!["Secret".into()]);
        let mut sorted =
            resources(&[("v1", "Secret", "", "s"), ("v1", "Namespace", "", "n"), ("v1", "Pod", "", "p")]);
        SortOrder::new("legacy", Some(lists)).unwrap().apply(&mut sorted);
        assert_eq!(names(&sorted), ["Pod/p", "Namespace/n", "Secret/s"]);
    }

    #[test]
    fn the_options_have_to_fit_each_other() {
        let new = |order: &str, has_lists: bool| {
            let lists = has_lists.then(Default::default);
            SortOrder::new(order, lists).map_err(|error| error.message)
        };
        assert_eq!(new("fifo", false), Ok(SortOrder::Fifo));
        assert_eq!(new("legacy", false), Ok(SortOrder::legacy()));
        assert!(new("fifo", true).unwrap_err().contains("not 'legacy'"));
        assert!(new("", true).unwrap_err().contains("must be one of [fifo, legacy]"));
    }
}
