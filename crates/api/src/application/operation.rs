//! A sync that is asked for, and what became of it.

use lynceus_object::Str;

use super::policy::{ManagedNamespaceMetadata, RetryStrategy, SyncStrategy};
use super::source::ApplicationSource;
use super::spec::Info;
use crate::codes::{OperationPhase, ResultCode, SyncPhase};
use crate::hook::HookType;
use crate::scalar::Time;
use crate::wire::wire;
use crate::word::Open;

wire! {
    /// Something that is asked for.
    pub struct Operation {
        /// A sync.
        optional sync: Option<SyncOperation> = "sync",
        /// Who asked.
        always initiated_by: OperationInitiator = "initiatedBy",
        /// Notes for people.
        optional info: Vec<Info> = "info",
        /// What happens after a failure.
        always retry: RetryStrategy = "retry",
    }
}

wire! {
    /// Who asked for an operation.
    pub struct OperationInitiator {
        /// The user.
        optional username: Str = "username",
        /// Whether it was the automated sync policy.
        optional automated: bool = "automated",
    }
}

wire! {
    /// A sync that is asked for.
    pub struct SyncOperation {
        /// The revision; the application's target revision if empty.
        optional revision: Str = "revision",
        /// Whether objects that left the source are deleted.
        optional prune: bool = "prune",
        /// Whether nothing is really changed.
        optional dry_run: bool = "dryRun",
        /// How objects are applied.
        optional sync_strategy: Option<SyncStrategy> = "syncStrategy",
        /// The objects to sync; all if empty.
        optional resources: Vec<SyncOperationResource> = "resources",
        /// A source instead of the application's own, as a rollback has it.
        optional source: Option<ApplicationSource> = "source",
        /// Manifests instead of any source, as JSON or YAML.
        optional manifests: Vec<Str> = "manifests",
        /// Options for all objects.
        optional sync_options: Vec<Str> = "syncOptions",
        /// Sources instead of the application's own.
        optional sources: Vec<ApplicationSource> = "sources",
        /// A revision for each source.
        optional revisions: Vec<Str> = "revisions",
        /// How often self-heal has tried this revision.
        optional auto_heal_attempts_count: i64 = "autoHealAttemptsCount",
    }
}

wire! {
    /// An object to sync.
    pub struct SyncOperationResource {
        /// Its API group.
        optional group: Str = "group",
        /// Its kind.
        required kind: Str = "kind",
        /// Its name.
        required name: Str = "name",
        /// Its namespace.
        optional namespace: Str = "namespace",
    }
}

wire! {
    /// An operation that runs or ran last.
    pub struct OperationState {
        /// What was asked for.
        required operation: Operation = "operation",
        /// How far it has come.
        required phase: Open<OperationPhase> = "phase",
        /// What it waits for, or ended with.
        optional message: Str = "message",
        /// What it did.
        optional sync_result: Option<SyncOperationResult> = "syncResult",
        /// When it began.
        required started_at: Option<Time> = "startedAt",
        /// When it ended, or the attempt that will be repeated did.
        optional finished_at: Option<Time> = "finishedAt",
        /// How often it was repeated.
        optional retry_count: i64 = "retryCount",
    }
}

wire! {
    /// What a sync did.
    pub struct SyncOperationResult {
        /// What it did with each object.
        optional resources: Vec<ResourceResult> = "resources",
        /// The revision.
        required revision: Str = "revision",
        /// The source.
        always source: ApplicationSource = "source",
        /// The sources, when there are several.
        optional sources: Vec<ApplicationSource> = "sources",
        /// The revision of each source.
        optional revisions: Vec<Str> = "revisions",
        /// What it put on the namespace.
        optional managed_namespace_metadata: Option<ManagedNamespaceMetadata> = "managedNamespaceMetadata",
    }
}

wire! {
    /// What a sync did with one object.
    pub struct ResourceResult {
        /// Its API group.
        required group: Str = "group",
        /// Its API version.
        required version: Str = "version",
        /// Its kind.
        required kind: Str = "kind",
        /// Its namespace.
        required namespace: Str = "namespace",
        /// Its name.
        required name: Str = "name",
        /// The result; empty for a hook that is not applied yet.
        optional status: Open<ResultCode> = "status",
        /// What the API server or the hook said.
        optional message: Str = "message",
        /// The type of a hook.
        optional hook_type: Open<HookType> = "hookType",
        /// How far the object or hook has come.
        optional hook_phase: Open<OperationPhase> = "hookPhase",
        /// The part of the sync that it belongs to.
        optional sync_phase: Open<SyncPhase> = "syncPhase",
        /// The container images that it names.
        optional images: Vec<Str> = "images",
    }
}
