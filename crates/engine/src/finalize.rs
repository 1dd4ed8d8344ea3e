//! An application that is being deleted takes its objects along, if it says so.

use lynceus_api::{Application, ApplicationConditionType, Options, finalizers, hook, options};
use lynceus_cluster::{Cluster, ClusterError, Deletion, Destination, DestinationError, Link};
use lynceus_object::{GroupKind, Object, Propagation, Str};
use tracing::info;

use crate::condition::{Condition, merge};
use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::limits;
use crate::look::{away, unreadable};
use crate::queue::Freshness;

impl Engine {
    /// Deletes the application's objects and lets it go when they are gone.
    pub(crate) async fn finalize(
        &self,
        application: &mut Application,
        found: Result<Destination, DestinationError>,
    ) -> Result<(), EngineError> {
        let key = AppKey::of(application);
        let Some(propagation) = cascade(application) else { return Ok(()) };
        let cluster = match found {
            Ok(Destination { link: Link::Up(cluster), .. }) => cluster,
            // It may be back tomorrow, and its objects with it.
            Ok(found) => {
                let condition = Condition::new(ApplicationConditionType::DeletionError, away(&found).message);
                return self.fail_deletion(application, &[condition]).await;
            }
            Err(error) => {
                info!(application = %key, %error, "its cluster is not registered any more; nothing is left to delete");
                // Nothing can be run there before or after it either.
                return self.let_go(application, is_of_hooks).await;
            }
        };
        let tracked = key.tracked_as(&self.options().namespace);
        let left: Vec<Object> = cluster
            .cache()
            .of_application(&tracked)
            .into_iter()
            .filter(|object| goes(object, &key))
            .collect();
        // What is left of a kind that cannot be read is not known.
        let had = application.status.resources.iter();
        let had = had.map(|resource| GroupKind::new(resource.group.clone(), resource.kind.clone()));
        let unread: Vec<Condition> = unreadable(&cluster, had)
            .into_iter()
            .map(|message| Condition::new(ApplicationConditionType::DeletionError, message))
            .collect();
        if !unread.is_empty() {
            return self.fail_deletion(application, &unread).await;
        }
        if left.is_empty() {
            info!(application = %key, "everything that it had is gone");
            return self.let_go(application, |_| false).await;
        }
        let mut failures = Vec::new();
        for object in left.iter().filter(|object| !object.is_deleting()) {
            let deletion = Deletion { propagation, ..Deletion::default() };
            if let Err(error) = delete_one(&cluster, object, &deletion).await {
                failures.push(Condition::new(ApplicationConditionType::DeletionError, crate::words(&error)));
            }
        }
        // The objects' disappearance brings us back; a finalizer of theirs may take its time.
        self.fail_deletion(application, &failures).await
    }

    /// Says what keeps the application from going, if anything does.
    async fn fail_deletion(
        &self,
        application: &mut Application,
        failures: &[Condition],
    ) -> Result<(), EngineError> {
        let before = application.clone();
        let evaluated = [ApplicationConditionType::DeletionError];
        application.status.conditions =
            merge(&application.status.conditions, failures, &evaluated, self.clock().now());
        self.store(&before, application).await?;
        if !failures.is_empty() {
            let at = self.clock().now() + limits::CLUSTER_POLL;
            self.refresh_at(AppKey::of(application), at, Freshness::Recent);
        }
        Ok(())
    }

    /// Takes off the finalizers that hold its objects, and those that `also` names.
    async fn let_go(
        &self,
        application: &mut Application,
        also: impl Fn(&str) -> bool,
    ) -> Result<(), EngineError> {
        let before = application.clone();
        let stays = |finalizer: &Str| !finalizers::deletes_resources(finalizer) && !also(finalizer);
        application.metadata.finalizers.retain(stays);
        self.store(&before, application).await
    }
}

/// Whether a finalizer stands for hooks around the deletion.
fn is_of_hooks(finalizer: &str) -> bool {
    finalizer.starts_with(finalizers::PRE_DELETE) || finalizer.starts_with(finalizers::POST_DELETE)
}

async fn delete_one(cluster: &Cluster, object: &Object, deletion: &Deletion) -> Result<(), ClusterError> {
    // A hook's finalizer is ours; nobody else will take it off.
    cluster.remove_finalizer(object, finalizers::HOOK).await?;
    cluster.delete(&object.gvk(), object.namespace(), object.name(), deletion).await
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
