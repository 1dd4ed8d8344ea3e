//! Whether a project makes sense, by the rules and in the order that Argo CD has.

use std::collections::HashSet;

use lynceus_api::{AppProject, ProjectRole, SyncWindow, parse_duration};
use lynceus_sync::Schedule;

use super::policy;
use crate::refusal::{Code, Refusal};

/// Refuses a project that makes no sense.
pub(super) fn check(project: &AppProject) -> Result<(), Refusal> {
    name(&project.metadata.name)?;
    destinations(project)?;
    once("source namespace", project.spec.source_namespaces.iter().map(|one| one.as_str()))?;
    for repository in &project.spec.source_repos {
        denies_all("source repository", repository)?;
    }
    once("source repository", project.spec.source_repos.iter().map(|one| one.as_str()))?;
    roles(project)?;
    windows(&project.spec.sync_windows)?;
    accounts(project)
}

/// A name becomes a part of policies and of tokens, where a comma or a slash would mean something.
fn name(name: &str) -> Result<(), Refusal> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    match name.chars().all(is_plain) && ends(name.chars().next()) && ends(name.chars().last()) {
        true if name.len() <= 253 => Ok(()),
        _ => Err(Refusal::invalid(format!(
            "invalid project name {name:?}: it consists of lower case letters, digits, '-' and '.', and starts and \
             ends with a letter or digit"
        ))),
    }
}

fn destinations(project: &AppProject) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for rule in &project.spec.destinations {
        for (part, text) in [("name", &rule.name), ("server", &rule.server), ("namespace", &rule.namespace)] {
            denies_all(part, text)?;
        }
        let cluster = if rule.server.is_empty() { &rule.name } else { &rule.server };
        let key = format!("{cluster}/{}", rule.namespace);
        if !seen.insert(key.clone()) {
            return Err(Refusal::invalid(format!("destination '{key}' already added")));
        }
    }
    Ok(())
}

/// To deny everything is to have no rule at all, and is a mistake.
fn denies_all(part: &str, text: &str) -> Result<(), Refusal> {
    match text {
        "!*" => Err(Refusal::invalid(format!("{part} has an invalid format, '!*'"))),
        _ => Ok(()),
    }
}

fn once<'a>(what: &str, texts: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for text in texts {
        if !seen.insert(text) {
            return Err(Refusal::invalid(format!("{what} '{text}' already added")));
        }
    }
    Ok(())
}

fn exists(message: String) -> Refusal {
    Refusal::new(Code::AlreadyExists, message)
}

fn roles(project: &AppProject) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for role in &project.spec.roles {
        if !seen.insert(&role.name) {
            return Err(exists(format!("role '{}' already exists", role.name)));
        }
        self::role(&project.metadata.name, role)?;
    }
    Ok(())
}

fn role(project: &str, role: &ProjectRole) -> Result<(), Refusal> {
    let name = role.name.as_str();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    if !(name.chars().all(is_plain) && ends(name.chars().next()) && ends(name.chars().last())) {
        return Err(Refusal::invalid(format!(
            "invalid role name '{name}'. Must consist of alphanumeric characters, '-' or '_', and must start and end \
             with an alphanumeric character"
        )));
    }
    let mut policies = HashSet::new();
    for policy in &role.policies {
        if !policies.insert(policy::normalized(policy)) {
            return Err(exists(format!("policy '{policy}' already exists for role '{name}'")));
        }
        policy::check(project, name, policy)?;
    }
    let mut groups = HashSet::new();
    for group in &role.groups {
        if !groups.insert(group) {
            return Err(exists(format!("group '{group}' already exists for role '{name}'")));
        }
        // A comma would begin another part of a policy.
        let is_wrong = group.trim().is_empty() || group.contains([',', '\n', '\r', '\t']);
        if is_wrong {
            return Err(Refusal::invalid(format!("group {group:?} is no name of a group")));
        }
    }
    Ok(())
}

fn windows(windows: &[SyncWindow]) -> Result<(), Refusal> {
    let mut seen: Vec<&SyncWindow> = Vec::new();
    for window in windows {
        let shown = format!("'{}':'{}':'{}'", window.kind, window.schedule, window.duration);
        if seen.contains(&window) {
            return Err(exists(format!("window {shown} already exists, update or edit")));
        }
        seen.push(window);
        self::window(window)?;
        if window.applications.is_empty() && window.namespaces.is_empty() && window.clusters.is_empty() {
            return Err(Refusal::invalid(format!(
                "window {shown} requires one of application, cluster or namespace"
            )));
        }
    }
    Ok(())
}

