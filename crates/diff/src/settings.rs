//! How objects are compared.

use lynceus_api::{annotations, options};
use lynceus_object::{Object, Str};

use crate::ignore::Ignore;
use crate::known_types::KnownTypes;
use crate::prediction::ServerSide;

/// How objects are compared.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Fields that are left out of the account.
    pub ignore: Ignore,
    /// Fields of custom resources that hold a built-in type.
    pub known_types: KnownTypes,
    /// Leave the rules of aggregated roles out, which the server fills in.
    pub ignore_aggregated_roles: bool,
    /// Whose `status` is left out.
    pub ignore_status: IgnoreStatus,
    /// The label that objects were tracked by before the annotation; a live object that still carries it is not
    /// different for that. `None` while objects are tracked by the label.
    pub former_tracking_label: Option<Str>,
    /// Apply on the server's side, so that a comparison predicts what the server would do.
    pub server_side_apply: bool,
    /// What the server was asked, where it is the server that predicts what an apply would do.
    pub server_side: Option<ServerSide>,
    /// Annotations whose values are hidden, beside those that always are.
    pub hidden_annotations: Vec<Str>,
    /// Whether what is desired has been applied before, so that a difference is not merely a newer commit.
    pub applied: bool,
}

/// Whose `status` is left out of the account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoreStatus {
    /// Nobody's.
    #[default]
    None,
    /// That of CustomResourceDefinitions.
    Definitions,
    /// Everybody's.
    All,
}

impl Settings {
    /// Whether an object's status is left out.
    pub(crate) fn ignores_status(&self, object: &Object) -> bool {
        match self.ignore_status {
            IgnoreStatus::None => false,
            IgnoreStatus::All => true,
            IgnoreStatus::Definitions => {
                object.kind() == "CustomResourceDefinition" && object.group() == "apiextensions.k8s.io"
            }
        }
    }

    /// Whether an object is applied on the server's side.
    pub(crate) fn applies_on_server(&self, desired: &Object) -> bool {
        let says_so =
            |text: &str| text.split(',').any(|word| word.trim() == options::sync::SERVER_SIDE_APPLY);
        // Asked of every object, so that it is not worth a list of its options.
        self.server_side_apply || desired.annotation(annotations::SYNC_OPTIONS).is_some_and(says_so)
    }
}
