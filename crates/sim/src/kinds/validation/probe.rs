//! Probes and what a container does when it starts and stops.

use lynceus_object::Value;

use super::container::{port_number, port_or_name};
use super::names;
use super::report::{Path, Report};

/// Checks the three probes of a container.
pub(crate) fn probes(container: &Value, at: &Path, report: &mut Report) {
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get(field).filter(|probe| !probe.is_null()) else { continue };
        let at = at.child(field);
        handler(probe, None, &at, report);
        for number in
            ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
        {
            report.not_negative(&at.child(number), probe.int_at(&[number]));
        }
        let grace = probe.int_at(&["terminationGracePeriodSeconds"]);
        let at_grace = at.child("terminationGracePeriodSeconds");
        if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
            report.invalid_number(&at_grace, seconds, "must be greater than 0");
        }
        match (field, grace) {
            ("readinessProbe", Some(seconds)) => {
                report.invalid_number(&at_grace, seconds, "must not be set for readinessProbes");
            }
            ("readinessProbe", None) => {}
            _ => {
                let threshold = probe.int_at(&["successThreshold"]).unwrap_or_default();
                if threshold != 1 {
                    report.invalid_number(&at.child("successThreshold"), threshold, "must be 1");
                }
            }
        }
    }
}

/// Checks what a container does right after it starts and right before it stops.
pub(crate) fn lifecycle(container: &Value, grace: Option<i64>, at: &Path, report: &mut Report) {
    for hook in ["postStart", "preStop"] {
        if let Some(value) = container.at(&["lifecycle", hook]).filter(|hook| !hook.is_null()) {
            handler(value, grace, &at.child("lifecycle").child(hook), report);
        }
    }
}

/// Checks the one thing that a probe or hook does.
fn handler(handler: &Value, grace: Option<i64>, at: &Path, report: &mut Report) {
    let mut found = false;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let Some(action) = handler.get(kind).filter(|action| !action.is_null()) else { continue };
        let at = at.child(kind);
        if found {
            report.forbidden(&at, "may not specify more than 1 handler type");
            continue;
        }
        found = true;
        match kind {
            "exec" if action.items_at(&["command"]).is_empty() => report.required(&at.child("command"), ""),
            "exec" => {}
            "httpGet" => http_get(action, &at, report),
            "tcpSocket" => port_or_name(action.get("port"), &at.child("port"), report),
            "grpc" => port_number(&at.child("port"), action.int_at(&["port"]).unwrap_or_default(), report),
            _ => sleep(action, grace, &at, report),
        }
    }
    if !found {
        report.required(at, "must specify a handler type");
    }
}

fn http_get(get: &Value, at: &Path, report: &mut Report) {
    if get.str_at(&["path"]).unwrap_or_default().is_empty() {
        report.required(&at.child("path"), "");
    }
    port_or_name(get.get("port"), &at.child("port"), report);
    let scheme = get.str_at(&["scheme"]).unwrap_or_default();
    if !matches!(scheme, "HTTP" | "HTTPS") {
        report.not_supported(&at.child("scheme"), scheme, &["HTTP", "HTTPS"]);
    }
    for header in get.items_at(&["httpHeaders"]) {
        let name = header.str_at(&["name"]).unwrap_or_default();
        report.each(&at.child("httpHeaders"), name, names::header_name(name));
    }
}

fn sleep(action: &Value, grace: Option<i64>, at: &Path, report: &mut Report) {
    let seconds = action.int_at(&["seconds"]).unwrap_or_default();
    if let Some(grace) = grace.filter(|grace| seconds < 0 || seconds > *grace) {
        let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        report.invalid_number(at, seconds, why);
    }
}
