//! Fields that an endpoint does not write, whatever a request says.

use super::set::FieldSet;
use crate::id::GroupKind;

/// The fields that writes through the object itself (`subresource` empty) or through `status` leave
/// alone. `has_status` says whether the kind has a `status` subresource at all.
pub fn reset_fields(kind: &GroupKind, subresource: &str, has_status: bool, built_in: bool) -> FieldSet {
    let name = (kind.group.as_str(), kind.kind.as_str());
    let signing = name == ("certificates.k8s.io", "CertificateSigningRequest");
    match subresource {
        "" | "finalize" if signing => FieldSet::of_fields(&[&["spec"], &["status"]]),
        "" | "finalize" if has_status => FieldSet::of_fields(&[&["status"]]),
        "status" if signing => FieldSet::of_fields(&[&["spec"], &["status", "conditions"]]),
        "approval" if signing => FieldSet::of_fields(&[&["spec"], &["status", "certificate"]]),
        "status" if !built_in || leaves_metadata(name) => FieldSet::of_fields(&[&["metadata"], &["spec"]]),
        "status" => match name {
            ("apps", "Deployment") => FieldSet::of_fields(&[&["spec"], &["metadata", "labels"]]),
            ("", "Pod") => FieldSet::of_fields(&[
                &["spec"],
                &["metadata", "deletionTimestamp"],
                &["metadata", "ownerReferences"],
            ]),
            _ => FieldSet::of_fields(&[&["spec"]]),
        },
        _ => FieldSet::new(),
    }
}

/// Kinds whose `status` endpoint leaves the metadata alone too.
fn leaves_metadata(name: (&str, &str)) -> bool {
    matches!(
        name,
        ("networking.k8s.io", "ServiceCIDR")
            | ("storage.k8s.io", "VolumeAttachment")
            | ("resource.k8s.io", "ResourceClaim")
            | ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
            | ("apiregistration.k8s.io", "APIService")
            | ("flowcontrol.apiserver.k8s.io", _)
            | ("storagemigration.k8s.io", _)
    )
}
