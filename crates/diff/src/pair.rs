//! Which desired object is which live one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lynceus_api::hook;
use lynceus_object::{GroupKind, Object, ObjectKey, Str};

/// A desired object beside the live one that it describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Pair {
    /// Desired, and not in the cluster.
    Missing(Object),
    /// Desired and in the cluster.
    Both {
        /// As the source has it.
        desired: Object,
        /// As the cluster has it.
        live: Object,
    },
    /// In the cluster, and no longer desired.
    Extra(Object),
}

impl Pair {
    /// The object as the source has it.
    pub fn desired(&self) -> Option<&Object> {
        match self {
            Pair::Missing(desired) | Pair::Both { desired, .. } => Some(desired),
            Pair::Extra(_) => None,
        }
    }

    /// The object as the cluster has it.
    pub fn live(&self) -> Option<&Object> {
        match self {
            Pair::Extra(live) | Pair::Both { live, .. } => Some(live),
            Pair::Missing(_) => None,
        }
    }

    /// The live object's name where there is one: only it is sure to have the right namespace.
    pub fn key(&self) -> ObjectKey {
        match self {
            Pair::Extra(object) | Pair::Both { live: object, .. } | Pair::Missing(object) => object.key(),
        }
    }
}

/// All objects of an application, paired; and its hooks, which are never compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// The desired objects in the order of the source, then the extra ones in the order of their keys.
    pub pairs: Vec<Pair>,
    /// The hooks in the order of the source.
    pub hooks: Vec<Object>,
}

/// Whether objects of a kind live in a namespace; `None` where the cluster does not know the kind.
pub type Scope<'a> = &'a dyn Fn(&GroupKind) -> Option<bool>;

/// Pairs what the source wants with what the cluster has.
///
/// `namespace` is the application's: a desired object of a namespaced kind that names none belongs there.
/// An object of a kind that the cluster does not know is looked for both in and outside a namespace, because
/// to miss it would be to prune it.
pub fn pair(desired: &[Object], live: &[Object], namespace: &str, scope: Scope<'_>) -> Pairs {
    let (hooks, desired) = split(desired);
    let mut pool = without_doubles(&desired, live);
    let mut pairs = Vec::with_capacity(desired.len());
    for object in desired {
        let found = candidates(&object, namespace, scope).find_map(|key| pool.remove(&key));
        pairs.push(match found {
            Some(live) => Pair::Both { desired: object, live },
            None => Pair::Missing(object),
        });
    }
    pairs.extend(pool.into_values().map(Pair::Extra));
    Pairs { pairs, hooks }
}

/// Hooks apart from ordinary objects; hooks of no phase that exists are dropped.
fn split(desired: &[Object]) -> (Vec<Object>, Vec<Object>) {
    let (hooks, objects): (Vec<_>, Vec<_>) = desired.iter().cloned().partition(hook::is_hook);
    (hooks.into_iter().filter(|object| !hook::sync_types(object).is_empty()).collect(), objects)
}

fn candidates<'a>(
    object: &'a Object,
    namespace: &'a str,
    scope: Scope<'_>,
) -> impl Iterator<Item = ObjectKey> + use<'a> {
    let namespaced = scope(&object.group_kind());
    let home = if object.namespace().is_empty() { namespace } else { object.namespace() };
    let key = move |namespace: &str| ObjectKey::new(object.group(), object.kind(), namespace, object.name());
    let inside = (namespaced != Some(false)).then(|| key(home));
    let outside = (namespaced != Some(true)).then(|| key(""));
    inside.into_iter().chain(outside)
}

/// The live objects by key, each uid once.
///
/// A server may show one object under several groups (`apps` and `extensions`, say). The copies that the source
/// names stay; of the others one stays only if the source names none.
fn without_doubles(desired: &[Object], live: &[Object]) -> BTreeMap<ObjectKey, Object> {
    let mut pool: BTreeMap<ObjectKey, Object> =
        live.iter().map(|object| (object.key(), object.clone())).collect();
    let mut by_uid: HashMap<Str, Vec<ObjectKey>> = HashMap::new();
    for (key, object) in pool.iter().filter(|(_, object)| !object.uid().is_empty()) {
        by_uid.entry(object.uid().into()).or_default().push(key.clone());
    }
    by_uid.retain(|_, keys| keys.len() > 1);
    if by_uid.is_empty() {
        return pool;
    }
    let wanted: BTreeSet<ObjectKey> = desired.iter().map(Object::key).collect();
    for keys in by_uid.into_values() {
        let spare: Vec<_> = keys.iter().filter(|key| !wanted.contains(key)).collect();
        let keep = usize::from(spare.len() == keys.len());
        for key in spare.into_iter().skip(keep) {
            pool.remove(key);
        }
    }
    pool
}

