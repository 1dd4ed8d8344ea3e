//! A SpinApp is healthy when it is available, has its replicas, and nothing goes on.

use lynceus_object::Object;

use crate::{Health, present};

pub(super) fn check(object: &Object) -> Health {
    if !present(object, &["status"]) {
        return Health::progressing("Waiting for status to be available");
    }
    let mut available = Err("".to_owned());
    let mut progress = None;
    for condition in object.value().items_at(&["status", "conditions"]) {
        let field = |name| condition.str_at(&[name]);
        let message = |default: &str| field("message").unwrap_or(default).to_owned();
        let is_true = field("status") == Some("True");
        match field("type") {
            Some("Progressing")
                if field("status") == Some("False") && has_failed(field("reason"), field("message")) =>
            {
                return Health::degraded(message("Application deployment has failed"));
            }
            Some("Progressing") if is_true => progress = Some(message("Application progress status")),
            Some("Available") if is_true => available = Ok(()),
            Some("Available") => available = Err(message("Application is not available")),
            _ => {}
        }
    }
    if let Err(message) = available {
        return Health::degraded(message);
    }
    let ready = object.value().int_at(&["status", "readyReplicas"]).unwrap_or(0);
    let wanted = object.value().int_at(&["spec", "replicas"]).unwrap_or(1);
    if ready < wanted {
        return Health::progressing(format!("Waiting for replicas to be ready ({ready}/{wanted})"));
    }
    match progress {
        Some(message) => Health::progressing(message),
        None => Health::healthy(format!("Application is healthy with {ready}/{wanted} replicas ready")),
    }
}

fn has_failed(reason: Option<&str>, message: Option<&str>) -> bool {
    let message = message.unwrap_or_default().to_lowercase();
    reason == Some("ProgressDeadlineExceeded") || message.contains("timeout") || message.contains("failed")
}
