//! The workload of an autoscaler, as its `scale` shows it: a built-in one or a custom resource.

use lynceus_object::{Gvk, Object};

use crate::controllers::key::Key;
use crate::controllers::world::World;
use crate::store::Place;
use crate::strategy;
use crate::view::View;

/// A workload that can be given another size.
pub(super) struct Target {
    pub(super) key: Key,
    /// How many replicas it is to have.
    pub(super) wanted: i64,
    /// How many it has.
    pub(super) present: i64,
    /// Its pods' selector, as text.
    pub(super) selector: String,
}

impl Target {
    /// The workload that an autoscaler names, or why its scale cannot be read.
    pub(super) fn of(scaler: &Object, world: &World<'_>) -> Result<Self, String> {
        let word = |field| scaler.value().str_at(&["spec", "scaleTargetRef", field]).unwrap_or_default();
        let gvk = Gvk::from_manifest(word("apiVersion"), word("kind"));
        let registry = world.local.registry();
        let mut resources = registry.resources().iter();
        let named = resources.find(|resource| resource.group == gvk.group && resource.kind == gvk.kind);
        let named =
            named.ok_or_else(|| format!("no matches for kind {:?} in group {:?}", gvk.kind, gvk.group))?;
        // Objects are read in the version that they are kept in.
        let stored = registry.of_kind(&named.storage).filter(|stored| stored.group == named.group);
        let resource = stored.unwrap_or(named);
        if resource.subresource("scale").is_none() {
            return Err("the server could not find the requested resource".into());
        }
        let (namespace, name) = (scaler.namespace(), word("name"));
        let object = world
            .local
            .get(&resource.group, &resource.plural, namespace, name)
            .ok_or_else(|| format!("{} {name:?} not found", resource.qualified()))?;
        let scale = strategy::scale(resource, &object).map_err(|error| error.to_string())?;
        let count = |part| scale.value().int_at(&[part, "replicas"]).unwrap_or(0);
        Ok(Target {
            key: Key::of(&Place::new(&resource.group, &resource.plural), &object),
            wanted: count("spec"),
            present: count("status"),
            selector: scale.value().str_at(&["status", "selector"]).unwrap_or_default().to_owned(),
        })
    }
}
