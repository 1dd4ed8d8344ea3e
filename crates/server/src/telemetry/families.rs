//! What is counted: names, words and labels as Argo CD has them.

/// A family of counted things.
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) labels: &'static [&'static str],
    pub(super) kind: Kind,
}

/// How it is counted.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Counter,
    /// What was measured last.
    Gauge,
    /// With the bounds of its buckets.
    Histogram(&'static [f64]),
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        }
    }
}

const SLOW: &[f64] = &[0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
const REMOTE: &[f64] = &[0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 20.0];
const QUICK: &[f64] = &[0.005, 0.1, 0.5, 2.0, 8.0, 30.0];
const BYTES: &[f64] = &[64.0, 512.0, 4_096.0, 65_536.0, 1_048_576.0, 16_777_216.0];
const CALL: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

macro_rules! families {
    ($($constant:ident: $name:literal, $kind:expr, [$($label:literal),*], $help:literal;)*) => {
        $(pub(super) static $constant: Family =
            Family { name: $name, help: $help, labels: &[$($label),*], kind: $kind };)*
        /// All of them, in the order in which they are written.
        pub(super) static FAMILIES: &[&Family] = &[$(&$constant),*];
    };
}

families! {
    K8S: "argocd_app_k8s_request_total", Kind::Counter,
        ["namespace", "name", "project", "server", "response_code", "verb", "resource_kind", "resource_namespace", "dry_run"],
        "Number of kubernetes requests executed during application reconciliation.";
    RECONCILE: "argocd_app_reconcile", Kind::Histogram(SLOW), ["namespace", "dest_server"],
        "Application reconciliation performance in seconds.";
    SET_RECONCILE: "argocd_appset_reconcile", Kind::Histogram(SLOW), ["namespace", "name"],
        "Application reconciliation performance in seconds.";
    EVENTS: "argocd_cluster_events_total", Kind::Counter, ["server", "group", "kind"],
        "Number of processes k8s resource events.";
    SYNC_SECONDS: "argocd_app_sync_duration_seconds_total", Kind::Counter,
        ["namespace", "name", "project", "dest_server"], "Application sync performance in seconds total.";
    SYNCS: "argocd_app_sync_total", Kind::Counter,
        ["namespace", "name", "project", "dest_server", "phase", "dry_run"], "Number of application syncs.";
    GIT_FETCH_FAILS: "argocd_git_fetch_fail_total", Kind::Counter, ["repo", "revision"],
        "Number of git fetch requests failures by repo server";
    GIT_LIST_FAILS: "argocd_git_lsremote_fail_total", Kind::Counter, ["repo", "revision"],
        "Number of git ls-remote requests failures by repo server";
    GIT_DURATION: "argocd_git_request_duration_seconds", Kind::Histogram(REMOTE), ["repo", "request_type"],
        "Git requests duration seconds.";
    GIT: "argocd_git_request_total", Kind::Counter, ["repo", "request_type"],
        "Number of git requests performed by repo server";
    GITHUB_LIMIT: "argocd_github_api_rate_limit_limit", Kind::Gauge,
        ["endpoint", "appset_namespace", "appset_name", "resource"],
        "The maximum number of requests that you can make per hour";
    GITHUB_REMAINING: "argocd_github_api_rate_limit_remaining", Kind::Gauge,
        ["endpoint", "appset_namespace", "appset_name", "resource"],
        "The number of requests remaining in the current rate limit window";
    GITHUB_RESET: "argocd_github_api_rate_limit_reset_seconds", Kind::Gauge,
        ["endpoint", "appset_namespace", "appset_name", "resource"],
        "The time left till the current rate limit window resets, in seconds";
    GITHUB_USED: "argocd_github_api_rate_limit_used", Kind::Gauge,
        ["endpoint", "appset_namespace", "appset_name", "resource"],
        "The number of requests used in the current rate limit window";
    GITHUB_DURATION: "argocd_github_api_request_duration_seconds", Kind::Histogram(CALL),
        ["method", "endpoint", "appset_namespace", "appset_name"], "GitHub API request duration in seconds";
    GITHUB: "argocd_github_api_requests_total", Kind::Counter,
        ["method", "endpoint", "status", "appset_namespace", "appset_name"],
        "Total number of GitHub API requests";
    TURN: "argocd_kubectl_rate_limiter_duration_seconds", Kind::Histogram(QUICK), ["host", "verb"],
        "Kubectl rate limiter latency";
    REQUEST_DURATION: "argocd_kubectl_request_duration_seconds", Kind::Histogram(QUICK), ["host", "verb"],
        "Request latency in seconds";
    REQUEST_RETRIES: "argocd_kubectl_request_retries_total", Kind::Counter, ["host", "method", "code"],
        "Number of kubectl request retries";
    REQUEST_SIZE: "argocd_kubectl_request_size_bytes", Kind::Histogram(BYTES), ["host", "method"],
        "Size of kubectl requests";
    RESPONSE_SIZE: "argocd_kubectl_response_size_bytes", Kind::Histogram(BYTES), ["host", "method"],
        "Size of kubectl responses";
    REQUESTS: "argocd_kubectl_requests_total", Kind::Counter, ["host", "method", "code"],
        "Number of kubectl request results";
    LOGINS: "argocd_login_request_total", Kind::Counter, ["status"],
        "Number of login requests to the Argo CD API server.";
    NOTIFICATIONS: "argocd_notifications_deliveries_total", Kind::Counter, ["trigger", "service", "succeeded"],
        "Number of delivered notifications.";
    NOTIFICATION_TRIGGERS: "argocd_notifications_trigger_eval_total", Kind::Counter, ["name", "triggered"],
        "Number of trigger evaluations.";
    OCI_EXTRACT_FAILS: "argocd_oci_extract_fail_total", Kind::Counter, ["repo", "revision"],
        "Number of OCI extract requests failures by repo server";
    OCI_TAGS_FAILS: "argocd_oci_get_tags_fail_total", Kind::Counter, ["repo"],
        "Number of OCI get tags failures by repo server";
    OCI_DURATION: "argocd_oci_request_duration_seconds", Kind::Histogram(REMOTE), ["repo", "request_type"],
        "OCI requests duration seconds.";
    OCI: "argocd_oci_request_total", Kind::Counter, ["repo", "request_type"],
        "Number of OCI requests performed by repo server";
    OCI_RESOLVE_FAILS: "argocd_oci_resolve_revision_fail_total", Kind::Counter, ["repo", "revision"],
        "Number of OCI resolve revision requests failures by repo server";
    EVENTS_PROCESSING: "argocd_resource_events_processing", Kind::Histogram(SLOW), ["server"],
        "Time to process resource events in seconds.";
    WEBHOOKS: "argocd_webhook_requests_total", Kind::Counter, ["repo"],
        "Number of webhook requests received by repo.";
    CALLS: "grpc_server_handled_total", Kind::Counter, ["grpc_service", "grpc_method", "grpc_code"],
        "Total number of RPCs completed on the server, regardless of success or failure.";
    CALL_DURATION: "grpc_server_handling_seconds", Kind::Histogram(CALL), ["grpc_service", "grpc_method"],
        "Histogram of response latency (seconds) of gRPC that had been application-level handled by the server.";
    RENDER: "lynceus_render_duration_seconds", Kind::Histogram(REMOTE), ["source_type"],
        "How long sources take to become manifests, where they are not remembered.";
}
