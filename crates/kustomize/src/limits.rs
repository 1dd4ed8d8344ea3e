//! How much of anything is taken in.

/// The most bytes that one file may have.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How many kustomizations may stand inside each other.
pub const MAX_DEPTH: usize = 64;

/// The most resources that one build may hold.
pub const MAX_RESOURCES: usize = 500_000;

/// The most bytes that the replacements of one kustomization may write.
pub const MAX_REPLACED_BYTES: usize = 32 * 1024 * 1024;
