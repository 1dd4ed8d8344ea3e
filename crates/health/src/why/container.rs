//! What the containers of a pod say.

use lynceus_api::{Reason, ReasonCode};
use lynceus_object::{Object, Value};

/// The containers that are not as they should be, those that come first in the pod's life first. An init container that
/// has done its work says nothing; while one has not, the others have nothing to say.
pub(super) fn troubles(pod: &Object) -> Vec<Reason> {
    let early: Vec<Reason> =
        statuses(pod, "initContainerStatuses").filter_map(|status| trouble(status, true)).collect();
    if !early.is_empty() {
        return early;
    }
    statuses(pod, "containerStatuses").filter_map(|status| trouble(status, false)).collect()
}

fn statuses<'a>(pod: &'a Object, field: &str) -> impl Iterator<Item = &'a Value> {
    pod.value().items_at(&["status", field]).iter()
}

fn trouble(status: &Value, is_early: bool) -> Option<Reason> {
    let name = status.str_at(&["name"]).unwrap_or_default();
    let image = status.str_at(&["image"]).unwrap_or_default();
    if let Some(waiting) = status.at(&["state", "waiting"]).filter(|state| !state.is_null()) {
        return Some(waits(name, image, waiting, status));
    }
    if let Some(ended) = status.at(&["state", "terminated"]).filter(|state| !state.is_null()) {
        let failed = ended.int_at(&["exitCode"]).unwrap_or_default() != 0;
        return failed.then(|| end(name, ended));
    }
    let is_ready = status.at(&["ready"]).and_then(Value::as_bool).unwrap_or_default();
    if is_ready {
        return None;
    }
    let last = status.at(&["lastState", "terminated"]).filter(|state| !state.is_null());
    let because = last.map(|ended| end(name, ended));
    let words = match is_early {
        true => format!("init container {name} is still at work"),
        false => format!("container {name} runs and is not ready"),
    };
    Some(Reason::new(ReasonCode::ContainerNotReady, words).because(because))
}

fn waits(name: &str, image: &str, waiting: &Value, status: &Value) -> Reason {
    let reason = waiting.str_at(&["reason"]).unwrap_or_default();
    let message = waiting.str_at(&["message"]).unwrap_or_default();
    let said = if message.is_empty() { reason.to_owned() } else { format!("{reason}: {message}") };
    let last = || {
        status.at(&["lastState", "terminated"]).filter(|state| !state.is_null()).map(|ended| end(name, ended))
    };
    match reason {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "ErrImageNeverPull"
        | "InvalidImageName"
        | "RegistryUnavailable"
        | "ImageInspectError" => Reason::new(
            ReasonCode::ImageNotPulled,
            format!("container {name}: image {image} cannot be pulled: {said}"),
        ),
        // The pauses between the attempts grow; that they do is not worth a new sentence.
        "CrashLoopBackOff" => {
            Reason::new(ReasonCode::ContainerCrashes, format!("container {name} ends again and again"))
                .because(last())
        }
        "CreateContainerConfigError"
        | "CreateContainerError"
        | "RunContainerError"
        | "PreStartHookError"
        | "PostStartHookError" => Reason::new(
            ReasonCode::ContainerNotConfigured,
            format!("container {name} cannot be started: {said}"),
        ),
        "" | "ContainerCreating" | "PodInitializing" => {
            Reason::new(ReasonCode::ContainerStarting, format!("container {name} is being started"))
                .because(last())
        }
        _ => Reason::new(ReasonCode::ContainerStarting, format!("container {name} waits: {said}"))
            .because(last()),
    }
}

/// How a container ended.
fn end(name: &str, ended: &Value) -> Reason {
    let code = ended.int_at(&["exitCode"]).unwrap_or_default();
    let (reason, message) =
        (ended.str_at(&["reason"]).unwrap_or_default(), ended.str_at(&["message"]).unwrap_or_default());
    if reason == "OOMKilled" {
        let words = format!("container {name} was stopped because it used more memory than its limit allows");
        return Reason::new(ReasonCode::OutOfMemory, words);
    }
    let words = match message.trim() {
        "" => format!("container {name} ended with exit code {code}"),
        message => format!("container {name} ended with exit code {code}: {message}"),
    };
    Reason::new(ReasonCode::ContainerCrashes, words)
}
