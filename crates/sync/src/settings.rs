//! How one sync is to be carried out, apart from what it carries out.

use jiff::SignedDuration;
use lynceus_api::Options;
use lynceus_api::options::sync;
use lynceus_object::{Object, Propagation, Str};

use crate::limits;

/// The field manager whose fields are taken over when an object moves to server-side apply.
pub const CLIENT_SIDE_MANAGER: &str = "kubectl-client-side-apply";

/// The settings of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Only try, write nothing.
    pub dry_run: bool,
    /// Delete what is no longer desired.
    pub prune: bool,
    /// Delete and create again what cannot be updated.
    pub force: bool,
    /// Leave hooks out, as a sync of chosen resources does.
    pub skip_hooks: bool,
    /// Have objects validated against their schemas.
    pub validate: bool,
    /// Prune only after everything else.
    pub prune_last: bool,
    /// Leave alone what is already as desired.
    pub apply_out_of_sync_only: bool,
    /// Replace objects instead of applying them.
    pub replace: bool,
    /// Apply on the server's side.
    pub server_side_apply: bool,
    /// The manager whose fields server-side apply takes over; `None` to take over nothing.
    pub migrate_from: Option<Str>,
    /// What happens to the dependants of what is deleted.
    pub propagation: Propagation,
    /// The application's own `Prune=` option: `false`, `confirm` or anything else.
    pub prune_option: Option<Str>,
    /// Whether a user has confirmed the pruning of this operation.
    pub prune_confirmed: bool,
    /// Do not try out objects of a kind that the cluster does not know yet.
    pub skip_dry_run_on_missing_resource: bool,
    /// How long to let controllers react between two waves.
    pub wave_delay: SignedDuration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            dry_run: false,
            prune: false,
            force: false,
            skip_hooks: false,
            validate: true,
            prune_last: false,
            apply_out_of_sync_only: false,
            replace: false,
            server_side_apply: false,
            migrate_from: Some(CLIENT_SIDE_MANAGER.into()),
            propagation: Propagation::Foreground,
            prune_option: None,
            prune_confirmed: false,
            skip_dry_run_on_missing_resource: false,
            wave_delay: limits::WAVE_DELAY,
        }
    }
}

/// What pruning an object takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PruneRule {
    Allowed,
    Forbidden,
    Confirm,
}

impl Settings {
    /// What pruning `live` takes: its own `Prune=` option before the application's.
    pub(crate) fn prune_rule(&self, live: &Object) -> PruneRule {
        let own = Options::sync(live);
        match own.value(sync::PRUNE).or(self.prune_option.as_deref()) {
            Some(sync::FALSE) => PruneRule::Forbidden,
            Some(sync::CONFIRM) => PruneRule::Confirm,
            _ => PruneRule::Allowed,
        }
    }

    /// Whether pruning `live` has to wait for a user.
    pub(crate) fn awaits_confirmation(&self, live: &Object) -> bool {
        !self.prune_confirmed && self.prune_rule(live) == PruneRule::Confirm
    }
}

/// Whether an object carries a sync option itself.
pub(crate) fn has_option(object: &Object, option: &str) -> bool {
    Options::sync(object).has(option)
}
