//! Why two objects could not be compared.

/// A comparison that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// The desired object does not fit the schema of its kind.
    #[error("{0}")]
    Desired(String),
}
