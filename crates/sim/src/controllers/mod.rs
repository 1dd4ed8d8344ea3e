//! What a cluster does by itself: level-triggered controllers on the sim's clock.

use jiff::Timestamp;

use crate::local::Local;

/// All controllers of a cluster.
#[derive(Debug)]
pub struct Controllers {
    _local: Local,
}

impl Controllers {
    /// Controllers that work through `local`.
    pub fn new(local: Local) -> Self {
        Controllers { _local: local }
    }

    /// Works until there is nothing to do at this time. Gives the time at which there will be.
    pub async fn settle(&mut self) -> Option<Timestamp> {
        None
    }
}
