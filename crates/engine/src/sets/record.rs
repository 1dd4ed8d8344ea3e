//! What is written down about an ApplicationSet: its status, and events.

use std::collections::BTreeMap;

use lynceus_api::{ApplicationSet, ApplicationSetStatus, HealthStatus, Kind as _, Time, annotations};
use lynceus_appset::limits as set_limits;
use lynceus_appset::rollout::{Rollout, is_rolling};
use lynceus_appset::status::{Report, conditions, resources};
use lynceus_cluster::EventType;
use lynceus_object::{Object, Value, from_typed, json, patch, value};
use tracing::debug;

use super::carry::Done;
use super::generate::Preview;
use super::set_gvk;
use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::limits;

impl Engine {
    /// Writes the status of a set, if it says anything new.
    pub(super) async fn store_set(
        &self,
        set: &mut ApplicationSet,
        preview: &Preview,
        report: &Report,
        rollout: Option<&Rollout>,
    ) -> Result<(), EngineError> {
        let key = AppKey::new(set.metadata.namespace.clone(), set.metadata.name.clone());
        let now: Time = self.clock().now().into();
        let settings = self.settings();
        let own = preview.own(set);
        let mut report = report.clone();
        let (listed, count) = resources(&own, settings.sets.status_resources).unwrap_or_else(|fault| {
            report = Report::of(&[*fault], 1);
            (Vec::new(), i64::try_from(own.len()).unwrap_or(i64::MAX))
        });
        let mut status = set.status.clone();
        status.conditions = conditions(set, &report, rollout, now);
        status.resources = listed;
        status.resources_count = count;
        match rollout {
            Some(rollout) => status.application_status = rollout.statuses.clone(),
            // Steps that are there no more leave nothing behind.
            None if !settings.sets.rolling || !is_rolling(set) => status.application_status.clear(),
            None => {}
        }
        status.health = self.health_of_set(set, &status, now);
        fit(&mut status);
        let before = set.clone();
        set.status = status;
        if before.status == set.status {
            return Ok(());
        }
        let failed = |source| EngineError::Store { application: key.clone(), source };
        let (old, new) = (before.to_object(), set.to_object());
        let change = patch::create::merge_two_way(old.value(), new.value()).map_err(|error| {
            failed(lynceus_cluster::ClusterError::Patch { key: old.key(), reason: error.to_string() })
        })?;
        let change = value!({"status": change.get("status").cloned().unwrap_or_default()});
        let written = self.home().patch_status(&set_gvk(), &key.namespace, &key.name, &change).await;
        set.metadata.resource_version = written.map_err(failed)?.resource_version().into();
        self.tell_of_report(&before, set, &report).await;
        Ok(())
    }

    /// The health of a set, as its conditions make it.
    fn health_of_set(&self, set: &ApplicationSet, status: &ApplicationSetStatus, now: Time) -> HealthStatus {
        let judged = ApplicationSet { status: status.clone(), ..set.clone() };
        let Some(health) = crate::assess::health_of(Some(&judged.to_object()), &self.checks()) else {
            return status.health.clone();
        };
        let is_same = set.status.health.status == health.status;
        let since = set.status.health.last_transition_time.filter(|_| is_same).or(Some(now));
        HealthStatus {
            status: health.status.into(),
            message: health.message.as_str().into(),
            last_transition_time: since,
            ..HealthStatus::default()
        }
    }

    /// Says of a set that cannot be read that it cannot, and touches nothing else.
    pub(super) async fn refuse_set(&self, object: &Object, message: &str) -> Result<(), EngineError> {
        let key = AppKey::new(object.namespace(), object.name());
        let conditions = object.value().items_at(&["status", "conditions"]);
        if conditions.iter().any(|one| one.str_at(&["message"]) == Some(message)) {
            return Ok(());
        }
        let time = Time::from(self.clock().now()).to_string();
        let change = value!({"status": {"conditions": [{
            "type": "ErrorOccurred", "status": "True", "reason": "ErrorOccurred", "message": message,
            "lastTransitionTime": time,
        }]}});
        let written = self.home().patch_status(&set_gvk(), &key.namespace, &key.name, &change).await;
        written.map(drop).map_err(|source| EngineError::Store { application: key, source })
    }

    /// Takes off the annotation that asked for a look.
    pub(super) async fn forget_request(&self, key: &AppKey) -> Result<(), EngineError> {
        let nothing = Value::Null;
        let change = value!({"metadata": {"annotations": {annotations::APPLICATION_SET_REFRESH: nothing}}});
        let written = self.home().patch_record(&set_gvk(), &key.namespace, &key.name, &change).await;
        match written {
            Err(error) if !error.is_not_found() => {
                Err(EngineError::Store { application: key.clone(), source: error })
            }
            _ => Ok(()),
        }
    }

    /// Tells of what was done, in Argo CD's words; of very much only the beginning.
    pub(super) async fn tell_of_set(&self, set: &ApplicationSet, done: &[Done]) {
        for Done { what, name, reverted } in done.iter().take(limits::SET_EVENTS) {
            self.tell_set(set, EventType::Normal, what, &format!("{what} Application {name:?}")).await;
            if !reverted.is_empty() {
                let words = format!("reverted Application {name:?}: {}", reverted.join(", "));
                self.tell_set(set, EventType::Warning, "reverted", &words).await;
            }
        }
        if let Some(more) = done.len().checked_sub(limits::SET_EVENTS).filter(|more| *more > 0) {
            self.tell_set(set, EventType::Normal, "Applications", &format!("and {more} more Applications"))
                .await;
        }
    }

    /// Tells of what went wrong, or waits, if that was not told before.
    async fn tell_of_report(&self, before: &ApplicationSet, set: &ApplicationSet, report: &Report) {
        let (reason, message) = match report {
            Report::UpToDate => return,
            Report::Failed { reason, message, .. } => (reason.as_str(), message),
            Report::Held { message } => ("DeletionsHeld", message),
        };
        let told = |set: &ApplicationSet| {
            set.status.conditions.iter().map(|one| one.message.to_string()).collect::<Vec<_>>()
        };
        if told(before) != told(set) {
            self.tell_set(set, EventType::Warning, reason, message).await;
        }
    }

    async fn tell_set(&self, set: &ApplicationSet, kind: EventType, reason: &str, message: &str) {
        let (about, now) = (set.to_object(), self.clock().now());
        let message: String = message.chars().take(limits::EVENT_CHARACTERS).collect();
        let told = self.home().record_event(&about, &BTreeMap::new(), kind, reason, &message, now).await;
        if let Err(error) = told {
            debug!(%error, "an event could not be recorded");
        }
    }
}

/// Keeps a status within what etcd takes: the list of resources gives way to the states of steps, which are needed.
fn fit(status: &mut ApplicationSetStatus) {
    let size = |part: &ApplicationSetStatus| {
        from_typed(part).map_or(usize::MAX, |value| json::to_string(&value).len())
    };
    while size(status) > set_limits::STATUS_BYTES && !status.resources.is_empty() {
        let half = status.resources.len() / 2;
        status.resources.truncate(half);
    }
}
