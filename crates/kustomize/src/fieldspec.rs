//! Where in which kinds a field is.

use lynceus_object::Str;

use crate::id::Kind;

/// A field of some kinds, as in Kustomize's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSpec {
    /// The kinds.
    pub kind: Kind,
    /// The field, with `/` between the steps; a list on the way stands for all its items.
    pub path: Str,
    /// Whether the field is made where it is missing.
    pub create: bool,
}
