//! Progressive syncs: those are told to sync whose turn it is.

use lynceus_api::{Application, ApplicationSet};
use lynceus_appset::plan::ignore_rules;
use lynceus_appset::rollout::{Input, Rollout, advance, is_rolling, operation};
use lynceus_cluster::ClusterError;
use lynceus_object::{from_typed, value};
use tracing::debug;

use super::generate::Preview;
use crate::engine::{Engine, EngineError};
use crate::key::{AppKey, application_gvk};

impl Engine {
    /// Where a progressive sync stands; none for a set that has no steps, or where steps are not followed.
    pub(super) fn roll(&self, set: &ApplicationSet, preview: &Preview) -> Option<Rollout> {
        // While anything could not be generated, nobody gets a turn.
        if !self.settings().sets.rolling || !is_rolling(set) || !preview.generation.is_complete() {
            return None;
        }
        let (existing, desired) = (preview.own(set), preview.applications());
        // What is wrong with the rules is told by the plan.
        let (ignore, _) = ignore_rules(set);
        let now = self.clock().now().into();
        let rollout = advance(&Input { set, existing: &existing, desired: &desired, ignore: &ignore, now });
        for waiting in &rollout.waiting {
            debug!(applicationset = %set.metadata.name, "{waiting}");
        }
        Some(rollout)
    }

    /// Tells Applications to sync, each once.
    pub(super) async fn start_syncs(
        &self,
        set: &ApplicationSet,
        preview: &Preview,
        rollout: &Rollout,
    ) -> Result<(), EngineError> {
        for name in &rollout.sync {
            let key = AppKey::new(set.metadata.namespace.clone(), name.clone());
            let Some(object) = self.home().cache().get(&key.object_key()) else { continue };
            let Ok(app) = <Application as lynceus_api::Kind>::from_object(&object) else { continue };
            if app.operation.is_some() || is_running(&app) {
                continue;
            }
            let failed = |source| EngineError::Store { application: key.clone(), source };
            let asked = from_typed(&operation(&app, preview.pruning.contains(name))).map_err(|error| {
                failed(ClusterError::Patch { key: object.key(), reason: error.to_string() })
            })?;
            let version = app.metadata.resource_version.clone();
            let patch = value!({"metadata": {"resourceVersion": version}, "operation": asked});
            let written = self.home().patch_record(&application_gvk(), &key.namespace, name, &patch).await;
            written.map_err(failed)?;
        }
        Ok(())
    }
}

fn is_running(app: &Application) -> bool {
    let phase = app.status.operation_state.as_ref().and_then(|state| state.phase.known());
    phase.is_some_and(|phase| !phase.is_completed())
}
