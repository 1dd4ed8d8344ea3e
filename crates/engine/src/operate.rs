//! Carries a requested sync forward, as far as it goes now.
//!
//! Everything that the sync has to remember is on the Application: the operation, and a ledger of what was done. So a
//! process that dies in the middle is followed by another that goes on, and no hook runs twice.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lynceus_api::{
    Application, ApplicationConditionType, Operation, OperationPhase, OperationState, Options,
    RevisionHistory, SyncOperation, SyncOperationResult, Wait, WaitFor, annotations, options,
};
use lynceus_cluster::{Cluster, in_the_name_of};
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Map, Object, ObjectKey, Propagation, Str, manifest, yaml};
use lynceus_sync::{
    Admission, CLIENT_SIDE_MANAGER, Health, Input, NamespaceMetadata, Observed, Outcome, OwnNamespace, Plan,
    Run, Settings, Step, plan,
};
use tracing::info;

use crate::assess::health_of;
use crate::condition::Condition;
use crate::desire::{Wanting, permitted};
use crate::engine::{Engine, EngineError};
use crate::key::AppKey;
use crate::look::{Aim, Look, whole};
use crate::queue::Freshness;
use crate::reason::{self, unheld};
use crate::wait_mark::mark;
use crate::weight::{recorded, remembered};
use crate::{ledger, limits, trace, window};

/// How many revisions the history keeps where the application does not say.
const HISTORY: i64 = lynceus_api::REVISION_HISTORY_LIMIT;

/// When an operation is to be looked at again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Next {
    /// There is none, or it is over.
    Idle,
    /// It waits; for something to change if there is no time.
    Waiting(Option<Timestamp>),
}

impl Engine {
    /// Takes the application's operation as far as it goes now. The Application is stored at every step.
    pub(crate) async fn operate(&self, application: &mut Application) -> Result<Next, EngineError> {
        let now = self.clock().now();
        let Some(mut state) = begun(application, now) else { return Ok(Next::Idle) };
        if application.status.operation_state.as_ref() != Some(&state) && state.finished_at.is_none() {
            self.started(application, &state).await;
        }
        self.stop_if_late(application, &mut state);
        if let Some(at) = retry_time(&state)
            && state.phase != OperationPhase::Terminating
        {
            // A clock that was set back must not make the wait longer than it was meant to be.
            if now < at && now >= finished(&state) {
                let wait = retry_wait(&state, at);
                let until = self.look_again(application, &state, Some(at));
                self.store_operation(application, state, Some(&wait)).await?;
                return Ok(Next::Waiting(until));
            }
            begin_again(&mut state);
            self.forget_run(&AppKey::of(application));
        }
        let Some(sync) = state.operation.sync.clone() else {
            let outcome = failed("Invalid operation request: no operation specified");
            return self.finish(application, state, outcome).await;
        };
        self.sync(application, state, &sync).await
    }

