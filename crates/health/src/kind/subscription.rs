//! A Subscription of the Operator Lifecycle Manager.

use lynceus_object::Object;

use crate::{Condition, Health, conditions, present, text};

pub(super) fn check(object: &Object) -> Health {
    if !present(object, &["status", "conditions"]) {
        return Health::progressing("An install plan for a subscription is pending installation");
    }
    let approval = waits_for_approval(object);
    let (mut pending, mut degraded) = (0, 0);
    let mut message = String::new();
    for (index, condition) in conditions(object).enumerate() {
        if approval && condition.kind == "InstallPlanPending" {
            continue;
        }
        message.push_str(&format!("{}: {} | {}\n", index + 1, condition.kind, condition.status));
        pending += usize::from(condition.kind == "InstallPlanPending" && condition.status == "True");
        degraded += usize::from(is_bad(&condition));
    }
    let state = text(object, &["status", "state"]);
    if !present(object, &["status", "state"]) {
        pending += 1;
        message.push_str(".status.state not yet known\n");
    } else if approval && state == "UpgradePending" {
        message.push_str(
            ".status.state is 'UpgradePending' (manual InstallPlan approval pending; treated as healthy)\n",
        );
    } else {
        pending += usize::from(matches!(state, "" | "UpgradeAvailable" | "UpgradePending"));
        degraded += usize::from(state == "UpgradeFailed");
        message.push_str(&format!(".status.state is '{state}'\n"));
    }
    match (degraded, pending) {
        (0, 0) => Health::healthy(message),
        (0, _) => Health::progressing(message),
        _ => Health::degraded(message),
    }
}

fn is_bad(condition: &Condition<'_>) -> bool {
    match condition.kind {
        "InstallPlanMissing" => condition.reason != "ReferencedInstallPlanNotFound",
        "CatalogSourcesUnhealthy" | "InstallPlanFailed" | "ResolutionFailed" => condition.status == "True",
        _ => false,
    }
}

/// An installed operator whose next version waits for a person is as that person wants it.
fn waits_for_approval(object: &Object) -> bool {
    text(object, &["spec", "installPlanApproval"]) == "Manual"
        && present(object, &["status", "installedCSV"])
        && conditions(object).any(|one| {
            (one.kind, one.status, one.reason) == ("InstallPlanPending", "True", "RequiresApproval")
        })
}
