//! Which capabilities of the kernel containers may have.

use lynceus_object::Value;

use super::check::{Pod, Violation, bad_values, context, counted, listed};

const DEFAULT: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Nothing beyond what container runtimes give anyway.
pub(super) fn baseline(pod: &Pod<'_>) -> Option<Violation> {
    let detail = added(pod, |capability| DEFAULT.contains(&capability))?;
    Violation::new("non-default capabilities", detail)
}

/// All are dropped, and only low ports may be asked for.
pub(super) fn restricted(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_windows() {
        return None;
    }
    let keeping = pod.containers_that(|container| !capabilities(container, "drop").any(|name| name == "ALL"));
    let mut details = Vec::new();
    if !keeping.is_empty() {
        let who = counted("container", &keeping);
        details.push(format!("{who} must set securityContext.capabilities.drop=[\"ALL\"]"));
    }
    details.extend(added(pod, |capability| capability == "NET_BIND_SERVICE"));
    if details.is_empty() { None } else { Violation::new("unrestricted capabilities", details.join("; ")) }
}

fn added(pod: &Pod<'_>, allowed: impl Fn(&str) -> bool) -> Option<String> {
    let (names, found) =
        bad_values(pod, |container| capabilities(container, "add").filter(|name| !allowed(name)).collect());
    (!names.is_empty()).then(|| {
        let who = counted("container", &names);
        format!("{who} must not include {} in securityContext.capabilities.add", listed(found))
    })
}

fn capabilities<'a>(container: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    let capabilities = context(container, "capabilities").unwrap_or(&Value::Null);
    capabilities.items_at(&[list]).iter().filter_map(Value::as_str)
}
