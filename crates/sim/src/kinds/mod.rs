//! The built-in kinds: which there are, their defaults, their rules.
//!
//! Every function takes the [`Resource`] so that one kind in several versions is told apart, and
//! `subresource` is empty for a write to the object itself. Objects come in the resource's version.

mod defaults;
mod edit;
mod resources;

use lynceus_object::{Object, Str};

pub use defaults::default;
pub use resources::{ALL_VERBS, PART_VERBS, Resource, Subresource, resource_of, resources};

use crate::context::Context;
use crate::{ApiError, FieldError};

/// Makes an object ready to be stored for the first time: status cleared, addresses allocated, …
pub fn prepare_create(
    _resource: &Resource,
    _object: &mut Object,
    _context: &Context<'_>,
) -> Result<(), ApiError> {
    Ok(())
}

/// Makes a changed object ready to be stored: what may not be written through this subresource is
/// put back, the generation is raised when the spec changed, …
pub fn prepare_update(
    _resource: &Resource,
    _new: &mut Object,
    _old: &Object,
    _subresource: &str,
    _context: &Context<'_>,
) -> Result<(), ApiError> {
    Ok(())
}

/// What is wrong with a new object, metadata included.
pub fn validate(_resource: &Resource, _object: &Object, _context: &Context<'_>) -> Vec<FieldError> {
    Vec::new()
}

/// What is wrong with a change, metadata included.
pub fn validate_update(
    _resource: &Resource,
    _new: &Object,
    _old: &Object,
    _subresource: &str,
    _context: &Context<'_>,
) -> Vec<FieldError> {
    Vec::new()
}

/// What a client should hear although the object is accepted.
pub fn warnings(_resource: &Resource, _new: &Object, _old: Option<&Object>) -> Vec<String> {
    Vec::new()
}

/// Turns an object of the same kind in another version (or as it is stored) into `to`'s version.
pub fn convert(mut object: Object, to: &Resource) -> Object {
    object.set(&["apiVersion"], to.api_version());
    object.set(&["kind"], to.kind.clone());
    object
}

/// The value that a field selector compares: `None` where the kind has no such selectable field.
/// `metadata.name` and `metadata.namespace` are known to the caller.
pub fn field(_resource: &Resource, _object: &Object, _field: &str) -> Option<Str> {
    None
}

/// The `autoscaling/v1` Scale of an object.
pub fn scale(_resource: &Resource, _object: &Object) -> Result<Object, ApiError> {
    Err(ApiError::method_not_allowed())
}

/// Writes a Scale's wish into the object.
pub fn set_scale(_resource: &Resource, _object: &mut Object, _scale: &Object) -> Result<(), ApiError> {
    Err(ApiError::method_not_allowed())
}
