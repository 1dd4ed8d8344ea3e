//! Custom resources: definitions compiled into pruning, defaulting, validation and columns.

use std::sync::Arc;

use jiff::Timestamp;
use lynceus_object::schema::TypeRef;
use lynceus_object::{Object, Str, Value};

use crate::context::Context;
use crate::kinds::Resource;
use crate::{ApiError, FieldError};

/// One version of a definition in the form that requests use.
#[derive(Debug, Default)]
pub struct Compiled {}

/// The resources that a stored definition serves: one per served version, the preferred one first.
/// None until its names are accepted.
pub fn resources(_definition: &Object) -> Vec<Arc<Resource>> {
    Vec::new()
}

/// The definition with its status as the name and establishing controllers would leave it, or `None`
/// if that is how it is already. `others` are all stored definitions.
pub fn settle(_definition: &Object, _others: &[Object], _now: Timestamp) -> Option<Object> {
    None
}

/// Sets the defaults of a definition itself.
pub fn default_definition(_definition: &mut Object) {}

/// Makes a definition ready to be stored for the first time.
pub fn prepare_definition(_definition: &mut Object, _old: Option<&Object>, _subresource: &str) {}

/// What is wrong with a definition.
pub fn validate_definition(_definition: &Object, _old: Option<&Object>) -> Vec<FieldError> {
    Vec::new()
}

/// Removes fields that the schema does not know; says which (`spec.foo`), for `fieldValidation`.
pub fn prune(_custom: &Compiled, _object: &mut Object) -> Vec<String> {
    Vec::new()
}

/// The schema of the kind as its definition gives it, for the description of the API.
pub fn openapi(_custom: &Compiled) -> Option<Value> {
    None
}

/// Sets the schema's defaults.
pub fn default(_custom: &Compiled, _object: &mut Object) {}

/// Makes an instance ready to be stored for the first time.
pub fn prepare_create(_resource: &Resource, _object: &mut Object, _context: &Context<'_>) {}

/// Makes a changed instance ready to be stored.
pub fn prepare_update(_resource: &Resource, _new: &mut Object, _old: &Object, _subresource: &str) {}

/// What is wrong with a new instance, metadata and CEL rules included.
pub fn validate(_resource: &Resource, _object: &Object) -> Vec<FieldError> {
    Vec::new()
}

/// What is wrong with a changed instance.
pub fn validate_update(
    _resource: &Resource,
    _new: &Object,
    _old: &Object,
    _subresource: &str,
) -> Vec<FieldError> {
    Vec::new()
}

/// Turns an instance into another version of its kind.
pub fn convert(mut object: Object, to: &Resource) -> Result<Object, ApiError> {
    object.set(&["apiVersion"], to.api_version());
    Ok(object)
}

/// The schema that merging and apply go by.
pub fn schema(_custom: &Compiled) -> TypeRef<'_> {
    TypeRef::untyped()
}

/// The value of a selectable field; `None` where the definition has no such field.
pub fn field(_custom: &Compiled, _object: &Object, _field: &str) -> Option<Str> {
    None
}

/// The Scale of an instance.
pub fn scale(_resource: &Resource, _object: &Object) -> Result<Object, ApiError> {
    Err(ApiError::method_not_allowed())
}

/// Writes a Scale's wish into the instance.
pub fn set_scale(_resource: &Resource, _object: &mut Object, _scale: &Object) -> Result<(), ApiError> {
    Err(ApiError::method_not_allowed())
}
