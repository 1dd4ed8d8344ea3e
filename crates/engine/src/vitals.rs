//! Whether an engine is alive, and whether it is ready: the two questions that a kubelet asks.

use std::fmt;
use std::time::Duration;

use lynceus_object::GroupKind;

use crate::engine::Engine;
use crate::key::{application_kind, project_kind};
use crate::limits;

/// What is wrong with an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ailment {
    /// Work is due and nothing gets done.
    Standstill(Duration),
    /// The Leases are not being kept.
    Leases(Duration),
    /// A kind that everything depends on cannot be read.
    Unread {
        /// The kind.
        kind: GroupKind,
        /// Why.
        why: String,
    },
    /// The home cluster does not serve a kind that everything depends on.
    Unserved(GroupKind),
    /// It is coming to an end.
    Stopping,
}

impl fmt::Display for Ailment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ailment::Standstill(time) => {
                write!(f, "applications wait and none has been worked on for {} s", time.as_secs())
            }
            Ailment::Leases(time) => write!(f, "the Leases have not been kept for {} s", time.as_secs()),
            Ailment::Unread { kind, why } => write!(f, "{kind} cannot be read from the home cluster: {why}"),
            Ailment::Unserved(kind) => write!(f, "the home cluster does not serve {kind}"),
            Ailment::Stopping => f.write_str("stopping"),
        }
    }
}

impl Engine {
    /// Whether a restart would not help: the workers make progress and the Leases are kept.
    pub fn alive(&self) -> Result<(), Ailment> {
        let standstill = self.queue.standstill(self.clock().monotonic());
        if standstill > limits::STANDSTILL && !self.is_stopping() {
            return Err(Ailment::Standstill(standstill));
        }
        let silence = self.shards.silence();
        if silence > limits::LEASE_SILENCE && !self.is_stopping() {
            return Err(Ailment::Leases(silence));
        }
        Ok(())
    }

    /// Whether what everything depends on has been read.
    pub fn ready(&self) -> Result<(), Ailment> {
        if self.is_stopping() {
            return Err(Ailment::Stopping);
        }
        let kinds = self.home().kinds();
        let errors = self.home().cache().errors();
        for kind in [
            application_kind(),
            project_kind(),
            GroupKind::new("", "ConfigMap"),
            GroupKind::new("", "Secret"),
        ] {
            if kinds.preferred(&kind).is_none() {
                return Err(Ailment::Unserved(kind));
            }
            if let Some(error) = errors.get(&kind).filter(|error| !error.partial) {
                return Err(Ailment::Unread { kind, why: error.message.clone() });
            }
        }
        Ok(())
    }
}
