//! Users' own checks and actions.

mod read;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lynceus_api::{Glob, HealthStatusCode, Word as _};
use lynceus_lua::{Script, ScriptError, ScriptErrorKind, Verdict, World};
use lynceus_object::Object;

use crate::{Health, INVALID_STATUS, deleting, limits};

/// What users have set for kinds: checks and actions in Lua.
///
/// Read from `argocd-cm`, in both forms that it may be written in, or from the `ArgoCD` resource of OpenShift's operator.
#[derive(Clone, Debug, Default)]
pub struct Customizations {
    /// By `group/Kind`, or `Kind` for the core group.
    exact: BTreeMap<String, Custom>,
    /// Those with a wildcard, the longest first: of several that match the most exact one counts.
    wide: Vec<(Glob, Custom)>,
}

/// What is set for one kind, or for all that a wildcard matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Custom {
    health: Option<Check>,
    pub(crate) actions: Option<Actions>,
}

/// A user's check.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// A script that cannot be read is kept as its error, which every object of the kind then shows.
    script: Result<Script, ScriptError>,
    /// How often it has run into its limits. A script that does so for every object would hold up everything else.
    strikes: Arc<AtomicU32>,
}

/// Actions that a user has defined.
#[derive(Clone, Debug)]
pub(crate) struct Actions {
    pub(crate) discovery: Result<Script, ScriptError>,
    pub(crate) definitions: BTreeMap<String, Result<Script, ScriptError>>,
    /// Whether the built-in actions are offered as well.
    pub(crate) merge: bool,
}

/// A setting that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct CustomizationError {
    /// The key of the ConfigMap, and the kind where that is needed to find it.
    pub key: String,
    /// What is wrong with it.
    pub reason: String,
    /// Whether a script is wrong, and not the way in which it is written down.
    pub in_script: bool,
}

impl Customizations {
    /// The health of a live object: by the user's check if there is one, by ours otherwise.
    pub fn assess(&self, object: &Object, world: &World) -> Option<Health> {
        deleting(object).or_else(|| self.check(object, world))
    }

    /// What the check says of the object, whether it is being deleted or not.
    pub fn check(&self, object: &Object, world: &World) -> Option<Health> {
        match self.find(object) {
            Some(check) => check.run(object, world),
            None => crate::check(object),
        }
    }

    /// Whether the user has a check for this kind.
    pub fn has_check(&self, object: &Object) -> bool {
        self.find(object).is_some()
    }

    fn find(&self, object: &Object) -> Option<&Check> {
        if self.exact.is_empty() && self.wide.is_empty() {
            return None;
        }
        let key = key(object.group(), object.kind());
        let exact = self.exact.get(&key).and_then(|custom| custom.health.as_ref());
        exact.or_else(|| {
            let fits = self.wide.iter().filter(|(glob, _)| glob.matches(&key));
            fits.filter_map(|(_, custom)| custom.health.as_ref()).next()
        })
    }

    /// The actions that the user has defined for this very kind; Argo CD knows no wildcards here.
    pub(crate) fn actions(&self, object: &Object) -> Option<&Actions> {
        self.exact.get(&key(object.group(), object.kind()))?.actions.as_ref()
    }
}

impl Check {
    fn run(&self, object: &Object, world: &World) -> Option<Health> {
        let script = match &self.script {
            Ok(script) => script,
            Err(error) => return Some(Health::unknown(error.to_string())),
        };
        if self.strikes.load(Ordering::Relaxed) >= limits::STRIKES {
            return Some(Health::unknown(GIVEN_UP));
        }
        let said = script.health(object, world);
        if said.as_ref().is_err_and(|error| error.kind == ScriptErrorKind::Limit) {
            self.strikes.fetch_add(1, Ordering::Relaxed);
        }
        judged(said)
    }
}

const GIVEN_UP: &str =
    "the script has run into its limits several times and is not run again until it is changed";

/// Runs one script as a check. What it does wrong is the health's message.
pub fn check_with(script: &Script, object: &Object, world: &World) -> Option<Health> {
    judged(script.health(object, world))
}

fn judged(said: Result<Option<Verdict>, ScriptError>) -> Option<Health> {
    match said {
        Ok(Some(Verdict { status, message })) => Some(match HealthStatusCode::parse(&status) {
            Some(status) => Health::new(status, message),
            None => Health::unknown(INVALID_STATUS),
        }),
        Ok(None) => None,
        Err(error) => Some(Health::unknown(error.to_string())),
    }
}

fn key(group: &str, kind: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{group}/{kind}") }
}

#[cfg(test)]
mod tests;
