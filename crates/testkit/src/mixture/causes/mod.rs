//! What can be wrong, each in applications of its own.

mod chains;
mod images;
mod kinds;
mod nodes;
mod operations;
mod programs;
mod references;
mod rules;
mod secrets;
mod sources;
mod waves;

use super::scene::Scene;

/// Puts a cause into a scene, and says what is to be found.
type Make = fn(&mut Scene, &'static str);

/// Every sort of cause.
pub(super) const SORTS: &[(&str, Make)] = &[
    ("taint", nodes::taint),
    ("emptied-tolerations", nodes::emptied_tolerations),
    ("node-selector", nodes::selector),
    ("no-room", nodes::no_room),
    ("host-port", nodes::host_port),
    ("image-tag", images::tag),
    ("pull-secret", images::pull_secret),
    ("image-platform", images::platform),
    ("secret-nowhere", references::secret),
    ("config-map-nowhere", references::config_map),
    ("service-account-nowhere", references::service_account),
    ("key-missing", references::key),
    ("storage-class", references::storage_class),
    ("ingress-port", references::ingress_port),
    ("ingress-service", references::ingress_service),
    ("pod-security", rules::pod_security),
    ("quota", rules::quota),
    ("job-right", rules::job_right),
    ("kind-nowhere", kinds::nowhere),
    ("kind-blocked", kinds::blocked),
    ("namespace-missing", kinds::namespace),
    ("revision-gone", sources::revision),
    ("path-missing", sources::path),
    ("render-error", sources::render_error),
    ("empty-value", sources::empty_value),
    ("value-file", sources::value_file),
    ("shared-object", operations::shared),
    ("immutable-field", operations::immutable),
    ("manual-sync", operations::manual),
    ("vault-sealed", secrets::sealed),
    ("vault-refuses", secrets::refused),
    ("store-nowhere", secrets::nowhere),
    ("crash-loop", programs::crash_loop),
    ("out-of-memory", programs::out_of_memory),
    ("not-ready", programs::not_ready),
    ("failed-hook", programs::failed_hook),
    ("wave-order", waves::order),
    ("mounted-secret-nowhere", references::mounted_secret),
    ("volume-fails", waves::provisioner),
    ("service-of-another", chains::service_of_another),
    ("apps-in-waves", chains::apps_in_waves),
    ("namespace-of-another", chains::namespace_of_another),
    ("operator-away", chains::operator_away),
    ("webhook-away", chains::webhook_away),
    ("hook-stuck", chains::stuck_hook),
];
