//! The bounds of a script.

/// How many instructions a script may take, in all: a few tenths of a second. Work inside library functions is charged
/// to the same account.
pub const INSTRUCTIONS: u64 = 20_000_000;

/// How much a script may hold at a time, the object that it is given included.
pub const MEMORY: usize = 32 << 20;

/// How long a text a script may make in one step.
pub const TEXT_BYTES: usize = 4 << 20;

/// How long a script may be. A ConfigMap has room for one megabyte.
pub const SCRIPT_BYTES: usize = 1 << 20;

/// How deep the object, and what a script returns, may nest.
pub const DEPTH: usize = 100;

/// How deep a pattern may go on inside itself while it is matched.
pub(crate) const PATTERN_DEPTH: usize = 200;

/// After how many instructions the account is looked at.
pub(crate) const PERIOD: u32 = 200;

/// From how much memory on a script is looked at more often, and pays for what it holds.
pub(crate) const HEAVY: usize = 4 << 20;

/// After how many instructions that is.
pub(crate) const HEAVY_PERIOD: u32 = 10;

/// How many bytes then cost as much as an instruction, each time.
pub(crate) const HEAVY_BYTES: usize = 4096;

/// How many machines are kept for the next script, of each kind.
pub(crate) const IDLE_MACHINES: usize = 16;

/// How many compiled scripts one machine keeps.
pub(crate) const COMPILED: usize = 256;
