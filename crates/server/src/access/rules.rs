//! The rules of an installation: `argocd-rbac-cm`, the built-in policy, and what projects add to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_object::{Object, Value, yaml};
use tracing::warn;

use super::builtin;
use super::policy::{Grants, Mode, Policy};
use crate::limits;

/// What `argocd-rbac-cm` says, compiled once for each version of it.
pub(crate) struct Rules {
    version: String,
    /// The built-in policy and the installation's.
    pub(crate) base: Policy,
    /// The role of everybody; empty if there is none.
    pub(crate) default_role: String,
    /// The claims whose values are groups.
    pub(crate) scopes: Vec<String>,
    /// Whether the installation's own policy says what roles `admin` has, and so means others of that name, too.
    pub(crate) names_admin: bool,
    /// Set if the policy cannot be read. Then nobody but the local admin may anything: the line that cannot be read may
    /// have been one that forbids.
    pub(crate) is_broken: bool,
    mode: Mode,
    projects: Mutex<HashMap<String, Arc<ProjectRules>>>,
}

/// Whether a policy lets a role or somebody do something to an object, for those who try a policy out: `map` is
/// `argocd-rbac-cm`. The error is the line that cannot be read.
pub fn policy_allows(
    map: &Object,
    with_builtin: bool,
    subject: &str,
    [resource, action, object]: [&str; 3],
) -> Result<bool, String> {
    let text = |key: &str| map.value().str_at(&["data", key]).unwrap_or_default();
    let mode = if text("policy.matchMode") == "regex" { Mode::Regex } else { Mode::Glob };
    let mut base = if with_builtin { builtin() } else { Policy::default() };
    base.add(&policies(map), mode).map_err(|bad| bad.0)?;
    let mut subjects = vec![subject];
    subjects.extend(Some(text("policy.default")).filter(|role| !role.is_empty()));
    Ok(subjects.iter().any(|subject| Grants::of(subject, &[&base]).allow(resource, action, object)))
}

/// What a project adds, compiled once for each version of it.
pub(crate) struct ProjectRules {
    version: String,
    /// Its roles, and what they may.
    pub(crate) policy: Policy,
}

impl Rules {
    /// Reads the ConfigMap; without one there are the built-in rules.
    pub(crate) fn read(map: Option<&Object>) -> Self {
        let text = |key: &str| map.and_then(|map| map.value().str_at(&["data", key])).unwrap_or_default();
        let mode = if text("policy.matchMode") == "regex" { Mode::Regex } else { Mode::Glob };
        let own = map.map(policies).unwrap_or_default();
        let mut base = builtin();
        let is_broken = match base.add(&own, mode) {
            Ok(()) => false,
            Err(bad) => {
                warn!(
                    line = bad.0,
                    "argocd-rbac-cm has a line that cannot be read: only the admin may anything"
                );
                base = builtin();
                true
            }
        };
        Rules {
            version: version(map),
            base,
            default_role: text("policy.default").to_owned(),
            scopes: scopes(text("scopes")),
            names_admin: Policy::read(&own, mode).is_ok_and(|own| own.gives_role("admin")),
            is_broken,
            mode,
            projects: Mutex::default(),
        }
    }

    /// Before the ConfigMap has been read: it may forbid anything.
    pub(crate) fn unread() -> Self {
        Rules { is_broken: true, ..Rules::read(None) }
    }

    /// Whether they are those of a ConfigMap as it is now.
    pub(crate) fn are_of(&self, map: Option<&Object>) -> bool {
        self.version == version(map)
    }

    /// What a project adds. As in Argo CD, a project whose roles cannot be read adds nothing.
    pub(crate) fn of_project(&self, project: &Object) -> Arc<ProjectRules> {
        let version = version(Some(project));
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = projects.get(project.name()).filter(|rules| rules.version == version) {
            return rules.clone();
        }
        let policy = Policy::read(&roles(project), self.mode).unwrap_or_else(|bad| {
            warn!(
                project = project.name(),
                line = bad.0,
                "a role has a line that cannot be read: all of them are passed over"
            );
            Policy::default()
        });
        let rules = Arc::new(ProjectRules { version, policy });
        if projects.len() >= limits::PROJECT_RULES {
            projects.clear();
        }
        projects.insert(project.name().to_owned(), rules.clone());
        rules
    }
}

/// The built-in policy is written with stars, and read so also where the installation's is not: as expressions its lines
/// could not be read, and the admin could do nothing.
fn builtin() -> Policy {
    Policy::read(&builtin::text(), Mode::Glob).unwrap_or_default()
}

fn version(object: Option<&Object>) -> String {
    object.map(|object| format!("{} {}", object.uid(), object.resource_version())).unwrap_or_default()
}

/// `policy.csv`, and behind it every `policy.NAME.csv` in order.
fn policies(map: &Object) -> String {
    let data = map.at(&["data"]).and_then(Value::as_map);
    let mut text = map.value().str_at(&["data", "policy.csv"]).unwrap_or_default().to_owned();
    for (key, value) in data.into_iter().flat_map(|data| data.iter()) {
        let is_further = key.starts_with("policy.") && key.ends_with(".csv") && key.as_str() != "policy.csv";
        if let (true, Some(value)) = (is_further, value.as_str()) {
            text.push('\n');
            text.push_str(value);
        }
    }
    text
}

/// A list in YAML; not set, or not a list, it is the groups.
fn scopes(text: &str) -> Vec<String> {
    let default = || vec!["groups".to_owned()];
    if text.is_empty() {
        return default();
    }
    match yaml::parse(text.as_bytes()) {
        Ok(Value::Seq(items)) => items.iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect(),
        _ => default(),
    }
}

/// The policy of a project's roles. Each may see its project; groups have the roles that name them.
pub(super) fn roles(project: &Object) -> String {
    let name = project.name();
    let mut text = String::new();
    for role in project.value().items_at(&["spec", "roles"]) {
        let role_name = role.str_at(&["name"]).unwrap_or_default();
        text.push_str(&format!("p, proj:{name}:{role_name}, projects, get, {name}, allow\n"));
        for line in role.items_at(&["policies"]).iter().filter_map(Value::as_str) {
            text.push_str(line);
            text.push('\n');
        }
        for group in role.items_at(&["groups"]).iter().filter_map(Value::as_str) {
            text.push_str(&format!("g, {group}, proj:{name}:{role_name}\n"));
        }
    }
    text
}
