//! What an engine is told at its start, and what holds if it is told nothing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lynceus_cluster::{BySecret, Reach};
use lynceus_object::Str;

use crate::limits;
use crate::rhythm::Rhythm;

/// What an engine is told at its start.
#[derive(Clone)]
pub struct Options {
    /// The namespace of the installation, where Applications, projects and settings are.
    pub namespace: Str,
    /// Whether a child Application counts with its own health, so that waves of an app-of-apps wait for each other. Off
    /// beside an Argo CD, which does not. What is set in `argocd-cm` goes before it.
    pub children: bool,
    /// How often repositories on this machine are looked at.
    pub local_poll: Duration,
    /// The name of this replica among several, which share the clusters out by Leases; none for one that is alone and
    /// holds no Leases. No two that run may have the same.
    pub replica: Option<Str>,
    /// Read everything and write nothing, and tell where another controller sees it differently.
    pub observe: bool,
    /// How other clusters are reached.
    pub reach: Arc<dyn Reach>,
    /// How often it looks at what nothing tells it of.
    pub rhythm: Rhythm,
    /// How notifications are sent; without it there are none, and another controller may send them.
    pub notifications: Option<lynceus_post::Options>,
    /// Whether ApplicationSets are worked on. Off beside an Argo CD, whose own controller does. What is set in
    /// `argocd-cmd-params-cm` goes before it.
    pub sets: bool,
    /// How many applications are worked on at once, whatever the settings say. With one, what is done first does not depend on how fast the
    /// machine is.
    pub workers: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            namespace: "argocd".into(),
            children: false,
            local_poll: limits::LOCAL_POLL,
            replica: None,
            observe: false,
            reach: Arc::new(BySecret::default()),
            rhythm: Rhythm::default(),
            notifications: None,
            sets: true,
            workers: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("namespace", &self.namespace)
            .field("children", &self.children)
            .field("local_poll", &self.local_poll)
            .field("replica", &self.replica)
            .field("observe", &self.observe)
            .field("rhythm", &self.rhythm)
            .field("notifications", &self.notifications)
            .field("sets", &self.sets)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
