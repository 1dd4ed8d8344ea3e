//! The bounds of a comparison.

/// How long a jq expression may be.
pub(crate) const JQ_BYTES: usize = 4096;

/// How many fields of one object one jq expression may name.
pub(crate) const JQ_PATHS: usize = 10_000;

/// How many differing fields of one object are listed; what is beyond is summed up by their parents.
pub(crate) const FIELDS: usize = 1000;
