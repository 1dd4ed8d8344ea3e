//! A write of a scenario: `create configmaps default/a`.

use std::fmt;

pub use lynceus_rehearse::Call;

/// A write, and what came of it.
#[derive(Clone, Debug)]
pub struct Write {
    /// What was sent.
    pub call: Call,
    /// The code of the answer; 0 as long as there is none.
    pub code: u16,
}

impl Write {
    pub(crate) fn new(call: Call) -> Self {
        Write { call, code: 0 }
    }

    /// Whether the cluster did what was asked.
    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

impl fmt::Display for Write {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.succeeded() {
            true => write!(out, "{}", self.call),
            false => write!(out, "{} -> {}", self.call, self.code),
        }
    }
}
