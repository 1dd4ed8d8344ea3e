//! Versions and version constraints as Masterminds/semver reads them: the library behind sprig's `semver` and
//! `semverCompare`, and behind Helm's chart, dependency and Kubernetes versions.
//!
//! It is more lenient than semver.org (`v1.2`, `1`, leading zeros) and has its own constraint language.

mod constraint;
mod version;

pub use constraint::{ConstraintError, Constraints};
pub use version::{Version, VersionError};

#[cfg(test)]
mod tests;
