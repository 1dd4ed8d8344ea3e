//! What people would do meanwhile: they ask for syncs that do not start by themselves, and know of what cannot be played.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{Application, Kind as _, OperationPhase, SyncStatusCode, Word as _};
use lynceus_engine::{AppKey, application_gvk, set_gvk};
use lynceus_object::{Str, Value, value};

use super::{Skipped, World};

/// Who asks for syncs.
pub(crate) const PERSON: &str = "rehearsal";

/// What was done already.
pub(crate) struct Tended {
    /// What cannot be played and is taken to be fine.
    pub(super) skipped: Skipped,
    /// Whether nobody asks for syncs.
    unattended: bool,
    /// The revisions for which a sync was asked for.
    asked: BTreeMap<AppKey, Vec<Str>>,
    told: BTreeSet<AppKey>,
    /// The versions of Applications that were looked at.
    looked_at: BTreeMap<AppKey, Str>,
}

impl Tended {
    pub(crate) fn is_skipped(&self, key: &AppKey) -> bool {
        self.skipped.applications.contains(key)
    }

    pub(crate) fn new(skipped: Skipped, unattended: bool) -> Self {
        let (asked, told, looked_at) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Tended { skipped, unattended, asked, told, looked_at }
    }
}

impl World {
    /// Does what people would do now. Says whether there was anything.
    pub(super) async fn tend(&mut self) -> bool {
        let mut did = self.tend_sets().await;
        for object in self.stored_applications() {
            let key = AppKey::new(object.namespace(), object.name());
            let version = Str::from(object.resource_version());
            // To read one takes longer than anything else here.
            if self.tended.looked_at.insert(key.clone(), version.clone()) == Some(version) {
                continue;
            }
            let Ok(application) = Application::from_object(&object) else { continue };
            if self.tended.is_skipped(&key) {
                did |= self.tended.told.insert(key.clone()) && self.patch(&key, &fine()).await;
            } else if !self.tended.unattended
                && let Some(revisions) = wants_sync(&application)
                // The steps of its set decide, and nobody asks.
                && matches!(self.engine.rolled_by(&application), Ok(None))
                && self.tended.asked.get(&key) != Some(&revisions)
            {
                self.tended.asked.insert(key.clone(), revisions);
                did |= self.patch(&key, &operation(&application)).await;
            }
        }
        did
    }

    /// Whether a sync of an application was asked for.
    pub(crate) fn was_asked(&self, key: &AppKey) -> bool {
        self.tended.asked.contains_key(key)
    }

    /// What waits for an ApplicationSet that cannot be played would wait for ever.
    async fn tend_sets(&mut self) -> bool {
        let mut did = false;
        for key in self.tended.skipped.sets.clone() {
            let known = AppKey::new(key.namespace.clone(), format!("ApplicationSet/{}", key.name));
            let there = self.stored_sets();
            let is_there = there.iter().any(|set| set.namespace() == key.namespace && set.name() == key.name);
            if is_there && self.tended.told.insert(known) {
                let status = value!({"status": {"conditions": [
                    {"type": "ResourcesUpToDate", "status": "True", "reason": "Assumed", "message": "assumed"},
                ]}});
                did |= self.hand.patch_status(&set_gvk(), &key.namespace, &key.name, &status).await.is_ok();
            }
        }
        did
    }

    async fn patch(&self, key: &AppKey, patch: &Value) -> bool {
        self.hand.patch_record(&application_gvk(), &key.namespace, &key.name, patch).await.is_ok()
    }
}

/// The revisions that an application would be synced to if somebody asked for it; none if nobody has to, or it is no use.
fn wants_sync(application: &Application) -> Option<Vec<Str>> {
    let status = &application.status;
    let automated = application.spec.sync_policy.as_ref().and_then(|policy| policy.automated.as_ref());
    let is_manual = automated.is_none_or(|automated| automated.enabled == Some(false));
    let state = status.operation_state.as_ref();
    let is_under_way = application.operation.is_some()
        || state.is_some_and(|state| {
            state.phase.known().is_some_and(|phase| !OperationPhase::is_completed(phase))
        });
    let is_out = status.sync.status.known() == Some(SyncStatusCode::OutOfSync);
    if !is_manual || is_under_way || !is_out || application.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let one = std::iter::once(status.sync.revision.clone());
    Some(one.chain(status.sync.revisions.iter().cloned()).collect())
}

/// A sync as somebody asks for it who means all of it.
fn operation(application: &Application) -> Value {
    let policy = application.spec.sync_policy.as_ref();
    let options: Vec<&str> =
        policy.map(|policy| policy.sync_options.iter().map(Str::as_str).collect()).unwrap_or_default();
    let mut patch = value!({"operation": {"initiatedBy": {"username": PERSON}, "sync": {"prune": true}}});
    patch.set(&["operation", "sync", "syncOptions"], options);
    if let Some(retry) = policy.and_then(|policy| policy.retry.as_ref())
        && let Ok(retry) = serde_json::to_value(retry)
    {
        patch.set(&["operation", "retry"], Value::from(retry));
    }
    patch
}

/// What is said of an application that cannot be played: those that wait for it go on.
fn fine() -> Value {
    let (sync, health) = (SyncStatusCode::Synced, lynceus_api::HealthStatusCode::Healthy);
    value!({"status": {"sync": {"status": sync.as_str()}, "health": {"status": health.as_str()}}})
}
