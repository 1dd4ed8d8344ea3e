//! The namespace of resources.

use std::collections::HashMap;

use lynceus_object::{Str, Value};

use crate::error::KustomizeError;
use crate::fieldspec::{FieldPath, FieldSpecs, Makes, Spec};
use crate::id::{Id, Kind};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::scalar::{self, set_text};

/// Moves resources into a namespace.
#[derive(Clone, Debug)]
pub(crate) struct Namespace {
    /// The namespace; nothing is done if it is empty.
    pub(crate) namespace: Str,
    /// Where else than in the metadata it stands.
    pub(crate) specs: FieldSpecs,
    /// Whether what has a namespace keeps it.
    pub(crate) unset_only: bool,
    /// Which subjects of role bindings are moved along.
    pub(crate) subjects: Subjects,
}

/// Which subjects of role bindings are given a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Those that are called `default`.
    #[default]
    NamedDefault,
    /// Every service account.
    ServiceAccounts,
    /// None.
    Nobody,
}

impl Subjects {
    /// Reads `setRoleBindingSubjects`.
    pub(crate) fn read(text: &str) -> Result<Self, KustomizeError> {
        match text {
            "" | "defaultOnly" => Ok(Subjects::NamedDefault),
            "allServiceAccounts" => Ok(Subjects::ServiceAccounts),
            "none" => Ok(Subjects::Nobody),
            other => Err(KustomizeError::new(format!(
                "invalid value {other:?} for setRoleBindingSubjects: must be one of \"defaultOnly\", \"none\" or \
                 \"allServiceAccounts\""
            ))),
        }
    }
}

impl Namespace {
    /// Changes the resources; `is_cluster_scoped` is what the schema says of a kind.
    pub(crate) fn apply(
        &self,
        resources: &mut Resources,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) -> Result<(), KustomizeError> {
        if self.namespace.is_empty() {
            return Ok(());
        }
        let metadata = Spec::new(crate::FieldSpec::of_all("metadata/namespace", true));
        let mut moved = vec![false; resources.list.len()];
        for (resource, moved) in resources.list.iter_mut().zip(&mut moved) {
            if resource.value.is_empty() || resource.is_from_chart {
                continue;
            }
            *moved = true;
            let scoped = is_cluster_scoped(&resource.kind());
            resource.remember_id(scoped);
            self.change(resource, scoped, &metadata)?;
        }
        self.check(resources, &moved, is_cluster_scoped)
    }

    /// Changes one resource.
    pub(crate) fn change(
        &self,
        resource: &mut Resource,
        cluster_scoped: bool,
        metadata: &Spec,
    ) -> Result<(), KustomizeError> {
        if !cluster_scoped {
            metadata.edit(resource, Makes::Scalar, &mut |field| self.set(field))?;
        }
        let kind = resource.kind();
        if is_role_binding(&kind.kind) {
            self.set_subjects(&mut resource.value)?;
        }
        for spec in self.specs.matching(&kind) {
            let decided_here = match spec.spec.path.as_str() {
                "metadata/namespace" => true,
                "metadata/name" => resource.api_version() != "v1",
                "subjects/namespace" => is_role_binding(&kind.kind) && is_role_binding(&spec.spec.kind.kind),
                _ => false,
            };
            if decided_here {
                continue;
            }
            let mut hits_scalar = true;
            spec.edit(resource, Makes::Scalar, &mut |field| {
                hits_scalar = scalar::text(field).is_some();
                self.set(field)
            })
            .map_err(|error| {
                error.context(if hits_scalar {
                    "namespace transformation failed"
                } else {
                    "namespace field specs must target scalar nodes"
                })
            })?;
        }
        Ok(())
    }

    fn set(&self, field: &mut Value) -> Result<(), KustomizeError> {
        let has_one = scalar::text(field).is_some_and(|text| !text.is_empty());
        if self.unset_only && has_one { Ok(()) } else { set_text(field, &self.namespace) }
    }

    fn set_subjects(&self, value: &mut Value) -> Result<(), KustomizeError> {
        let (field, wanted) = match self.subjects {
            Subjects::NamedDefault => ("name", "default"),
            Subjects::ServiceAccounts => ("kind", "ServiceAccount"),
            Subjects::Nobody => return Ok(()),
        };
        let words = "setting namespace on (cluster)role binding subjects";
        // Looking first keeps a shared object shared when there is nothing to do.
        let subjects = match value.get("subjects") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Seq(items)) => items,
            Some(other) => return Err(scalar::wrong_node("SequenceNode", other).context(words)),
        };
        let mut fits = Vec::with_capacity(subjects.len());
        for subject in subjects {
            fits.push(is_wanted(subject, field, wanted).map_err(|error| error.context(words))?);
        }
        let path = FieldPath::new("namespace");
        let subjects = value.at_mut(&["subjects"]).and_then(Value::as_seq_mut);
        for (subject, fits) in subjects.into_iter().flat_map(|items| items.make_mut()).zip(fits) {
            if fits {
                path.edit(subject, true, Makes::Scalar, &mut |field| self.set(field))
                    .map_err(|error| error.context(words))?;
            }
        }
        Ok(())
    }

    /// Nothing that was moved may be where something else is.
    fn check(
        &self,
        resources: &Resources,
        moved: &[bool],
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) -> Result<(), KustomizeError> {
        let mut seen: HashMap<(Kind, Str, Str), usize> = HashMap::with_capacity(resources.list.len());
        for (at, resource) in resources.list.iter().enumerate() {
            let id = resource.id(is_cluster_scoped(&resource.kind()));
            let key = (id.kind.clone(), id.name.clone(), id.effective_namespace().into());
            let Some(other) = seen.insert(key, at) else { continue };
            if moved[at] || moved[other] {
                return Err(self.conflict(&resources.list[other], resource, &id));
            }
        }
        Ok(())
    }

    fn conflict(&self, one: &Resource, other: &Resource, id: &Id) -> KustomizeError {
        let before = |resource: &Resource| match resource.former.last() {
            Some(former) if !resource.namespace().is_empty() => former.namespace.to_string(),
            _ => resource.original_id(id.cluster_scoped).name.to_string(),
        };
        KustomizeError::new(format!(
            "namespace transformation produces ID conflict: {id} comes from {} and from {}",
            before(one),
            before(other)
        ))
        .hint(format!("two resources of the same kind and name cannot both be moved into {}", self.namespace))
    }
}

fn is_role_binding(kind: &str) -> bool {
    matches!(kind, "RoleBinding" | "ClusterRoleBinding")
}

fn is_wanted(subject: &Value, field: &str, wanted: &str) -> Result<bool, KustomizeError> {
    match subject {
        Value::Null => Ok(false),
        Value::Map(map) => match map.get(field) {
            None | Some(Value::Null) => Ok(false),
            Some(found) => match scalar::text(found) {
                Some(text) => Ok(text == wanted),
                None => Err(scalar::wrong_node("ScalarNode", found)),
            },
        },
        other => Err(scalar::wrong_node("MappingNode", other)),
    }
    .map_err(|error| error.context(format_args!("looking up {field} on (cluster)role binding subject")))
}

#[cfg(test)]
#[path = "namespace_tests.rs"]
mod tests;
