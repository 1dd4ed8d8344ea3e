//! The bounds of a comparison.

/// How long a jq expression may be.
pub(crate) const JQ_BYTES: usize = 4096;

/// How many fields of one object one jq expression may name.
pub(crate) const JQ_PATHS: usize = 10_000;

/// How many differing fields of one object are listed; what is beyond is summed up by their parents.
pub(crate) const FIELDS: usize = 1000;

/// How many steps one jq expression may take on one object: a fraction of a second.
pub(crate) const JQ_STEPS: u32 = 300_000;

/// How many times larger than the object a jq expression may make a value.
pub(crate) const JQ_GROWTH: u64 = 64;

/// The longest list whose items are told apart in passing; those of a longer one are by the full comparison.
pub(crate) const HURRIED_ITEMS: usize = 256;

/// How many syncs in a row a field has to come back after, for it to be a loop.
pub(crate) const LOOP_ROUNDS: usize = 2;
