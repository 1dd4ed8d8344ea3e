//! The built-in kinds: which there are, their defaults, their rules.
//!
//! Every function takes the [`Resource`] so that one kind in several versions is told apart, and
//! `subresource` is empty for a write to the object itself. Objects come in the resource's version.

mod admit;
mod convert;
pub(crate) mod gofmt;
mod prepare;
pub(crate) mod quality;
mod resources;
pub(crate) mod runtime;
mod scale;
mod select;
pub(crate) mod usage;
pub(crate) mod validation;
mod warnings;

use lynceus_object::{Gvk, Object};

pub(crate) use lynceus_object::edit;

pub use admit::{Additions, admit_create, admit_update};
pub use convert::convert;
pub use prepare::{prepare_create, prepare_update};
pub(crate) use quality::amount_of;
pub use resources::{ALL_VERBS, PART_VERBS, Resource, Subresource, resource_of, resources};
pub(crate) use scale::selector_text;
pub use scale::{scale, set_scale};
pub use select::{field, selectable};
pub use validation::{validate, validate_update};
pub use warnings::{warnings, warnings_as_sent};

/// The same as [`default`] for an object that may share parts with one that has its defaults: if it shares all that
/// defaults are about, there is nothing to do.
pub fn default_beside(resource: &Resource, object: &mut Object, known: Option<&Object>) {
    if !known.is_some_and(|known| shares_defaults(resource, object, known)) {
        default(resource, object);
    }
}

fn shares_defaults(resource: &Resource, object: &Object, known: &Object) -> bool {
    // The defaults of these leave the status alone.
    let whole =
        !matches!((resource.group.as_str(), resource.kind.as_str()), ("", "Pod") | ("apps" | "batch", _));
    let (metadata, known_metadata) = (object.at(&["metadata"]), known.at(&["metadata"]));
    let is_same = |field| match (
        metadata.and_then(|is| is.get(field)),
        known_metadata.and_then(|was| was.get(field)),
    ) {
        (Some(is), Some(was)) => is.is_same(was),
        (None, None) => true,
        _ => false,
    };
    let has_all = |one: &Object, other: &Object| {
        one.map().beside(Some(other.map())).all(|(name, value, other)| {
            name == "metadata"
                || !whole && name == "status"
                || other.is_some_and(|other| value.is_same(other))
        })
    };
    is_same("labels") && is_same("name") && has_all(object, known) && has_all(known, object)
}

/// Fills in what the client left out, as it depends on nothing but the object itself.
pub fn default(resource: &Resource, object: &mut Object) {
    let gvk = Gvk::new(resource.group.clone(), resource.version.clone(), resource.kind.clone());
    lynceus_object::defaults::fill_in(&gvk, object);
    if gvk.group == "apps" && gvk.kind == "StatefulSet" {
        for claim in edit::each(object.value_mut(), &["spec", "volumeClaimTemplates"]) {
            // A template is a whole object, and the server prints its kind although the client left it out.
            edit::fill_text(claim, "apiVersion", "v1");
            edit::fill_text(claim, "kind", "PersistentVolumeClaim");
        }
    }
}
