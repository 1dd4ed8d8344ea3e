//! The bounds of what this crate does for one render, in one place.

/// How many maps and lists may stand inside each other where something walks through all of a value.
pub const VALUE_DEPTH: usize = 1_000;
