//! How an application and its resources are.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lynceus_api::{
    AppHealthStatus, Application, HealthStatus, HealthStatusCode, Kind as _, ResourceStatus, SyncStatusCode,
    annotations, hook, options, wave,
};
use lynceus_diff::{Change, ChangeSet, Verdict, Why};
use lynceus_health::{Customizations, Health, World};
use lynceus_object::{GroupKind, Object};
use lynceus_sync::deletion::needs_confirmation;

use crate::key::application_kind;

/// What was found about an application's resources, and what follows for the application.
#[derive(Clone, Debug)]
pub struct Assessment {
    /// One line per resource, in the order of kinds and names.
    pub resources: Vec<ResourceStatus>,
    /// How the application is.
    pub health: AppHealthStatus,
    /// Whether it is as Git wants it.
    pub sync: SyncStatusCode,
}

/// Nothing is known.
impl Default for Assessment {
    fn default() -> Self {
        Assessment {
            resources: Vec::new(),
            health: AppHealthStatus::default(),
            sync: SyncStatusCode::Unknown,
        }
    }
}

impl Assessment {
    /// Takes back whether those resources are as Git wants them of which nothing can be said.
    pub(crate) fn forget(&mut self, is_dark: impl Fn(&GroupKind, &str) -> bool) {
        for resource in &mut self.resources {
            if is_dark(&GroupKind::new(resource.group.clone(), resource.kind.clone()), &resource.name) {
                resource.status = SyncStatusCode::Unknown.into();
            }
        }
    }
}

/// How long one script may take. Argo CD gives it as long.
const SCRIPT_TIME: Duration = Duration::from_secs(1);

/// What healths are judged by.
#[derive(Clone, Default)]
pub struct Checks {
    /// The users' own checks.
    pub custom: Arc<Customizations>,
    /// Whether a child Application counts with its own health; beside an Argo CD it does not.
    pub children: bool,
    /// The time, which scripts may ask for.
    pub now: Timestamp,
}

impl Checks {
    /// What a script sees of the world, with the time that it is given from now on.
    pub(crate) fn world(&self) -> World {
        let end = Instant::now() + SCRIPT_TIME;
        World { now: self.now, stop: Some(Arc::new(move || Instant::now() >= end)) }
    }
}

/// Assesses an application from a comparison.
pub(crate) fn assess(application: &Application, changes: &ChangeSet, checks: &Checks) -> Assessment {
    let mut worst = HealthStatusCode::Healthy;
    let mut sync = SyncStatusCode::Synced;
    let mut resources = Vec::with_capacity(changes.changes.len());
    let policy = application.sync_options();
    for change in &changes.changes {
        let Some(resource) = resource(change) else { continue };
        // An extra object that asks for it is itself OutOfSync, and no reason to call the application so.
        if resource.status == SyncStatusCode::OutOfSync && !matches!(change.verdict, Verdict::Ignored(_)) {
            sync = SyncStatusCode::OutOfSync;
        }
        let health = if counts(application, change) { health_of(change.pair.live(), checks) } else { None };
        if let Some(health) = &health
            && bears_on(change, health.status)
            && health.counts_as.is_worse(worst)
        {
            worst = health.counts_as;
        }
        let mut sides = change.pair.desired().into_iter().chain(change.pair.live());
        let requires_deletion_confirmation = sides.any(|object| needs_confirmation(object, &policy));
        resources.push(ResourceStatus {
            health: health.map(wire),
            requires_deletion_confirmation,
            ..resource
        });
    }
    resources.sort_by(|a, b| {
        (&a.group, &a.kind, &a.namespace, &a.name).cmp(&(&b.group, &b.kind, &b.namespace, &b.name))
    });
    let health = AppHealthStatus { status: worst.into(), ..AppHealthStatus::default() };
    Assessment { resources, health, sync }
}

/// The health of a live object, or of a desired one that is not there.
pub fn health_of(live: Option<&Object>, checks: &Checks) -> Option<Health> {
    let Some(live) = live else { return Some(missing()) };
    if checks.custom.has_check(live) {
        return checks.custom.assess(live, &checks.world());
    }
    if live.group_kind() == application_kind() {
        return checks.children.then(|| child(live)).flatten();
    }
    lynceus_health::assess(live)
}

/// A child application is as its own status says. A status that is older than its last change says nothing yet.
fn child(object: &Object) -> Option<Health> {
    let application = Application::from_object(object).ok()?;
    let status = application.status.health.status.known().unwrap_or(HealthStatusCode::Progressing);
    let running = application.operation.is_some()
        || application
            .status
            .operation_state
            .as_ref()
            .is_some_and(|state| state.phase.known().is_some_and(|phase| !phase.is_completed()));
    let settled = application.status.sync.status == SyncStatusCode::Synced && !running;
    let status =
        if status == HealthStatusCode::Healthy && !settled { HealthStatusCode::Progressing } else { status };
    let message = application.status.health.message.to_string();
    Some(Health { status, message, counts_as: status })
}

fn missing() -> Health {
    Health { status: HealthStatusCode::Missing, message: String::new(), counts_as: HealthStatusCode::Missing }
}

fn wire(health: Health) -> HealthStatus {
    HealthStatus { status: health.status.into(), message: health.message.into(), ..HealthStatus::default() }
}

/// Whether a resource counts towards the application's health at all.
fn counts(application: &Application, change: &Change) -> bool {
    let Some(object) = change.pair.live().or(change.pair.desired()) else { return false };
    let itself = object.group_kind() == application_kind()
        && object.name() == application.metadata.name
        && object.namespace() == application.metadata.namespace;
    let ignored = object.annotation(annotations::IGNORE_HEALTHCHECK) == Some("true")
        || lynceus_api::Options::compare(object).has(options::compare::IGNORE_EXTRANEOUS);
    let desired_is_skipped = change.pair.desired().is_some_and(hook::is_skipped);
    !itself && !ignored && !hook::is_hook(object) && !desired_is_skipped
}

/// A child application that is missing or cannot say how it is does not make its parent so.
fn bears_on(change: &Change, status: HealthStatusCode) -> bool {
    let key = change.key();
    key.group_kind() != application_kind()
        || !matches!(status, HealthStatusCode::Missing | HealthStatusCode::Unknown)
}

/// The line of a resource, without its health.
fn resource(change: &Change) -> Option<ResourceStatus> {
    let object = change.pair.live().or(change.pair.desired())?;
    let key = object.key();
    let is_hook = hook::is_hook(object);
    let status = match &change.verdict {
        // Nothing is stored of what is left out, or of what carries a mark that was copied onto it.
        _ if is_hook => None,
        Verdict::Ignored(Why::Skipped | Why::Copied) => None,
        Verdict::Same | Verdict::Ignored(Why::Hook) => Some(SyncStatusCode::Synced),
        Verdict::Create | Verdict::Update(_) | Verdict::Prune | Verdict::Ignored(Why::Extraneous) => {
            Some(SyncStatusCode::OutOfSync)
        }
        Verdict::Failed(_) => Some(SyncStatusCode::Unknown),
    };
    Some(ResourceStatus {
        group: key.group,
        version: object.gvk().version,
        kind: key.kind,
        namespace: key.namespace,
        name: key.name,
        status: status.map(Into::into).unwrap_or_default(),
        hook: is_hook,
        requires_pruning: matches!(
            change.verdict,
            Verdict::Prune | Verdict::Ignored(Why::Extraneous | Why::Hook)
        ),
        sync_wave: wave(change.pair.desired().unwrap_or(object)),
        ..ResourceStatus::default()
    })
}
