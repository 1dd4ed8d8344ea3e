//! Finding the one resource that a patch names.

use std::collections::{HashMap, HashSet};

use lynceus_object::Str;

use crate::error::{KustomizeError, Missing};
use crate::id::Id;
use crate::idle::names_of;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::schema::Schema;

/// The positions of resources by the names that they have or had.
///
/// Resources that are deleted stay in their places as null while patches are applied, so that positions stay right.
#[derive(Default)]
pub(super) struct Targets {
    by_name: Option<HashMap<Str, Vec<usize>>>,
}

impl Targets {
    /// The resource that has or had this id. It has to be the only one.
    pub(super) fn find(
        &mut self,
        id: &Id,
        resources: &Resources,
        schema: &Schema,
    ) -> Result<usize, KustomizeError> {
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut by_name = HashMap::new();
            for (at, resource) in resources.list.iter().enumerate() {
                note(&mut by_name, at, resource);
            }
            by_name
        });
        let positions = by_name.get(&id.name).map(Vec::as_slice).unwrap_or_default();
        let mut found = positions.iter().copied().filter(|at| is_called(&resources.list[*at], id, schema));
        let problem = match (found.next(), found.next()) {
            (Some(at), None) => return Ok(at),
            (Some(_), Some(_)) => "multiple",
            (None, _) => "no",
        };
        let mut error = KustomizeError::new(format!(
            "{problem} matches for Id {id}; failed to find unique target for patch {id}"
        ));
        if problem == "no" {
            let (kind, name) = (id.kind.kind.clone(), id.name.clone());
            let names = names_of(resources, &kind);
            error.missing = Some(Box::new(Missing { kind, name, names }));
        }
        Err(error)
    }

    /// Notes that a resource may have a new name.
    pub(super) fn renamed(&mut self, at: usize, resource: &Resource) {
        if let Some(by_name) = &mut self.by_name {
            note(by_name, at, resource);
        }
    }
}

fn note(by_name: &mut HashMap<Str, Vec<usize>>, at: usize, resource: &Resource) {
    let former = resource.former.iter().map(|former| former.name.as_str());
    for name in former.chain([resource.name()]) {
        let positions = by_name.entry(name.into()).or_default();
        if !positions.contains(&at) {
            positions.push(at);
        }
    }
}

fn is_called(resource: &Resource, id: &Id, schema: &Schema) -> bool {
    !resource.value.is_empty()
        && (resource.former_ids().any(|former| former.names_same(id))
            || resource.id(schema.is_cluster_scoped(&resource.kind())).names_same(id))
}

/// The error at the place of the patch, if that is in a file of its own.
pub(super) fn at_patch(error: KustomizeError, patch: &Resource) -> KustomizeError {
    match &patch.span {
        Some(span) => error.at(span.clone()),
        None => error,
    }
}

/// Fails if two resources have the same id now.
pub(super) fn check_ids(resources: &Resources, schema: &Schema) -> Result<(), KustomizeError> {
    let mut seen = HashSet::new();
    for resource in resources.list.iter().filter(|resource| !resource.value.is_empty()) {
        let id = resource.id(schema.is_cluster_scoped(&resource.kind()));
        let namespace = Str::from(id.effective_namespace());
        if !seen.insert((id.kind.clone(), id.name.clone(), namespace)) {
            return Err(KustomizeError::new(format!(
                "may not add resource with an already registered id: {id}"
            )));
        }
    }
    Ok(())
}

/// Drops the resources that patches have deleted.
pub(super) fn drop_deleted(resources: &mut Resources) {
    resources.list.retain(|resource| !resource.value.is_empty());
}
