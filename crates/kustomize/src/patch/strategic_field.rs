//! The field `patchesStrategicMerge`: patches for what they name themselves.

use super::strategic::StrategicPatch;
use super::targets::{Targets, at_patch, drop_deleted};
use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::schema::Schema;

/// Applies all patches of the field, one after the other.
pub(crate) fn apply_strategic_patches(
    patches: &[Resource],
    resources: &mut Resources,
    schema: &Schema,
) -> Result<(), KustomizeError> {
    let mut targets = Targets::default();
    for patch in patches {
        let id = patch.original_id(schema.is_cluster_scoped(&patch.kind()));
        let at = targets.find(&id, resources, schema).map_err(|error| at_patch(error, patch))?;
        StrategicPatch::new(patch, true).apply(&mut resources.list[at], schema)?;
    }
    drop_deleted(resources);
    Ok(())
}
