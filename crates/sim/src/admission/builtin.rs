//! The server's own small plugins that refuse writes.

use lynceus_object::{Object, Value};

use super::Write;
use crate::attributes::Operation;
use crate::kinds::quality::amount_of;
use crate::view::View;
use crate::{ApiError, kinds};

/// Asks every plugin.
pub(super) fn validate(view: &dyn View, write: &Write<'_>) -> Result<(), ApiError> {
    let admission = write.admission;
    let Some(object) = write.object.filter(|_| admission.subresource.is_empty()) else { return Ok(()) };
    match (admission.resource.group.as_str(), admission.resource.resource.as_str(), admission.operation) {
        ("", "pods", Operation::Create) if object.annotation("kubernetes.io/config.mirror").is_none() => {
            service_account(view, object, &admission.namespace)?;
            kinds::runtime::check(object, view)
        }
        ("", "persistentvolumeclaims", Operation::Update) => match write.old {
            Some(old) => growth(view, object, old),
            None => Ok(()),
        },
        ("scheduling.k8s.io", "priorityclasses", Operation::Create | Operation::Update) => {
            one_default(view, object, admission.operation)
        }
        _ => Ok(()),
    }
}

/// Only a claim whose volume was made for it grows, and only where its class allows that.
fn growth(view: &dyn View, claim: &Object, old: &Object) -> Result<(), ApiError> {
    let size = |claim: &Object| claim.at(&["spec", "resources", "requests", "storage"]).and_then(amount_of);
    if size(claim) <= size(old) {
        return Ok(());
    }
    let class = |claim: &Object| {
        let beta = claim.annotation("volume.beta.kubernetes.io/storage-class");
        beta.or_else(|| claim.value().str_at(&["spec", "storageClassName"])).unwrap_or_default().to_owned()
    };
    let name = class(claim);
    let allows = |class: Object| class.value().bool_at(&["allowVolumeExpansion"]) == Some(true);
    let why = if old.value().str_at(&["status", "phase"]) != Some("Bound") {
        "Only bound persistent volume claims can be expanded"
    } else if name.is_empty()
        || name != class(old)
        || !view.get("storage.k8s.io", "storageclasses", "", &name).is_some_and(allows)
    {
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
    } else {
        return Ok(());
    };
    Err(ApiError::forbidden("", "persistentvolumeclaims", claim.name(), why))
}

/// Only one priority class is the one that pods get that name none.
fn one_default(view: &dyn View, class: &Object, operation: Operation) -> Result<(), ApiError> {
    let is_default = |class: &Object| class.value().bool_at(&["globalDefault"]) == Some(true);
    if !is_default(class) {
        return Ok(());
    }
    let (group, resource) = ("scheduling.k8s.io", "priorityclasses");
    let mut defaults = view.list(group, resource, None);
    defaults.retain(is_default);
    // Of several, those that were there before the rule was, the lowest counts.
    let current = defaults.iter().min_by_key(|class| class.value().int_at(&["value"]));
    match current.filter(|known| operation == Operation::Create || known.name() != class.name()) {
        Some(known) => {
            let name = known.name();
            let why =
                format!("PriorityClass {name} is already marked as default. Only one default can exist");
            Err(ApiError::forbidden(group, resource, class.name(), &why))
        }
        None => Ok(()),
    }
}

/// A new pod's service account exists.
///
/// The account `default` is let through: it appears a moment after its namespace, and the original
/// waits for it.
pub(crate) fn service_account(view: &dyn View, pod: &Object, namespace: &str) -> Result<(), ApiError> {
    let name = pod.at(&["spec", "serviceAccountName"]).and_then(Value::as_str).unwrap_or_default();
    if matches!(name, "" | "default") || view.get("", "serviceaccounts", namespace, name).is_some() {
        return Ok(());
    }
    let why =
        format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
    Err(ApiError::forbidden("", "pods", pod.name(), &why))
}
