//! Looks at everything beside another controller, writes nothing, and tells where the two disagree.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use lynceus_api::{Application, ResourceStatus};
use lynceus_object::{ObjectKey, Str};
use tracing::info;

use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::look::{Aim, Look};
use crate::operate::Next;
use crate::queue::Freshness;
use crate::report::report;

/// What was found of one application, beside what its Application says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Whether it is as Git wants it, by our finding.
    pub sync: Str,
    /// How it is, by our finding.
    pub health: Str,
    /// Where the Application says otherwise.
    pub disagreements: Vec<Disagreement>,
}

/// One thing that we see otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// What: `sync`, `health`, or a resource.
    pub about: String,
    /// What we found.
    pub ours: Str,
    /// What the Application says.
    pub theirs: Str,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none = |text: &Str| if text.is_empty() { "nothing".to_owned() } else { text.to_string() };
        write!(f, "{}: {} here, {} there", self.about, or_none(&self.ours), or_none(&self.theirs))
    }
}

/// What has been observed so far.
#[derive(Default)]
pub(crate) struct Observations(Mutex<BTreeMap<AppKey, Observation>>);

impl Observations {
    pub(crate) fn forget(&self, key: &AppKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

impl Engine {
    /// What has been observed so far, in the order of names.
    pub fn observations(&self) -> BTreeMap<AppKey, Observation> {
        self.observations.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks at an application and compares what it finds with what stands there.
    pub(crate) async fn observe(
        &self,
        application: &Application,
        freshness: Freshness,
    ) -> Result<(), EngineError> {
        let key = AppKey::of(application);
        let look = self.look_and_note(application, &Aim { freshness, ..Aim::default() }).await;
        let now = observation(application, &look, self);
        let before = self
            .observations
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key.clone(), now.clone());
        if before.as_ref() != Some(&now) {
            let differs: Vec<String> = now.disagreements.iter().map(ToString::to_string).collect();
            info!(application = %key, sync = %now.sync, health = %now.health, differs = differs.join("; "), "observed");
        }
        self.schedule(&key, &Next::Idle);
        Ok(())
    }
}

fn observation(application: &Application, look: &Look, engine: &Engine) -> Observation {
    let theirs = &application.status;
    let ours = report(application, look, &engine.options().namespace, engine.clock().now());
    let mut disagreements = Vec::new();
    let mut compare = |about: String, ours: &str, theirs: &str| {
        if ours != theirs {
            disagreements.push(Disagreement { about, ours: ours.into(), theirs: theirs.into() });
        }
    };
    compare("sync".to_owned(), ours.sync.status.as_str(), theirs.sync.status.as_str());
    compare("health".to_owned(), ours.health.status.as_str(), theirs.health.status.as_str());
    if look.compared {
        let (mine, yours) = (by_key(&ours.resources), by_key(&theirs.resources));
        let mut keys: Vec<&ObjectKey> = mine.keys().chain(yours.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let status =
                |resources: &BTreeMap<ObjectKey, String>| resources.get(key).cloned().unwrap_or_default();
            compare(key.to_string(), &status(&mine), &status(&yours));
        }
    }
    Observation {
        sync: ours.sync.status.as_str().into(),
        health: ours.health.status.as_str().into(),
        disagreements,
    }
}

/// One word for each resource: hooks have no sync status and are only there.
fn by_key(resources: &[ResourceStatus]) -> BTreeMap<ObjectKey, String> {
    let one = |resource: &ResourceStatus| {
        let key = ObjectKey::new(
            resource.group.clone(),
            resource.kind.clone(),
            resource.namespace.clone(),
            resource.name.clone(),
        );
        let status = resource.status.as_str();
        let word = match (resource.hook, resource.requires_pruning) {
            (true, _) => "hook".to_owned(),
            (_, true) => format!("{status}, to be pruned"),
            _ => status.to_owned(),
        };
        (key, word)
    };
    resources.iter().map(one).collect()
}
