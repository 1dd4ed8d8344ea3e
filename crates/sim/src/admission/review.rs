//! The AdmissionReview that is sent, and what is read from the answer.

use lynceus_object::{Gvk, Gvr, Object, Value, value};
use sha2::{Digest, Sha256};

use super::Write;
use crate::attributes::Admission;
use crate::hook;

/// An id for a review that no other review has.
pub(super) fn id(count: u64) -> String {
    let digest = Sha256::digest(format!("review {count}"));
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

/// The review of a write. `asked` is the request as the client made it; `version` is the version that
/// the webhook gets the objects in, if not that one.
pub(super) fn request(uid: &str, write: &Write<'_>, asked: &Admission, version: Option<&str>) -> Value {
    let admission = write.admission;
    let (mut kind, mut resource) = (admission.kind.clone(), admission.resource.clone());
    if let Some(version) = version {
        kind.version = version.into();
        resource.version = version.into();
    }
    let mut request = value!({
        "uid": uid, "kind": shown_kind(&kind), "resource": shown_resource(&resource),
        "requestKind": shown_kind(&asked.kind), "requestResource": shown_resource(&asked.resource),
        "operation": admission.operation.word(), "userInfo": admission.user.info(),
        "object": body(write.object), "oldObject": body(write.old),
        "dryRun": admission.dry_run, "options": admission.options(),
    });
    for (field, text) in [
        ("subResource", &admission.subresource),
        ("requestSubResource", &admission.subresource),
        ("name", &admission.name),
        ("namespace", &admission.namespace),
    ] {
        if !text.is_empty() {
            request.set(&[field], text.clone());
        }
    }
    value!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
}

fn body(object: Option<&Object>) -> Value {
    object.map_or(Value::Null, |object| object.value().clone())
}

fn shown_kind(kind: &Gvk) -> Value {
    value!({"group": kind.group.as_str(), "version": kind.version.as_str(), "kind": kind.kind.as_str()})
}

fn shown_resource(resource: &Gvr) -> Value {
    value!({"group": resource.group.as_str(), "version": resource.version.as_str(), "resource": resource.resource.as_str()})
}

/// What a webhook said.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) allowed: bool,
    pub(super) status: Value,
    pub(super) patch: Option<Value>,
    pub(super) warnings: Vec<String>,
}

/// Reads an answer; the error says what is wrong with it.
pub(super) fn response(answer: &Value, uid: &str, may_patch: bool) -> Result<Response, String> {
    let word = |field: &str| answer.str_at(&[field]).unwrap_or_default();
    match (word("apiVersion"), word("kind")) {
        ("admission.k8s.io/v1", "AdmissionReview") => {}
        ("admission.k8s.io/v1beta1", "AdmissionReview") => {
            return Err("failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion".into());
        }
        (version, kind) => {
            return Err(format!("failed to call webhook: {}", hook::unknown_kind(kind, version)));
        }
    }
    let invalid = |problem: String| format!("received invalid webhook response: {problem}");
    let response = answer
        .get("response")
        .filter(|response| !response.is_null())
        .ok_or_else(|| invalid("webhook response was absent".into()))?;
    let found = response.str_at(&["uid"]).unwrap_or_default();
    if found != uid {
        return Err(invalid(format!("expected response.uid={uid:?}, got {found:?}")));
    }
    let patch = patch(response, may_patch).map_err(invalid)?;
    let warnings = response.items_at(&["warnings"]).iter().filter_map(Value::as_str).map(str::to_owned);
    Ok(Response {
        allowed: response.bool_at(&["allowed"]).unwrap_or(false),
        status: response.get("status").cloned().unwrap_or_default(),
        patch: patch.map(decode).transpose()?.flatten(),
        warnings: warnings.collect(),
    })
}

/// The patch of a response, still encoded.
fn patch(response: &Value, may_patch: bool) -> Result<Option<&str>, String> {
    let patch = response.str_at(&["patch"]).filter(|patch| !patch.is_empty());
    match (patch, response.str_at(&["patchType"])) {
        (None, None) => Ok(None),
        (Some(_), _) if !may_patch => Err("validating webhook may not return response.patch".into()),
        (None, Some(_)) if !may_patch => Err("validating webhook may not return response.patchType".into()),
        (None, Some(_)) => Err("webhook returned response.patchType but not response.patch".into()),
        (Some(_), None) => Err("webhook returned response.patch but not response.patchType".into()),
        (Some(_), Some("")) => Err("webhook returned invalid response.patchType of \"\"".into()),
        (Some(patch), Some(_)) => Ok(Some(patch)),
    }
}

/// The operations of a patch; none if there is nothing to do.
fn decode(patch: &str) -> Result<Option<Value>, String> {
    use base64::Engine;
    let undecodable = |problem: &str| format!("received undecodable patch in webhook response: {problem}");
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(patch)
        .map_err(|_| "failed to call webhook: illegal base64 data at input byte 0".to_owned())?;
    let operations: Value =
        serde_json::from_slice(&bytes).map_err(|_| undecodable("unexpected end of JSON input"))?;
    match &operations {
        Value::Null => Ok(None),
        Value::Seq(items) if items.is_empty() => Ok(None),
        Value::Seq(_) => Ok(Some(operations)),
        _ => Err(undecodable("json: cannot unmarshal object into Go value of type jsonpatch.Patch")),
    }
}
