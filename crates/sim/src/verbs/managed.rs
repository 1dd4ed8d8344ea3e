//! Who manages which field: `metadata.managedFields` on every write.

use lynceus_object::Object;

use super::Call;
use crate::ApiError;
use crate::core::Core;

/// Records what this call changed between `old` and `new`.
pub(super) fn track(
    _core: &Core,
    _call: &Call,
    _old: Option<&Object>,
    _new: &mut Object,
) -> Result<(), ApiError> {
    Ok(())
}

/// The object after a server-side apply of `config`, with its managers.
pub(super) fn apply(
    _core: &Core,
    _call: &Call,
    _current: Option<&Object>,
    config: &Object,
) -> Result<Object, ApiError> {
    Ok(config.clone())
}
