//! Knative's operators and services.

use lynceus_object::Object;

use crate::{Condition, Health, conditions, present};

pub(super) fn eventing(object: &Object) -> Health {
    operator(object, &["Ready", "InstallSucceeded"], &["Ready"])
}

pub(super) fn serving(object: &Object) -> Health {
    let wanted = ["Ready", "InstallSucceeded", "DependenciesInstalled", "DeploymentsAvailable"];
    operator(object, &wanted, &["Ready", "DeploymentsAvailable"])
}

/// Healthy when all that is wanted is so, and progressing as long as something is not or is unknown. The message is the
/// list of conditions.
fn operator(object: &Object, wanted: &[&str], failing: &[&str]) -> Health {
    let kind = object.kind();
    if !present(object, &["status", "conditions"]) {
        return Health::progressing(format!("Waiting for {kind}"));
    }
    let is = |kinds: &[&str], condition: &Condition<'_>| kinds.contains(&condition.kind);
    let met = conditions(object).filter(|one| one.status == "True" && is(wanted, one)).count();
    let unmet =
        conditions(object).any(|one| one.status == "Unknown" || one.status == "False" && is(failing, &one));
    let listed: String = conditions(object)
        .enumerate()
        .map(|(index, one)| format!("{}: {} | {}\n", index + 1, one.kind, one.status))
        .collect();
    if unmet {
        Health::progressing(listed)
    } else if met == wanted.len() {
        Health::healthy(format!("{kind} is healthy."))
    } else {
        Health::degraded(listed)
    }
}

pub(super) fn service(object: &Object) -> Health {
    if !present(object, &["status", "conditions"]) {
        return Health::progressing("Waiting for status update.");
    }
    let (mut met, mut failed, mut unknown) = (0, 0, 0);
    let mut message = String::new();
    for condition in conditions(object) {
        match condition.status {
            "True" if matches!(condition.kind, "ConfigurationsReady" | "RoutesReady" | "Ready") => met += 1,
            "False" | "Unknown" => {
                failed += usize::from(condition.status == "False");
                unknown += usize::from(condition.status == "Unknown");
                message.push_str(&told(&condition));
            }
            _ => {}
        }
    }
    match (failed, unknown, met) {
        (0, 0, 3) => Health::healthy("Knative Service is healthy."),
        (0, _, _) => Health::progressing(message),
        _ => Health::degraded(message),
    }
}

fn told(condition: &Condition<'_>) -> String {
    let mut text = format!("{} is {}", condition.kind, condition.status);
    if !condition.reason.is_empty() {
        text.push_str(&format!(", since {}.", condition.reason));
    }
    if !condition.message.is_empty() {
        text.push_str(&format!(" {}", condition.message));
    }
    text + "\n"
}

/// KServe stands on Knative and tells its conditions in one line.
pub(super) fn inference_service(object: &Object) -> Health {
    let transition = object.at(&["status", "modelStatus"]).filter(|model| !model.is_null());
    let transition = transition.map(|model| model.str_at(&["transitionStatus"]).unwrap_or_default());
    let stale = transition.filter(|transition| *transition != "UpToDate");
    if !present(object, &["status", "conditions"]) {
        return Health::progressing("Waiting for InferenceService to report status...");
    }
    let mut message = stale.map(|stale| format!("0: transitionStatus | {stale}")).unwrap_or_default();
    let mut unmet = 0;
    for (index, condition) in conditions(object).enumerate() {
        match (condition.kind, condition.status) {
            ("Stopped", "True") => return Health::suspended("InferenceService is Stopped"),
            (_, "Unknown") => unmet += 1,
            (kind, "False") if kind != "Stopped" => unmet += 1,
            _ => {}
        }
        if condition.status != "True" && condition.kind != "Stopped" {
            message.push_str(&listed(index + 1, &condition));
        }
    }
    match stale {
        None if unmet == 0 => Health::healthy("InferenceService is healthy."),
        None | Some("InProgress") => Health::progressing(message),
        Some(_) => Health::degraded(message),
    }
}

fn listed(number: usize, condition: &Condition<'_>) -> String {
    let mut text = format!(" | {number}: {} | {}", condition.kind, condition.status);
    for more in [condition.reason, condition.message] {
        if !more.is_empty() {
            text.push_str(&format!(" | {more}"));
        }
    }
    text
}
