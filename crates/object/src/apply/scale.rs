//! Managed fields across the `scale` subresource, which shows one field of an object as an object.

use std::collections::BTreeMap;

use super::managers::{ManagerId, Managers, Owned};
use super::set::FieldSet;
use crate::path::FieldPath;

const SCALE: &str = "autoscaling/v1";

fn replicas_in_scale() -> FieldPath {
    FieldPath::fields(["spec", "replicas"])
}

/// The managers of the number of replicas, as `Scale` shows them. `replicas` is where that number is in
/// the object.
pub fn scale_to_subresource(parent: &Managers, replicas: &FieldPath) -> Managers {
    let owners = parent.0.iter().filter(|(_, owned)| owned.fields.contains(replicas));
    let shown = owners.map(|(id, owned)| {
        let mut fields = FieldSet::new();
        fields.insert(&replicas_in_scale());
        (id.clone(), Owned { fields, api_version: SCALE.into(), time: owned.time })
    });
    Managers(shown.collect())
}

/// The managers of the object after a write through `scale`. `api_version` is the object's.
pub fn scale_to_parent(
    parent: &Managers,
    scale: &Managers,
    replicas: &FieldPath,
    api_version: &str,
) -> Managers {
    let mut scale: BTreeMap<ManagerId, Owned> = scale.0.clone();
    let mut out = BTreeMap::new();
    let mut number = FieldSet::new();
    number.insert(replicas);
    for (id, owned) in &parent.0 {
        let mut owned = owned.clone();
        if owned.fields.contains(replicas) && scale.remove(id).is_none() {
            // Somebody else has it now.
            owned.fields = owned.fields.difference(&number);
        }
        if !owned.fields.is_empty() {
            out.insert(id.clone(), owned);
        }
    }
    for (id, owned) in scale {
        if owned.fields.contains(&replicas_in_scale()) {
            let fields = number.clone();
            out.insert(id, Owned { fields, api_version: api_version.into(), time: owned.time });
        }
    }
    Managers(out)
}
