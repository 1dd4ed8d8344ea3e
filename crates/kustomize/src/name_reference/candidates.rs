//! What may be meant by a name.

use std::collections::{HashMap, HashSet};

use lynceus_object::{Str, Value};

use crate::error::KustomizeError;
use crate::id::{Id, Kind, NO_NAMESPACE};
use crate::resource::Resource;
use crate::resources::Resources;

/// A resource that refers to others.
#[derive(Debug)]
pub(super) struct Referrer {
    /// Which of the resources it is.
    at: usize,
    /// What it is called.
    pub(super) id: Id,
    /// The namespaces of the service accounts that it binds, if it is a role binding.
    bound: HashSet<Str>,
}

impl Referrer {
    pub(super) fn new(
        resource: &Resource,
        at: usize,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) -> Result<Self, KustomizeError> {
        let id = resource.id(is_cluster_scoped(&resource.kind()));
        let bound = if id.cluster_scoped || id.kind.kind != "RoleBinding" {
            HashSet::new()
        } else {
            bound_namespaces(&resource.value, &id)?
        };
        Ok(Referrer { at, id, bound })
    }
}

/// The namespaces of the service accounts among the subjects.
fn bound_namespaces(value: &Value, id: &Id) -> Result<HashSet<Str>, KustomizeError> {
    let mut bound = HashSet::new();
    for subject in value.items_at(&["subjects"]) {
        if !matches!(subject, Value::Map(_)) {
            return Err(KustomizeError::new(format!("a subject of {id} is no map")));
        }
        let (Some(namespace), Some(kind)) = (subject.get("namespace"), subject.get("kind")) else { continue };
        match (kind, namespace) {
            (Value::Str(kind), Value::Str(namespace)) if kind == "ServiceAccount" => {
                bound.insert(namespace.clone());
            }
            (Value::Str(kind), _) if kind == "ServiceAccount" => {
                let words = format!("Invalid Input: namespace is blank for resource \"{id}\"");
                return Err(KustomizeError::new(words)
                    .hint("give the service account's namespace, or leave the field out"));
            }
            (Value::Str(_), _) => {}
            _ => return Err(KustomizeError::new(format!("the kind of a subject of {id} is no text"))),
        }
    }
    Ok(bound)
}

/// What is known of a resource that was renamed.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Its name now.
    pub(super) name: Str,
    /// Its namespace now, as it stands in the resource.
    pub(super) namespace: Str,
    id: Id,
    /// The namespace that it was in first.
    original_namespace: Str,
    /// The kinds that it had, with its present group and version.
    former_kinds: Vec<Kind>,
    prefixes: Vec<Str>,
    suffixes: Vec<Str>,
}

impl Candidate {
    fn new(resource: &Resource, is_cluster_scoped: &dyn Fn(&Kind) -> bool) -> Self {
        let id = resource.id(is_cluster_scoped(&resource.kind()));
        let mut former_kinds: Vec<Kind> = Vec::with_capacity(1);
        for former in resource.former_ids() {
            if !former_kinds.contains(&former.kind) {
                former_kinds.push(former.kind);
            }
        }
        Candidate {
            name: id.name.clone(),
            namespace: id.namespace.clone(),
            original_namespace: resource.original_id(id.cluster_scoped).effective_namespace().into(),
            former_kinds,
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
            id,
        }
    }

    fn was(&self, kind: &Kind) -> bool {
        self.former_kinds.iter().any(|former| former.is_selected_by(kind))
    }
}

/// Who is where among the resources, whether it was renamed or not.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Place {
    namespace: Str,
    effective: Str,
    cluster_scoped: bool,
}

/// The resources that were renamed, by what they were called.
#[derive(Debug)]
pub(super) struct Candidates {
    /// One for each resource; nothing for those that were never renamed.
    all: Vec<Option<Candidate>>,
    by_former_name: HashMap<Str, Named>,
    /// The prefixes and suffixes of every resource.
    affixes: Vec<(Vec<Str>, Vec<Str>)>,
    /// For each namespace that a resource was in first, where those resources are now.
    by_original_namespace: HashMap<Str, HashSet<Place>>,
}

/// The resources that had one name.
#[derive(Debug, Default)]
struct Named {
    /// All of them in order.
    all: Vec<usize>,
    /// Those without namespaces.
    cluster: Vec<usize>,
    /// Those in each namespace.
    by_namespace: HashMap<Str, Vec<usize>>,
}

impl Candidates {
    pub(super) fn new(resources: &Resources, is_cluster_scoped: &dyn Fn(&Kind) -> bool) -> Self {
        let mut all = Vec::with_capacity(resources.list.len());
        let mut by_former_name: HashMap<Str, Named> = HashMap::new();
        let mut by_original_namespace: HashMap<Str, HashSet<Place>> = HashMap::new();
        for (at, resource) in resources.list.iter().enumerate() {
            let id = resource.id(is_cluster_scoped(&resource.kind()));
            let place = Place {
                effective: id.effective_namespace().into(),
                cluster_scoped: id.cluster_scoped,
                namespace: id.namespace,
            };
            for former in &resource.former {
                let named = by_former_name.entry(former.name.clone()).or_default();
                if named.all.last() == Some(&at) {
                    continue;
                }
                named.all.push(at);
                if place.cluster_scoped {
                    named.cluster.push(at);
                } else {
                    named.by_namespace.entry(place.effective.clone()).or_default().push(at);
                }
            }
            let original = resource.original_id(place.cluster_scoped);
            by_original_namespace.entry(original.effective_namespace().into()).or_default().insert(place);
            let renamed = !resource.former.is_empty();
            all.push(renamed.then(|| Candidate::new(resource, is_cluster_scoped)));
        }
        let affixes = resources.list.iter();
        let affixes =
            affixes.map(|resource| (resource.prefixes.clone(), resource.suffixes.clone())).collect();
        Candidates { all, by_former_name, affixes, by_original_namespace }
    }

