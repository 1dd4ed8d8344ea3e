//! An application that is being deleted takes its objects along, if it says so.

use lynceus_api::{Application, ApplicationConditionType, Options, finalizers, hook, options};
use lynceus_cluster::Deletion;
use lynceus_object::{Object, Propagation};
use tracing::info;

use crate::condition::{Condition, merge};
use crate::engine::{Engine, EngineError};
use crate::key::AppKey;

impl Engine {
    /// Deletes the application's objects and lets it go when they are gone.
    pub(crate) async fn finalize(&self, application: &mut Application) -> Result<(), EngineError> {
        let key = AppKey::of(application);
        let Some(propagation) = cascade(application) else { return Ok(()) };
        let tracked = key.tracked_as(&self.options().namespace);
        let left: Vec<Object> = self
            .cluster()
            .cache()
            .of_application(&tracked)
            .into_iter()
            .filter(|object| goes(object, &key))
            .collect();
        if left.is_empty() {
            info!(application = %key, "everything that it had is gone");
            return self.let_go(application).await;
        }
        let mut failures = Vec::new();
        for object in left.iter().filter(|object| !object.is_deleting()) {
            let deletion = Deletion { propagation, ..Deletion::default() };
            if let Err(error) = self.delete_one(object, &deletion).await {
                failures.push(Condition::new(ApplicationConditionType::DeletionError, crate::words(&error)));
            }
        }
        let before = application.clone();
        let evaluated = [ApplicationConditionType::DeletionError];
        application.status.conditions =
            merge(&application.status.conditions, &failures, &evaluated, self.clock().now());
        self.store(&before, application).await?;
        // The objects' disappearance brings us back; a finalizer of theirs may take its time.
        Ok(())
    }

    async fn delete_one(
        &self,
        object: &Object,
        deletion: &Deletion,
    ) -> Result<(), lynceus_cluster::ClusterError> {
        // A hook's finalizer is ours; nobody else will take it off.
        self.cluster().remove_finalizer(object, finalizers::HOOK).await?;
        self.cluster().delete(&object.gvk(), object.namespace(), object.name(), deletion).await
    }

    async fn let_go(&self, application: &mut Application) -> Result<(), EngineError> {
        let before = application.clone();
        application.metadata.finalizers.retain(|finalizer| !finalizers::deletes_resources(finalizer));
        self.store(&before, application).await
    }
}

/// Whether the application takes its objects along, and how.
fn cascade(application: &Application) -> Option<Propagation> {
    let finalizer =
        application.metadata.finalizers.iter().find(|name| finalizers::deletes_resources(name))?;
    Some(match finalizer.as_str() {
        finalizers::RESOURCES_BACKGROUND => Propagation::Background,
        _ => Propagation::Foreground,
    })
}

/// Whether an object goes with its application: not one that asks to stay, and not the application itself.
fn goes(object: &Object, application: &AppKey) -> bool {
    let stays = Options::sync(object).value(options::sync::DELETE) == Some(options::sync::FALSE)
        || object.annotation(lynceus_api::annotations::HELM_RESOURCE_POLICY) == Some("keep");
    let itself = object.key() == application.object_key();
    let waits_for_owner = hook::is_post_delete(object);
    !stays && !itself && !waits_for_owner && object.controller().is_none()
}
