//! The AdmissionReview that is sent, and what is read from the answer.

use lynceus_object::{Gvk, Gvr, Object, Value, value};

use super::Write;
use crate::attributes::Admission;

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
        "dryRun": admission.dry_run, "options": admission.options,
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
    let (version, kind) =
        (answer.str_at(&["apiVersion"]).unwrap_or_default(), answer.str_at(&["kind"]).unwrap_or_default());
    if (version, kind) != ("admission.k8s.io/v1", "AdmissionReview") {
        let found = Gvk::from_manifest(version, kind);
        return Err(format!(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {found}"
        ));
    }
    let response =
        answer.get("response").filter(|response| !response.is_null()).ok_or("webhook response was absent")?;
    let found = response.str_at(&["uid"]).unwrap_or_default();
    if found != uid {
        return Err(format!("expected response.uid={uid:?}, got {found:?}"));
    }
    let patch = response.str_at(&["patch"]).filter(|patch| !patch.is_empty());
    let patch = match (patch, response.str_at(&["patchType"])) {
        (None, None) => None,
        (None, Some(_)) => return Err("webhook returned response.patchType but not response.patch".into()),
        (Some(_), _) if !may_patch => return Err("webhook response may not include patch".into()),
        (Some(_), None) => return Err("webhook returned response.patch but not response.patchType".into()),
        (Some(patch), Some("JSONPatch")) => Some(decode(patch)?),
        (Some(_), Some(other)) => {
            return Err(format!("webhook returned invalid response.patchType of {other:?}"));
        }
    };
    let warnings = response.items_at(&["warnings"]).iter().filter_map(Value::as_str).map(str::to_owned);
    Ok(Response {
        allowed: response.bool_at(&["allowed"]).unwrap_or(false),
        status: response.get("status").cloned().unwrap_or_default(),
        patch,
        warnings: warnings.collect(),
    })
}

fn decode(patch: &str) -> Result<Value, String> {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(patch)
        .map_err(|_| "webhook returned a patch that is not base64".to_owned())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}
