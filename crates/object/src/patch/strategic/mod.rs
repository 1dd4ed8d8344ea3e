//! Strategic merge patch: a merge patch that knows which lists are really maps.

pub(super) mod apply;
pub(super) mod list;
pub(super) mod lookup;

use super::PatchError;
use crate::map::Map;
use crate::schema::TypeRef;
use crate::value::Value;

pub(super) const PATCH: &str = "$patch";
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const DELETE_FROM: &str = "$deleteFromPrimitiveList";
pub(super) const SET_ORDER: &str = "$setElementOrder";

/// Applies a strategic merge patch to an object of type `ty`.
pub fn strategic(original: &Value, patch: &Value, ty: TypeRef<'_>) -> Result<Value, PatchError> {
    let map = |value: &Value| match value {
        Value::Map(map) => Ok(map.clone()),
        Value::Null => Ok(Map::new()),
        _ => Err(PatchError::Malformed("invalid JSON document".to_owned())),
    };
    apply::merge_map(map(original)?, map(patch)?, ty, apply::Options::APPLY).map(Value::Map)
}

/// The key after the slash of `$setElementOrder/ports` or `$deleteFromPrimitiveList/finalizers`.
pub(super) fn list_key<'k>(key: &'k str, prefix: &str) -> Result<&'k str, PatchError> {
    key.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')).ok_or_else(|| {
        let what = if prefix == DELETE_FROM { "primitive" } else { "setElementOrder" };
        PatchError::Malformed(format!("invalid patch format of {what} list"))
    })
}
