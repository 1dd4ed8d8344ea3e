//! Every bound of this crate, in one place.

/// The most that the manifests of one directory may have together: 10 MB, as in Argo CD. In memory they become many
/// times that.
pub const DIRECTORY_BYTES: u64 = 10_000_000;

/// The largest single file that is read as a manifest.
pub const FILE_BYTES: u64 = DIRECTORY_BYTES;

/// How many files one directory source may have.
pub const FILES: usize = 20_000;

/// How deep folders may lie in each other.
pub const DEPTH: usize = 100;
