//! What was found about an application.

use lynceus_object::Str;

use super::hydrator::SourceHydratorStatus;
use super::operation::{OperationInitiator, OperationState};
use super::source::ApplicationSource;
use super::spec::{ApplicationDestination, ResourceIgnoreDifferences};
use crate::codes::{
    ApplicationConditionType, ApplicationSourceType, HealthStatusCode, ResourceHealthLocation, SyncStatusCode,
};
use crate::scalar::Time;
use crate::wire::wire;
use crate::word::Open;

wire! {
    /// What was found about an application.
    pub struct ApplicationStatus {
        /// The objects that it manages.
        optional resources: Vec<ResourceStatus> = "resources",
        /// Whether they are as wanted.
        always sync: SyncStatus = "sync",
        /// How they are doing.
        always health: AppHealthStatus = "health",
        /// What was deployed before.
        optional history: Vec<RevisionHistory> = "history",
        /// What is wrong or worth knowing.
        optional conditions: Vec<ApplicationCondition> = "conditions",
        /// When desired and live state were last compared with fresh manifests.
        optional reconciled_at: Option<Time> = "reconciledAt",
        /// The sync that runs or ran last.
        optional operation_state: Option<OperationState> = "operationState",
        /// No longer set.
        optional observed_at: Option<Time> = "observedAt",
        /// The tool that renders the source.
        optional source_type: Open<ApplicationSourceType> = "sourceType",
        /// Links and images of its objects.
        always summary: ApplicationSummary = "summary",
        /// Where the health of single objects is kept.
        optional resource_health_source: Open<ResourceHealthLocation> = "resourceHealthSource",
        /// The tool that renders each source.
        optional source_types: Vec<Open<ApplicationSourceType>> = "sourceTypes",
        /// The namespace of the controller that looks after it.
        optional controller_namespace: Str = "controllerNamespace",
        /// How hydration is doing.
        always source_hydrator: SourceHydratorStatus = "sourceHydrator",
    }
}

wire! {
    /// Whether the live state is the desired one.
    pub struct SyncStatus {
        /// The verdict.
        required status: Open<SyncStatusCode> = "status",
        /// What was compared with.
        always compared_to: ComparedTo = "comparedTo",
        /// The revision that was compared with.
        optional revision: Str = "revision",
        /// The revision of each source.
        optional revisions: Vec<Str> = "revisions",
    }
}

wire! {
    /// The part of the spec that a comparison was made for.
    pub struct ComparedTo {
        /// The source.
        always source: ApplicationSource = "source",
        /// The destination.
        required destination: ApplicationDestination = "destination",
        /// The sources, when there are several.
        optional sources: Vec<ApplicationSource> = "sources",
        /// What was left out.
        optional ignore_differences: Vec<ResourceIgnoreDifferences> = "ignoreDifferences",
    }
}

wire! {
    /// How an application is doing.
    pub struct AppHealthStatus {
        /// The verdict.
        optional status: Open<HealthStatusCode> = "status",
        /// No longer set.
        optional message: Str = "message",
        /// When the verdict changed.
        optional last_transition_time: Option<Time> = "lastTransitionTime",
    }
}

wire! {
    /// How an object is doing.
    pub struct HealthStatus {
        /// The verdict.
        optional status: Open<HealthStatusCode> = "status",
        /// Why.
        optional message: Str = "message",
        /// When the verdict changed.
        optional last_transition_time: Option<Time> = "lastTransitionTime",
    }
}

wire! {
    /// Something that is wrong or worth knowing.
    pub struct ApplicationCondition {
        /// What sort of thing.
        required type_: Open<ApplicationConditionType> = "type",
        /// The thing.
        required message: Str = "message",
        /// When it came up.
        optional last_transition_time: Option<Time> = "lastTransitionTime",
    }
}

wire! {
    /// A deployment of the past.
    pub struct RevisionHistory {
        /// The revision.
        optional revision: Str = "revision",
        /// When it was done.
        required deployed_at: Option<Time> = "deployedAt",
        /// Its number, for a rollback.
        required id: i64 = "id",
        /// The source.
        always source: ApplicationSource = "source",
        /// When it began.
        optional deploy_started_at: Option<Time> = "deployStartedAt",
        /// The sources, when there are several.
        optional sources: Vec<ApplicationSource> = "sources",
        /// The revision of each source.
        optional revisions: Vec<Str> = "revisions",
        /// Who asked for it.
        always initiated_by: OperationInitiator = "initiatedBy",
    }
}

wire! {
    /// Links and images of an application's objects.
    pub struct ApplicationSummary {
        /// Addresses of its ingresses and services.
        optional external_urls: Vec<Str> = "externalURLs",
        /// The images that its pods run.
        optional images: Vec<Str> = "images",
        /// Whether it has applications among its objects.
        optional is_app_of_apps: bool = "isAppOfApps",
    }
}

wire! {
    /// An object that an application manages.
    pub struct ResourceStatus {
        /// Its API group.
        optional group: Str = "group",
        /// Its API version.
        optional version: Str = "version",
        /// Its kind.
        optional kind: Str = "kind",
        /// Its namespace.
        optional namespace: Str = "namespace",
        /// Its name.
        optional name: Str = "name",
        /// Whether it is as wanted.
        optional status: Open<SyncStatusCode> = "status",
        /// How it is doing.
        optional health: Option<HealthStatus> = "health",
        /// Whether it is a hook.
        optional hook: bool = "hook",
        /// Whether it is no longer in the source.
        optional requires_pruning: bool = "requiresPruning",
        /// The wave in which it is applied.
        optional sync_wave: i64 = "syncWave",
        /// Whether somebody has to confirm its deletion.
        optional requires_deletion_confirmation: bool = "requiresDeletionConfirmation",
    }
}
