//! The number of replicas.

use std::collections::HashMap;

use lynceus_object::{Str, Value};

use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpecs, Makes};
use crate::id::Kind;
use crate::resources::Resources;
use crate::scalar;

/// Sets numbers of replicas.
#[derive(Clone, Debug)]
pub(crate) struct Replicas {
    /// What is to have how many.
    pub(crate) replicas: Vec<Replica>,
    /// The fields.
    pub(crate) specs: FieldSpecs,
}

/// One item of `replicas`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replica {
    /// What is or was called so.
    pub(crate) name: Str,
    /// How many there are to be.
    pub(crate) count: i64,
}

impl Replicas {
    /// Changes the resources.
    pub(crate) fn apply(&self, resources: &mut Resources) -> Result<(), KustomizeError> {
        if self.replicas.is_empty() {
            return Ok(());
        }
        let named = self.named(resources);
        for replica in &self.replicas {
            let named = named.get(&replica.name).map_or(&[][..], Vec::as_slice);
            let mut found = false;
            for spec in self.specs.iter() {
                for (at, _) in named.iter().filter(|(_, kind)| kind.is_selected_by(&spec.spec.kind)) {
                    found = true;
                    let Some(resource) = resources.list.get_mut(*at) else { continue };
                    if !resource.kind().is_selected_by(&spec.spec.kind) {
                        continue;
                    }
                    spec.edit(resource, Makes::Scalar, &mut |field| set_count(field, replica.count))?;
                }
            }
            if !found {
                return Err(self.not_found(replica));
            }
        }
        Ok(())
    }

    /// Where what is or was called as one of the replicas is, and of which kind it is or was.
    fn named(&self, resources: &Resources) -> HashMap<Str, Vec<(usize, Kind)>> {
        let mut named: HashMap<Str, Vec<(usize, Kind)>> =
            self.replicas.iter().map(|replica| (replica.name.clone(), Vec::new())).collect();
        for (at, resource) in resources.list.iter().enumerate().filter(|(_, other)| !other.value.is_empty()) {
            let now = (Str::from(resource.name()), resource.kind());
            for (name, kind) in resource.former_ids().map(|id| (id.name, id.kind)).chain([now]) {
                let Some(known) = named.get_mut(&name) else { continue };
                if !known.contains(&(at, kind.clone())) {
                    known.push((at, kind));
                }
            }
        }
        named
    }

    fn not_found(&self, replica: &Replica) -> KustomizeError {
        let kinds: Vec<String> = self.specs.iter().map(|spec| spec.spec.kind.to_string()).collect();
        KustomizeError::new(format!(
            "resource with name {} does not match a config with the following GVK [{}]",
            replica.name,
            kinds.join(" ")
        ))
    }
}

/// A number in quotes keeps them.
fn set_count(field: &mut Value, count: i64) -> Result<(), KustomizeError> {
    if scalar::text(field).is_none() {
        return Err(scalar::wrong_node("ScalarNode", field));
    }
    let set = scalar::rewritten(field, &count.to_string());
    *field = set;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::resource::Resource;
    use lynceus_object::value;

    fn with_count(name: &str, mut resource: Resource, before: &[&str]) -> Result<Value, String> {
        for name in before {
            let now = resource.name().to_owned();
            resource.value.set(&["metadata", "name"], *name);
            resource.remember_id(false);
            resource.value.set(&["metadata", "name"], now);
        }
        let mut resources = Resources { list: vec![resource] };
        let replicas = vec![Replica { name: name.into(), count: 5 }];
        let done = Replicas { replicas, specs: Config::defaults().replicas }.apply(&mut resources);
        done.map_err(|error| error.message)?;
        Ok(resources.list[0].value.at(&["spec", "replicas"]).cloned().unwrap_or_default())
    }

    fn deployment(spec: Value) -> Resource {
        Resource::new(
            value!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}),
        )
    }

    #[test]
    fn the_number_is_set_by_present_and_by_former_names() {
        assert_eq!(with_count("web", deployment(value!({})), &[]), Ok(Value::Int(5)));
        assert_eq!(
            with_count("old", deployment(value!({"replicas": 1})), &["old", "web"]),
            Ok(Value::Int(5))
        );
    }

    #[test]
    fn a_number_in_quotes_keeps_them() {
        assert_eq!(with_count("web", deployment(value!({"replicas": "1"})), &[]), Ok(Value::from("5")));
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let error = with_count("other", deployment(value!({})), &[]).unwrap_err();
        assert!(error.starts_with("resource with name other does not match a config"), "{error}");
        assert!(error.contains("[Deployment.[noVer].[noGrp] StatefulSet.[noVer].[noGrp] "), "{error}");
    }
}