    async fn sync(
        &self,
        application: &mut Application,
        mut state: OperationState,
        sync: &SyncOperation,
    ) -> Result<Next, EngineError> {
        let key = AppKey::of(application);
        let mut look = self.look_and_note(application, &aim(&state, sync)).await;
        if let Some(project) = &look.project
            && state.phase != OperationPhase::Terminating
            && let Some(wait) =
                window::closed(application, project, window::attempt(&state), self.clock().now())
        {
            state.message = window::message(&wait).into();
            let until = self.look_again(
                application,
                &state,
                wait.until.or(Some(self.clock().now() + limits::WINDOW_POLL)),
            );
            self.store_operation(application, state, Some(&wait)).await?;
            return Ok(Next::Waiting(until));
        }
        if look.away && state.phase != OperationPhase::Terminating {
            return self.wait_for_cluster(application, state, &look).await;
        }
        if let Some(shared) = shared(application, sync, &look)
            && state.phase != OperationPhase::Terminating
        {
            pin(application, &mut state, sync, &look);
            return self.finish(application, state, shared).await;
        }
        let errors: Vec<String> =
            look.blockers().map(|condition| format!("{}: {}", condition.kind, condition.message)).collect();
        let cluster = match &look.cluster {
            Some(cluster) if errors.is_empty() && look.compared => cluster.clone(),
            _ => return self.finish(application, state, failed(errors.join(";"))).await,
        };
        if sync_options(application, sync).has(options::sync::RESPECT_IGNORE_DIFFERENCES) {
            match look.respecting() {
                Ok(changes) => look.changes = changes,
                Err(error) => return self.finish(application, state, failed(crate::words(&error))).await,
            }
        }
        pin(application, &mut state, sync, &look);
        let user = match self.guise(application, look.project.as_deref()) {
            Ok(user) => user,
            Err(why) => return self.finish(application, state, failed(why)).await,
        };
        let started_at = state.started_at.map_or_else(|| self.clock().now(), |at| at.timestamp());
        let settings = Settings {
            wave_delay: self.settings().wave_delay,
            prune_confirmed: application.is_deletion_approved(started_at),
            ..settings(application, sync)
        };
        let plan = self.plan(application, sync, &settings, &look, &cluster, started_at).await;
        let mut run = self.take_run(&key, started_at).unwrap_or_else(|| {
            let results =
                state.sync_result.as_ref().map(|result| result.resources.as_slice()).unwrap_or_default();
            let namespace = application.spec.destination.namespace.clone();
            Run::new(settings.clone(), namespace, started_at, ledger::read(results))
        });
        // What a wait was for may have been confirmed meanwhile.
        run.adjust(settings);
        if state.phase == OperationPhase::Terminating {
            run.terminate();
        }
        let checks = self.checks();
        let unheld = match self.settings().claims_hold_waves {
            true => BTreeSet::new(),
            false => unheld(&cluster, &look, &checks).await,
        };
        let health = |object: &Object| {
            // What there is no health of is not waited for.
            let health = health_of(Some(object), &checks).filter(|_| !unheld.contains(&object.key()));
            Ok(health.map(|health| Health { status: health.status, message: health.message.into() }))
        };
        let mut reports = Vec::new();
        loop {
            let now = self.clock().now();
            let step = run.next(&Observed { plan: &plan, health: &health, reports: &reports }, now);
            write_ledger(application, &mut state, &run);
            match step {
                Step::Do(actions) => {
                    // Written down before it is done: this is what keeps a hook from running twice.
                    self.store_operation(application, state.clone(), None).await?;
                    if self.is_stopping() {
                        // Whoever comes next finds it written down and not done, and does it.
                        return Ok(Next::Waiting(None));
                    }
                    reports = in_the_name_of(user.clone(), self.act(&cluster, &actions))
                        .await
                        .map_err(|source| EngineError::Unreachable { application: key.clone(), source })?;
                }
                Step::Wait(wait) => {
                    state.message = wait.to_string().into();
                    let until = self.look_again(application, &state, wait.until);
                    self.store_operation(application, state, Some(&wait)).await?;
                    self.keep_run(&key, started_at, run);
                    return Ok(Next::Waiting(until));
                }
                Step::Done(outcome) => return self.finish(application, state, outcome).await,
            }
        }
    }

    /// A cluster that is away ends no operation: it goes on when the cluster is back.
    async fn wait_for_cluster(
        &self,
        application: &mut Application,
        mut state: OperationState,
        look: &Look,
    ) -> Result<Next, EngineError> {
        let now = self.clock().now();
        let why: Vec<&str> = look.errors().map(|condition| condition.message.as_str()).collect();
        state.message = why.join(";").chars().take(limits::MESSAGE).collect();
        let name = &application.spec.destination.name;
        let cluster = if name.is_empty() { &application.spec.destination.server } else { name };
        let since = state.started_at.map_or(now, |at| at.timestamp());
        let wait = Wait::new(vec![WaitFor::Cluster(cluster.clone())], since);
        self.store_operation(application, state, Some(&wait)).await?;
        Ok(Next::Waiting(Some(now + limits::CLUSTER_POLL)))
    }

    async fn plan(
        &self,
        application: &Application,
        sync: &SyncOperation,
        settings: &Settings,
        look: &Look,
        cluster: &Cluster,
        started_at: Timestamp,
    ) -> Plan {
        // Asked for first: what decides below cannot wait.
        let own_namespace = self.own_namespace(application, sync, cluster).await;
        let kinds = cluster.kinds();
        let tracked = AppKey::of(application).tracked_as(&self.options().namespace);
        let wanted = &application.spec.destination;
        let place = self.fleet().find(wanted).map_or_else(|_| wanted.clone(), |found| whole(wanted, &found));
        let project = look.project.clone().unwrap_or_default();
        let config = self.settings();
        let wanting = Wanting {
            application: &tracked,
            destination: &place,
            project: &project,
            tracking: &config.tracking,
            kinds: &kinds,
        };
        let admit = |object: &Object| {
            if kinds.get(&object.gvk()).is_none() {
                let gvk = object.gvk();
                return Admission::UnknownKind(
                    format!(
                        "The Kubernetes API could not find {}/{} for requested resource {}/{}. Make sure the {:?} CRD is \
                         installed on the destination cluster.",
                        gvk.group,
                        gvk.kind,
                        object.namespace(),
                        object.name(),
                        gvk.kind
                    )
                    .into(),
                );
            }
            match permitted(object, &wanting) {
                Ok(()) => Admission::Welcome,
                Err(why) => Admission::Refused(why),
            }
        };
        let select = |key: &ObjectKey, _: Option<&Object>| selected(sync, key);
        let revision = look.sourced.first().map(|one| one.revision.clone()).unwrap_or_default();
        plan(&Input {
            changes: &look.changes,
            namespace: &application.spec.destination.namespace,
            revision: &revision,
            started_at,
            settings,
            admit: &admit,
            select: &select,
            own_namespace,
        })
    }