fn window(window: &SyncWindow) -> Result<(), Refusal> {
    let wrong = |what: String| Err(Refusal::invalid(what));
    if !matches!(window.kind.as_str(), "allow" | "deny") {
        return wrong(format!("kind '{}' mismatch: can only be allow or deny", window.kind));
    }
    if let Err(error) = Schedule::parse(&window.schedule) {
        return wrong(format!("cannot parse schedule '{}': {error}", window.schedule));
    }
    if parse_duration(&window.duration).is_err() {
        return wrong(format!("cannot parse duration '{}'", window.duration));
    }
    let zone = window.time_zone.as_str();
    if !zone.is_empty() && jiff::tz::TimeZone::get(zone).is_err() {
        return wrong(format!("cannot parse timeZone '{zone}': no such time zone is known"));
    }
    Ok(())
}

/// Accounts that syncs act as: a pattern that denies makes no sense for them, and neither does a name with a pattern in it.
fn accounts(project: &AppProject) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for account in &project.spec.destination_service_accounts {
        for (part, text) in [("server", &account.server), ("namespace", &account.namespace)] {
            if text.contains('!') {
                return Err(Refusal::invalid(format!("{part} has an invalid format, '{text}'")));
            }
        }
        let name = account.default_service_account.as_str();
        if name.trim().is_empty() || name.contains(['!', '*', '[', ']', '{', '}', '?', '\\', '/']) {
            return Err(Refusal::invalid(format!("defaultServiceAccount has an invalid format, '{name}'")));
        }
        let key = format!("{}/{}", account.server, account.namespace);
        if !seen.insert(key.clone()) {
            return Err(Refusal::invalid(format!("destinationServiceAccount '{key}' already added")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, Value, value};

    fn said(spec: Value) -> String {
        let mut object = Object::new(value!({"metadata": {"name": "shop"}})).unwrap_or_default();
        object.set(&["spec"], spec);
        match AppProject::from_object(&object) {
            Ok(project) => check(&project).err().map_or_else(|| "fine".to_owned(), |refusal| refusal.message),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_makes_no_sense_is_told_in_argo_cds_words() {
        let window =
            value!({"kind": "deny", "schedule": "0 22 * * *", "duration": "1h", "applications": ["*"]});
        let with = |field: &str, text: &str| {
            let mut window = window.clone();
            window.set(&[field], text);
            value!({"syncWindows": [window]})
        };
        for (spec, expected) in [
            (
                value!({"destinations": [{"server": "a", "namespace": "b"}, {"server": "a", "namespace": "b"}]}),
                "destination 'a/b' already added",
            ),
            (
                value!({"destinations": [{"server": "!*", "namespace": "b"}]}),
                "server has an invalid format, '!*'",
            ),
            (value!({"sourceRepos": ["a", "a"]}), "source repository 'a' already added"),
            (value!({"sourceRepos": ["!*"]}), "source repository has an invalid format, '!*'"),
            (value!({"sourceNamespaces": ["a", "a"]}), "source namespace 'a' already added"),
            (value!({"roles": [{"name": "a"}, {"name": "a"}]}), "role 'a' already exists"),
            (
                value!({"roles": [{"name": "a", "groups": ["x", "x"]}]}),
                "group 'x' already exists for role 'a'",
            ),
            (value!({"roles": [{"name": "a", "groups": ["x,y"]}]}), "group \"x,y\" is no name of a group"),
            (
                value!({"syncWindows": [window.clone(), window.clone()]}),
                "window 'deny':'0 22 * * *':'1h' already exists, update or edit",
            ),
            (with("kind", "perhaps"), "kind 'perhaps' mismatch: can only be allow or deny"),
            (with("duration", "long"), "cannot parse duration 'long'"),
            (with("timeZone", "Mars/Base"), "cannot parse timeZone 'Mars/Base': no such time zone is known"),
            (
                value!({"syncWindows": [{"kind": "deny", "schedule": "0 22 * * *", "duration": "1h"}]}),
                "window 'deny':'0 22 * * *':'1h' requires one of application, cluster or namespace",
            ),
            (
                value!({"syncWindows": [window.clone()], "roles": [{"name": "a", "policies": [
                "p, proj:shop:a, applications, get, shop/*, allow"]}]}),
                "fine",
            ),
        ] {
            assert_eq!(said(spec), expected);
        }
        assert!(said(with("schedule", "0 25 * * *")).starts_with("cannot parse schedule '0 25 * * *'"));
        assert!(said(value!({"roles": [{"name": "a b"}]})).starts_with("invalid role name 'a b'"));
    }

    #[test]
    fn a_name_that_would_mean_something_in_a_policy_is_refused() {
        for bad in ["", "a/b", "a,b", "A", "-a", "a:b", "a\nb", "*"] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
        assert!(name("shop-1").is_ok());
    }
}
