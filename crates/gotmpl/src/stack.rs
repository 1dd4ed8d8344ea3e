//! Room for recursion.
//!
//! Blocks, parentheses and calls nest as deep as `limits` allows, which is more than the stack of a worker
//! thread has room for. Where they do, the stack continues in memory that is given back afterwards.

/// How much must be left of the stack before more is asked for.
const RED_ZONE: usize = 256 << 10;

/// How much is asked for.
const MORE: usize = 2 << 20;

/// Runs a step of a recursion with enough stack.
pub(crate) fn deep<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, MORE, step)
}

/// Runs something of a library that recurses by itself, as deep as its input nests.
pub(crate) fn roomy<T>(run: impl FnOnce() -> T) -> T {
    const ROOM: usize = 32 << 20;
    stacker::maybe_grow(ROOM, ROOM, run)
}
