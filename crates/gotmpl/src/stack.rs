//! Room for recursion.
//!
//! Blocks, parentheses and calls nest as deep as `limits` allows, which is more than the stack of a worker
//! thread has room for. Where they do, the stack continues in memory that is given back afterwards.

use std::cell::Cell;

/// How much must be left of the stack before more is asked for.
const RED_ZONE: usize = 256 << 10;

/// How much is asked for.
const MORE: usize = 2 << 20;

/// How many steps inside each other are taken without asking: they fit on any stack, few templates go deeper, and where a
/// stack ends costs more to ask for the first time than a small chart to render.
const SHALLOW: u32 = 24;

thread_local! {
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// Runs a step of a recursion with enough stack.
pub(crate) fn deep<T>(step: impl FnOnce() -> T) -> T {
    let steps = STEPS.get();
    STEPS.set(steps + 1);
    let given = if steps < SHALLOW { step() } else { stacker::maybe_grow(RED_ZONE, MORE, step) };
    STEPS.set(steps);
    given
}

/// Runs something of a library that recurses by itself, as deep as its input nests.
pub(crate) fn roomy<T>(run: impl FnOnce() -> T) -> T {
    const ROOM: usize = 32 << 20;
    stacker::maybe_grow(ROOM, ROOM, run)
}
