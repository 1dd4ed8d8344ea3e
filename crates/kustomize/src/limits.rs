//! How much of anything is taken in.

/// The most bytes that one file may have.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How many kustomizations may stand inside each other.
pub const MAX_DEPTH: usize = 64;

/// The most resources that one build may hold.
pub const MAX_RESOURCES: usize = 500_000;

/// The most bytes that the replacements of one kustomization may write.
pub const MAX_REPLACED_BYTES: usize = 32 * 1024 * 1024;
/// How many keys of a document that look like numbers are looked up in its text; each costs a reading of it.
pub(crate) const MAX_SUSPECT_KEYS: usize = 100;

/// How many operations of a patch that fails are tried one by one to find which of them it is.
pub(crate) const MAX_BLAMED_OPERATIONS: usize = 1_000;
