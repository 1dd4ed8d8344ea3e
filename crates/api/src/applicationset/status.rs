//! What was found about an ApplicationSet.

use lynceus_object::Str;

use crate::application::{HealthStatus, ResourceStatus};
use crate::codes::{ApplicationSetConditionType, ConditionStatus, ProgressiveSyncStatusCode};
use crate::scalar::Time;
use crate::wire::wire;
use crate::word::Open;

wire! {
    /// What was found about an ApplicationSet.
    pub struct ApplicationSetStatus {
        /// How it is doing.
        optional conditions: Vec<ApplicationSetCondition> = "conditions",
        /// Where each application stands in a progressive sync.
        optional application_status: Vec<ApplicationSetApplicationStatus> = "applicationStatus",
        /// The applications.
        optional resources: Vec<ResourceStatus> = "resources",
        /// How many there are.
        optional resources_count: i64 = "resourcesCount",
        /// How they are doing together.
        always health: HealthStatus = "health",
    }
}

wire! {
    /// How one aspect is doing.
    pub struct ApplicationSetCondition {
        /// The aspect.
        required type_: Open<ApplicationSetConditionType> = "type",
        /// What is to be said about it.
        required message: Str = "message",
        /// When it changed.
        optional last_transition_time: Option<Time> = "lastTransitionTime",
        /// Whether it holds.
        required status: Open<ConditionStatus> = "status",
        /// Why, in one word.
        required reason: Str = "reason",
    }
}

wire! {
    /// Where an application stands in a progressive sync.
    pub struct ApplicationSetApplicationStatus {
        /// The application.
        required application: Str = "application",
        /// When it changed.
        optional last_transition_time: Option<Time> = "lastTransitionTime",
        /// What is to be said about it.
        required message: Str = "message",
        /// The verdict.
        required status: Open<ProgressiveSyncStatusCode> = "status",
        /// Its step, counted from 1.
        required step: Str = "step",
        /// The revisions that it is to have.
        required target_revisions: Vec<Str> = "targetRevisions",
    }
}
