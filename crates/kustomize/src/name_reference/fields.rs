//! A field that holds the name of a resource of some kind.

use lynceus_object::Str;

use super::FieldPath;
use crate::fieldspec::FieldSpec;
use crate::id::Kind;

/// A field of a referrer.
#[derive(Debug)]
pub(super) struct Field {
    /// The path as it was written.
    pub(super) spec_path: Str,
    /// The path.
    pub(super) path: FieldPath,
    /// The kind that it names.
    pub(super) target: Kind,
    /// Whether it is the name in a role reference, beside which the kind stands.
    pub(super) is_role: bool,
    /// Whether others may be found by it.
    pub(super) is_metadata: bool,
}

impl Field {
    pub(super) fn new(spec: &FieldSpec, target: &Kind) -> Self {
        Field {
            path: FieldPath::new(&spec.path),
            is_role: spec.path.ends_with("roleRef/name"),
            is_metadata: spec.path.trim_start_matches('/').starts_with("metadata/name"),
            spec_path: spec.path.clone(),
            target: target.clone(),
        }
    }
}
