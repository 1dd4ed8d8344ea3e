//! An application that is being deleted: its hooks are run, and it takes its objects along, if it says so.

use std::sync::Arc;

use lynceus_api::{AppProject, Application, ApplicationConditionType, Wait, WaitFor, finalizers, hook};
use lynceus_cluster::{Cluster, Destination, DestinationError, Link, in_the_name_of};
use lynceus_object::{GroupKind, Object, Str};
use lynceus_sync::deletion::{Decision, Situation, decide};
use lynceus_sync::{Action, Health};
use tracing::info;

use crate::assess::health_of;
use crate::condition::{Condition, merge};
use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::limits;
use crate::look::{Aim, away, unreadable, whole};
use crate::project::permits_object;
use crate::queue::Freshness;
use crate::reason;
use crate::wait_mark::{lasting, mark};

impl Engine {
    /// Takes the deletion of an application as far as it goes now.
    pub(crate) async fn finalize(
        &self,
        application: &mut Application,
        found: Result<Destination, DestinationError>,
    ) -> Result<(), EngineError> {
        let key = AppKey::of(application);
        if !application.metadata.finalizers.iter().any(|finalizer| is_ours(finalizer)) {
            return Ok(());
        }
        self.forget_run(&key);
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                info!(application = %key, %error, "its cluster is not registered any more; nothing is left to delete");
                // Nothing can be run there before or after it either.
                return self.let_go(application, is_ours).await;
            }
        };
        let Link::Up(cluster) = &found.link else {
            // It may be back tomorrow, and its objects with it.
            let name = if found.name.is_empty() { &found.server } else { &found.name };
            let wait = [WaitFor::Cluster(name.clone())];
            return self.blocked(application, vec![away(&found).message], &wait).await;
        };
        let project = match self.project(application) {
            Ok(project) => project,
            Err(condition) => return self.blocked(application, vec![condition.message], &[]).await,
        };
        self.depart(application, cluster, &found, &project).await
    }

    /// One step after the other, until one has to be waited for.
    async fn depart(
        &self,
        application: &mut Application,
        cluster: &Arc<Cluster>,
        found: &Destination,
        project: &AppProject,
    ) -> Result<(), EngineError> {
        let key = AppKey::of(application);
        let checks = self.checks();
        let health = |object: &Object| {
            let health = health_of(Some(object), &checks)?;
            Some(Health { status: health.status, message: health.message.into() })
        };
        let mut desired = None;
        loop {
            let unread = unread(application, cluster);
            if !unread.is_empty() {
                return self.blocked(application, unread, &[]).await;
            }
            let live = match self.own_objects(application, cluster, found, project).await {
                Ok(live) => live,
                Err(why) => return self.blocked(application, vec![why], &[]).await,
            };
            let decision = decide(&Situation {
                application,
                key: &key.object_key(),
                live: &live,
                desired: desired.as_deref(),
                health: &health,
                now: self.clock().now(),
            });
            match decision {
                Decision::Done => return Ok(()),
                Decision::Ask => match self.source_hooks(application).await {
                    Ok(objects) => desired = Some(objects),
                    Err(why) => return self.blocked(application, vec![why], &[]).await,
                },
                Decision::Release(released) => {
                    info!(application = %key, finalizers = %released.join(" "), "one step of its deletion is over");
                    self.let_go(application, |finalizer| released.iter().any(|one| one == finalizer)).await?;
                }
                Decision::Wait { actions, for_ } => {
                    let failures = match self.guise(application, Some(project)) {
                        Ok(user) => {
                            in_the_name_of(user, self.have_done(application, cluster, &actions)).await?
                        }
                        Err(why) => vec![why],
                    };
                    return self.blocked(application, failures, &for_).await;
                }
                Decision::Fail { message, again_at } => {
                    self.blocked(application, vec![message], &[]).await?;
                    self.refresh_at(key, again_at, Freshness::Latest);
                    return Ok(());
                }
            }
        }
    }

    /// The live objects that carry the application's mark and that its project permits; hooks whole, because their health
    /// is asked for.
    async fn own_objects(
        &self,
        application: &Application,
        cluster: &Cluster,
        found: &Destination,
        project: &AppProject,
    ) -> Result<Vec<Object>, String> {
        let tracked = AppKey::of(application).tracked_as(&self.options().namespace);
        let destination = whole(&application.spec.destination, found);
        let kinds = cluster.kinds();
        let mut objects = Vec::new();
        for object in cluster.cache().of_application(&tracked) {
            let namespaced =
                kinds.is_namespaced(&object.group_kind()).unwrap_or(!object.namespace().is_empty());
            if permits_object(project, &object, namespaced, &destination).is_err() {
                continue;
            }
            let is_hook = hook::is_pre_delete(&object) || hook::is_post_delete(&object);
            if !is_hook || cluster.cache().is_whole(&object.key()) {
                objects.push(object);
                continue;
            }
            let live = cluster.live(&object.key(), &object.gvk()).await;
            objects.extend(live.map_err(|error| {
                format!("{} cannot be read from the cluster: {}", object.key(), crate::words(&error))
            })?);
        }
        Ok(objects)
    }

    /// What the sources have now, because a hook that failed may have been mended there.
    async fn source_hooks(&self, application: &Application) -> Result<Vec<Object>, String> {
        let look =
            self.look_and_note(application, &Aim { freshness: Freshness::Latest, ..Aim::default() }).await;
        if look.compared && !look.desired.incomplete {
            return Ok(look.desired.objects);
        }
        let errors: Vec<String> = look.errors().map(|condition| condition.message.clone()).collect();
        Err(format!("the hooks around its deletion cannot be found out: {}", errors.join("; ")))
    }

    async fn have_done(
        &self,
        application: &Application,
        cluster: &Cluster,
        actions: &[Action],
    ) -> Result<Vec<String>, EngineError> {
        let reports = self
            .act(cluster, actions)
            .await
            .map_err(|source| EngineError::Unreachable { application: AppKey::of(application), source })?;
        let failures = reports.into_iter().filter_map(|report| report.outcome.err());
        Ok(failures.filter(|failure| !failure.not_found).map(|failure| failure.message.to_string()).collect())
    }

    /// Says what the deletion waits for, and what has gone wrong with it.
    async fn blocked(
        &self,
        application: &mut Application,
        failures: Vec<String>,
        for_: &[WaitFor],
    ) -> Result<(), EngineError> {
        let now = self.clock().now();
        let before = application.clone();
        let evaluated = [ApplicationConditionType::DeletionError];
        let failures: Vec<Condition> =
            failures.into_iter().map(|why| Condition::new(evaluated[0], why)).collect();
        application.status.conditions = merge(&application.status.conditions, &failures, &evaluated, now);
        let wait = (!for_.is_empty()).then(|| self.waiting_since(application, for_));
        mark(application, wait.as_ref());
        reason::write(application, &reason::of_deletion(application, wait.as_ref()));
        self.store(&before, application).await?;
        self.tell_deletion_errors(&before, application).await;
        // What is waited for brings us back when it changes; a finalizer may take its time.
        self.refresh_at(AppKey::of(application), now + limits::CLUSTER_POLL, Freshness::Recent);
        Ok(())
    }

    /// A wait for what was waited for before began then.
    fn waiting_since(&self, application: &Application, for_: &[WaitFor]) -> Wait {
        lasting(
            application,
            Wait::new(for_.iter().take(limits::WAITS).cloned().collect(), self.clock().now()),
        )
    }

    /// Takes finalizers off.
    async fn let_go(
        &self,
        application: &mut Application,
        goes: impl Fn(&str) -> bool,
    ) -> Result<(), EngineError> {
        let before = application.clone();
        application.metadata.finalizers.retain(|finalizer: &Str| !goes(finalizer));
        self.store_exactly(&before, application).await
    }
}

/// Whether a finalizer is ours to take off.
fn is_ours(finalizer: &str) -> bool {
    finalizers::deletes_resources(finalizer) || finalizers::is_of_hooks(finalizer)
}

/// The kinds of the application's objects that cannot be read: what is left of them is not known.
fn unread(application: &Application, cluster: &Cluster) -> Vec<String> {
    let had = application.status.resources.iter();
    unreadable(cluster, had.map(|one| GroupKind::new(one.group.clone(), one.kind.clone())))
}
