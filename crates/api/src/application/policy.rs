//! When and how an application is synced.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::wire::wire;

wire! {
    /// When and how an application is synced.
    pub struct SyncPolicy {
        /// Sync without being asked.
        optional automated: Option<SyncPolicyAutomated> = "automated",
        /// Options for all objects.
        optional sync_options: Vec<Str> = "syncOptions",
        /// What happens after a failure.
        optional retry: Option<RetryStrategy> = "retry",
        /// Labels and annotations for a namespace that the sync creates.
        optional managed_namespace_metadata: Option<ManagedNamespaceMetadata> = "managedNamespaceMetadata",
    }
}

wire! {
    /// Sync without being asked.
    pub struct SyncPolicyAutomated {
        /// Whether objects that left the source are deleted.
        optional prune: Option<bool> = "prune",
        /// Whether changes in the cluster are undone.
        optional self_heal: Option<bool> = "selfHeal",
        /// Whether the source may have no object at all.
        optional allow_empty: Option<bool> = "allowEmpty",
        /// Whether any of this is on; on if not set.
        optional enabled: Option<bool> = "enabled",
    }
}

wire! {
    /// Labels and annotations for a namespace that the sync creates.
    pub struct ManagedNamespaceMetadata {
        /// The labels.
        optional labels: BTreeMap<Str, Str> = "labels",
        /// The annotations.
        optional annotations: BTreeMap<Str, Str> = "annotations",
    }
}

wire! {
    /// What happens after a failed sync.
    pub struct RetryStrategy {
        /// How often it is repeated; without end if negative.
        optional limit: i64 = "limit",
        /// How long to wait between attempts.
        optional backoff: Option<Backoff> = "backoff",
        /// Whether each attempt takes the newest revision.
        optional refresh: bool = "refresh",
    }
}

wire! {
    /// A wait that grows.
    pub struct Backoff {
        /// The first wait, such as `5s`.
        optional duration: Str = "duration",
        /// What each wait is multiplied by.
        optional factor: Option<i64> = "factor",
        /// The longest wait.
        optional max_duration: Str = "maxDuration",
    }
}

wire! {
    /// How objects are applied.
    pub struct SyncStrategy {
        /// Without hooks.
        optional apply: Option<SyncStrategyApply> = "apply",
        /// With hooks, which is the default.
        optional hook: Option<SyncStrategyHook> = "hook",
    }
}

wire! {
    /// Apply without hooks.
    pub struct SyncStrategyApply {
        /// Whether an object that cannot be changed is deleted and made again.
        optional force: bool = "force",
    }
}

wire! {
    /// Apply with hooks.
    pub struct SyncStrategyHook {
        /// Whether an object that cannot be changed is deleted and made again.
        optional force: bool = "force",
    }
}
