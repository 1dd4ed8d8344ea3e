//! From a look to the Application's status.

use jiff::Timestamp;
use lynceus_api::{
    Application, ApplicationConditionType as Kind, ApplicationStatus, ComparedTo, HealthStatusCode,
    ResourceHealthLocation, SyncStatus, SyncStatusCode,
};
use lynceus_object::Str;

use crate::condition::merge;
use crate::look::Look;
use crate::weight::listed;

/// The conditions that a look can find: those of these types that it did not find are no longer so.
const LOOKED_FOR: [Kind; 8] = [
    Kind::UnknownError,
    Kind::OrphanedResourceWarning,
    Kind::InvalidSpecError,
    Kind::ComparisonError,
    Kind::SharedResourceWarning,
    Kind::RepeatedResourceWarning,
    Kind::ExcludedResourceWarning,
    Kind::ManifestWarning,
];

/// The status of an application after a look.
pub(crate) fn report(
    application: &Application,
    look: &Look,
    home: &str,
    now: Timestamp,
) -> ApplicationStatus {
    let mut status = application.status.clone();
    status.conditions = merge(&status.conditions, &look.conditions, &LOOKED_FOR, now);
    status.controller_namespace = home.into();
    status.reconciled_at = Some(now.into());
    status.sync = sync_status(application, look);
    if look.compared {
        status.resources =
            listed(if look.keeps_health { look.assessment.resources.clone() } else { without_health(look) });
        status.resource_health_source =
            if look.keeps_health { Default::default() } else { ResourceHealthLocation::AppTree.into() };
        let mut health = look.assessment.health.clone();
        if look.errors().next().is_some() && health.status == HealthStatusCode::Missing {
            health.status = HealthStatusCode::Unknown.into();
        }
        health.last_transition_time = if health.status == status.health.status {
            status.health.last_transition_time
        } else {
            Some(now.into())
        };
        status.health = health;
        let types: Vec<_> = look
            .sourced
            .iter()
            .map(|one| lynceus_api::ApplicationSourceType::from(one.rendered.source_type).into())
            .collect();
        if application.spec.has_multiple_sources() {
            status.source_types = types;
        } else if let Some(first) = types.into_iter().next() {
            status.source_type = first;
        }
        status.summary.images = images(look);
        status.summary.is_app_of_apps =
            look.desired.objects.iter().any(|object| object.group_kind() == crate::key::application_kind());
    } else if look
        .conditions
        .iter()
        .any(|condition| matches!(condition.kind, Kind::InvalidSpecError | Kind::UnknownError))
    {
        status.resources = Vec::new();
        set_unknown(&mut status, now);
    } else {
        // Its resources stay as they were last seen, and are not said to be missing; but whether they are as Git wants
        // them nobody knows.
        for resource in status.resources.iter_mut().filter(|resource| !resource.status.as_str().is_empty()) {
            resource.status = SyncStatusCode::Unknown.into();
        }
        if look.away || status.health.status.as_str().is_empty() {
            // Nothing is known of an application that could not be compared even once, nor of one whose cluster is away.
            set_unknown(&mut status, now);
        }
    }
    // A look that found what the last one found is not worth a write, unless it is the first after an operation: clients
    // wait for that one.
    let finished = status.operation_state.as_ref().and_then(|state| state.finished_at);
    let seen = application.status.reconciled_at >= finished;
    if seen
        && (ApplicationStatus { reconciled_at: application.status.reconciled_at, ..status.clone() })
            == application.status
    {
        return application.status.clone();
    }
    status
}

fn set_unknown(status: &mut ApplicationStatus, now: Timestamp) {
    if status.health.status != HealthStatusCode::Unknown {
        status.health.status = HealthStatusCode::Unknown.into();
        status.health.last_transition_time = Some(now.into());
    }
}

fn sync_status(application: &Application, look: &Look) -> SyncStatus {
    let spec = &application.spec;
    let code = if look.errors().next().is_some() { SyncStatusCode::Unknown } else { look.assessment.sync };
    let mut sync = SyncStatus { status: code.into(), ..SyncStatus::default() };
    sync.compared_to = ComparedTo {
        destination: spec.destination.clone(),
        ignore_differences: spec.ignore_differences.clone(),
        ..ComparedTo::default()
    };
    let revisions: Vec<Str> = look.sourced.iter().map(|one| one.revision.clone()).collect();
    if spec.has_multiple_sources() {
        sync.compared_to.sources = spec.sources.clone();
        sync.revisions = revisions;
    } else {
        sync.compared_to.source = spec.all_sources().into_iter().next().unwrap_or_default();
        // A look that did not get as far keeps the last revision that was seen.
        sync.revision =
            revisions.into_iter().next().unwrap_or_else(|| application.status.sync.revision.clone());
    }
    sync
}

/// Argo CD keeps the resources' health in its tree and not on the Application; so do we.
fn without_health(look: &Look) -> Vec<lynceus_api::ResourceStatus> {
    look.assessment
        .resources
        .iter()
        .map(|resource| lynceus_api::ResourceStatus { health: None, ..resource.clone() })
        .collect()
}

/// The images that run, in order, each once.
fn images(look: &Look) -> Vec<Str> {
    let mut images: Vec<Str> = look
        .changes
        .changes
        .iter()
        .filter_map(|change| change.pair.live())
        .flat_map(lynceus_sync::images)
        .collect();
    images.sort();
    images.dedup();
    images
}
