//! Turning an instance into another version of its kind.

use lynceus_object::Object;

use super::{default, prune};
use crate::ApiError;
use crate::kinds::Resource;

/// Turns an instance into another version of its kind by changing `apiVersion`. What the version does
/// not know goes, and what it has a default for is filled in: also when the schema changed after the
/// instance was written.
///
/// A definition whose versions are converted by a webhook is served in its stored version only:
/// passing fields on unconverted would corrupt them silently.
pub fn convert(mut object: Object, to: &Resource) -> Result<Object, ApiError> {
    let Some(custom) = &to.custom else { return Ok(object) };
    if custom.has_conversion_webhook && object.api_version() != to.api_version() {
        let gvk = object.gvk();
        return Err(ApiError::new(
            500,
            "",
            format!("conversion webhook for {gvk} failed: conversion by webhook is not supported here"),
        ));
    }
    object.set(&["apiVersion"], to.api_version());
    prune::prune(object.value_mut(), &custom.schema);
    default::fill(object.value_mut(), &custom.schema);
    Ok(object)
}
