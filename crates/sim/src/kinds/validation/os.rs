//! What only pods of one operating system may have, and what they cannot share with their node.

use lynceus_object::Value;

use super::names;
use super::report::{Path, Report};

/// The longest host name that a pod may be given.
const HOST_NAME: usize = 64;

fn is_set(of: &Value, field: &str) -> bool {
    of.get(field).is_some_and(|value| !value.is_null())
}

fn is_true(of: &Value, field: &str) -> bool {
    of.bool_at(&[field]) == Some(true)
}

/// The containers of all sorts, each with its place.
fn containers<'a>(spec: &'a Value, at: &'a Path) -> impl Iterator<Item = (&'a Value, Path)> {
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(move |list| {
        let all = spec.items_at(&[list]).iter().enumerate();
        all.map(move |(index, container)| (container, at.child(list).index(index)))
    })
}

/// Checks a pod whose users are not those of its node.
pub(crate) fn host_users(spec: &Value, at: &Path, report: &mut Report) {
    if spec.bool_at(&["hostUsers"]) != Some(false) {
        return;
    }
    let why = "when `hostUsers` is false";
    for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if is_true(spec, field) {
            report.forbidden(&at.child(shown), why);
        }
    }
    for (container, at) in containers(spec, at) {
        if !container.items_at(&["volumeDevices"]).is_empty() {
            report.forbidden(&at.child("volumeDevices"), why);
        }
    }
}

/// Checks a host name that counts before all others.
pub(crate) fn host_name(spec: &Value, at: &Path, report: &mut Report) {
    let Some(name) = spec.str_at(&["hostnameOverride"]) else { return };
    let at = at.child("hostnameOverride");
    for field in ["setHostnameAsFQDN", "hostNetwork"] {
        if is_true(spec, field) {
            report.forbidden(&at, format!("may not be specified when {field} is true"));
        }
    }
    if name.len() > HOST_NAME {
        report.too_long(&at, HOST_NAME);
    }
    report.each(&at, name, names::dns_subdomain(name));
}

/// Checks a pod's operating system, and that the pod asks for nothing of another one.
pub(crate) fn system(spec: &Value, at: &Path, report: &mut Report) {
    let Some(os) = spec.get("os").filter(|os| !os.is_null()) else { return };
    match os.str_at(&["name"]).unwrap_or_default() {
        "" => report.required(&at.child("os").child("name"), ""),
        "linux" => linux(spec, at, report),
        "windows" => windows(spec, at, report),
        other => report.not_supported(&at.child("os"), other, &["linux", "windows"]),
    }
}

fn linux(spec: &Value, at: &Path, report: &mut Report) {
    let why = "windows options cannot be set for a linux pod";
    let of_pod = std::iter::once((spec, at.clone()));
    for (holder, at) in of_pod.chain(containers(spec, at)) {
        if holder.get("securityContext").is_some_and(|context| is_set(context, "windowsOptions")) {
            report.forbidden(&at.child("securityContext").child("windowsOptions"), why);
        }
    }
}

fn windows(spec: &Value, at: &Path, report: &mut Report) {
    const OF_POD: [(&str, bool); 15] = [
        ("appArmorProfile", true),
        ("seLinuxOptions", true),
        ("hostUsers", false),
        ("hostPID", false),
        ("hostIPC", false),
        ("seccompProfile", true),
        ("fsGroup", true),
        ("fsGroupChangePolicy", true),
        ("sysctls", true),
        ("shareProcessNamespace", false),
        ("runAsUser", true),
        ("runAsGroup", true),
        ("supplementalGroups", true),
        ("supplementalGroupsPolicy", true),
        ("seLinuxChangePolicy", true),
    ];
    const OF_CONTAINER: [&str; 10] = [
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "capabilities",
        "readOnlyRootFilesystem",
        "privileged",
        "allowPrivilegeEscalation",
        "procMount",
        "runAsUser",
        "runAsGroup",
    ];
    let why = "cannot be set for a windows pod";
    let context = spec.get("securityContext").unwrap_or(&Value::Null);
    for (field, in_context) in OF_POD {
        let found = match (in_context, field) {
            (true, "sysctls") => !context.items_at(&[field]).is_empty(),
            (true, _) => is_set(context, field),
            (false, "hostPID" | "hostIPC") => is_true(spec, field),
            (false, _) => is_set(spec, field),
        };
        if found {
            let holder = if in_context { at.child("securityContext") } else { at.clone() };
            report.forbidden(&holder.child(field), why);
        }
    }
    for (container, at) in containers(spec, at) {
        let Some(context) = container.get("securityContext") else { continue };
        for field in OF_CONTAINER.into_iter().filter(|field| is_set(context, field)) {
            report.forbidden(&at.child("securityContext").child(field), why);
        }
    }
}

/// Checks who a container on Windows runs as.
pub(crate) fn windows_options(context: &Value, at: &Path, report: &mut Report) {
    let Some(options) = context.get("windowsOptions").filter(|options| !options.is_null()) else { return };
    if let Some(name) = options.str_at(&["gmsaCredentialSpecName"]) {
        report.each(&at.child("gmsaCredentialSpecName"), name, names::dns_subdomain(name));
    }
    if options.str_at(&["gmsaCredentialSpec"]) == Some("") {
        report.invalid_text(
            &at.child("gmsaCredentialSpec"),
            "",
            "gmsaCredentialSpec cannot be an empty string",
        );
    }
    if let Some(name) = options.str_at(&["runAsUserName"]) {
        for why in user_name(name) {
            report.invalid_text(&at.child("runAsUserName"), name, format!("runAsUserName{why}"));
        }
    }
}

fn user_name(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return vec![" cannot be an empty string"];
    }
    if name.contains(|c: char| c.is_ascii_control()) {
        return vec![" cannot contain control characters"];
    }
    if name.matches('\\').count() > 1 {
        return vec![" cannot contain more than one backslash"];
    }
    let (domain, user) = match name.split_once('\\') {
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    let mut out = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= 256) {
        out.push("'s Domain length must be under 256 characters");
    }
    if user.is_empty() {
        out.push("'s User cannot be empty");
    } else if user.len() > 104 {
        out.push("'s User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        out.push("'s User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        out.push("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    out
}
