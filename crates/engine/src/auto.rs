//! Starts a sync by itself, where the application's policy says so.

use std::collections::BTreeSet;

use lynceus_api::{Application, ApplicationConditionType, ResourceStatus};
use lynceus_object::{Object, ObjectKey, Str};
use lynceus_sync::auto::{Decision, Situation, decide};
use lynceus_sync::windows::Attempt;
use tracing::{debug, info};

use crate::condition::{Condition, merge};
use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::limits;
use crate::look::Look;
use crate::queue::Freshness;
use crate::wait_mark::{lasting, mark};
use crate::window::closed;

impl Engine {
    /// Starts a sync if the application should have one now.
    pub(crate) async fn sync_by_itself(
        &self,
        application: &mut Application,
        look: &Look,
    ) -> Result<(), EngineError> {
        if !look.compared {
            return Ok(());
        }
        let key = AppKey::of(application);
        let now = self.clock().now();
        let revisions: Vec<Str> = look.sourced.iter().map(|one| one.revision.clone()).collect();
        let leaving: BTreeSet<ObjectKey> = look
            .changes
            .changes
            .iter()
            .filter(|change| change.pair.live().is_some_and(Object::is_deleting))
            .map(lynceus_diff::Change::key)
            .collect();
        let is_leaving = |one: &ResourceStatus| {
            let (group, kind) = (one.group.clone(), one.kind.clone());
            leaving.contains(&ObjectKey::new(group, kind, one.namespace.clone(), one.name.clone()))
        };
        let decision = decide(&Situation {
            application,
            sync: application.status.sync.status.known().unwrap_or(look.assessment.sync),
            revisions: &revisions,
            resources: &look.assessment.resources,
            is_leaving: &is_leaving,
            heal: self.settings().heal,
            now,
        });
        let before = application.clone();
        let shut =
            look.project.as_ref().and_then(|project| closed(application, project, Attempt::default(), now));
        if let Some(wait) = shut.map(|wait| lasting(application, wait)) {
            // As if there were no automation: what was said of it stays. What it waits for is told beside.
            mark(application, Some(&wait).filter(|_| matches!(decision, Decision::Sync(_))));
            self.store_unless_overtaken(&before, application).await?;
            self.refresh_at(key, wait.until.unwrap_or(now + limits::WINDOW_POLL), Freshness::Recent);
            return Ok(());
        }
        mark(application, None);
        let mut refusal = None;
        match decision {
            Decision::Nothing(why) => debug!(application = %key, why, "no sync by itself"),
            Decision::Wait(at) => self.refresh_at(key.clone(), at, Freshness::Recent),
            Decision::Refuse(why) => refusal = Some(Condition::new(ApplicationConditionType::SyncError, why)),
            Decision::Sync(operation) => {
                info!(application = %key, revisions = %revisions.join(" "), "syncing by itself");
                application.operation = Some(*operation);
            }
        }
        application.status.conditions = merge(
            &application.status.conditions,
            refusal.as_slice(),
            &[ApplicationConditionType::SyncError],
            now,
        );
        self.store_unless_overtaken(&before, application).await?;
        if application.operation.is_some() {
            self.refresh(key, Freshness::Recent);
        }
        Ok(())
    }
}
