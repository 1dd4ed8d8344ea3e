//! Nothing is made in a namespace that is not there or is going away.

use lynceus_object::value;

use super::Call;
use crate::ApiError;
use crate::core::Core;
use crate::view::View;

/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Whether something new may be put into the call's namespace.
pub(super) fn check_create(core: &Core, call: &Call) -> Result<(), ApiError> {
    if !call.resource.namespaced || call.namespace.is_empty() {
        return Ok(());
    }
    let Some(namespace) = core.store.get("", "namespaces", "", &call.namespace) else {
        return Err(ApiError::not_found("", "namespaces", &call.namespace));
    };
    if !namespace.is_deleting() {
        return Ok(());
    }
    let name = &call.namespace;
    let why = format!("unable to create new content in namespace {name} because it is being terminated");
    let mut error = ApiError::forbidden(&call.resource.group, &call.resource.plural, &call.name, &why);
    if let Some(details) = &mut error.details {
        let message = format!("namespace {name} is being terminated");
        let cause =
            value!({"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"});
        details.set(&["causes"], vec![cause]);
    }
    Err(error)
}

/// Whether the object may be deleted at all.
pub(super) fn check_delete(call: &Call) -> Result<(), ApiError> {
    if call.resource.is("", "namespaces") && IMMORTAL.contains(&call.name.as_str()) {
        return Err(ApiError::forbidden("", "namespaces", &call.name, "this namespace may not be deleted"));
    }
    Ok(())
}
