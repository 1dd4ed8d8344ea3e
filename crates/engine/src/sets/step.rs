//! Steps of a progressive sync, as the Applications see them that wait.

use lynceus_api::{Application, ApplicationSet, GROUP, Kind as _, Reason, ReasonCode};
use lynceus_appset::rollout::{Recorded, is_rolling, recorded};
use lynceus_object::{Object, ObjectKey, Str};

use super::generate::is_of;
use super::set_object_key;
use crate::engine::Engine;
use crate::key::AppKey;
use crate::limits;
use crate::queue::Freshness;

impl Engine {
    /// The ApplicationSet whose steps decide when an Application syncs, if one does. The error says why its steps are not known.
    pub fn rolled_by(&self, application: &Application) -> Result<Option<ApplicationSet>, String> {
        let metadata = &application.metadata;
        let owner = metadata.owner_references.iter().find(|owner| is_of(application, &owner.name));
        let Some(owner) = owner.filter(|_| self.settings().sets.rolling) else { return Ok(None) };
        let key = AppKey::new(metadata.namespace.clone(), owner.name.clone());
        self.home().cache().get(&set_object_key(&key)).map_or(Ok(None), |object| rolling(&object))
    }

    /// What an Application waits for whose turn has not come, down to why those are late that it waits for.
    pub(crate) fn wait_for_step(&self, application: &Application) -> Option<Reason> {
        let set = match self.rolled_by(application) {
            Ok(set) => set?,
            Err(why) => return Some(Reason::new(ReasonCode::WaitsForStep, why)),
        };
        let name = &set.metadata.name;
        let (words, others, since) = match recorded(&set, &application.metadata.name)? {
            Recorded::NoStep => {
                let words = format!(
                    "no step of ApplicationSet {name} selects it: no matchExpressions fit its labels"
                );
                (words, Vec::new(), None)
            }
            Recorded::Earlier { own, step, unfinished, since } => {
                let words = format!(
                    "it is in step {own} of ApplicationSet {name}, which waits for step {step} to end"
                );
                (words, unfinished, since)
            }
            Recorded::Room { step, most, updating, since } => {
                let words = format!(
                    "step {step} of ApplicationSet {name} changes {most} at a time, and {} are being changed",
                    updating.len()
                );
                (words, updating, since)
            }
        };
        let mut because: Vec<Reason> = others.iter().map(|other| self.late(application, other)).collect();
        let mut room = limits::REASON_OBJECTS;
        Reason::trim(&mut because, &mut room);
        Some(Reason::new(ReasonCode::WaitsForStep, words).since(since).because(because))
    }

    /// How an Application is that others wait for.
    fn late(&self, of: &Application, name: &Str) -> Reason {
        let namespace = of.metadata.namespace.clone();
        let object = ObjectKey::new(GROUP, Application::KIND, namespace, name.clone());
        let Some(found) = self.home().cache().get(&object) else {
            return Reason::new(ReasonCode::NotCreated, format!("Application {name} is not there"))
                .about(object);
        };
        let found = match Application::from_object(&found) {
            Ok(found) => found,
            Err(error) => {
                let words = format!("Application {name} cannot be read: {}", crate::words(&error));
                return Reason::new(ReasonCode::WaitsForHealth, words).about(object);
            }
        };
        let word = |word: &str| if word.is_empty() { "Unknown".to_owned() } else { word.to_owned() };
        let (sync, health) =
            (word(found.status.sync.status.as_str()), word(found.status.health.status.as_str()));
        let words = format!("Application {name} is {sync} and {health}");
        Reason::new(ReasonCode::WaitsForHealth, words).about(object).because(Reason::of(&found.metadata))
    }

    /// Has those of a set looked at that wait for their turn, because what they wait for has changed.
    pub(crate) fn refresh_waiting(&self, key: &AppKey) {
        if !self.settings().sets.rolling {
            return;
        }
        let Some(object) = self.home().cache().get(&set_object_key(key)) else { return };
        let statuses = object.value().items_at(&["status", "applicationStatus"]).iter();
        let waiting = statuses.filter(|one| one.str_at(&["status"]) == Some("Waiting"));
        // Of very many each is told when it is looked at anyway.
        for name in waiting.filter_map(|one| one.str_at(&["application"])).take(limits::SET_WAITING) {
            self.refresh(AppKey::new(key.namespace.clone(), name), Freshness::Recent);
        }
    }
}

/// A set whose steps decide; none if it has none. Of one that cannot be read it is only known whether it has steps.
fn rolling(object: &Object) -> Result<Option<ApplicationSet>, String> {
    match ApplicationSet::from_object(object) {
        Ok(set) => Ok(is_rolling(&set).then_some(set)),
        Err(_) if object.value().str_at(&["spec", "strategy", "type"]) != Some("RollingSync") => Ok(None),
        Err(error) => {
            let (name, why) = (object.name(), crate::words(&error));
            Err(format!(
                "the steps of ApplicationSet {name} are not known, because it cannot be read: {why}; mend its spec"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    fn of(spec: &str) -> Result<bool, String> {
        let text = format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {{name: s}}, spec: {spec}}}"
        );
        let object = Object::new(yaml::parse_str(&text).expect("YAML")).expect("an object");
        rolling(&object).map(|set| set.is_some())
    }

    #[test]
    fn steps_that_cannot_be_read_are_not_none() {
        let steps = "strategy: {type: RollingSync, rollingSync: {steps: [{maxUpdate: 1}]}}";
        assert_eq!(of("{strategy: {type: AllAtOnce}}"), Ok(false));
        assert_eq!(of(&format!("{{{steps}}}")), Ok(true));
        assert_eq!(of("{generators: 5}"), Ok(false));
        let told = of(&format!("{{generators: 5, {steps}}}")).expect_err("it cannot be read");
        let begin = "the steps of ApplicationSet s are not known, because it cannot be read: ";
        assert!(told.starts_with(begin) && told.ends_with("; mend its spec"), "{told}");
    }
}
