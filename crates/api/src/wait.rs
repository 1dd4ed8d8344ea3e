//! What a sync is waiting for, as a value that can be shown, stored and asked about.

use std::fmt;

use jiff::Timestamp;
use lynceus_object::{ObjectKey, Str};

use crate::codes::SyncPhase;

/// A sync that cannot go on now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Everything that it waits for, in the order of the plan.
    pub for_: Vec<WaitFor>,
    /// Since when.
    pub since: Timestamp,
    /// When it goes on, or gives up, whatever happens; none if only an event can end it.
    pub until: Option<Timestamp>,
}

/// One thing that a sync waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitFor {
    /// An object has to become healthy.
    Healthy(ObjectKey),
    /// A hook has to complete.
    HookCompletion(ObjectKey),
    /// An object has to be gone.
    Deletion(ObjectKey),
    /// A hook has to be gone before it is made anew.
    HookDeletion(ObjectKey),
    /// Somebody has to confirm that an object may be pruned.
    PruneConfirmation(ObjectKey),
    /// Somebody has to confirm that an object may be deleted with its application.
    DeletionConfirmation(ObjectKey),
    /// An object that was deleted is held by finalizers, which others have to take off.
    Held {
        /// The object.
        object: ObjectKey,
        /// The finalizers.
        finalizers: Vec<Str>,
    },
    /// Controllers get a moment to notice the last wave.
    WaveDelay {
        /// The phase of the wave that was applied.
        phase: SyncPhase,
        /// The wave that was applied.
        wave: i64,
    },
    /// A failed attempt is repeated.
    Retry {
        /// Which attempt comes, counted from 1.
        attempt: i64,
        /// When.
        at: Timestamp,
        /// What the last attempt ended with.
        after: Str,
    },
    /// A sync window is closed, for this reason.
    SyncWindow(Str),
    /// A cluster, by name or address, has to be there again.
    Cluster(Str),
}

impl Wait {
    /// Waits for one thing.
    pub fn new(for_: Vec<WaitFor>, since: Timestamp) -> Self {
        Wait { for_, since, until: None }
    }

    /// The same, with an end.
    #[must_use]
    pub fn until(mut self, until: Timestamp) -> Self {
        self.until = Some(until);
        self
    }
}

impl WaitFor {
    /// The object that is waited for.
    pub fn object(&self) -> Option<&ObjectKey> {
        match self {
            Self::Healthy(key)
            | Self::HookCompletion(key)
            | Self::Deletion(key)
            | Self::HookDeletion(key)
            | Self::PruneConfirmation(key)
            | Self::DeletionConfirmation(key)
            | Self::Held { object: key, .. } => Some(key),
            Self::WaveDelay { .. } | Self::Retry { .. } | Self::SyncWindow(_) | Self::Cluster(_) => None,
        }
    }

    fn is_hook(&self) -> bool {
        matches!(self, Self::HookCompletion(_) | Self::HookDeletion(_))
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::HookCompletion(_) => "completion of hook",
            Self::Deletion(_) | Self::Held { .. } => "deletion of",
            Self::HookDeletion(_) => "deletion of hook",
            Self::PruneConfirmation(_) => "pruning confirmation of",
            Self::DeletionConfirmation(_) => "deletion confirmation of",
            _ => "healthy state of",
        }
    }
}

/// One thing on one line, with its namespace, for people who have to find it.
impl fmt::Display for WaitFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = self.object() {
            write!(f, "{} {key}", self.reason())?;
            return match self {
                Self::Held { finalizers, .. } => write!(f, ", held by {}", finalizers.join(", ")),
                _ => Ok(()),
            };
        }
        match self {
            Self::WaveDelay { phase, wave } => write!(f, "controllers to notice {phase} wave {wave}"),
            Self::Retry { attempt, at, .. } => write!(f, "attempt #{attempt} at {at}"),
            Self::Cluster(cluster) => write!(f, "cluster {cluster} to answer"),
            Self::SyncWindow(why) if !why.is_empty() => write!(f, "an open sync window: {why}"),
            _ => f.write_str("an open sync window"),
        }
    }
}

