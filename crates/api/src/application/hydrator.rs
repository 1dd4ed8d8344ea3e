//! Manifests that are rendered into a branch before they are synced.

use lynceus_object::Str;

use super::helm::ApplicationSourceHelm;
use super::kustomize::ApplicationSourceKustomize;
use super::source::{ApplicationSourceDirectory, ApplicationSourcePlugin};
use crate::codes::HydrateOperationPhase;
use crate::scalar::Time;
use crate::wire::wire;
use crate::word::Open;

wire! {
    /// From where manifests are rendered, and the branch that they are synced from.
    pub struct SourceHydrator {
        /// What is rendered.
        required dry_source: DrySource = "drySource",
        /// The branch that is synced.
        required sync_source: SyncSource = "syncSource",
        /// A branch to render into first, from where somebody moves it on.
        optional hydrate_to: Option<HydrateTo> = "hydrateTo",
    }
}

wire! {
    /// What is rendered.
    pub struct DrySource {
        /// The Git repository.
        required repo_url: Str = "repoURL",
        /// The branch, tag or commit.
        required target_revision: Str = "targetRevision",
        /// The directory.
        required path: Str = "path",
        /// How to render a Helm chart.
        optional helm: Option<ApplicationSourceHelm> = "helm",
        /// How to build a kustomization.
        optional kustomize: Option<ApplicationSourceKustomize> = "kustomize",
        /// How to read plain manifests.
        optional directory: Option<ApplicationSourceDirectory> = "directory",
        /// Which plugin renders the manifests.
        optional plugin: Option<ApplicationSourcePlugin> = "plugin",
    }
}

wire! {
    /// The branch with rendered manifests.
    pub struct SyncSource {
        /// The branch.
        required target_branch: Str = "targetBranch",
        /// The directory in it; never its root.
        required path: Str = "path" => {"minLength": 1, "pattern": "^.{2,}|[^./]$"},
        /// The repository, if it is another one.
        optional repo_url: Str = "repoURL",
    }
}

wire! {
    /// A branch to render into first.
    pub struct HydrateTo {
        /// The branch.
        required target_branch: Str = "targetBranch",
    }
}

wire! {
    /// How hydration is doing.
    pub struct SourceHydratorStatus {
        /// The last one that succeeded.
        optional last_successful_operation: Option<SuccessfulHydrateOperation> = "lastSuccessfulOperation",
        /// The one that runs or ran last.
        optional current_operation: Option<HydrateOperation> = "currentOperation",
        /// The unrendered revision that was looked at last.
        optional last_compared_dry_revision: Str = "lastComparedDryRevision",
    }
}

wire! {
    /// One hydration.
    pub struct HydrateOperation {
        /// When it began.
        always started_at: Option<Time> = "startedAt",
        /// When it ended.
        optional finished_at: Option<Time> = "finishedAt",
        /// How far it has come.
        required phase: Open<HydrateOperationPhase> = "phase",
        /// What went wrong.
        required message: Str = "message",
        /// The commit that is rendered.
        optional dry_sha: Str = "drySHA",
        /// The commit with the result.
        optional hydrated_sha: Str = "hydratedSHA",
        /// What it was told to do.
        always source_hydrator: SourceHydrator = "sourceHydrator",
    }
}

wire! {
    /// A hydration that succeeded.
    pub struct SuccessfulHydrateOperation {
        /// The commit that was rendered.
        optional dry_sha: Str = "drySHA",
        /// The commit with the result.
        optional hydrated_sha: Str = "hydratedSHA",
        /// What it was told to do.
        always source_hydrator: SourceHydrator = "sourceHydrator",
    }
}
