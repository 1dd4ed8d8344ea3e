//! Users, groups and profiles that pods and containers run with.

use lynceus_object::Value;

use super::names;
use super::os;
use super::report::{Path, Report};
use super::volume;

const MAX_ID: i64 = i32::MAX as i64;

/// Checks the security settings of a container.
pub(crate) fn container(container: &Value, at: &Path, report: &mut Report) {
    let Some(context) = container.get("securityContext").filter(|context| !context.is_null()) else { return };
    ids(context, &["runAsUser", "runAsGroup"], at, report);
    if let Some(mount) = context.str_at(&["procMount"])
        && !matches!(mount, "Default" | "Unmasked")
    {
        report.not_supported(&at.child("procMount"), mount, &["Default", "Unmasked"]);
    }
    seccomp(context, &at.child("seccompProfile"), report);
    if context.bool_at(&["allowPrivilegeEscalation"]) == Some(false) {
        if context.bool_at(&["privileged"]) == Some(true) {
            let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            report.invalid(at, context, why);
        }
        let added = context.items_at(&["capabilities", "add"]);
        if added.iter().any(|capability| capability.as_str() == Some("CAP_SYS_ADMIN")) {
            let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            report.invalid(at, context, why);
        }
    }
    app_armor(context, &at.child("appArmorProfile"), report);
    os::windows_options(context, &at.child("windowsOptions"), report);
}

/// Checks the security settings of a whole pod.
pub(crate) fn pod(spec: &Value, at: &Path, report: &mut Report) {
    let Some(context) = spec.get("securityContext").filter(|context| !context.is_null()) else { return };
    ids(context, &["fsGroup", "runAsUser", "runAsGroup"], at, report);
    for (index, group) in context.items_at(&["supplementalGroups"]).iter().enumerate() {
        id(group.as_int(), &at.child("supplementalGroups").index(index), report);
    }
    if spec.bool_at(&["shareProcessNamespace"]) == Some(true) && spec.bool_at(&["hostPID"]) == Some(true) {
        let why = "ShareProcessNamespace and HostPID cannot both be enabled";
        report.invalid(&at.child("shareProcessNamespace"), &Value::Bool(true), why);
    }
    sysctls(spec, context, &at.child("sysctls"), report);
    let words: [(&str, &[&str]); 3] = [
        ("fsGroupChangePolicy", &["Always", "OnRootMismatch"]),
        ("supplementalGroupsPolicy", &["Merge", "Strict"]),
        // The other one is for a feature that a stock server has not switched on.
        ("seLinuxChangePolicy", &["Recursive"]),
    ];
    for (field, words) in words {
        if let Some(text) = context.str_at(&[field]).filter(|text| !words.contains(text)) {
            report.not_supported(&at.child(field), text, words);
        }
    }
    seccomp(context, &at.child("seccompProfile"), report);
    app_armor(context, &at.child("appArmorProfile"), report);
    os::windows_options(context, &at.child("windowsOptions"), report);
}

fn ids(context: &Value, fields: &[&str], at: &Path, report: &mut Report) {
    for field in fields {
        id(context.int_at(&[field]), &at.child(field), report);
    }
}

fn id(id: Option<i64>, at: &Path, report: &mut Report) {
    for problem in id.map(|id| names::in_range(id, 0, MAX_ID)).unwrap_or_default() {
        report.invalid_number(at, id.unwrap_or_default(), problem);
    }
}

fn seccomp(context: &Value, at: &Path, report: &mut Report) {
    const TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
    let Some(profile) = context.get("seccompProfile").filter(|profile| !profile.is_null()) else { return };
    let kind = profile.str_at(&["type"]).unwrap_or_default();
    if kind.is_empty() {
        report.required(&at.child("type"), "type is required when seccompProfile is set");
    } else if !TYPES.contains(&kind) {
        report.not_supported(&at.child("type"), kind, &TYPES);
    }
    let at = at.child("localhostProfile");
    match (kind, profile.str_at(&["localhostProfile"])) {
        ("Localhost", None) => report.required(&at, "must be set when seccomp type is Localhost"),
        ("Localhost", Some(path)) => volume::descending_path(path, &at, report),
        (kind, Some(path)) => {
            let quoted = crate::kinds::gofmt::quoted;
            let shown = format!("{{\"Type\":{},\"LocalhostProfile\":{}}}", quoted(kind), quoted(path));
            let why = "can only be set when seccomp type is Localhost";
            report.push(crate::FieldError::invalid(at.to_string(), shown, why));
        }
        (_, None) => {}
    }
}

fn app_armor(context: &Value, at: &Path, report: &mut Report) {
    const TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
    let Some(profile) = context.get("appArmorProfile").filter(|profile| !profile.is_null()) else { return };
    let path = profile.str_at(&["localhostProfile"]);
    let at_path = at.child("localhostProfile");
    match profile.str_at(&["type"]).unwrap_or_default() {
        "" => report.required(&at.child("type"), "type is required when appArmorProfile is set"),
        "Localhost" => match path {
            Some(path) if path.trim() != path => {
                report.invalid_text(&at_path, path, "must not be padded with whitespace");
            }
            None | Some("") => report.required(&at_path, "must be set when AppArmor type is Localhost"),
            Some(path) if path.len() > 4095 => report.too_long(&at_path, 4095),
            Some(_) => {}
        },
        "RuntimeDefault" | "Unconfined" => {
            if let Some(path) = path {
                report.invalid_text(&at_path, path, "can only be set when AppArmor type is Localhost");
            }
        }
        other => report.not_supported(&at.child("type"), other, &TYPES),
    }
}

fn sysctls(spec: &Value, context: &Value, at: &Path, report: &mut Report) {
    const SHAPE: &str = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    let mut known: Vec<&str> = Vec::new();
    for (index, setting) in context.items_at(&["sysctls"]).iter().enumerate() {
        let at = at.index(index).child("name");
        let name = setting.str_at(&["name"]).unwrap_or_default();
        if name.is_empty() {
            report.required(&at, "");
        } else if name.len() > 253 || !is_sysctl(name) {
            let why = format!("must have at most 253 characters and match regex {SHAPE}");
            report.invalid_text(&at, name, why);
        } else if known.contains(&name) {
            report.duplicate(&at, &name.into());
        }
        let shares = |field: &str| spec.bool_at(&[field]) == Some(true);
        for (field, of_host) in [("hostNetwork", is_of_network(name)), ("hostIPC", is_of_messages(name))] {
            if of_host && shares(field) {
                report.invalid_text(&at, name, format!("may not be specified when '{field}' is true"));
            }
        }
        known.push(name);
    }
}

fn is_of_network(name: &str) -> bool {
    name.replace('/', ".").starts_with("net.")
}

fn is_of_messages(name: &str) -> bool {
    const NAMES: [&str; 10] =
        ["sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "shm", "msgmax", "msgmnb", "msgmni", "msg"];
    let name = name.replace('/', ".");
    name.starts_with("fs.mqueue.") || name.strip_prefix("kernel.").is_some_and(|name| NAMES.contains(&name))
}

fn is_sysctl(name: &str) -> bool {
    name.split(['.', '/']).all(|part| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(edge) && part.ends_with(edge) && part.chars().all(inner)
    })
}