    /// The application's namespace, if the sync is to create it.
    async fn own_namespace(
        &self,
        application: &Application,
        sync: &SyncOperation,
        cluster: &Cluster,
    ) -> Option<OwnNamespace> {
        let namespace = &application.spec.destination.namespace;
        if !sync_options(application, sync).has(options::sync::CREATE_NAMESPACE) || namespace.is_empty() {
            return None;
        }
        let gvk = Gvk::new("", "v1", "Namespace");
        let key = ObjectKey::new("", "Namespace", "", namespace.clone());
        let live = cluster.live(&key, &gvk).await.map_err(|error| crate::words(&error).into());
        let policy = application.spec.sync_policy.as_ref();
        let metadata = policy.and_then(|policy| policy.managed_namespace_metadata.as_ref()).map(|wanted| {
            let map =
                |texts: &std::collections::BTreeMap<Str, Str>| texts.clone().into_iter().collect::<Map>();
            NamespaceMetadata { labels: map(&wanted.labels), annotations: map(&wanted.annotations) }
        });
        Some(OwnNamespace { live, metadata })
    }

    /// Ends an operation, or plans the next attempt.
    async fn finish(
        &self,
        application: &mut Application,
        mut state: OperationState,
        outcome: Outcome,
    ) -> Result<Next, EngineError> {
        let now = self.clock().now();
        self.forget_run(&AppKey::of(application));
        let terminated = state.phase == OperationPhase::Terminating;
        state.phase = outcome.phase.into();
        state.message = outcome.message.chars().take(limits::MESSAGE).collect();
        if let Some(late) = self.deadline(application, &state).filter(|late| terminated && late.at < now) {
            state.message = format!("{}, triggered by {}", state.message, late.cause).into();
        }
        state.finished_at = Some(now.into());
        let retry = state.operation.retry.clone();
        if outcome.phase != OperationPhase::Succeeded && !terminated && retry.allows(state.retry_count) {
            // Counted from the time as it is written down, which is what the next look counts from.
            match retry.next_retry_at(finished(&state), state.retry_count) {
                Ok(at) => {
                    state.retry_count += 1;
                    state.phase = OperationPhase::Running.into();
                    let time = at.to_zoned(TimeZone::UTC).strftime("%-I:%M%p").to_string();
                    state.message =
                        format!("{}. Retrying attempt #{} at {time}.", state.message, state.retry_count)
                            .into();
                    let wait = retry_wait(&state, at);
                    self.store_operation(application, state, Some(&wait)).await?;
                    return Ok(Next::Waiting(Some(at)));
                }
                Err(error) => {
                    state.phase = OperationPhase::Error.into();
                    state.message = format!("{} (failed to retry: {error})", state.message).into();
                }
            }
        } else if state.retry_count > 0 {
            state.message = format!("{} (retried {} times).", state.message, state.retry_count).into();
        }
        info!(application = %AppKey::of(application), phase = %state.phase, message = %state.message, "sync ended");
        trace::synced(application, &state);
        let before = application.clone();
        record_history(application, &state, now);
        application.operation = None;
        application.status.operation_state = Some(state.clone());
        mark(application, None);
        reason::end_waits(application);
        self.store_unless_overtaken(&before, application).await?;
        self.completed(application, &state).await;
        Ok(Next::Idle)
    }
}

/// The operation that is under way, or the one that is asked for now.
fn begun(application: &Application, now: Timestamp) -> Option<OperationState> {
    let running = application
        .status
        .operation_state
        .as_ref()
        .filter(|state| state.phase.known().is_some_and(|phase| !phase.is_completed()));
    if let Some(state) = running {
        return Some(state.clone());
    }
    let operation = application.operation.clone()?;
    Some(OperationState {
        operation,
        phase: OperationPhase::Running.into(),
        started_at: Some(now.into()),
        ..OperationState::default()
    })
}

