//! As whom a pod's processes run, and what they may become.

use lynceus_object::Value;

use super::check::{Pod, Violation, context, counted, setters};

/// No container is as mighty as root on the node.
pub(super) fn privileged(pod: &Pod<'_>) -> Option<Violation> {
    let names = pod
        .containers_that(|container| context(container, "privileged").and_then(Value::as_bool) == Some(true));
    if names.is_empty() {
        return None;
    }
    let who = counted("container", &names);
    Violation::new("privileged", format!("{who} must not set securityContext.privileged=true"))
}

/// No process becomes more than the one that started it.
pub(super) fn escalation(pod: &Pod<'_>) -> Option<Violation> {
    const FIELD: &str = "allowPrivilegeEscalation";
    if pod.is_windows() {
        return None;
    }
    let names =
        pod.containers_that(|container| context(container, FIELD).and_then(Value::as_bool) != Some(false));
    if names.is_empty() {
        return None;
    }
    let who = counted("container", &names);
    let detail = format!("{who} must set securityContext.allowPrivilegeEscalation=false");
    Violation::new("allowPrivilegeEscalation != false", detail)
}

/// Nobody is root: the pod says so, or every container does.
pub(super) fn non_root(pod: &Pod<'_>) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    if pod.has_own_users() {
        return None;
    }
    let said = |of: &Value| context(of, "runAsNonRoot").and_then(Value::as_bool);
    let own = said(pod.spec);
    let names = pod.containers_that(|container| said(container) == Some(false));
    let who = setters(own == Some(false), &names);
    if !who.is_empty() {
        return Violation::new(REASON, format!("{who} must not set securityContext.runAsNonRoot=false"));
    }
    let names = pod.containers_that(|container| said(container).is_none());
    if own == Some(true) || names.is_empty() {
        return None;
    }
    let who = counted("container", &names);
    Violation::new(REASON, format!("pod or {who} must set securityContext.runAsNonRoot=true"))
}

/// Nobody names root as his user.
pub(super) fn root(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() {
        return None;
    }
    let is_root = |of: &Value| context(of, "runAsUser").and_then(Value::as_int) == Some(0);
    let names = pod.containers_that(|container| is_root(container));
    let who = setters(is_root(pod.spec), &names);
    if who.is_empty() {
        None
    } else {
        Violation::new("runAsUser=0", format!("{who} must not set runAsUser=0"))
    }
}
