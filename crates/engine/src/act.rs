//! Carries out what a sync decided: the only writes to an application's objects.

use futures::StreamExt as _;
use lynceus_api::Tracking;
use lynceus_cluster::{ApplyOptions, Cluster, ClusterError, Deletion, Strategy};
use lynceus_object::{Object, ObjectKey, Propagation};
use lynceus_sync::{Action, Deed, Done, Failure, Method, Report, Write};

use crate::engine::Engine;
use crate::limits;

impl Engine {
    /// Carries actions out, several at a time, and reports on each. If the cluster has gone away meanwhile there is
    /// nothing to report: what was asked of it may have been done or not, and has to be seen when it is back.
    pub(crate) async fn act(
        &self,
        cluster: &Cluster,
        actions: &[Action],
    ) -> Result<Vec<Report>, ClusterError> {
        let work = actions.iter().map(|action| async {
            let _turn = self.writing.enter(self.settings().writes_at_once).await;
            (action.id, one(cluster, &self.settings().tracking, action).await)
        });
        let work: Vec<_> = work.collect();
        let mut done: Vec<_> =
            futures::stream::iter(work).buffer_unordered(limits::PARALLEL_ACTIONS).collect().await;
        if done.iter().any(|(_, outcome)| outcome.as_ref().is_err_and(ClusterError::is_unreachable)) {
            self.fleet().answers(cluster).await?;
        }
        done.sort_by_key(|(id, _)| *id);
        let object_of = |id| actions.iter().find(|action| action.id == id).map(|action| &action.object);
        let report = |(id, outcome): (_, Result<Done, ClusterError>)| Report {
            id,
            outcome: outcome.map_err(|error| failure(&error, object_of(id))),
        };
        Ok(done.into_iter().map(report).collect())
    }
}

async fn one(cluster: &Cluster, tracking: &Tracking, action: &Action) -> Result<Done, ClusterError> {
    let object = &action.object;
    match &action.deed {
        Deed::Write(write) => self::write(cluster, object, write).await,
        Deed::Delete(propagation) => {
            let deletion = Deletion { propagation: *propagation, ..Deletion::default() };
            cluster
                .delete(&object.gvk(), object.namespace(), object.name(), &deletion)
                .await
                .map(|()| done("pruned"))
        }
        Deed::Prune(propagation) => prune(cluster, tracking, object, *propagation).await,
        Deed::RemoveHookFinalizer => remove_hook_finalizer(cluster, object).await,
        Deed::Read => cluster
            .get(&object.gvk(), object.namespace(), object.name())
            .await
            .map(|object| Done { object, ..Done::default() }),
    }
}

/// Deletes an object as it was looked at. Where somebody has written to it since, it is looked at again: it may have moved to
/// another application, which may not sync again to make it anew.
async fn prune(
    cluster: &Cluster,
    tracking: &Tracking,
    object: &Object,
    propagation: Propagation,
) -> Result<Done, ClusterError> {
    let (gvk, namespace, name) = (object.gvk(), object.namespace(), object.name());
    let mut seen = object.clone();
    let mut attempts = 1..limits::PRUNE_ATTEMPTS;
    loop {
        let (uid, version) = (seen.uid().to_owned(), seen.resource_version().to_owned());
        let deletion = Deletion { propagation, uid, version, dry_run: false };
        match cluster.delete(&gvk, namespace, name, &deletion).await {
            Err(error) if error.is_conflict() && attempts.next().is_some() => {}
            other => return other.map(|()| done("pruned")),
        }
        match cluster.get(&gvk, namespace, name).await? {
            None => return Ok(done("pruned")),
            Some(live) if tracking.application(&live) != tracking.application(object) => {
                return Ok(Done { kept: true, ..Done::default() });
            }
            Some(live) => seen = live,
        }
    }
}

async fn write(cluster: &Cluster, object: &Object, write: &Write) -> Result<Done, ClusterError> {
    let (strategy, force) = match &write.method {
        Method::Apply { force } => (Strategy::ClientSide, *force),
        Method::ServerSideApply { force, .. } => (Strategy::ServerSide, *force),
        Method::Create => (Strategy::Create, false),
        Method::Replace { force } => (Strategy::Replace, *force),
        Method::Update { .. } => (Strategy::Replace, false),
    };
    let options = ApplyOptions { strategy, force, validate: write.validate, dry_run: write.dry_run };
    if let Method::ServerSideApply { migrate_from: Some(from), .. } = &write.method {
        cluster.migrate_manager(object, from).await?;
    }
    let applied = cluster.apply(object, options).await?;
    if write.await_established {
        established(cluster, object).await;
    }
    let message = match &write.method {
        Method::Update { .. } if !write.dry_run => format!("{}/{} updated", object.kind(), object.name()),
        _ => applied.message,
    };
    Ok(done(&message))
}

/// The object is read again and again until no other writer is in between: a status may be written at any moment.
async fn remove_hook_finalizer(cluster: &Cluster, object: &Object) -> Result<Done, ClusterError> {
    loop {
        let live = cluster.get(&object.gvk(), object.namespace(), object.name()).await?;
        let Some(live) = live else { return Ok(Done::default()) };
        match cluster.remove_finalizer(&live, lynceus_api::finalizers::HOOK).await {
            Err(error) if error.is_conflict() => {}
            other => return other.map(|()| Done::default()),
        }
    }
}

/// Gives a definition a moment to be established, and learns its kind. One that is not by then is not an error here:
/// what needs the kind will say so.
async fn established(cluster: &Cluster, object: &Object) {
    // A plan gives everything a namespace, and definitions are in none.
    let (key, gvk) = (ObjectKey::new(object.group(), object.kind(), "", object.name()), object.gvk());
    let mut changes = cluster.cache().changes();
    // Asking for it by name has the cache keep it whole, so that each further look costs no request.
    let is_established = async || {
        let definition = cluster.live(&key, &gvk).await.ok().flatten();
        definition.is_some_and(|definition| {
            definition.value().items_at(&["status", "conditions"]).iter().any(|condition| {
                condition.str_at(&["type"]) == Some("Established")
                    && condition.str_at(&["status"]) == Some("True")
            })
        })
    };
    let waited = async {
        while !is_established().await {
            if changes.recv().await.is_err() {
                changes = cluster.cache().changes();
            }
        }
    };
    let _ = tokio::time::timeout(limits::ESTABLISHED, waited).await;
    if let Err(error) = cluster.rediscover().await {
        tracing::warn!(%error, "cannot ask the cluster what it serves");
    }
}

fn done(message: &str) -> Done {
    Done { message: message.into(), ..Done::default() }
}

/// The server's words; an error of the transport with what caused it. What they quote of a Secret is left out.
fn failure(error: &ClusterError, object: Option<&Object>) -> Failure {
    let message = match object {
        Some(object) => lynceus_diff::unquoted(&crate::words(error), &[object]),
        None => crate::words(error),
    };
    Failure { not_found: error.is_not_found(), message: message.into() }
}
