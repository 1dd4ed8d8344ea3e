//! Patches: the three kinds that Kubernetes takes, and the making of those that `kubectl apply` sends.
//!
//! The results equal those of Kubernetes' own library, and so do the messages, which clients see.

pub mod create;
pub(crate) mod go;
mod json;
mod merge;
mod strategic;

pub use json::json;
pub use merge::merge;
pub use strategic::strategic;

pub use go::printed;

/// Why a patch came to nothing. The variant is what an API server answers with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch is not of its kind: a bad request (400).
    #[error("{0}")]
    Malformed(String),
    /// The patch does not fit the object: unprocessable (422).
    #[error("{0}")]
    Unprocessable(String),
    /// The patch cannot be carried out on a type like this: an internal error (500).
    #[error("{0}")]
    Failed(String),
}
