//! From settings and Secrets to the fleet.

use std::sync::Arc;

use lynceus_cluster::{Fleet, FleetOptions, Registration};
use lynceus_files::Diagnostic;
use lynceus_object::GroupKind;

use crate::settings::Settings;

/// Registers the clusters that the home namespace's Secrets describe, and gives what is wrong with those that cannot be
/// used. The others are.
pub(crate) fn register(
    fleet: &Arc<Fleet>,
    settings: &Settings,
    namespace: &str,
    read_only: bool,
) -> Vec<Diagnostic> {
    let secrets = fleet.home().cache().of_kind(&GroupKind::new("", "Secret"));
    let mut registrations = Vec::new();
    let mut diagnostics = Vec::new();
    for secret in
        secrets.iter().filter(|secret| secret.namespace() == namespace && Registration::is_one(secret))
    {
        match Registration::read(secret) {
            Ok(registration) => registrations.push(registration),
            Err(error) => diagnostics.push(
                Diagnostic::warning(error.to_string()).hint("docs/clusters.md says what such a Secret holds"),
            ),
        }
    }
    settings.impose_on(fleet.home());
    let options = FleetOptions {
        tracking: settings.tracking.clone(),
        scope: settings.scope.clone(),
        respect_rbac: settings.respect_rbac,
        in_cluster: settings.in_cluster,
        read_only,
    };
    fleet.register(registrations, options);
    diagnostics
}
