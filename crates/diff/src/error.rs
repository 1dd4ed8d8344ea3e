//! Why two objects could not be compared.

use lynceus_object::apply::ApplyError;
use lynceus_object::patch::PatchError;

/// A comparison that failed, by its step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DiffError {
    /// The desired object cannot be turned into a patch.
    #[error("the desired object cannot be merged with the live one")]
    Patch(#[source] PatchError),
    /// The patch cannot be applied to the live object.
    #[error("the change cannot be applied to the live object")]
    Apply(#[source] PatchError),
    /// The desired object cannot be applied on the server's side.
    #[error("the desired object cannot be applied on the server's side")]
    ServerSide(#[source] ApplyError),
    /// What the server would fill in cannot be added to the object.
    #[error("the server's defaults cannot be added")]
    Defaults(#[source] PatchError),
    /// The server refused to say what an apply would do.
    #[error("the server's dry run failed: {0}")]
    DryRun(String),
    /// The server has not been asked what an apply would do.
    #[error("the server was not asked what an apply would do")]
    NotAsked,
    /// The answer of a dry run does not say which fields are ours.
    #[error("the managed fields of the server's dry run cannot be used: {0}")]
    ManagedFields(String),
}