/// When the next attempt of a failed operation begins, if it is between two attempts.
fn retry_time(state: &OperationState) -> Option<Timestamp> {
    let finished = state.finished_at?.timestamp();
    let retry: &Operation = &state.operation;
    Some(retry.retry.next_retry_at(finished, state.retry_count - 1).unwrap_or(finished))
}

/// What an operation waits for between two attempts.
fn retry_wait(state: &OperationState, at: Timestamp) -> Wait {
    let retry = WaitFor::Retry { attempt: state.retry_count, at, after: state.message.clone() };
    Wait::new(vec![retry], finished(state)).until(at)
}

/// Forgets what the last attempt did. The next one takes the newest revision if the operation says so.
fn begin_again(state: &mut OperationState) {
    let mut revisions = "";
    if let Some(sync) = state.operation.sync.as_mut().filter(|_| state.operation.retry.refresh) {
        sync.revision = Str::new();
        sync.revisions = Vec::new();
        revisions = " with latest revisions";
    }
    state.message = format!("Retrying operation{revisions}. Attempt #{}", state.retry_count).into();
    state.finished_at = None;
    state.sync_result = None;
}

fn finished(state: &OperationState) -> Timestamp {
    state.finished_at.map(|at| at.timestamp()).unwrap_or_default()
}

/// What the operation looks at: once it has begun, always the same commit.
fn aim(state: &OperationState, sync: &SyncOperation) -> Aim {
    let sources = match (&sync.source, sync.sources.is_empty()) {
        (_, false) => Some(sync.sources.clone()),
        (Some(source), true) => Some(vec![source.clone()]),
        (None, true) => None,
    };
    let begun = state.sync_result.as_ref().map(|result| revisions(&result.revision, &result.revisions));
    let asked = || revisions(&sync.revision, &sync.revisions);
    let pinned = begun.filter(|pinned| pinned.iter().any(|one| !one.is_empty())).unwrap_or_else(asked);
    let manifests = (!sync.manifests.is_empty()).then(|| local_manifests(sync));
    // The first look of an attempt asks Git; later ones are pinned to what it found.
    let freshness = if state.sync_result.is_some() { Freshness::Recent } else { Freshness::Latest };
    Aim { sources, revisions: pinned, manifests, freshness, ..Aim::default() }
}

fn revisions(one: &Str, many: &[Str]) -> Vec<Str> {
    if many.is_empty() { vec![one.clone()] } else { many.to_vec() }
}

fn local_manifests(sync: &SyncOperation) -> Vec<Object> {
    sync.manifests
        .iter()
        .flat_map(|text| {
            manifest::read(&FilePath::root(), text.as_bytes(), &yaml::Options::default()).objects
        })
        .map(|placed| placed.object)
        .collect()
}

/// Writes down which commit the operation is about, so that every later step is about the same.
fn pin(application: &Application, state: &mut OperationState, sync: &SyncOperation, look: &Look) {
    let commits: Vec<Str> = look.sourced.iter().map(|one| one.revision.clone()).collect();
    let result = state.sync_result.get_or_insert_with(SyncOperationResult::default);
    // A way back may lead to a time when the application had one source, or several.
    let is_multiple = match &sync.source {
        Some(_) => !sync.sources.is_empty(),
        None => !sync.sources.is_empty() || application.spec.has_multiple_sources(),
    };
    if is_multiple {
        result.revisions = commits;
        result.sources =
            if sync.sources.is_empty() { application.spec.sources.clone() } else { sync.sources.clone() };
    } else {
        result.revision = commits.into_iter().next().unwrap_or_default();
        result.source = sync
            .source
            .clone()
            .or_else(|| application.spec.all_sources().into_iter().next())
            .unwrap_or_default();
    }
    result.managed_namespace_metadata =
        application.spec.sync_policy.as_ref().and_then(|policy| policy.managed_namespace_metadata.clone());
}

fn write_ledger(application: &Application, state: &mut OperationState, run: &Run) {
    let result = state.sync_result.get_or_insert_with(SyncOperationResult::default);
    let status = &application.status;
    result.resources = recorded(ledger::write(run.ledger()), &status.resources, &status.history);
}

