//! The account of one run: what it has cost, and what it is told about the world.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::limits;

/// What a script is told of the world, and who may stop it.
#[derive(Clone)]
pub struct World {
    /// The time, for `os.time` and `os.date`.
    pub now: Timestamp,
    /// Asked every few hundred instructions whether the script is to stop: for callers that have a clock.
    pub stop: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl World {
    /// A world at a moment, in which only instructions and memory are counted.
    pub fn at(now: Timestamp) -> Self {
        World { now, stop: None }
    }
}

/// What one machine counts. A machine runs one script at a time, so that the numbers need no order among them.
#[derive(Default)]
pub(crate) struct Meter {
    spent: AtomicU64,
    exhausted: AtomicBool,
    stopped: AtomicBool,
    out_of_memory: AtomicBool,
    line: AtomicU32,
    now: AtomicI64,
    chance: AtomicU64,
    stop: Mutex<Option<Arc<dyn Fn() -> bool + Send + Sync>>>,
}

impl Meter {
    /// Begins a new run.
    pub(crate) fn begin(&self, world: &World) {
        self.spent.store(0, Relaxed);
        self.now.store(world.now.as_second(), Relaxed);
        self.seed(0);
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = world.stop.clone();
    }

    /// Counts work; an error when there has been too much.
    pub(crate) fn charge(&self, amount: u64) -> mlua::Result<()> {
        let spent = self.spent.fetch_add(amount, Relaxed).saturating_add(amount);
        if spent > limits::INSTRUCTIONS || self.exhausted() {
            self.exhausted.store(true, Relaxed);
            return Err(mlua::Error::runtime(self.reason()));
        }
        Ok(())
    }

    /// Counts instructions, and asks the caller whether to go on. A step of a script that holds much can take long: all of
    /// it may be copied. So such steps cost more.
    pub(crate) fn tick(&self, instructions: u32, memory: usize) -> mlua::Result<()> {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if stop.is_some_and(|stop| stop()) {
            self.stopped.store(true, Relaxed);
            self.exhausted.store(true, Relaxed);
        }
        let weight = if memory > limits::HEAVY { memory / limits::HEAVY_BYTES } else { 0 };
        self.charge(u64::from(instructions) + weight as u64)
    }

    /// A script must not go on as if nothing were when it has run out of memory.
    pub(crate) fn run_out_of_memory(&self) {
        self.out_of_memory.store(true, Relaxed);
        self.exhausted.store(true, Relaxed);
    }

    /// Remembers where the run was ended.
    pub(crate) fn ended_at(&self, line: Option<u32>) {
        self.line.store(line.unwrap_or_default(), Relaxed);
    }

    /// Where the run was ended.
    pub(crate) fn line(&self) -> Option<u32> {
        Some(self.line.load(Relaxed)).filter(|line| *line > 0)
    }

    /// Whether the run was ended from outside. The machine is of no more use then: it raises errors for ever.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted.load(Relaxed)
    }

    /// Why the run was ended.
    pub(crate) fn reason(&self) -> String {
        if self.out_of_memory.load(Relaxed) {
            format!("the script needs more than {} MiB of memory", limits::MEMORY >> 20)
        } else if self.stopped.load(Relaxed) {
            "the script took too long".to_owned()
        } else {
            format!("the script takes more than {} instructions", limits::INSTRUCTIONS)
        }
    }

    /// What the run has cost so far.
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Relaxed)
    }

    /// Begins the numbers of chance anew.
    pub(crate) fn seed(&self, seed: u64) {
        self.chance.store(seed, Relaxed);
    }

    /// The next number of chance: every run that begins with the same seed has the same ones.
    pub(crate) fn chance(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut bits = self.chance.fetch_add(STEP, Relaxed).wrapping_add(STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// The time in seconds.
    pub(crate) fn now(&self) -> i64 {
        self.now.load(Relaxed)
    }
}
