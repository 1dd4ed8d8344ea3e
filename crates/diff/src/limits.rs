//! The bounds of a comparison.

/// How long a jq expression may be.
pub(crate) const JQ_BYTES: usize = 4096;

/// How many fields of one object one jq expression may name.
pub(crate) const JQ_PATHS: usize = 100_000;

/// How many differing fields of one object are listed; what is beyond is summed up by their parents.
pub(crate) const FIELDS: usize = 1000;

/// How many steps one jq expression may take on one object: about a second, which is what Argo CD gives it.
pub(crate) const JQ_STEPS: u64 = 10_000_000;

/// How many bytes of values one jq expression may make for one object, those included that it drops on the way.
pub(crate) const JQ_MADE: u64 = 256 << 20;

/// How many lists and maps a value of a jq expression may have in one another, and how long a path may be.
pub(crate) const JQ_DEPTH: usize = 500;

/// How much of its caller's stack a jq expression may use.
pub(crate) const JQ_STACK: usize = 256 << 10;

/// How much stack an expression gets that needs more: functions that call themselves.
pub(crate) const JQ_DEEP_STACK: usize = 32 << 20;

/// How large a regular expression of a jq expression may become in memory.
pub(crate) const JQ_PATTERN: usize = 2 << 20;

/// The longest list whose items are told apart in passing; those of a longer one are by the full comparison.
pub(crate) const HURRIED_ITEMS: usize = 256;

/// How many syncs in a row a field has to come back after, for it to be a loop.
pub(crate) const LOOP_ROUNDS: usize = 2;
