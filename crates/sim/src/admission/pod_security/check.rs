//! The checks of each level, as each release defined them.

use std::collections::BTreeSet;

use lynceus_object::Value;

use super::level::{Level, Standard, Version};
use super::{capabilities, host, kernel, user, volumes};

/// The last release that changed a check: later ones, and the newest, are the same.
const LAST: u32 = 35;

/// What a check has against a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    /// The few words that are always said.
    pub(super) reason: String,
    /// Who does what.
    pub(super) detail: String,
}

impl Violation {
    pub(super) fn new(reason: &str, detail: impl Into<String>) -> Option<Self> {
        Some(Violation { reason: reason.to_owned(), detail: detail.into() })
    }
}

struct Check {
    level: Level,
    /// The first release that has it.
    from: u32,
    /// The release from which the restricted level has a stricter check in its place.
    replaced: u32,
    run: fn(&Pod<'_>) -> Option<Violation>,
}

const NEVER: u32 = u32::MAX;

const fn baseline(from: u32, replaced: u32, run: fn(&Pod<'_>) -> Option<Violation>) -> Check {
    Check { level: Level::Baseline, from, replaced, run }
}

const fn restricted(from: u32, run: fn(&Pod<'_>) -> Option<Violation>) -> Check {
    Check { level: Level::Restricted, from, replaced: NEVER, run }
}

/// All checks in the order in which their findings are told.
const CHECKS: [Check; 19] = [
    baseline(0, NEVER, kernel::app_armor),
    baseline(0, 22, capabilities::baseline),
    baseline(0, NEVER, host::namespaces),
    baseline(0, 0, volumes::host_path),
    baseline(0, NEVER, host::ports),
    baseline(34, NEVER, host::probes),
    baseline(0, NEVER, user::privileged),
    baseline(0, 35, kernel::proc_mount_baseline),
    baseline(0, NEVER, kernel::se_linux),
    baseline(0, 19, kernel::seccomp_baseline),
    baseline(0, NEVER, kernel::sysctls),
    baseline(0, NEVER, host::windows_process),
    restricted(8, user::escalation),
    restricted(22, capabilities::restricted),
    restricted(35, kernel::proc_mount),
    restricted(0, volumes::restricted),
    restricted(0, user::non_root),
    restricted(23, user::root),
    restricted(19, kernel::seccomp_restricted),
];

/// Everything that a standard has against a pod.
pub(super) fn run(standard: Standard, metadata: &Value, spec: &Value) -> Vec<Violation> {
    let minor = match standard.version {
        Version::Minor(minor) => minor.min(LAST),
        Version::Latest => LAST,
    };
    let pod = Pod { metadata, spec, minor };
    CHECKS
        .iter()
        .filter(|check| check.level <= standard.level && check.from <= minor)
        .filter(|check| standard.level < Level::Restricted || minor < check.replaced)
        .filter_map(|check| (check.run)(&pod))
        .collect()
}

/// A pod, or the template of one, and the release whose rules it has to follow.
pub(super) struct Pod<'a> {
    pub(super) metadata: &'a Value,
    pub(super) spec: &'a Value,
    pub(super) minor: u32,
}

impl<'a> Pod<'a> {
    /// All containers: those that start first, the main ones, those that were added for debugging.
    pub(super) fn containers(&self) -> impl Iterator<Item = &'a Value> {
        let spec = self.spec;
        ["initContainers", "containers", "ephemeralContainers"]
            .into_iter()
            .flat_map(move |list| spec.items_at(&[list]))
    }

    /// The names of the containers that something holds for.
    pub(super) fn containers_that(&self, holds: impl FnMut(&&'a Value) -> bool) -> Vec<&'a str> {
        self.containers().filter(holds).map(name).collect()
    }

    /// Whether the pod says that it is for Windows, which has no Linux security (in releases that look).
    pub(super) fn is_windows(&self) -> bool {
        self.minor >= 25 && self.spec.str_at(&["os", "name"]) == Some("windows")
    }

    /// Whether root inside of the pod is nobody outside (in releases that look).
    pub(super) fn has_own_users(&self) -> bool {
        self.minor >= 35 && self.spec.bool_at(&["hostUsers"]) == Some(false)
    }

    /// The pod's annotations.
    pub(super) fn annotations(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.metadata.get("annotations").and_then(Value::as_map);
        all.into_iter()
            .flat_map(|all| all.iter())
            .filter_map(|(key, text)| Some((key.as_str(), text.as_str()?)))
    }
}

/// A container's or volume's name.
pub(super) fn name(of: &Value) -> &str {
    of.str_at(&["name"]).unwrap_or_default()
}

/// A part of the security context of a pod or container, if it is there.
pub(super) fn context<'a>(of: &'a Value, field: &str) -> Option<&'a Value> {
    of.at(&["securityContext", field]).filter(|value| !value.is_null())
}

/// Those who set something: `pod and containers "a", "b"`.
pub(super) fn setters(pod: bool, containers: &[&str]) -> String {
    let containers = (!containers.is_empty()).then(|| counted("container", containers));
    let pod = pod.then(|| "pod".to_owned());
    pod.into_iter().chain(containers).collect::<Vec<_>>().join(" and ")
}

/// `container "a"`, `containers "a", "b"`.
pub(super) fn counted(word: &str, names: &[&str]) -> String {
    format!("{} {}", plural(word, names.len()), listed(names.iter().copied()))
}

/// A word with an `s` unless it is about one.
pub(super) fn plural(word: &str, count: usize) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// What one does and several do: `uses` and `use`.
pub(super) fn uses(count: usize) -> &'static str {
    if count == 1 { "uses" } else { "use" }
}

/// `"a", "b"`
pub(super) fn listed<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().map(|item| format!("\"{item}\"")).collect::<Vec<_>>().join(", ")
}

/// The names of the containers that set a bad value, with all bad values.
pub(super) fn bad_values<'a>(
    pod: &Pod<'a>,
    mut find: impl FnMut(&'a Value) -> Vec<&'a str>,
) -> (Vec<&'a str>, BTreeSet<&'a str>) {
    let mut values = BTreeSet::new();
    let names = pod.containers_that(|container| {
        let found = find(container);
        let any = !found.is_empty();
        values.extend(found);
        any
    });
    (names, values)
}
