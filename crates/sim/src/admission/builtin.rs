//! The server's own small plugins that refuse writes.

use lynceus_object::Value;

use super::Write;
use crate::ApiError;
use crate::attributes::Operation;
use crate::view::View;

/// Asks every plugin.
pub(super) fn validate(view: &dyn View, write: &Write<'_>) -> Result<(), ApiError> {
    service_account(view, write)
}

/// A new pod's service account exists.
///
/// The account `default` is let through: it appears a moment after its namespace, and the original
/// waits for it.
fn service_account(view: &dyn View, write: &Write<'_>) -> Result<(), ApiError> {
    let admission = write.admission;
    let is_new_pod = admission.operation == Operation::Create
        && admission.resource.group.is_empty()
        && admission.resource.resource == "pods"
        && admission.subresource.is_empty();
    let Some(pod) = write.object.filter(|_| is_new_pod) else { return Ok(()) };
    if pod.annotation("kubernetes.io/config.mirror").is_some() {
        return Ok(());
    }
    let name = pod.at(&["spec", "serviceAccountName"]).and_then(Value::as_str).unwrap_or_default();
    let namespace = admission.namespace.as_str();
    if matches!(name, "" | "default") || view.get("", "serviceaccounts", namespace, name).is_some() {
        return Ok(());
    }
    let why =
        format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
    Err(ApiError::forbidden("", "pods", pod.name(), &why))
}
