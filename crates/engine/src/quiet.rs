//! Changes of objects that are no reason to look at an application: `ignoreResourceUpdates`.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Mutex, PoisonError};

use lynceus_api::{HealthStatusCode, annotations, parse_bool};
use lynceus_diff::Ignore;
use lynceus_object::{Object, ObjectKey, json};

/// The states in which managed objects were last seen, each as a number without the fields that are ignored.
#[derive(Default)]
pub(crate) struct Quiet(Mutex<HashMap<u64, u64>>);

impl Quiet {
    /// Whether a change of a managed object can be passed over: only ignored fields have changed, and its health has not.
    pub(crate) fn is_noise(
        &self,
        server: &str,
        object: &Object,
        health: Option<HealthStatusCode>,
        ignore: &Ignore,
    ) -> bool {
        let mut stripped = object.clone();
        ignore.strip(&mut stripped);
        let state = number(&(json::to_string(stripped.value()), health.map(|health| health as u8)));
        self.states().insert(name(server, &object.key()), state) == Some(state)
    }

    /// Forgets an object that is gone, or that is no longer managed.
    pub(crate) fn forget(&self, server: &str, key: &ObjectKey) {
        self.states().remove(&name(server, key));
    }

    /// Forgets everything: changes were missed, so nobody knows what has been seen.
    pub(crate) fn clear(&self) {
        self.states().clear();
    }

    fn states(&self) -> std::sync::MutexGuard<'_, HashMap<u64, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an object that no application manages asks for the same treatment.
pub(crate) fn asks_for_quiet(object: &Object) -> bool {
    object.annotation(annotations::IGNORE_RESOURCE_UPDATES).and_then(parse_bool) == Some(true)
}

fn name(server: &str, key: &ObjectKey) -> u64 {
    number(&(server, key))
}

fn number(of: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{Value, value};

    #[test]
    fn a_change_of_ignored_fields_alone_is_noise_unless_health_changes_with_it() {
        let settings = crate::Settings::of(&Object::default(), &Object::default());
        let ignore = settings.ignored_updates.unwrap();
        let quiet = Quiet::default();
        let see = |more: Value, health| {
            let mut object =
                Object::new(value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})).unwrap();
            object.set(&["metadata", "resourceVersion"], "7");
            for (field, value) in more.as_map().unwrap().iter() {
                object.set(&[field.as_str()], value.clone());
            }
            quiet.is_noise("s", &object, Some(health), &ignore)
        };
        let (good, bad) = (HealthStatusCode::Healthy, HealthStatusCode::Degraded);
        assert!(!see(value!({"status": {"a": 1}}), good), "the first time");
        assert!(see(value!({"status": {"a": 2}}), good));
        assert!(!see(value!({"status": {"a": 2}}), bad), "another health");
        assert!(!see(value!({"spec": {"a": 2}}), bad), "another field");
        assert!(see(value!({"spec": {"a": 2}, "status": {"a": 3}}), bad));
        quiet.forget("s", &ObjectKey::new("", "Pod", "", "a"));
        assert!(!see(value!({"spec": {"a": 2}}), bad), "it came back");
    }
}
