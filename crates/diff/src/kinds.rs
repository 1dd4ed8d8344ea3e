//! The kinds whose types the comparison knows.

use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Gvk, Object};

/// Groups that clients have no built-in types for: their objects are merged as plain JSON.
const UNTYPED: [&str; 3] = ["admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Versions that servers no longer have and that old live objects and manifests still carry, with the version whose
/// fields they share.
const FORMER: [(&str, &str, &str); 9] = [
    ("apps/v1beta1", "", "apps/v1"),
    ("apps/v1beta2", "", "apps/v1"),
    ("extensions/v1beta1", "Deployment", "apps/v1"),
    ("extensions/v1beta1", "DaemonSet", "apps/v1"),
    ("extensions/v1beta1", "ReplicaSet", "apps/v1"),
    ("extensions/v1beta1", "NetworkPolicy", "networking.k8s.io/v1"),
    ("batch/v1beta1", "", "batch/v1"),
    ("policy/v1beta1", "PodDisruptionBudget", "policy/v1"),
    ("admissionregistration.k8s.io/v1beta1", "", "admissionregistration.k8s.io/v1"),
];

/// A kind with a built-in type.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The type of its objects.
    pub(crate) ty: TypeRef<'static>,
    /// The version whose defaults its objects get.
    pub(crate) gvk: Gvk,
}

impl Known {
    /// What is known about an object's kind, if anything is.
    pub(crate) fn of(object: &Object) -> Option<Self> {
        let ty = type_of(object)?;
        Some(Known { ty, gvk: Gvk::from_manifest(successor(object), object.kind()) })
    }
}

/// The type of an object's kind, if it has a built-in one.
pub(crate) fn type_of(object: &Object) -> Option<TypeRef<'static>> {
    if UNTYPED.contains(&object.group()) {
        return None;
    }
    schema::builtin().of_manifest(successor(object), object.kind())
}

/// The version whose fields an object has.
fn successor(object: &Object) -> &str {
    let (api_version, kind) = (object.api_version(), object.kind());
    let former = |(version, only, _): &&(&str, &str, &str)| {
        *version == api_version && (only.is_empty() || *only == kind)
    };
    FORMER.iter().find(former).map_or(api_version, |(_, _, successor)| *successor)
}
