//! Definitions of kinds that objects are of and that nothing in the repository should bring.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_cluster::Kinds;
use lynceus_doctor::near;
use lynceus_object::{GroupKind, Object, Str, Value, value};

use super::operator;
use super::{Assumed, Needs, Sort};
use crate::survey::Survey;

/// A kind that is assumed.
#[derive(Default)]
pub(crate) struct Open {
    versions: BTreeSet<Str>,
    namespaced: bool,
    /// One of its objects, to see what makes it healthy.
    pub(crate) example: Object,
}

pub(crate) fn assume(surveys: &[&Survey], kinds: &Kinds, assumed: &mut Assumed, needs: &mut Needs) {
    // Those of the installation itself are there.
    let own: Vec<GroupKind> = lynceus_api::crds().iter().filter_map(crate::survey::definition).collect();
    let brought = surveys.iter().flat_map(|survey| &survey.defined);
    let defined: BTreeSet<&GroupKind> = brought.chain(&own).collect();
    let mut open: BTreeMap<GroupKind, Open> = BTreeMap::new();
    for (key, one) in surveys.iter().flat_map(|survey| &survey.applications) {
        for object in one.outcome.objects() {
            let kind = object.group_kind();
            let is_custom = kind.group.contains('.') && !kind.kind.is_empty();
            if !is_custom || defined.contains(&kind) || kinds.preferred(&kind).is_some() {
                continue;
            }
            // A letter off one that is known it is no kind of somebody else's.
            let served = kinds.iter().map(|one| one.gvk.group_kind());
            let known: BTreeSet<Str> = served
                .chain(defined.iter().map(|one| (*one).clone()))
                .filter(|one| one.group == kind.group)
                .map(|one| one.kind)
                .collect();
            if near::one_off(&kind.kind, known.iter().map(Str::as_str)).is_some() {
                continue;
            }
            needs.add(Sort::Definition, format!("{}/{}", kind.group, kind.kind), key);
            let entry = open.entry(kind).or_default();
            entry.versions.insert(object.gvk().version);
            entry.namespaced |= is_namespaced(object);
            entry.example = object.clone();
        }
    }
    assumed.operators.extend(operator::at_work(&open, &defined));
    assumed.objects.extend(open.iter().map(|(kind, open)| definition(kind, open)));
}

/// Nobody says it of a kind that nobody defines. Most are; those that are not are mostly called so.
fn is_namespaced(object: &Object) -> bool {
    !object.namespace().is_empty() || !object.kind().starts_with("Cluster")
}

fn definition(kind: &GroupKind, open: &Open) -> Object {
    let singular = kind.kind.to_lowercase();
    let plural = plural(&singular);
    let versions: Vec<Value> = open.versions.iter().enumerate().map(version).collect();
    let value = value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", kind.group)},
        "spec": {
            "group": kind.group.as_str(),
            "scope": if open.namespaced { "Namespaced" } else { "Cluster" },
            "names": {"kind": kind.kind.as_str(), "plural": plural, "singular": singular},
        },
    });
    let mut object = Object::new(value).unwrap_or_default();
    object.set(&["spec", "versions"], versions);
    // What belongs to a group of Kubernetes' own is let in only with the word of whoever approved it.
    if kind.group.ends_with(".k8s.io") || kind.group.ends_with(".kubernetes.io") {
        object.set_annotation("api-approved.kubernetes.io", "unapproved, assumed");
    }
    object
}

fn version((at, name): (usize, &Str)) -> Value {
    value!({
        "name": name.as_str(), "served": true, "storage": at == 0,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        "subresources": {"status": {}},
    })
}

/// The plural, as Kubernetes' own tools guess it.
fn plural(singular: &str) -> String {
    let ends = |end: &str| singular.ends_with(end);
    if ["s", "x", "ch", "sh"].iter().any(|end| ends(end)) {
        return format!("{singular}es");
    }
    let stem = singular.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    stem.map_or_else(|| format!("{singular}s"), |stem| format!("{stem}ies"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_guessed_as_kubernetes_guesses_them() {
        let said = ["ingress", "policy", "gateway", "certificate", "batch"].map(plural);
        assert_eq!(said, ["ingresses", "policies", "gateways", "certificates", "batches"]);
    }
}