    /// Looks at a resource anew whose own name was repaired.
    pub(super) fn renew(
        &mut self,
        at: usize,
        resource: &Resource,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) {
        if let Some(Some(candidate)) = self.all.get_mut(at) {
            *candidate = Candidate::new(resource, is_cluster_scoped);
        }
    }

    /// Whether anything was called so.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.by_former_name.contains_key(name)
    }

    /// What is meant by a former name; nothing if nothing is. `within` is given for a map with a name, and says which
    /// namespace stands beside the name.
    pub(super) fn choose(
        &self,
        referrer: &Referrer,
        name: &str,
        target: &Kind,
        role: Option<&Kind>,
        within: Option<Option<&str>>,
    ) -> Result<Option<&Candidate>, KustomizeError> {
        let mut possible = self.reachable(referrer, name);
        if let Some(Some(namespace)) = within {
            let by_original = self.is_original_namespace(referrer, namespace);
            possible.retain(|candidate| {
                let own: &str = if by_original {
                    &candidate.original_namespace
                } else {
                    candidate.id.effective_namespace()
                };
                own == namespace && own != NO_NAMESPACE
            });
        }
        possible.retain(|candidate| candidate.was(target) && role.is_none_or(|role| candidate.was(role)));
        if possible.len() > 1 || possible.is_empty() {
            possible.retain(|candidate| self.same_affixes(referrer, candidate, true));
        }
        if possible.len() > 1 {
            possible.retain(|candidate| self.same_affixes(referrer, candidate, false));
        }
        let Some(first) = possible.first().copied() else { return Ok(None) };
        let is_same = |other: &&Candidate| {
            other.name == first.name && (within.is_none() || other.namespace == first.namespace)
        };
        if possible.iter().all(is_same) { Ok(Some(first)) } else { Err(ambiguous(referrer, name, &possible)) }
    }

    /// What had the name and may be referred to from where the referrer is, in the order of the resources.
    fn reachable(&self, referrer: &Referrer, name: &str) -> Vec<&Candidate> {
        let Some(named) = self.by_former_name.get(name) else { return Vec::new() };
        let candidate = |at: &usize| self.all.get(*at).and_then(Option::as_ref);
        if referrer.id.cluster_scoped {
            return named.all.iter().filter_map(candidate).collect();
        }
        let mut places = named.cluster.clone();
        let own = referrer.id.effective_namespace();
        places.extend(named.by_namespace.get(own).into_iter().flatten());
        for bound in &referrer.bound {
            let effective = if bound.is_empty() { "default" } else { bound.as_str() };
            if effective == own {
                continue;
            }
            let there = named.by_namespace.get(effective).into_iter().flatten();
            places.extend(there.filter(|at| {
                candidate(at)
                    .is_some_and(|found| found.namespace == *bound && found.id.kind.kind == "ServiceAccount")
            }));
        }
        places.sort_unstable();
        places.dedup();
        places.iter().filter_map(candidate).collect()
    }

    /// Whether a namespace beside a name is one that anything within reach was in first. If so it is meant as that, and
    /// else as one that it is in now.
    fn is_original_namespace(&self, referrer: &Referrer, namespace: &str) -> bool {
        let Some(places) = self.by_original_namespace.get(namespace) else { return false };
        let own = referrer.id.effective_namespace();
        let within_reach = |place: &Place| {
            place.cluster_scoped || *place.effective == *own || referrer.bound.contains(&place.namespace)
        };
        namespace != NO_NAMESPACE && (referrer.id.cluster_scoped || places.iter().any(within_reach))
    }

    /// Whether both went through the same kustomizations, as far as their prefixes and suffixes tell.
    fn same_affixes(&self, referrer: &Referrer, candidate: &Candidate, empty_is_same: bool) -> bool {
        let Some((prefixes, suffixes)) = self.affixes.get(referrer.at) else { return false };
        let same = |own: &[Str], other: &[Str]| {
            empty_is_same && (own.is_empty() || other.is_empty()) || same_ending(own, other)
        };
        same(prefixes, &candidate.prefixes) && same(suffixes, &candidate.suffixes)
    }
}

/// Whether the longer list ends with the shorter one; an empty list is only the ending of an empty one.
fn same_ending(one: &[Str], other: &[Str]) -> bool {
    if one.is_empty() || other.is_empty() {
        return one.is_empty() && other.is_empty();
    }
    one.ends_with(other) || other.ends_with(one)
}

fn ambiguous(referrer: &Referrer, name: &str, possible: &[&Candidate]) -> KustomizeError {
    let ids: Vec<String> = possible.iter().map(|candidate| candidate.id.to_string()).collect();
    KustomizeError::new(format!("found multiple possible referrals: {}", ids.join(", "))).hint(format!(
        "{} refers to {name:?}, and each of these was called so; give them different names before they are renamed",
        referrer.id
    ))
}
