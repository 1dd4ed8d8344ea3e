//! The bounds of what this crate does for one render, in one place.

/// How many maps and lists may stand inside each other where something walks through all of a value.
pub const VALUE_DEPTH: usize = 1_000;

/// How many numbers `until`, `untilStep` and `seq` give.
pub const LIST_LENGTH: usize = 1_000_000;

/// How deep parentheses may nest. Go allows 10,000; trees are dropped by recursion.
pub const EXPRESSION_DEPTH: usize = 1_000;

/// How deep `if`, `with`, `range` and `block` may nest, each `else if` counting as one more.
pub const BLOCK_DEPTH: usize = 1_000;

/// How many bytes of texts one render remembers.
pub const REMEMBERED_BYTES: usize = 16 << 20;

/// What a remembered text counts besides its own bytes, for the value that it keeps.
pub const REMEMBERED_ENTRY: usize = 4 << 10;

/// What one render may use. The defaults are far beyond any chart that is meant to be rendered.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many nodes, commands and calls may be evaluated.
    pub steps: u64,
    /// How many bytes of text and values may be made in all, whether or not they are still in use.
    pub bytes: u64,
    /// How deep templates may call each other. Go's own bound is 100,000.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 50_000_000, bytes: 1 << 30, depth: 5_000 }
    }
}
