//! The field `patchesStrategicMerge`: patches for what they name themselves.

use lynceus_object::Str;

use super::strategic::StrategicPatch;
use super::targets::{Targets, drop_deleted};
use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::schema::Schema;

/// Reads the items of the field. Each is a patch by itself if `load` can read resources from it, and otherwise the name
/// of a file, which `load_file` reads.
pub(crate) fn read_strategic_patches(
    items: &[Str],
    load: impl Fn(&str) -> Result<Vec<Resource>, KustomizeError>,
    mut load_file: impl FnMut(&str) -> Result<Vec<Resource>, KustomizeError>,
) -> Result<Vec<Resource>, KustomizeError> {
    let mut patches = Vec::new();
    for item in items {
        patches.extend(load(item).or_else(|_| load_file(item))?);
    }
    if patches.is_empty() && !items.is_empty() {
        let files = items.join(" ");
        return Err(KustomizeError::new(format!("patch appears to be empty; files=[{files}], Patch=")));
    }
    Ok(patches)
}

/// Applies all patches of the field, one after the other.
pub(crate) fn apply_strategic_patches(
    patches: &[Resource],
    resources: &mut Resources,
    schema: &Schema,
) -> Result<(), KustomizeError> {
    let mut targets = Targets::default();
    for patch in patches {
        let id = patch.original_id(schema.is_cluster_scoped(&patch.kind()));
        let at = targets.find(&id, resources, schema)?;
        StrategicPatch::new(patch, true).apply(&mut resources.list[at], schema)?;
    }
    drop_deleted(resources);
    Ok(())
}
