//! Annotation keys that carry meaning for a delivery.

/// Which application an object belongs to: `app:group/kind:namespace/name`.
pub const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";
/// Which installation wrote the tracking id, where several share a cluster.
pub const INSTALLATION_ID: &str = "argocd.argoproj.io/installation-id";
/// Comma-separated options for the sync of one object.
pub const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
/// The wave in which an object is applied.
pub const SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";
/// Comma-separated hook types of an object.
pub const HOOK: &str = "argocd.argoproj.io/hook";
/// Comma-separated policies that say when a hook is deleted.
pub const HOOK_DELETE_POLICY: &str = "argocd.argoproj.io/hook-delete-policy";
/// Comma-separated options for the comparison of one object.
pub const COMPARE_OPTIONS: &str = "argocd.argoproj.io/compare-options";
/// Set on an application that waits for confirmation before it prunes or deletes.
pub const DELETION_APPROVED: &str = "argocd.argoproj.io/deletion-approved";
/// Makes a pod with `restartPolicy: Never` or `OnFailure` count as long-running for health.
pub const IGNORE_RESTART_POLICY: &str = "argocd.argoproj.io/ignore-restart-policy";
/// Leaves an object out of its application's health.
pub const IGNORE_HEALTHCHECK: &str = "argocd.argoproj.io/ignore-healthcheck";
/// Leaves changes of an object out of what starts a reconciliation.
pub const IGNORE_RESOURCE_UPDATES: &str = "argocd.argoproj.io/ignore-resource-updates";
/// Asks for a refresh of an application: `normal` or `hard`.
pub const REFRESH: &str = "argocd.argoproj.io/refresh";
/// When the refresh was asked for.
pub const REFRESH_TIMESTAMP: &str = "argocd.argoproj.io/refresh-timestamp";
/// Asks for a hydration of an application: `normal` or `hard`.
pub const HYDRATE: &str = "argocd.argoproj.io/hydrate";
/// When the hydration was asked for.
pub const HYDRATE_TIMESTAMP: &str = "argocd.argoproj.io/hydrate-timestamp";
/// Paths, separated by `;`, whose changes matter to an application.
pub const MANIFEST_GENERATE_PATHS: &str = "argocd.argoproj.io/manifest-generate-paths";
/// The address of the installation that manages an application.
pub const MANAGED_BY_URL: &str = "argocd.argoproj.io/managed-by-url";
/// Stops the reconciliation of an application or cluster when `true`.
pub const SKIP_RECONCILE: &str = "argocd.argoproj.io/skip-reconcile";
/// Turns off the links that are made from ingresses and services.
pub const IGNORE_DEFAULT_LINKS: &str = "argocd.argoproj.io/ignore-default-links";
/// Starts the key of an annotation that adds a link to an object.
pub const LINK_PREFIX: &str = "link.argocd.argoproj.io/";
/// The field manager whose fields move over to server-side apply.
pub const CLIENT_SIDE_APPLY_MIGRATION_MANAGER: &str =
    "argocd.argoproj.io/client-side-apply-migration-manager";
/// How long a sync of an application may take, as a duration: ours, because Argo CD knows only one time for all.
pub const SYNC_TIMEOUT: &str = "lynceus.dev/sync-timeout";
/// Asks for a refresh of an ApplicationSet.
pub const APPLICATION_SET_REFRESH: &str = "argocd.argoproj.io/application-set-refresh";
/// Marks a Secret or ConfigMap that Argo CD manages.
pub const MANAGED_BY: &str = "managed-by";
/// The value of [`MANAGED_BY`].
pub const MANAGED_BY_ARGOCD: &str = "argocd.argoproj.io";

/// Helm's hook types.
pub const HELM_HOOK: &str = "helm.sh/hook";
/// Helm's order among hooks.
pub const HELM_HOOK_WEIGHT: &str = "helm.sh/hook-weight";
/// Helm's policies that say when a hook is deleted.
pub const HELM_HOOK_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
/// Helm's wish to keep an object when its release goes.
pub const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// The manifest as it was last applied from a client.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// On an application: why it is not Synced and Healthy, as a tree of [`Reason`](crate::Reason)s. Argo CD's status has no
/// place for it, and no definition of Application prunes an annotation.
pub const REASONS: &str = "lynceus.dev/reasons";
