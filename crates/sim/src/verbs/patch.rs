//! Changing an object by a description of the change.

use lynceus_object::patch::PatchError;
use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Map, Object, Value, json};

use super::body::{self, Validation};
use super::change::{Proposal, change};
use super::subresource;
use super::{Answer, Call, managed};
use crate::core::Core;
use crate::kinds::Resource;
use crate::{ApiError, FieldError, limits, strategy};

/// The ways to describe a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// A list of operations (RFC 6902).
    Json,
    /// The fields that change (RFC 7386).
    Merge,
    /// The fields that change, lists merged by their keys.
    Strategic,
    /// The fields that the caller wants and manages (server-side apply).
    Apply,
}

/// A change as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(crate) kind: PatchKind,
    pub(crate) value: Value,
    /// What a strict decoder has to say of the patch's own text.
    pub(crate) oddities: Vec<String>,
}

/// Changes an object by a patch; an apply creates it if it is not there.
pub(crate) async fn patch(core: &Core, call: &Call, patch: &Patch) -> Result<Answer, ApiError> {
    check_patch(&call.resource, patch)?;
    if call.subresource == "scale" {
        return subresource::patch_scale(core, call, patch).await;
    }
    if patch.kind == PatchKind::Apply {
        let create = call.subresource.is_empty();
        return change(core, call, create, |current| apply(core, call, current, patch)).await;
    }
    change(core, call, false, |current| {
        let current = current.ok_or_else(|| call.not_found())?;
        let value = patched(patch, current.value(), strategy::schema(&call.resource))?;
        let decoded = refit(&call.resource, value, patch, call.options.validation)?;
        Ok(Proposal {
            object: decoded.object,
            complete: Some(decoded.complete),
            warnings: decoded.warnings,
            tracked: false,
        })
    })
    .await
}

fn check_patch(resource: &Resource, patch: &Patch) -> Result<(), ApiError> {
    if patch.kind == PatchKind::Strategic && resource.custom.is_some() {
        return Err(unsupported_kind());
    }
    if patch.kind == PatchKind::Json {
        let operations = patch.value.as_seq().map_or(0, <[Value]>::len);
        if operations > limits::PATCH_OPERATIONS {
            let message = format!(
                "Request entity too large: The allowed maximum operations in a JSON patch is {}, got {operations}",
                limits::PATCH_OPERATIONS
            );
            return Err(ApiError::new(413, "RequestEntityTooLarge", message));
        }
    }
    Ok(())
}

/// 415 for a patch that the resource does not understand.
fn unsupported_kind() -> ApiError {
    ApiError::new(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}

/// The value after the patch.
pub(super) fn patched(patch: &Patch, current: &Value, schema: TypeRef<'_>) -> Result<Value, ApiError> {
    let patched = match patch.kind {
        PatchKind::Json => lynceus_object::patch::json(current, &patch.value),
        PatchKind::Merge => lynceus_object::patch::merge(current, &patch.value),
        PatchKind::Strategic => lynceus_object::patch::strategic(current, &patch.value, schema),
        PatchKind::Apply => return Err(unsupported_kind()),
    };
    patched.map_err(|error| match error {
        PatchError::Malformed(message) => ApiError::bad_request(message),
        // The real server does not say why either.
        PatchError::Unprocessable(_) => {
            let message = "the server rejected our request due to an error in our request";
            ApiError::new(422, "Invalid", message).with_details(Value::Map(Map::new()))
        }
        PatchError::Failed(message) => ApiError::new(500, "", message),
    })
}

/// Makes a patched value an object of its kind again; what does not fit is told in a patch's words.
fn refit(
    resource: &Resource,
    value: Value,
    patch: &Patch,
    validation: Validation,
) -> Result<body::Decoded, ApiError> {
    let Ok(object) = Object::new(value.clone()) else {
        return Err(ApiError::bad_request("the patched object is not a map"));
    };
    body::fit(resource, object, patch.oddities.clone(), validation).map_err(|misfit| {
        let (shown, detail) = match patch.kind {
            PatchKind::Strategic => {
                let restoring = schema::restoring_error(&value, strategy::schema(resource));
                (lynceus_object::patch::printed(&patch.value), restoring.unwrap_or_else(|| misfit.message()))
            }
            PatchKind::Json | PatchKind::Merge | PatchKind::Apply => {
                (json::to_string(&value), misfit.message())
            }
        };
        let error = FieldError::invalid("patch", format!("{shown:?}"), detail);
        ApiError::invalid("", "", "", &[error])
    })
}

/// The object after a server-side apply.
fn apply(core: &Core, call: &Call, current: Option<&Object>, patch: &Patch) -> Result<Proposal, ApiError> {
    let Ok(config) = Object::new(patch.value.clone()) else {
        return Err(ApiError::bad_request("error decoding YAML: the configuration is not a map"));
    };
    let applied = managed::apply(core, call, current, &config)?;
    if call.options.validation == Validation::Strict && !patch.oddities.is_empty() {
        let why = patch.oddities.join(", ");
        return Err(ApiError::bad_request(format!("error strict decoding YAML: {why}")));
    }
    let decoded = body::fit(&call.resource, applied, Vec::new(), Validation::Ignore)
        .map_err(|misfit| misfit.into_error(&call.resource))?;
    Ok(Proposal {
        object: decoded.object,
        complete: Some(decoded.complete),
        warnings: patch.oddities.clone(),
        tracked: true,
    })
}
