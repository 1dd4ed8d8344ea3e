//! A Pod is healthy when it is ready, or when it has done its work.

use lynceus_api::{annotations, hook};
use lynceus_object::{Object, Value};

use crate::{Health, conditions, text, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "v1" {
        return unsupported(object);
    }
    let runs_on = runs_on(object);
    // A hook's pod that cannot start may still do so; calling it degraded would end the sync and let the
    // hook run after it.
    if runs_on && let Some(health) = stuck(object) {
        return health;
    }
    let message = text(object, &["status", "message"]);
    match text(object, &["status", "phase"]) {
        "Pending" => Health::progressing(message),
        "Succeeded" => Health::healthy(message),
        "Failed" if message.is_empty() => Health::degraded(first_failure(object)),
        "Failed" => Health::degraded(message),
        "Running" => running(object, runs_on, message),
        _ => Health::unknown(message),
    }
}

/// Whether the pod is meant to go on for ever: by its restart policy, or because its owner says that the
/// policy is to be ignored and it is no hook.
fn runs_on(object: &Object) -> bool {
    let ignored =
        object.annotation(annotations::IGNORE_RESTART_POLICY) == Some("true") && !hook::is_hook(object);
    ignored || text(object, &["spec", "restartPolicy"]) == "Always"
}

/// A container that cannot start, with what the kubelet says about each such one.
fn stuck(object: &Object) -> Option<Health> {
    let messages: Vec<&str> = statuses(object, "containerStatuses")
        .iter()
        .filter_map(|status| status.at(&["state", "waiting"]))
        .filter(|waiting| {
            let reason = waiting.str_at(&["reason"]).unwrap_or_default();
            reason.starts_with("Err") || reason.ends_with("Error") || reason.ends_with("BackOff")
        })
        .map(|waiting| waiting.str_at(&["message"]).unwrap_or_default())
        .collect();
    (!messages.is_empty()).then(|| Health::degraded(messages.join(", ")))
}

/// What the first container that failed says about it.
fn first_failure(object: &Object) -> String {
    let containers =
        [statuses(object, "initContainerStatuses"), statuses(object, "containerStatuses")].concat();
    containers.iter().find_map(failure).unwrap_or_default()
}

fn failure(status: &Value) -> Option<String> {
    let terminated = status.at(&["state", "terminated"])?;
    let message = terminated.str_at(&["message"]).unwrap_or_default();
    let reason = terminated.str_at(&["reason"]).unwrap_or_default();
    let code = terminated.int_at(&["exitCode"]).unwrap_or_default();
    if !message.is_empty() {
        return Some(message.to_owned());
    }
    if reason == "OOMKilled" {
        return Some(reason.to_owned());
    }
    let name = status.str_at(&["name"]).unwrap_or_default();
    (code != 0).then(|| format!("container {name:?} failed with exit code {code}"))
}

fn running(object: &Object, runs_on: bool, message: &str) -> Health {
    if !runs_on {
        return match text(object, &["spec", "restartPolicy"]) {
            "OnFailure" | "Never" => Health::progressing(message),
            _ => Health::unknown(message),
        };
    }
    let ready = conditions(object).any(|condition| condition.kind == "Ready" && condition.status == "True");
    if ready {
        return Health::healthy(message);
    }
    let restarted = statuses(object, "containerStatuses")
        .iter()
        .any(|status| status.at(&["lastState", "terminated"]).is_some_and(|state| !state.is_null()));
    if restarted { Health::degraded(message) } else { Health::progressing(message) }
}

fn statuses<'a>(object: &'a Object, field: &str) -> &'a [Value] {
    object.value().items_at(&["status", field])
}