#[cfg(test)]
mod tests {
    use lynceus_object::{Gvk, value};

    use super::*;

    fn object(api_version: &str, kind: &str, namespace: &str, name: &str) -> Object {
        Object::named(&Gvk::from_manifest(api_version, kind), namespace, name)
    }

    fn with_uid(mut object: Object, uid: &str) -> Object {
        object.set(&["metadata", "uid"], uid);
        object
    }

    fn check(desired: &[Object], live: &[Object], expect: &[&str]) {
        let scope = |kind: &GroupKind| match kind.kind.as_str() {
            "ClusterRole" => Some(false),
            "Unknown" => None,
            _ => Some(true),
        };
        let pairs = pair(desired, live, "shop", &scope);
        let lines: Vec<String> = pairs
            .pairs
            .iter()
            .map(|pair| match pair {
                Pair::Missing(object) => format!("missing {}", object.key()),
                Pair::Both { live, .. } => format!("both {}", live.key()),
                Pair::Extra(live) => format!("extra {}", live.key()),
            })
            .chain(pairs.hooks.iter().map(|hook| format!("hook {}", hook.key())))
            .collect();
        assert_eq!(lines, expect);
    }

    #[test]
    fn a_namespaced_object_without_a_namespace_is_in_the_applications() {
        check(
            &[object("v1", "ConfigMap", "", "a"), object("v1", "ConfigMap", "", "b")],
            &[object("v1", "ConfigMap", "shop", "a"), object("v1", "ConfigMap", "other", "b")],
            &["both /ConfigMap/shop/a", "missing /ConfigMap//b", "extra /ConfigMap/other/b"],
        );
    }

    #[test]
    fn a_cluster_scoped_object_is_found_whatever_namespace_it_claims() {
        check(
            &[object("rbac.authorization.k8s.io/v1", "ClusterRole", "claimed", "r")],
            &[object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "r")],
            &["both rbac.authorization.k8s.io/ClusterRole//r"],
        );
    }

    #[test]
    fn an_object_of_an_unknown_kind_is_looked_for_in_both_scopes() {
        check(
            &[object("x.io/v1", "Unknown", "", "in"), object("x.io/v1", "Unknown", "", "out")],
            &[object("x.io/v1", "Unknown", "shop", "in"), object("x.io/v1", "Unknown", "", "out")],
            &["both x.io/Unknown/shop/in", "both x.io/Unknown//out"],
        );
    }

    #[test]
    fn hooks_are_set_apart_and_hooks_of_no_known_phase_are_dropped() {
        let mut hook = object("batch/v1", "Job", "", "migrate");
        hook.set_annotation("argocd.argoproj.io/hook", "PreSync");
        let mut test = object("v1", "Pod", "", "test");
        test.set_annotation("helm.sh/hook", "test");
        check(&[hook, test], &[], &["hook batch/Job//migrate"]);
    }

    #[test]
    fn one_object_shown_under_two_groups_is_one_object() {
        let apps = with_uid(object("apps/v1", "Deployment", "shop", "web"), "u1");
        let old = with_uid(object("extensions/v1beta1", "Deployment", "shop", "web"), "u1");
        check(
            &[object("apps/v1", "Deployment", "", "web")],
            &[apps.clone(), old.clone()],
            &["both apps/Deployment/shop/web"],
        );
        check(&[], &[apps, old], &["extra apps/Deployment/shop/web"]);
    }

    #[test]
    fn a_null_name_is_no_reason_to_panic() {
        let broken = Object::new(value!({"kind": "Pod", "metadata": null})).expect("a map");
        check(&[broken], &[], &["missing /Pod//"]);
    }
}
