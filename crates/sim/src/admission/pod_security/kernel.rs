//! What confines a pod's processes: profiles, labels, masks and settings of the kernel.

use std::collections::BTreeSet;

use lynceus_object::Value;

use super::check::{Pod, Violation, bad_values, context, counted, listed, name, plural, setters};
use crate::kinds::gofmt::quoted;

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// The type of a profile that is set to something other than the usual.
fn bad_profile<'a>(of: &'a Value, field: &str) -> Option<&'a str> {
    let profile = context(of, field)?;
    Some(profile.str_at(&["type"]).unwrap_or_default())
        .filter(|kind| !matches!(*kind, "RuntimeDefault" | "Localhost"))
}

/// Only the runtime's AppArmor profile or a named one.
pub(super) fn app_armor(pod: &Pod<'_>) -> Option<Violation> {
    const FIELD: &str = "appArmorProfile";
    let own = bad_profile(pod.spec, FIELD);
    let (names, mut values) =
        bad_values(pod, |container| bad_profile(container, FIELD).into_iter().collect());
    values.extend(own);
    let mut said: Vec<String> = pod
        .annotations()
        .filter(|(key, value)| {
            key.starts_with(APP_ARMOR)
                && !(value.is_empty() || *value == "runtime/default" || value.starts_with("localhost/"))
        })
        .map(|(key, value)| format!("{key}={}", quoted(value)))
        .collect();
    said.sort();
    let mut who: Vec<String> =
        Some(setters(own.is_some(), &names)).filter(|who| !who.is_empty()).into_iter().collect();
    if !said.is_empty() {
        who.push(plural("annotation", said.len()));
    }
    if who.is_empty() {
        return None;
    }
    let all: Vec<&str> = values.into_iter().chain(said.iter().map(String::as_str)).collect();
    let reason = plural("forbidden AppArmor profile", all.len());
    let detail = format!("{} must not set AppArmor profile type to {}", who.join(" and "), listed(all));
    Violation::new(&reason, detail)
}

/// Only SELinux types for containers; users and roles are nobody's choice.
pub(super) fn se_linux(pod: &Pod<'_>) -> Option<Violation> {
    let (mut types, mut user, mut role) = (BTreeSet::new(), false, false);
    let mut is_bad = |of: &Value| {
        let Some(options) = context(of, "seLinuxOptions") else { return false };
        let text = |field: &str| options.str_at(&[field]).unwrap_or_default();
        let fine = match text("type") {
            "" | "container_t" | "container_init_t" | "container_kvm_t" => true,
            "container_engine_t" => pod.minor >= 31,
            _ => false,
        };
        if !fine {
            types.insert(text("type").to_owned());
        }
        user |= !text("user").is_empty();
        role |= !text("role").is_empty();
        !fine || !text("user").is_empty() || !text("role").is_empty()
    };
    let own = is_bad(pod.spec);
    let names = pod.containers_that(|container| is_bad(container));
    let who = setters(own, &names);
    if who.is_empty() {
        return None;
    }
    let mut what = Vec::new();
    if !types.is_empty() {
        what.push(counted("type", &types.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    what.extend(user.then(|| "user may not be set".to_owned()));
    what.extend(role.then(|| "role may not be set".to_owned()));
    let detail = format!("{who} set forbidden securityContext.seLinuxOptions: {}", what.join("; "));
    Violation::new("seLinuxOptions", detail)
}

/// `/proc` stays masked, whoever the users are.
pub(super) fn proc_mount(pod: &Pod<'_>) -> Option<Violation> {
    let (names, values) = bad_values(pod, |container| {
        let mount = context(container, "procMount").and_then(Value::as_str);
        mount.filter(|mount| *mount != "Default").into_iter().collect()
    });
    if names.is_empty() {
        return None;
    }
    let who = counted("container", &names);
    Violation::new("procMount", format!("{who} must not set securityContext.procMount to {}", listed(values)))
}

/// `/proc` stays masked, unless the pod has users of its own.
pub(super) fn proc_mount_baseline(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() { None } else { proc_mount(pod) }
}

/// Where a seccomp profile is named, it is the runtime's or a file's.
pub(super) fn seccomp_baseline(pod: &Pod<'_>) -> Option<Violation> {
    if pod.minor < 19 { seccomp_annotations(pod) } else { seccomp_set(pod) }
}

/// A seccomp profile is named for every container.
pub(super) fn seccomp_restricted(pod: &Pod<'_>) -> Option<Violation> {
    const FIELD: &str = "seccompProfile";
    if pod.is_windows() {
        return None;
    }
    if let Some(violation) = seccomp_set(pod) {
        return Some(violation);
    }
    if context(pod.spec, FIELD).is_some() {
        return None;
    }
    let names = pod.containers_that(|container| context(container, FIELD).is_none());
    if names.is_empty() {
        return None;
    }
    let who = counted("container", &names);
    let wish = "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"";
    Violation::new(FIELD, format!("pod or {who} {wish}"))
}

fn seccomp_set(pod: &Pod<'_>) -> Option<Violation> {
    const FIELD: &str = "seccompProfile";
    let own = bad_profile(pod.spec, FIELD);
    let (names, mut values) =
        bad_values(pod, |container| bad_profile(container, FIELD).into_iter().collect());
    values.extend(own);
    let who = setters(own.is_some(), &names);
    if who.is_empty() {
        return None;
    }
    let detail = format!("{who} must not set securityContext.seccompProfile.type to {}", listed(values));
    Violation::new(FIELD, detail)
}

/// Before it was a field, the profile was an annotation.
fn seccomp_annotations(pod: &Pod<'_>) -> Option<Violation> {
    let of_containers: BTreeSet<&str> = pod.containers().map(name).collect();
    let about = |key: &str| {
        key == SECCOMP
            || key.strip_prefix(SECCOMP_OF_CONTAINER).is_some_and(|name| of_containers.contains(name))
    };
    let fine = |value: &str| {
        matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/")
    };
    let said: BTreeSet<String> = pod
        .annotations()
        .filter(|(key, value)| about(key) && !fine(value))
        .map(|(key, value)| format!("{key}={}", quoted(value)))
        .collect();
    if said.is_empty() {
        return None;
    }
    let list = said.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    Violation::new("seccompProfile", format!("forbidden {} {list}", plural("annotation", said.len())))
}

/// Only settings that stay within the pod, with the release that found each of them to be safe.
const SYSCTLS: [(&str, u32); 12] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
];

/// Settings of the kernel.
pub(super) fn sysctls(pod: &Pod<'_>) -> Option<Violation> {
    let safe = |name: &str| SYSCTLS.iter().any(|(known, from)| *known == name && *from <= pod.minor);
    let all = pod.spec.items_at(&["securityContext", "sysctls"]);
    let found: Vec<&str> = all.iter().map(name).filter(|name| !safe(name)).collect();
    if found.is_empty() { None } else { Violation::new("forbidden sysctls", found.join(", ")) }
}
