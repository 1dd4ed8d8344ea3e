//! The end of an ApplicationSet.

use lynceus_api::{ApplicationSet, Kind as _, finalizers};
use lynceus_appset::plan::{Deletion, next_deletion};
use lynceus_appset::rollout::is_reversed;
use lynceus_cluster::ClusterError;
use lynceus_object::{Object, from_typed, value};

use super::generate::is_of;
use super::set_gvk;
use crate::engine::{Engine, EngineError};
use crate::key::{AppKey, application_gvk};
use crate::limits;

impl Engine {
    /// Holds a set whose Applications go in an order until they are gone.
    pub(super) async fn keep_finalizer(&self, set: &mut ApplicationSet) -> Result<(), EngineError> {
        let has = set.metadata.finalizers.iter().any(|name| name == finalizers::RESOURCES);
        if has || !self.settings().sets.rolling || !is_reversed(set) {
            return Ok(());
        }
        let mut names = set.metadata.finalizers.clone();
        names.push(finalizers::RESOURCES.into());
        let version = set.metadata.resource_version.clone();
        let patch = value!({"metadata": {"finalizers": names.clone(), "resourceVersion": version}});
        let key = AppKey::new(set.metadata.namespace.clone(), set.metadata.name.clone());
        let written = self.home().patch_record(&set_gvk(), &key.namespace, &key.name, &patch).await;
        let written = written.map_err(|source| EngineError::Store { application: key, source })?;
        set.metadata.finalizers = names;
        set.metadata.resource_version = written.resource_version().into();
        Ok(())
    }

    /// Lets a set go that is being deleted. Its Applications go with it by their owner references, unless the policy
    /// allows no deletions, or they go in the reverse order of its steps.
    pub(super) async fn finalize_set(&self, set: &ApplicationSet) -> Result<(), EngineError> {
        let key = AppKey::new(set.metadata.namespace.clone(), set.metadata.name.clone());
        let failed = |source| EngineError::Store { application: key.clone(), source };
        if !set.metadata.finalizers.iter().any(|name| name == finalizers::RESOURCES) {
            return Ok(());
        }
        let found = self.applications_in(&key.namespace);
        let is_own = |object: &Object| super::follow::owner(object).is_some_and(|owner| owner == key);
        if let Some((object, why)) = found.unreadable.iter().find(|(object, _)| is_own(object)) {
            // It would go with the set, whatever the policy says.
            return Err(failed(ClusterError::Patch { key: object.key(), reason: why.clone() }));
        }
        let own: Vec<_> = found.applications.into_iter().filter(|app| is_of(app, &key.name)).collect();
        if !self.settings().sets.allows_delete(set) {
            for app in &own {
                let left = app.metadata.owner_references.iter().filter(|owner| owner.name != key.name);
                let left = from_typed(&left.collect::<Vec<_>>()).map_err(|error| {
                    failed(ClusterError::Patch { key: set.to_object().key(), reason: error.to_string() })
                })?;
                let version = app.metadata.resource_version.clone();
                let patch = value!({"metadata": {"ownerReferences": left, "resourceVersion": version}});
                let name = &app.metadata.name;
                self.home()
                    .patch_record(&application_gvk(), &key.namespace, name, &patch)
                    .await
                    .map_err(failed)?;
            }
        } else if self.settings().sets.rolling {
            match next_deletion(set, &own) {
                Deletion::Done => {}
                Deletion::Delete(name) => {
                    if let Some(app) = own.iter().find(|app| app.metadata.name == name) {
                        self.home().delete_record(&app.to_object()).await.map_err(failed)?;
                    }
                    self.look_at_set_again(&key);
                    return Ok(());
                }
                Deletion::Wait(_) => {
                    self.look_at_set_again(&key);
                    return Ok(());
                }
            }
        }
        let object: Object = set.to_object();
        self.home().remove_finalizer(&object, finalizers::RESOURCES).await.map_err(failed)
    }

    /// Its Applications tell of their end; this is for the case that one of them does not.
    fn look_at_set_again(&self, key: &AppKey) {
        let at = self.clock().monotonic() + limits::SET_DELETION_POLL;
        self.sets.queue.add(key.clone(), at, crate::Freshness::Recent);
    }
}
