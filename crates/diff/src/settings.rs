//! How objects are compared.

use lynceus_object::Str;

use crate::ignore::Ignore;
use crate::known_types::KnownTypes;

/// How objects are compared.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Fields that are left out of the account.
    pub ignore: Ignore,
    /// Fields of custom resources that hold a built-in type.
    pub known_types: KnownTypes,
    /// Leave the rules of aggregated roles out, which the server fills in.
    pub ignore_aggregated_roles: bool,
    /// The label that objects were tracked by before the annotation; a live object that still carries it is not
    /// different for that. `None` while objects are tracked by the label.
    pub former_tracking_label: Option<Str>,
    /// Apply on the server's side, so that a comparison predicts what the server would do.
    pub server_side_apply: bool,
}
