//! Annotations that mean something for a pod.

use lynceus_object::{Object, Value, json};

use super::affinity;
use super::report::{Path, Report};
use super::volume;
use crate::kinds::prepare::APP_ARMOR;

const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// Checks the annotations of a pod.
pub(crate) fn of_pod(pod: &Object, report: &mut Report) {
    let at = Path::new("metadata").child("annotations");
    let spec = pod.at(&["spec"]).unwrap_or(&Value::Null);
    if let Some(mirror) = pod.annotation(MIRROR)
        && spec.str_at(&["nodeName"]).unwrap_or_default().is_empty()
    {
        let why = "must set spec.nodeName if mirror pod annotation is set";
        report.invalid_text(&at.key(MIRROR), mirror, why);
    }
    if let Some(text) = pod.annotation(TOLERATIONS).filter(|text| !text.is_empty()) {
        tolerations(text, &at, report);
    }
    if let Some(cost) = pod.annotation(DELETION_COST)
        && !is_cost(cost)
    {
        report.invalid_text(&at.key(DELETION_COST), cost, "must be a 32bit integer");
    }
    if let Some(profile) = pod.annotation(SECCOMP_POD) {
        seccomp(profile, &at.child(SECCOMP_POD), report);
    }
    for (key, profile) in pod.annotations().filter(|(key, _)| key.starts_with(SECCOMP_CONTAINER)) {
        seccomp(profile, &at.child(key), report);
    }
    let named = |list: &str, name: &str| {
        spec.items_at(&[list]).iter().any(|container| container.str_at(&["name"]) == Some(name))
    };
    for (key, profile) in pod.annotations() {
        let Some(container) = key.strip_prefix(APP_ARMOR) else { continue };
        if !["initContainers", "containers", "ephemeralContainers"].iter().any(|list| named(list, container))
        {
            report.invalid_text(&at.key(key), container, "container not found");
        }
        let known =
            matches!(profile, "" | "runtime/default" | "unconfined") || profile.starts_with("localhost/");
        if !known {
            report.invalid_text(&at.key(key), profile, format!("invalid AppArmor profile name: {profile:?}"));
        }
    }
}

/// Checks what a change does to annotations that cannot be changed.
pub(crate) fn update(new: &Object, old: &Object, report: &mut Report) {
    let at = Path::new("metadata").child("annotations");
    let what = |key: &str| match key {
        MIRROR => Some("mirror pod annotation"),
        key if key.starts_with(APP_ARMOR) => Some("AppArmor annotations"),
        _ => None,
    };
    for (key, value) in old.annotations() {
        if let Some(what) = what(key).filter(|_| new.annotation(key) != Some(value)) {
            report.forbidden(&at.key(key), format!("may not remove or update {what}"));
        }
    }
    for (key, _) in new.annotations() {
        if let Some(what) = what(key).filter(|_| old.annotation(key).is_none()) {
            report.forbidden(&at.key(key), format!("may not add {what}"));
        }
    }
}

fn tolerations(text: &str, at: &Path, report: &mut Report) {
    match json::parse(text.as_bytes()) {
        Ok(list) => {
            let spec = lynceus_object::value!({"tolerations": list});
            affinity::tolerations(&spec, &at.child(TOLERATIONS), report);
        }
        Err(_) => {
            let first = text.trim_start().chars().next().unwrap_or(' ');
            let why = format!("invalid character '{first}' looking for beginning of value");
            report.invalid_text(at, TOLERATIONS, why);
        }
    }
}

fn is_cost(text: &str) -> bool {
    let leading = text.starts_with('+') || (text.len() > 1 && text.trim_start_matches('-').starts_with('0'));
    !leading && text.parse::<i32>().is_ok()
}

fn seccomp(profile: &str, at: &Path, report: &mut Report) {
    match profile.strip_prefix("localhost/") {
        Some(path) => volume::descending_path(path, at, report),
        None if matches!(profile, "runtime/default" | "docker/default" | "unconfined") => {}
        None => report.invalid_text(at, profile, "must be a valid seccomp profile"),
    }
}
