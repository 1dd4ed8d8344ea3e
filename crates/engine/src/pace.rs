//! How fast sources are rendered, as the operator says at the moment.

use std::time::Duration;

use crate::limits;

/// How long rendering may take, and how much of it there may be at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long the files of one may take to become manifests; none for as long as they like.
    pub timeout: Option<Duration>,
    /// How many are rendered at the same time; none for as many as there are.
    pub at_once: Option<usize>,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { timeout: Some(limits::RENDER), at_once: None }
    }
}