/// The operation's message, in Argo CD's words: confirmations come first, then hooks, then the rest.
impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.for_ {
            match item {
                WaitFor::SyncWindow(_) => return f.write_str("Sync operation blocked by sync window"),
                WaitFor::Retry { attempt, at, after } => {
                    return write!(f, "{after}. Retrying attempt #{attempt} at {}.", at.strftime("%-I:%M%p"));
                }
                _ => {}
            }
        }
        let objects = || self.for_.iter().filter(|item| item.object().is_some());
        let confirmations = || objects().filter(|item| matches!(item, WaitFor::PruneConfirmation(_)));
        let what = if objects().all(WaitFor::is_hook) { "hooks" } else { "resources" };
        let (first, count) = match confirmations().next() {
            Some(first) => (Some(first), confirmations().count()),
            None => (objects().find(|item| item.is_hook()).or_else(|| objects().next()), objects().count()),
        };
        let Some((first, key)) = first.and_then(|item| Some((item, item.object()?))) else {
            return if self.for_.is_empty() { Ok(()) } else { f.write_str("one or more tasks are running") };
        };
        write!(f, "waiting for {} {}/{}/{}", first.reason(), key.group, key.kind, key.name)?;
        match count - 1 {
            0 => Ok(()),
            more => write!(f, " and {more} more {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str) -> ObjectKey {
        ObjectKey::new("", "Pod", "shop", name)
    }

    fn message(for_: Vec<WaitFor>) -> String {
        Wait::new(for_, Timestamp::UNIX_EPOCH).to_string()
    }

    #[test]
    fn nothing_to_wait_for_says_nothing() {
        assert_eq!(message(vec![]), "");
    }

    #[test]
    fn objects_and_hooks_have_their_own_words() {
        assert_eq!(message(vec![WaitFor::Healthy(pod("a"))]), "waiting for healthy state of /Pod/a");
        assert_eq!(
            message(vec![
                WaitFor::Healthy(ObjectKey::new("apps", "Deployment", "", "a")),
                WaitFor::Healthy(pod("b"))
            ]),
            "waiting for healthy state of apps/Deployment/a and 1 more resources"
        );
        assert_eq!(
            message(vec![WaitFor::HookCompletion(pod("a")), WaitFor::HookCompletion(pod("b"))]),
            "waiting for completion of hook /Pod/a and 1 more hooks"
        );
        assert_eq!(message(vec![WaitFor::HookDeletion(pod("a"))]), "waiting for deletion of hook /Pod/a");
    }

    #[test]
    fn hooks_come_first_and_the_rest_are_resources() {
        assert_eq!(
            message(vec![
                WaitFor::Healthy(pod("a")),
                WaitFor::HookCompletion(pod("h")),
                WaitFor::Healthy(pod("b"))
            ]),
            "waiting for completion of hook /Pod/h and 2 more resources"
        );
    }

    #[test]
    fn confirmations_come_before_everything() {
        assert_eq!(
            message(vec![
                WaitFor::HookDeletion(pod("h")),
                WaitFor::PruneConfirmation(pod("a")),
                WaitFor::PruneConfirmation(pod("b"))
            ]),
            "waiting for pruning confirmation of /Pod/a and 1 more resources"
        );
    }

    #[test]
    fn what_is_held_says_by_what() {
        let held = WaitFor::Held { object: pod("a"), finalizers: vec!["example.com/hold".into()] };
        assert_eq!(held.to_string(), "deletion of /Pod/shop/a, held by example.com/hold");
        assert_eq!(
            WaitFor::DeletionConfirmation(pod("a")).to_string(),
            "deletion confirmation of /Pod/shop/a"
        );
    }

    #[test]
    fn a_retry_says_when() {
        let retry = WaitFor::Retry {
            attempt: 2,
            at: "2026-01-02T15:04:05Z".parse().unwrap(),
            after: "one or more objects failed to apply".into(),
        };
        assert_eq!(
            message(vec![retry]),
            "one or more objects failed to apply. Retrying attempt #2 at 3:04PM."
        );
        assert_eq!(
            message(vec![WaitFor::SyncWindow("denied".into())]),
            "Sync operation blocked by sync window"
        );
    }
}