/// The end of a sync that does not want to touch what belongs to another application.
fn shared(application: &Application, sync: &SyncOperation, look: &Look) -> Option<Outcome> {
    if !sync_options(application, sync).has(options::sync::FAIL_ON_SHARED_RESOURCE) {
        return None;
    }
    let is_shared =
        |condition: &&Condition| condition.kind == ApplicationConditionType::SharedResourceWarning;
    let found = look.conditions.iter().find(is_shared)?;
    let message = format!("Shared resource found: {}", found.message);
    Some(Outcome { phase: OperationPhase::Failed, message })
}

/// The options of the operation; one that names none follows the application's policy.
fn sync_options(application: &Application, sync: &SyncOperation) -> Options {
    let own = &sync.sync_options;
    let policy = application
        .spec
        .sync_policy
        .as_ref()
        .map(|policy| policy.sync_options.as_slice())
        .unwrap_or_default();
    Options::parse(&if own.is_empty() { policy } else { own }.join(","))
}

fn settings(application: &Application, sync: &SyncOperation) -> Settings {
    let chosen = sync_options(application, sync);
    let strategy = sync.sync_strategy.as_ref();
    let apply = strategy.and_then(|strategy| strategy.apply.as_ref());
    let hook = strategy.and_then(|strategy| strategy.hook.as_ref());
    let default = Settings::default();
    Settings {
        dry_run: sync.dry_run,
        prune: sync.prune,
        force: apply.is_some_and(|apply| apply.force) || hook.is_some_and(|hook| hook.force),
        skip_hooks: apply.is_some() || !sync.resources.is_empty(),
        validate: !chosen.has(options::sync::DISABLE_VALIDATION),
        prune_last: chosen.has(options::sync::PRUNE_LAST),
        apply_out_of_sync_only: chosen.has(options::sync::APPLY_OUT_OF_SYNC_ONLY),
        replace: chosen.has(options::sync::REPLACE),
        server_side_apply: chosen.has(options::sync::SERVER_SIDE_APPLY),
        migrate_from: Some(migrated_manager(application))
            .filter(|_| !chosen.has(options::sync::DISABLE_CLIENT_SIDE_APPLY_MIGRATION)),
        propagation: match chosen.value(options::sync::PRUNE_PROPAGATION_POLICY) {
            Some("background") => Propagation::Background,
            Some("orphan") => Propagation::Orphan,
            _ => Propagation::Foreground,
        },
        prune_option: chosen.value(options::sync::PRUNE).map(Str::from),
        skip_dry_run_on_missing_resource: chosen.has(options::sync::SKIP_DRY_RUN_ON_MISSING_RESOURCE),
        ..default
    }
}

/// The manager whose fields move over to server-side apply.
fn migrated_manager(application: &Application) -> Str {
    let named = application.metadata.annotations.get(annotations::CLIENT_SIDE_APPLY_MIGRATION_MANAGER);
    named.filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| CLIENT_SIDE_MANAGER.into())
}

/// Whether an object is among those that the operation is about.
fn selected(sync: &SyncOperation, key: &ObjectKey) -> bool {
    sync.resources.is_empty()
        || sync.resources.iter().any(|wanted| {
            wanted.group == key.group
                && wanted.kind == key.kind
                && wanted.name == key.name
                && (wanted.namespace.is_empty() || wanted.namespace == key.namespace)
        })
}

/// Adds a successful sync of everything to the history.
fn record_history(application: &mut Application, state: &OperationState, now: Timestamp) {
    let Some(sync) = &state.operation.sync else { return };
    let whole = sync.resources.is_empty() && sync.manifests.is_empty() && !sync.dry_run;
    let (true, Some(result)) = (whole && state.phase == OperationPhase::Succeeded, &state.sync_result) else {
        return;
    };
    let history = &mut application.status.history;
    let id = history.last().map_or(0, |last| last.id + 1);
    history.push(RevisionHistory {
        id,
        revision: result.revision.clone(),
        revisions: result.revisions.clone(),
        source: result.source.clone(),
        sources: result.sources.clone(),
        deployed_at: Some(now.into()),
        deploy_started_at: state.started_at,
        initiated_by: state.operation.initiated_by.clone(),
        ..RevisionHistory::default()
    });
    let limit = application.spec.revision_history_limit.unwrap_or(HISTORY).max(0);
    let extra = history.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    history.drain(..extra);
    application.status.history = remembered(std::mem::take(history));
}

fn failed(message: impl Into<String>) -> Outcome {
    Outcome { phase: OperationPhase::Error, message: message.into() }
}
