//! The built-in kinds: which there are, their defaults, their rules.
//!
//! Every function takes the [`Resource`] so that one kind in several versions is told apart, and
//! `subresource` is empty for a write to the object itself. Objects come in the resource's version.

mod admit;
mod convert;
mod defaults;
mod edit;
pub(crate) mod gofmt;
mod prepare;
mod quality;
mod resources;
mod scale;
mod select;

use lynceus_object::Object;

pub use admit::{Additions, admit_create};
pub use convert::convert;
pub use defaults::default;
pub use prepare::{prepare_create, prepare_update};
pub(crate) use quality::amount_of;
pub use resources::{ALL_VERBS, PART_VERBS, Resource, Subresource, resource_of, resources};
pub(crate) use scale::selector_text;
pub use scale::{scale, set_scale};
pub use select::{field, selectable};

use crate::FieldError;
use crate::context::Context;

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
