//! Which resources are served right now: the built-in ones and those of the stored definitions.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use lynceus_object::{Gvk, Object, Str};

use crate::crd;
use crate::faults;
use crate::hash::QuickMap;
use crate::kinds::{self, Resource};
use crate::metrics;
use crate::stage::Snapshot;

/// An immutable table of what is served. A change of a definition makes a new one.
#[derive(Debug, Default)]
pub struct Registry {
    resources: Vec<Arc<Resource>>,
    by_path: QuickMap<(Str, Str, Str), usize>,
    by_kind: QuickMap<Gvk, usize>,
    /// The resources of a plural name, which few groups share.
    by_plural: QuickMap<Str, Vec<usize>>,
    /// What each definition serves, by its uid and with the version that it was compiled from.
    compiled: HashMap<Str, (Str, Vec<Arc<Resource>>)>,
    generation: u64,
    /// The cluster whose built-in kinds are served, if not all are.
    like: Option<Arc<Snapshot>>,
    /// Whether somebody measures what pods use.
    measures: bool,
}

impl Registry {
    /// The built-in resources and those that `definitions` serve. What `before` compiled from the same
    /// version of a definition is used again.
    pub fn new(definitions: &[Object], before: &Registry) -> Self {
        let like = before.like.clone();
        let generation = before.generation + 1;
        let mut registry = Registry { generation, like, measures: before.measures, ..Registry::default() };
        for resource in built_in() {
            let (group, version) = (&resource.group, &resource.version);
            let is_served = |like: &Arc<Snapshot>| like.has(group, version, &resource.plural);
            if registry.like.as_ref().is_none_or(is_served) {
                registry.add(Arc::clone(resource));
            }
        }
        for definition in definitions {
            let version = definition.resource_version();
            let resources = match before.compiled.get(definition.uid()) {
                Some((known, resources)) if known == version => resources.clone(),
                _ => crd::resources(definition),
            };
            for resource in &resources {
                registry.add(Arc::clone(resource));
            }
            registry.compiled.insert(definition.uid().into(), (version.into(), resources));
        }
        for resource in faults::resources() {
            registry.add(Arc::clone(resource));
        }
        let measured = if registry.measures { metrics::resources() } else { &[] };
        for resource in measured {
            registry.add(Arc::clone(resource));
        }
        registry
    }

    /// A table that serves of the built-in kinds what a real cluster served.
    pub(crate) fn like(snapshot: Option<Arc<Snapshot>>) -> Self {
        Registry { like: snapshot, ..Registry::default() }
    }

    /// The same with what measures pods, if somebody does.
    #[must_use]
    pub(crate) fn measuring(self, measures: bool) -> Self {
        Registry { measures, ..self }
    }

    fn add(&mut self, resource: Arc<Resource>) {
        let at = self.resources.len();
        let path = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
        if self.by_path.contains_key(&path) {
            return;
        }
        self.by_path.insert(path, at);
        self.by_kind.entry(resource.gvk()).or_insert(at);
        self.by_plural.entry(resource.plural.clone()).or_default().push(at);
        self.resources.push(resource);
    }

    /// A number that changes whenever what is served changes.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All resources in the order of discovery.
    pub fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
    }

    /// The resource under a path.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let at = self.by_path.get(&(group.into(), version.into(), plural.into()))?;
        self.resources.get(*at)
    }

    /// The resource of a kind in one version.
    pub fn of_kind(&self, gvk: &Gvk) -> Option<&Arc<Resource>> {
        self.by_kind.get(gvk).and_then(|at| self.resources.get(*at))
    }

    /// The resource in its preferred version: the first one listed.
    pub fn preferred(&self, group: &str, plural: &str) -> Option<&Arc<Resource>> {
        let mut listed = self.by_plural.get(plural)?.iter().filter_map(|at| self.resources.get(*at));
        listed.find(|resource| resource.is(group, plural))
    }

    /// The groups in the order of discovery, each with its versions, the preferred one first: the built-in
    /// groups by their rank, then those of definitions by name.
    pub fn groups(&self) -> Vec<(Str, Vec<Str>)> {
        let mut groups: Vec<(Str, Vec<Str>)> = Vec::new();
        for resource in &self.resources {
            let at = groups.iter().position(|(group, _)| *group == resource.group).unwrap_or_else(|| {
                groups.push((resource.group.clone(), Vec::new()));
                groups.len() - 1
            });
            if let Some((_, versions)) = groups.get_mut(at)
                && !versions.contains(&resource.version)
            {
                versions.push(resource.version.clone());
            }
        }
        let is_custom = |group: &Str| built_in().iter().all(|resource| resource.group != *group);
        let first_custom = groups.iter().position(|(group, _)| is_custom(group)).unwrap_or(groups.len());
        groups[first_custom..].sort_by(|(a, _), (b, _)| a.cmp(b));
        groups
    }

    /// The resources of one group and version, by plural name.
    pub fn of_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Resource>> + 'a {
        self.resources.iter().filter(move |resource| resource.group == group && resource.version == version)
    }
}

fn built_in() -> &'static [Arc<Resource>] {
    static BUILT_IN: LazyLock<Vec<Arc<Resource>>> =
        LazyLock::new(|| kinds::resources().iter().cloned().map(Arc::new).collect());
    &BUILT_IN
}
