//! What is worth showing beside an object, in Argo CD's words.

use lynceus_object::{Object, Value, value};

/// The images that the containers of a pod or its template name, each once.
pub(super) fn images(object: &Object) -> Vec<String> {
    let template: &[&str] = match (object.group(), object.kind()) {
        ("", "Pod") => &["spec"],
        ("apps" | "batch", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job") => {
            &["spec", "template", "spec"]
        }
        _ => return Vec::new(),
    };
    let Some(spec) = object.at(template) else { return Vec::new() };
    let mut images = Vec::new();
    for list in ["initContainers", "containers"] {
        for image in spec.items_at(&[list]).iter().filter_map(|container| container.str_at(&["image"])) {
            if !images.iter().any(|known| known == image) {
                images.push(image.to_owned());
            }
        }
    }
    images
}

/// The lines of it.
pub(super) fn of(object: &Object) -> Value {
    let mut info = Vec::new();
    let mut say = |name: &str, text: String| {
        if !text.is_empty() {
            info.push(value!({"name": name, "value": text}));
        }
    };
    match (object.group(), object.kind()) {
        ("", "Pod") => {
            say("Status Reason", reason(object));
            say("Node", object.value().str_at(&["spec", "nodeName"]).unwrap_or_default().to_owned());
            say("Containers", ready(object));
            let restarts: i64 = statuses(object).filter_map(|status| status.int_at(&["restartCount"])).sum();
            if restarts > 0 {
                say("Restart Count", restarts.to_string());
            }
        }
        ("apps", "ReplicaSet") => {
            let revision = object.annotation("deployment.kubernetes.io/revision").unwrap_or_default();
            if !revision.is_empty() {
                say("Revision", format!("Rev:{revision}"));
            }
        }
        _ => {}
    }
    info.into_iter().collect()
}

fn statuses(pod: &Object) -> impl Iterator<Item = &Value> {
    pod.value().items_at(&["status", "containerStatuses"]).iter()
}

/// `1/2`: how many containers are ready.
fn ready(pod: &Object) -> String {
    let all = pod.value().items_at(&["spec", "containers"]).len();
    let ready = statuses(pod).filter(|status| status.bool_at(&["ready"]) == Some(true)).count();
    if all == 0 { String::new() } else { format!("{ready}/{all}") }
}

/// What kubectl shows as the status of a pod.
fn reason(pod: &Object) -> String {
    let text = |path: &[&str]| pod.value().str_at(path).unwrap_or_default().to_owned();
    if pod.is_deleting() {
        return "Terminating".to_owned();
    }
    let init = pod.value().items_at(&["status", "initContainerStatuses"]).iter();
    for status in init {
        let waiting = status.str_at(&["state", "waiting", "reason"]).unwrap_or_default();
        if !waiting.is_empty() && waiting != "PodInitializing" {
            return format!("Init:{waiting}");
        }
    }
    for status in statuses(pod) {
        for state in ["waiting", "terminated"] {
            match status.str_at(&["state", state, "reason"]).unwrap_or_default() {
                "" => {}
                reason => return reason.to_owned(),
            }
        }
    }
    let reason = text(&["status", "reason"]);
    if reason.is_empty() { text(&["status", "phase"]) } else { reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::json;

    #[test]
    fn a_pod_is_told_as_kubectl_would() {
        let pod = Object::new(value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
            "spec": {"nodeName": "n", "containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}]},
            "status": {"phase": "Running", "containerStatuses": [
                {"ready": true, "restartCount": 2},
                {"ready": false, "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}}))
        .expect("a map");
        assert_eq!(
            json::to_string(&of(&pod)),
            r#"[{"name":"Status Reason","value":"CrashLoopBackOff"},{"name":"Node","value":"n"},{"name":"Containers","value":"1/2"},{"name":"Restart Count","value":"3"}]"#
        );
        assert_eq!(images(&pod), ["x"]);
    }
}
