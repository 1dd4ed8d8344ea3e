//! The bounds of what this crate does for one render, in one place.

/// How many maps and lists may stand inside each other where something walks through all of a value.
pub const VALUE_DEPTH: usize = 1_000;

/// How many numbers `until`, `untilStep` and `seq` give.
pub const LIST_LENGTH: usize = 1_000_000;

/// How many bytes of text a function makes of one value.
pub const TEXT_LENGTH: usize = 64 << 20;
