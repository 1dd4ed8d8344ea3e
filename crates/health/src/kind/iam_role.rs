//! A role of iam-manager.

use lynceus_object::Object;

use crate::Health;

pub(super) fn check(object: &Object) -> Health {
    let field = |name| object.value().str_at(&["status", name]);
    let known = |name| field(name).unwrap_or("<none>");
    let role = format!("'{}'", known("roleName"));
    let identity = format!("ARN '{}' and ID '{}'.", known("roleARN"), known("roleID"));
    match field("state") {
        Some("Ready") => Health::healthy(format!("Role {role} exists with {identity}")),
        Some("Error" | "RolesMaxLimitReached" | "PolicyNotAllowed" | "RoleNameNotAvailable") => {
            let retry = match object.value().int_at(&["status", "retryCount"]) {
                Some(count) if count > 0 => format!("(retry {count}) "),
                _ => String::new(),
            };
            let reason = field("errorDescription")
                .map(|reason| format!(" Reconciliation error was: {reason}"))
                .unwrap_or_default();
            Health::degraded(format!(
                "Failed to reconcile the Iamrole {retry}for role {role} with {identity}{reason}"
            ))
        }
        _ => Health::progressing("Waiting for Iamrole to be reconciled"),
    }
}
